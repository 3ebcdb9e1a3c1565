//! `stockade why`: what a decision on record was about, why it fell out so, and what would change it.

use std::ops::ControlFlow;
use std::path::PathBuf;

use serde::Serialize;
use stockade_guard::audit::{AuditQuery, AuditRecord, AuditTrail};
use stockade_text::escape;

use super::audit;
use crate::args::{Format, HELP};
use crate::exit::Exit;
use crate::failure::{Failure, with_causes};
use crate::output::Output;
use crate::render::json::to_json;
use crate::report::record_facts::{about, detail};

const EXAMPLES: &str = "\
Examples:
  stockade why                                      what was refused last
  stockade why 6f1c0a9be2d34c58a7e9                 the decision of this name, as a refusal tells it
  stockade why --file audit.jsonl --format json     from another trail, for programs";

const MORE: &str = "\
Exit codes:
  0  it is on record
  1  nothing of that name is on record, or nothing was refused
  2  the command line is wrong
  3  the trail could not be read

A command that is held to hosts is told itself: a refused request of HTTP is answered with this as JSON, and all that was refused
of late is at http://stockade.internal/v1/why within its sandbox.";

/// What was refused, whatever layer refused it.
const REFUSED: &str = "deny";

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = MORE)]
pub(crate) struct WhyArgs {
    /// The name of the decision: its `id` [default: the last that was refused]
    #[arg(value_name = "ID")]
    id: Option<String>,

    /// The trail: an SQLite database, or lines of JSON in a file that ends in .jsonl [default: that of this user]
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,

    /// How to print
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

#[derive(Serialize)]
struct Found<'r> {
    decision: Option<&'r AuditRecord>,
}

/// Runs the command.
pub(crate) fn run(args: &WhyArgs) -> Result<Exit, Failure> {
    let record = find(&audit::open(args.file.clone())?, args.id.as_deref())?;
    let printed = match (args.format, &record, &args.id) {
        (Format::Json, record, _) => format!("{}\n", to_json(&Found { decision: record.as_ref() })),
        (Format::Text, Some(record), _) => told(record),
        (Format::Text, None, Some(id)) => format!("no decision on record is called {}\n", escape(id)),
        (Format::Text, None, None) => "nothing on record was refused\n".to_owned(),
    };
    let mut output = Output::new();
    let _: ControlFlow<()> = output.write(&printed);
    output.finish(if record.is_some() { Exit::Clean } else { Exit::Found })
}

fn find(trail: &AuditTrail, id: Option<&str>) -> Result<Option<AuditRecord>, Failure> {
    let query = AuditQuery {
        name: id.map(str::to_owned),
        decisions: true,
        decision: id.is_none().then(|| REFUSED.to_owned()),
        limit: 1,
        ..AuditQuery::default()
    };
    let found = trail.query(&query).map_err(|error| Failure::incomplete(with_causes(&error)))?;
    Ok(found.into_iter().next())
}

/// Each thing that is known on a line, in the order in which somebody asks for it.
fn told(record: &AuditRecord) -> String {
    let detail = |name| detail(record, name);
    let rows = [
        ("decision", record.decision.clone()),
        ("about", about(record)),
        ("rule", record.rule.clone()),
        ("because", detail("reason")),
        ("to allow it", detail("toAllow")),
        ("agent", record.agent.clone()),
        ("run", record.run.clone().or_else(|| detail("startedBy"))),
        ("when", Some(record.timestamp.clone())),
        ("record", Some(format!("{} ({})", record.id, record.event))),
        ("id", detail("id")),
    ];
    let known = rows.into_iter().filter_map(|(name, value)| Some((name, value?)));
    known.map(|(name, value)| format!("{name:<12} {}\n", escape(&value))).collect()
}
