//! `stockade scan`: looks for attacks in files, folders and standard input.
#![expect(clippy::disallowed_methods, reason = "asks whether standard input is a terminal")]

mod page;
mod progress;

use std::io::{self, IsTerminal as _};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use stockade_guard::admission::{FileOptions, FileScan, Source, check_scanner, scan_files_except};
use stockade_guard::scanner::Scanner;

use crate::args::HELP;
use crate::baseline::{self, Baseline, KnownFinding};
use crate::exclusions::Exclusions;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::styles;
use crate::render::style::ColorChoice;
use crate::report::fail_on::FailOn;
use crate::report::fail_on::{self, Unseen};
use crate::rule_files::Rules;
use crate::suppressions::Suppressions;
use page::{Page, Printer};
use stockade_guard::admission::scan_report::ScanTally;
use stockade_guard::admission::scan_report::SetAside;

const EXAMPLES: &str = "\
Examples:
  stockade scan                            scan what is piped in
  stockade scan skills/ AGENTS.md          scan folders and files
  stockade scan --fail-on warn skills/     let suspicious text fail, too
  stockade scan --rules team.toml skills/  add rules of your own
  stockade scan --exclude node_modules .   leave a folder out, and say so
  stockade scan --baseline known.json .    let only fail what is new since 'scan --write-baseline known.json .'
  stockade scan --format sarif skills/     the same for a code host, or json, jsonl, junit, github
  stockade scan --format html skills/ > page.html";

const EXIT_CODES: &str = "\
Exit codes:
  0  clean: everything was scanned, and nothing at or above --fail-on was found
  1  found: something at or above --fail-on, whether or not everything could be scanned
  2  the command line or a rule file is wrong
  3  incomplete: nothing found, but something could not be scanned

What is scanned: every file of a folder, hidden and ignored ones and .git too. Links are not followed; one that leads
out of the folder makes the scan incomplete, and so do pipes, devices and whatever cannot be read. Of binary data, the
plain text inside is scanned. Pictures, fonts and sounds are listed. With anything else that is no text nothing is called clean: an
archive, a program, data behind a picture or within a text; with --strict the scan is incomplete then. What --exclude leaves out is listed in the answer, and the exit code is that of the rest; no file
of the folder can exclude anything.

Globs of --exclude: 'node_modules' is a file or folder of this name at any depth, 'node_modules/' a folder, '/dist' and
'docs/*.md' what lies so in the folder that is named, '**/dist' at any depth. What is named itself is always scanned.

Suppressions: a row of the list is [[suppress]] with rule, path (as the answer has it), sha256 (as 'sha256sum' prints it), reason and
expires (2027-06-30). It holds for this rule, this file and this content, until this day. What is in the baseline is known as long as
its file does not change. What is suppressed or known is listed in the answer, and nothing is called clean then. A list that lies in
what is scanned and is not named is told of, and excuses nothing.";

/// The largest `--max-file-size`. A file is held in memory while it is scanned, decoded if need be.
const MAX_FILE_SIZE: usize = 1 << 30;

/// The most `--threads`. Each may hold a whole file in memory.
const MAX_THREADS: usize = 256;

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = EXIT_CODES)]
pub(crate) struct ScanArgs {
    /// Files and folders to scan; - is standard input, and so is nothing at all where something is piped in
    paths: Vec<PathBuf>,

    /// How to print
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: ScanFormat,

    /// The mildest finding that makes the exit code 1
    #[arg(long, value_name = "SEVERITY", default_value = "critical")]
    fail_on: FailOn,

    /// A file of your own rules (TOML, YAML or JSON), added to the built-in ones; may be repeated
    #[arg(long, value_name = "FILE")]
    rules: Vec<PathBuf>,

    /// What to leave out of folders, as a line of a .gitignore says it; may be repeated, and the answer lists it
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<String>,

    /// A file with such globs, one on a line; lines with # say nothing, and no file is read that is not named
    #[arg(long, value_name = "FILE")]
    exclude_from: Vec<PathBuf>,

    /// A list of findings that somebody looked at (TOML): rule, path, sha256, reason and expires of each; may be repeated
    #[arg(long, value_name = "FILE")]
    suppressions: Vec<PathBuf>,

    /// What was found before: only what is new counts, and all that is found in files that changed
    #[arg(long, value_name = "FILE", visible_alias = "fail-on-new")]
    baseline: Option<PathBuf>,

    /// Keep what is found for --baseline, in this file
    #[arg(long, value_name = "FILE", conflicts_with = "baseline")]
    write_baseline: Option<PathBuf>,

    /// Let what nobody looked into make the scan incomplete, too: archives, programs, unknown data, and what was excluded
    #[arg(long)]
    strict: bool,

    /// Bytes of a file to scan at most, such as 500K or 64M; a larger one makes the scan incomplete
    #[arg(long, value_name = "SIZE", default_value = "16M", value_parser = parse_size)]
    max_file_size: usize,

    /// How many threads to use [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    threads: Option<NonZeroUsize>,

    /// A file name for standard input; its ending tells how to read it
    #[arg(long, value_name = "NAME", default_value = "stdin")]
    stdin_path: PathBuf,

    /// Print nothing; the exit code is the answer
    #[arg(long, short)]
    quiet: bool,
}

/// How to print: for people, as one document or a line for each finding, for code hosts, as a report of tests, for
/// workflows of GitHub, or as a page for a browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScanFormat {
    Text,
    Json,
    Jsonl,
    Sarif,
    Junit,
    Github,
    Html,
}

/// Runs the command.
pub(crate) fn run(args: &ScanArgs, color: ColorChoice) -> Result<Exit, Failure> {
    let sources = sources(args)?;
    let exclusions = Exclusions::load(&args.exclude, &args.exclude_from)?;
    let rules = Rules::load(&args.rules)?;
    check_scanner(rules.scanner()).map_err(Failure::incomplete)?;
    let lists = Lists::load(args, rules.scanner())?;
    let mut found = Vec::new();
    let page = scan(args, &sources, (&exclusions, &lists), rules.scanner(), color, &mut found);
    // Nothing was named and nothing came: "clean" would be an answer to a question that nobody asked.
    if args.paths.is_empty() && page.tally.bytes == 0 && page.tally.complete() {
        return Err(nothing_to_scan("no path was named and standard input is empty"));
    }
    if let Some(path) = &args.write_baseline {
        baseline::write(path, found)?;
    }
    let (output, tally) = page.end();
    let unseen = if args.strict { Unseen::Fails } else { Unseen::Told };
    output.finish(fail_on::exit(&tally, args.fail_on, unseen))
}

fn scan<'s>(
    args: &ScanArgs,
    sources: &[Source],
    (exclusions, lists): (&Exclusions, &Lists),
    scanner: &'s Scanner,
    color: ColorChoice,
    found: &mut Vec<KnownFinding>,
) -> Page<'s> {
    let options =
        FileOptions { max_file_bytes: args.max_file_size, threads: args.threads, ..FileOptions::default() };
    let format = (!args.quiet).then_some(args.format);
    let printer = Printer { format, styles: styles(color), fail_on: args.fail_on, scanner };
    let mut page = Page::new(printer);
    scan_files_except(
        sources,
        &|below, kind| exclusions.holds(below, kind),
        scanner,
        &options,
        |mut file| {
            let set_aside = lists.apply(&mut file);
            let known = if args.write_baseline.is_some() { baseline::known(&file) } else { Vec::new() };
            let tally = ScanTally { set_aside, ..ScanTally::of(&file) }.with_surfaces(&file, sources);
            (printer.file(&file), tally, known)
        },
        |(printed, tally, known)| {
            found.extend(known);
            page.add(&printed, tally)
        },
    );
    page
}

/// What says of findings that they do not count.
struct Lists {
    suppressions: Suppressions,
    baseline: Option<Baseline>,
}

impl Lists {
    fn load(args: &ScanArgs, scanner: &Scanner) -> Result<Self, Failure> {
        let others: Vec<&PathBuf> =
            args.exclude_from.iter().chain(&args.baseline).chain(&args.write_baseline).collect();
        let suppressions = Suppressions::load(&args.suppressions, &others, scanner)?;
        let baseline = args.baseline.as_deref().map(Baseline::load).transpose()?;
        Ok(Self { suppressions, baseline })
    }

    /// Takes out of the report of a file what does not count.
    fn apply(&self, file: &mut FileScan<'_>) -> SetAside {
        let mut rows = self.suppressions.apply(file);
        rows.extend(self.baseline.iter().flat_map(|baseline| baseline.apply(file)));
        SetAside::of(rows)
    }
}

/// Returns what to scan.
fn sources(args: &ScanArgs) -> Result<Vec<Source>, Failure> {
    let stdin = || Source::Stdin { name: args.stdin_path.clone() };
    if args.paths.is_empty() {
        return match io::stdin().is_terminal() {
            true => Err(nothing_to_scan("no path was named and nothing is piped in")),
            false => Ok(vec![stdin()]),
        };
    }
    let source = |path: &PathBuf| match path.as_path() == Path::new("-") {
        true => stdin(),
        false => Source::Path(path.clone()),
    };
    Ok(args.paths.iter().map(source).collect())
}

fn nothing_to_scan(why: &str) -> Failure {
    Failure::usage(format_args!("nothing to scan: {why}")).with_help(
        "name a file or a folder, 'stockade scan skills/', or pipe a text in, 'stockade scan < SKILL.md'",
    )
}

/// Reads a number of threads.
fn parse_threads(text: &str) -> Result<NonZeroUsize, String> {
    let threads = text.parse::<NonZeroUsize>().ok().filter(|threads| threads.get() <= MAX_THREADS);
    threads.ok_or_else(|| format!("expected a number from 1 to {MAX_THREADS}"))
}

/// Reads a number of bytes: `4096`, `500K`, `64M`, `1G`.
fn parse_size(text: &str) -> Result<usize, String> {
    let (number, unit) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (text.get(..at), 1 << 10),
        Some((at, 'm' | 'M')) => (text.get(..at), 1 << 20),
        Some((at, 'g' | 'G')) => (text.get(..at), 1 << 30),
        _ => (Some(text), 1),
    };
    let bytes =
        number.and_then(|number| number.parse::<usize>().ok()).and_then(|number| number.checked_mul(unit));
    bytes
        .filter(|bytes| *bytes <= MAX_FILE_SIZE)
        .ok_or_else(|| "expected a number of bytes up to 1G, such as 4096, 500K or 64M".to_owned())
}

#[cfg(test)]
mod tests {
    use super::parse_size;

    #[test]
    fn sizes() {
        let good = [("0", 0), ("4096", 4096), ("500K", 512_000), ("64m", 64 << 20), ("1G", 1 << 30)];
        for (text, bytes) in good {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
        for text in ["", "K", "-1", "1.5M", "1 M", "2G", "99999999999999999999", "1KB", "µ"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }
}
