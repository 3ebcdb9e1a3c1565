//! `stockade why`: explains a recorded decision, or one that would be made, and how to change it.
#![expect(clippy::disallowed_methods, reason = "checks whether a file exists")]

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
  stockade why                                      explain the latest refusal
  stockade why 6f1c0a9be2d34c58a7e9                 explain the decision with this id, as shown by a refusal
  stockade why 'rm -rf build'                       explain the decision about a command, with the rule and its file
  stockade why ~/.ssh/id_rsa                        check whether tools and commands may read or write this
  stockade why api.example.com:443 --agent claude   check whether this agent's commands may connect to this host
  stockade why make --as path                       read the argument as a path, not as a program
  stockade why --file audit.jsonl --format json     read another trail, and print JSON";

const MORE: &str = "\
Exit codes:
  0  the decision is on record; or everything about the argument is allowed, perhaps in a sandbox
  1  no such decision, or no refusal, is on record; or something about the argument is not allowed unchanged
  2  the command line or the configuration is wrong
  3  the trail, or something that is needed for the answer, could not be read

The kind of the argument is the first that its form matches: the id of a decision (16 or more digits 0-9a-f), a path that starts with /, .
or ~/, a URL, a command with several words or shell syntax. Any other word is a path if that file exists or it contains a slash, or else a
tool that the rules know, a host, or a command. Other possible kinds are listed, and --as selects one. With --file, the argument is the id
of a decision.

Nothing is run, opened, changed or recorded. The answer comes from the same session that decides about an agent's calls. Budgets are not
considered (see 'stockade limits').

A command with a host allowlist can ask itself: a refused HTTP request is answered with the decision as JSON, and all recent refusals
are at http://stockade.internal/v1/why within its sandbox.";

/// Number of recent decisions that are searched for the agent.
#[cfg(target_os = "linux")]
const RECENT: usize = 500;

/// Effect of a refused decision, in every layer.
const REFUSED: &str = "deny";

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = MORE)]
pub(crate) struct WhyArgs {
    /// Id of a decision, or a command, path, host or tool [default: the latest refusal]
    #[arg(value_name = "ID|COMMAND|PATH|HOST|TOOL")]
    what: Option<String>,

    /// Kind of the argument [default: by its form]
    #[arg(long = "as", value_name = "KIND", requires = "what")]
    kind: Option<Kind>,

    /// Agent whose configuration to use [default: the one that was last asked about or refused this, or `default`]
    #[arg(long, value_name = "ID", value_parser = stockade_state::agents::parse_name, conflicts_with = "file")]
    agent: Option<String>,

    /// Workspace of the agent
    #[arg(long, short, value_name = "FOLDER", default_value = ".", conflicts_with = "file")]
    workspace: PathBuf,

    /// Audit trail: an SQLite database, or JSON lines in a file that ends in .jsonl [default: your own]
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,

    /// Output format
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

/// Decisions that would be made, as JSON.
#[cfg(target_os = "linux")]
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Asking<'a> {
    asked: &'a str,
    kind: Kind,
    /// Other kinds that the argument could be.
    or: &'a [Kind],
    agent: &'a str,
    workspace: String,
    decisions: &'a [Answer],
}

/// Explains what would be decided about an argument.
#[cfg(target_os = "linux")]
fn decided(args: &WhyArgs, what: &str, kind: Kind, or: &[Kind], color: ColorChoice) -> Result<Exit, Failure> {
    let agent = args.agent.clone().or_else(|| refused_agent(what));
    let agent = agent.as_deref().unwrap_or("default");
    let whom = answer::Asked::open(agent, &args.workspace)?;
    let answers = whom.answers(kind, what)?;
    let asking = Asking {
        asked: what,
        kind,
        or,
        agent,
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

/// Returns the agent that was last asked about or refused exactly this, if that is on record.
#[cfg(target_os = "linux")]
fn refused_agent(what: &str) -> Option<String> {
    let trail = audit::open(None).ok()?;
    let query = AuditQuery { decisions: true, limit: RECENT, ..AuditQuery::default() };
    let is_it = |record: &AuditRecord| {
        matches!(record.decision.as_deref(), Some("ask" | REFUSED)) && about(record).as_deref() == Some(what)
    };
    trail.query(&query).ok()?.into_iter().find(is_it)?.agent
}

/// Sessions exist only where commands can run.
#[cfg(not(target_os = "linux"))]
fn decided(_: &WhyArgs, _: &str, kind: Kind, _: &[Kind], _: ColorChoice) -> Result<Exit, Failure> {
    Err(Failure::usage(format_args!("decisions about a {} are only explained on Linux", kind.name())))
}

/// Explains a recorded decision.
fn on_record(args: &WhyArgs, id: Option<&str>) -> Result<Exit, Failure> {
    let record = find(&audit::open(args.file.clone())?, id)?;
    let printed = match (args.format, &record, id) {
        (Format::Json, record, _) => format!("{}\n", to_printable_json(&Found { decision: record.as_ref() })),
        (Format::Text, Some(record), _) => told(record),
        (Format::Text, None, Some(id)) => format!("no decision {} is recorded\n", escape(id)),
        (Format::Text, None, None) => "no refusal was recorded\n".to_owned(),
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

/// Formats all known details, one on a line, the most useful first.
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
