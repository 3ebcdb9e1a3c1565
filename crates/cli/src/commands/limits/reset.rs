//! `stockade limits reset`: lets an agent begin anew, after a mistake. It is put on record before it happens.
#![expect(clippy::disallowed_methods, reason = "asks a person on the terminal")]

use std::io::{self, BufRead as _, IsTerminal as _, Read as _, Write as _};
use std::ops::ControlFlow;

use clap::ValueEnum;
use serde_json::json;
use stockade_guard::SqliteStore;
use stockade_guard::audit::{AuditEvent, AuditTrail, EventKind, Recorded, field};
use stockade_guard::limits::store::{AgentState, LimitReset, LimitStore as _, StoreError};
use stockade_text::escape;

use super::{Kept, chosen, configuration, unreadable};
use crate::args::Format;
use crate::exit::Exit;
use crate::failure::{Failure, with_causes};
use crate::output::Output;
use stockade_state::trail;
use stockade_text::to_printable_json;

/// The longest answer that is read.
const MAX_ANSWER: u64 = 64;

/// The most names that a question lists.
const MAX_NAMES: usize = 10;

/// Forget what an agent used and how its service was doing, so that it begins anew
///
/// A person on a terminal is asked first. Each reset is put on record in the audit trail of the configuration before it
/// happens, and does not happen where that is not possible.
#[derive(Debug, clap::Args)]
pub(super) struct ResetArgs {
    /// The agents
    #[arg(value_name = "AGENT", required_unless_present = "all", conflicts_with = "all")]
    agents: Vec<String>,

    /// Every agent that there is
    #[arg(long)]
    all: bool,

    /// Only one part: what was used, or whether its service is left alone
    #[arg(long, value_name = "PART")]
    only: Option<Part>,

    /// Do not ask
    #[arg(long, short)]
    yes: bool,

    #[command(flatten)]
    kept: Kept,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    Budget,
    Breaker,
}

pub(super) fn run(args: &ResetArgs, format: Format) -> Result<Exit, Failure> {
    let path = args.kept.path()?;
    let store = SqliteStore::open(&path).map_err(|error| unreadable(&error))?;
    let agents = chosen(&store, &args.agents)?;
    let mut output = Output::new();
    if agents.is_empty() {
        let _: ControlFlow<()> = output.write(&told(&agents, format));
        return output.finish(Exit::Clean);
    }
    if !args.yes && !asked(&question(args.only, &agents))? {
        return Err(Failure::found("nothing was reset, for want of a yes"));
    }
    let config = configuration()?;
    let trail = trail::open(&config).map_err(|error| unrecorded(&error))?;
    for agent in &agents {
        record(&trail, agent, args.only)?;
        reset(&store, agent, args.only).map_err(|error| unreadable(&error))?;
    }
    let _: ControlFlow<()> = output.write(&told(&agents, format));
    output.finish(Exit::Clean)
}

fn record(trail: &AuditTrail, agent: &str, only: Option<Part>) -> Result<(), Failure> {
    let part = only.map_or("all", Part::name);
    let by = rustix::process::getuid().as_raw();
    let event = AuditEvent { agent: Some(agent.into()), ..AuditEvent::new(EventKind::LimitsReset) };
    let kept = trail.record(event.with(field::PART, part).with(field::BY, u64::from(by)));
    match kept.map_err(|error| unrecorded(&error))? {
        // Where it is lost, the configuration says to go on all the same.
        Recorded::Kept(_) | Recorded::Lost(_) => Ok(()),
    }
}

fn reset(store: &SqliteStore, agent: &str, only: Option<Part>) -> Result<(), StoreError> {
    let what = match only {
        None => LimitReset::All,
        Some(Part::Budget) => LimitReset::Budget,
        Some(Part::Breaker) => LimitReset::Breaker,
    };
    match store.update(agent, &mut |state: &mut AgentState, _| state.reset(what)) {
        // What cannot be read can still be forgotten as a whole; that is what somebody asks for who names no part.
        Err(StoreError::Unreadable { .. }) if only.is_none() => store.forget(agent),
        other => other,
    }
}

fn question(only: Option<Part>, agents: &[String]) -> String {
    let what = match only {
        None => "what was used and failed",
        Some(Part::Budget) => "what was used",
        Some(Part::Breaker) => "what failed",
    };
    let names: Vec<_> = agents.iter().take(MAX_NAMES).map(|name| escape(name).into_owned()).collect();
    let more = match agents.len().saturating_sub(MAX_NAMES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("Forget {what} by {}{more}? [y/N] ", names.join(", "))
}

/// Asks a person, whose answer is no unless it is yes.
fn asked(question: &str) -> Result<bool, Failure> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Err(Failure::usage("there is no terminal to ask a person on")
            .with_help("--yes resets without asking"));
    }
    let mut answer = String::new();
    let mut read = || {
        io::stderr().write_all(question.as_bytes())?;
        io::stdin().lock().take(MAX_ANSWER).read_line(&mut answer)
    };
    read().map_err(|error| Failure::incomplete(format_args!("cannot ask: {error}")))?;
    Ok(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()))
}

fn told(agents: &[String], format: Format) -> String {
    match format {
        Format::Json => format!("{}\n", to_printable_json(&json!({ "reset": agents }))),
        Format::Text if agents.is_empty() => "nothing was used by any agent\n".to_owned(),
        Format::Text => agents.iter().map(|agent| format!("reset {}\n", escape(agent))).collect(),
    }
}

fn unrecorded(error: &dyn std::error::Error) -> Failure {
    Failure::incomplete(format_args!(
        "the reset cannot be put on record, so it does not happen: {}",
        with_causes(error)
    ))
    .with_help("`stockade doctor` says what is wrong with the audit trail; `audit.path` names another")
}

impl Part {
    const fn name(self) -> &'static str {
        match self {
            Self::Budget => "budget",
            Self::Breaker => "breaker",
        }
    }
}
