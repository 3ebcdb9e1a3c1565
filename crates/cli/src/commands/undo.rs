//! `stockade undo`: takes the last approval or denial back.

use std::fmt::Write as _;
use std::ops::ControlFlow;

use serde::Serialize;
use stockade_state::approvals::{Journal, JournaledApproval, Undone};
use stockade_text::{escape, to_printable_json};

use super::approval::in_the_past;
use crate::args::{Format, HELP};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  stockade undo --list      list approvals and denials, the last one first
  stockade undo             take the last one back
  stockade undo --dry-run   show what would change";

const MORE: &str = "\
Exit codes:
  0  done; or with --list
  1  nothing to take back
  2  the configuration is wrong; nothing was changed
  3  a file could not be read or written

Each 'stockade allow' and 'stockade deny' is in a journal in the state directory, the last 200 of them. What was changed by hand since
then stays as it is.";

/// Take back the last approval or denial
#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = MORE)]
pub(crate) struct UndoArgs {
    /// List approvals and denials instead, the last one first
    #[arg(long, conflicts_with = "dry_run")]
    list: bool,

    /// Show the change without making it
    #[arg(long)]
    dry_run: bool,

    /// Output format of --list
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

#[derive(Serialize)]
struct List<'l> {
    approvals: Vec<&'l JournaledApproval>,
}

/// Runs the command.
pub(crate) fn run(args: &UndoArgs) -> Result<Exit, Failure> {
    let journal = Journal::of_user()?;
    let (printed, exit) = match args.list {
        true => (listed(&journal.list()?, args.format), Exit::Clean),
        false => undone(journal.undo(!args.dry_run)?, args.dry_run),
    };
    let mut output = Output::new();
    let _: ControlFlow<()> = output.write(&printed);
    output.finish(exit)
}

fn listed(entries: &[JournaledApproval], format: Format) -> String {
    match format {
        Format::Json => {
            format!("{}\n", to_printable_json(&List { approvals: entries.iter().rev().collect() }))
        }
        Format::Text if entries.is_empty() => "no approvals and no denials\n".to_owned(),
        Format::Text => entries.iter().rev().map(|entry| format!("{}\n", words(entry))).collect(),
    }
}

fn words(entry: &JournaledApproval) -> String {
    escape(&format!("{} {}: {}", entry.kind.name(), entry.agent, entry.what)).into_owned()
}

fn undone(undone: Option<Undone>, dry_run: bool) -> (String, Exit) {
    let Some(Undone { approval, told }) = undone else {
        return ("nothing to take back: no approvals and no denials\n".to_owned(), Exit::Found);
    };
    let verb = if dry_run { "would take back" } else { "took back" };
    let mut out = format!("{verb} {}\n", words(&approval));
    if told.is_empty() {
        out.push_str("  = nothing changes: its entries were removed already\n");
    }
    for line in told {
        let line = if dry_run { format!("would {line}") } else { in_the_past(&line) };
        writeln!(out, "  = {line}").ok();
    }
    (out, Exit::Clean)
}
