//! `scan --facts`: prints the facts about each file that rules are about.

use std::ops::ControlFlow;
use std::path::Path;

use stockade_guard::admission::scan_report::ScanTally;
use stockade_guard::admission::{FileOptions, FileScan, Source, scan_files_except, syntax_of};
use stockade_guard::scanner::{RuleBuf, Scanner, facts_of};

use super::{ScanArgs, ScanFormat};
use crate::exclusions::Exclusions;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::render::facts_text;
use crate::report::fail_on::{self, FailOn, Unseen};

/// Start and end of the JSON document. The files are between them.
const JSON_HEAD: &str = "{\"files\":[";
const JSON_TAIL: &str = "\n]}\n";

/// Runs the command.
pub(super) fn run(args: &ScanArgs, sources: &[Source], exclusions: &Exclusions) -> Result<Exit, Failure> {
    let render = match args.format {
        ScanFormat::Text => facts_text::lines,
        ScanFormat::Json => facts_text::json,
        ScanFormat::Jsonl => facts_text::jsonl,
        _ => {
            return Err(Failure::usage("facts are printed as text, json or jsonl")
                .with_help("choose one with 'stockade scan --facts --format json PATH'"));
        }
    };
    let scanner = Scanner::only::<RuleBuf>([]).map_err(Failure::incomplete)?;
    let options =
        FileOptions { max_file_bytes: args.max_file_size, threads: args.threads, ..FileOptions::default() };
    let is_json = args.format == ScanFormat::Json;
    let mut output = Output::new();
    let mut tally = ScanTally::default();
    let mut begun = false;
    let mut print = |printed: &str, begun: &mut bool| -> ControlFlow<()> {
        if args.quiet || printed.is_empty() {
            return ControlFlow::Continue(());
        }
        let separator = match std::mem::replace(begun, true) {
            _ if !is_json => "",
            true => ",",
            false => JSON_HEAD,
        };
        output.write(separator)?;
        output.write(printed)
    };
    let look = |file: FileScan<'_>| (printed(&file, render), ScanTally::of(&file));
    scan_files_except(
        sources,
        &|below, kind| exclusions.holds(below, kind),
        &scanner,
        &options,
        look,
        |(text, one)| {
            tally.add(one);
            print(&text, &mut begun)
        },
    );
    if is_json && !args.quiet {
        let head = if begun { "" } else { JSON_HEAD };
        let _: ControlFlow<()> = output.write(&format!("{head}{JSON_TAIL}"));
    }
    let unseen = if args.strict { Unseen::Fails } else { Unseen::Reported };
    output.finish(fail_on::exit(&tally, FailOn::Never, unseen))
}

fn printed(file: &FileScan<'_>, render: fn(&Path, &stockade_guard::scanner::Facts) -> String) -> String {
    let facts = facts_of(file.text, syntax_of(file.path, file.text));
    if facts.is_empty() { String::new() } else { render(file.path, &facts) }
}
