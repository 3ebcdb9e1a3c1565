//! `stockade report`: the audit trail as an HTML page.
#![expect(
    clippy::disallowed_methods,
    reason = "reads the clock, and checks whether standard output is a terminal"
)]

use std::io::{self, IsTerminal as _};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::SystemTime;

use stockade_guard::audit::Timestamp;
use stockade_text::escape_path;

use super::audit;
use crate::args::HELP;
use crate::exit::Exit;
use crate::failure::{Failure, with_causes};
use crate::output::Output;
use crate::render::records_html;
use crate::report::record_tally::RecordTally;
use stockade_state::when::parse_when;

const EXAMPLES: &str = "\
Examples:
  stockade report > report.html                write a page of all records
  stockade report --since 7d > week.html       only the last seven days
  stockade report --file other.db > page.html  read another trail";

const MORE: &str = "\
Exit codes:
  0  the trail is intact
  1  the trail was changed; the page says so at the top
  2  the command line is wrong
  3  the trail could not be read

The page is a single file without scripts that loads nothing, and it shows untrusted text escaped.";

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = MORE)]
pub(crate) struct ReportArgs {
    /// Only records since: 2026-11-21, 2026-11-21T09:30, or an age such as 90s, 30m, 2h or 7d
    #[arg(long, value_name = "WHEN", value_parser = parse_when_now)]
    since: Option<Timestamp>,

    /// Only records before this time, in the same formats
    #[arg(long, value_name = "WHEN", value_parser = parse_when_now)]
    until: Option<Timestamp>,

    /// Audit trail: an SQLite database, or JSON lines in a file that ends in .jsonl [default: your own]
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
}

/// Runs the command.
pub(crate) fn run(args: &ReportArgs) -> Result<Exit, Failure> {
    if io::stdout().is_terminal() {
        return Err(Failure::usage("the report is an HTML page, and standard output is a terminal")
            .with_help("write it to a file: stockade report > report.html"));
    }
    let path = audit::path(args.file.clone())?;
    let trail = audit::open(Some(path.clone()))?;
    let unreadable = |error: &_| Failure::incomplete(with_causes(error));
    let verified = trail.verify(None).map_err(|error| unreadable(&error))?;
    let mut tally = RecordTally::default();
    let read = trail.each(|record| {
        if args.holds(&record.timestamp) {
            tally.add(&record);
        }
        ControlFlow::Continue(())
    });
    // For a damaged trail, the page shows the records before the damage, and a warning.
    if let Some(error) = read.err().filter(|_| verified.intact()) {
        return Err(unreadable(&error));
    }
    let mut output = Output::new();
    let _: ControlFlow<()> = output.write(&records_html::page(&escape_path(&path), &tally, &verified));
    output.finish(if verified.intact() { Exit::Clean } else { Exit::Found })
}

impl ReportArgs {
    /// Whether a record is in the selected period. One with an invalid time is included, since it is suspicious.
    fn holds(&self, timestamp: &str) -> bool {
        let Some(at) = Timestamp::parse(timestamp) else { return true };
        self.since.is_none_or(|since| at >= since) && self.until.is_none_or(|until| at < until)
    }
}

fn parse_when_now(text: &str) -> Result<Timestamp, String> {
    parse_when(text, SystemTime::now().into())
}
