//! `stockade why`: what a decision on record was about, or what would be decided; why it falls out so, and what would change it.
#![expect(clippy::disallowed_methods, reason = "asks whether there is a file of some name")]

#[cfg(target_os = "linux")]
mod answer;
mod asked;
#[cfg(target_os = "linux")]
mod shown;

use std::ops::ControlFlow;
use std::path::PathBuf;

use serde::Serialize;
use stockade_guard::audit::{AuditQuery, AuditRecord, AuditTrail};
#[cfg(target_os = "linux")]
use stockade_guard::command::Effect;
use stockade_text::escape;

#[cfg(target_os = "linux")]
use self::answer::Answer;
use self::asked::Kind;
use super::audit;
use crate::args::{Format, HELP};
use crate::exit::Exit;
use crate::failure::{Failure, with_causes};
use crate::output::Output;
#[cfg(target_os = "linux")]
use crate::output::styles;
use crate::render::style::ColorChoice;
use crate::report::record_facts::{about, detail};
use stockade_text::to_printable_json;

const EXAMPLES: &str = "\
Examples:
  stockade why                                      what was refused last
  stockade why 6f1c0a9be2d34c58a7e9                 the decision of this name, as a refusal tells it
  stockade why 'rm -rf build'                       what would become of this command, and by which rule of which file
  stockade why ~/.ssh/id_rsa                        may tools and commands read this, and write it?
  stockade why api.example.com:443 --agent claude   may the commands of this agent talk to this host?
  stockade why make --as path                       a file of this name, and not the program
  stockade why --file audit.jsonl --format json     from another trail, for programs";

const MORE: &str = "\
Exit codes:
  0  it is on record; or what was asked about is allowed, perhaps in a sandbox
  1  nothing of that name is on record, or nothing was refused; or something of what was asked about is not allowed as it is
  2  the command line or the configuration is wrong
  3  the trail, or something that is needed to answer, could not be read

A word is taken for the first of these that it has the form of: the name of a decision (16 or more digits 0-9a-f), a path that begins
with /, . or ~/, a URL, a command of several words or with signs of a shell. Any other word is a path where there is a file of
this name or it has a slash, else a tool that the rules know, else a host, else a command; what it could be as well is told, and --as
chooses. With --file it is the name of a decision.

Nothing is run, opened, changed or put on record. The answer is that of the session that decides when an agent does it; budgets are
not asked ('stockade limits').

A command that is held to hosts is told itself: a refused request of HTTP is answered with this as JSON, and all that was refused
of late is at http://stockade.internal/v1/why within its sandbox.";

/// What was refused, whatever layer refused it.
const REFUSED: &str = "deny";

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = MORE)]
pub(crate) struct WhyArgs {
    /// The name of a decision, or a command, a path, a host or a tool [default: the decision that refused something last]
    #[arg(value_name = "ID|COMMAND|PATH|HOST|TOOL")]
    what: Option<String>,

    /// What it is taken for
    #[arg(long = "as", value_name = "KIND", requires = "what")]
    kind: Option<Kind>,

    /// The agent whose configuration holds
    #[arg(long, value_name = "ID", default_value = "default", value_parser = stockade_state::agents::parse_name, conflicts_with = "file")]
    agent: String,

    /// The workspace of the agent
    #[arg(long, short, value_name = "FOLDER", default_value = ".", conflicts_with = "file")]
    workspace: PathBuf,

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
pub(crate) fn run(args: &WhyArgs, color: ColorChoice) -> Result<Exit, Failure> {
    let Some(what) = args.what.as_deref().filter(|_| args.file.is_none()) else {
        return on_record(args, args.what.as_deref());
    };
    let kinds = match args.kind {
        Some(kind) => vec![kind],
        None => asked::kinds(what, |path| std::fs::symlink_metadata(args.workspace.join(path)).is_ok()),
    };
    match kinds.split_first() {
        Some((Kind::Id, _)) | None => on_record(args, Some(what)),
        Some((kind, or)) => decided(args, what, *kind, or, color),
    }
}

/// What would be decided, as JSON.
#[cfg(target_os = "linux")]
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Asking<'a> {
    asked: &'a str,
    kind: Kind,
    /// What it could be as well.
    or: &'a [Kind],
    agent: &'a str,
    workspace: String,
    decisions: &'a [Answer],
}

/// Says what would be decided about something.
#[cfg(target_os = "linux")]
fn decided(args: &WhyArgs, what: &str, kind: Kind, or: &[Kind], color: ColorChoice) -> Result<Exit, Failure> {
    let whom = answer::Asked::open(&args.agent, &args.workspace)?;
    let answers = whom.answers(kind, what)?;
    let asking = Asking {
        asked: what,
        kind,
        or,
        agent: &args.agent,
        workspace: whom.workspace().display().to_string(),
        decisions: &answers,
    };
    let printed = match args.format {
        Format::Json => format!("{}\n", to_printable_json(&asking)),
        Format::Text => shown::text(&asking, styles(color)),
    };
    let all = answers.iter().all(|answer| answer.decision <= Effect::Sandbox);
    let mut output = Output::new();
    let _: ControlFlow<()> = output.write(&printed);
    output.finish(if all { Exit::Clean } else { Exit::Found })
}

/// Where no command runs, no session decides on anything.
#[cfg(not(target_os = "linux"))]
fn decided(_: &WhyArgs, _: &str, kind: Kind, _: &[Kind], _: ColorChoice) -> Result<Exit, Failure> {
    Err(Failure::usage(format_args!("what would be decided about a {} is told on Linux only", kind.name())))
}

/// Says what a decision on record was about.
fn on_record(args: &WhyArgs, id: Option<&str>) -> Result<Exit, Failure> {
    let record = find(&audit::open(args.file.clone())?, id)?;
    let printed = match (args.format, &record, id) {
        (Format::Json, record, _) => format!("{}\n", to_printable_json(&Found { decision: record.as_ref() })),
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
