//! `stockade limits reset`: resets the limits of an agent, for example after a mistake. The reset is recorded first.

use std::ops::ControlFlow;

use clap::ValueEnum;
use serde_json::json;
use stockade_guard::audit::{AuditEvent, AuditTrail, EventKind, Recorded, field};
use stockade_guard::limits::store::LimitReset;
use stockade_text::escape;

use super::{LimitFile, chosen, configuration, unreadable};
use crate::args::Format;
use crate::confirm::confirmed;
use crate::exit::Exit;
use crate::failure::{Failure, with_causes};
use crate::output::Output;
use stockade_state::trail;
use stockade_text::to_printable_json;

/// Maximum number of names in a prompt.
const MAX_NAMES: usize = 10;

/// Reset the budgets and circuit breaker of an agent
///
/// Asks for confirmation on a terminal. Each reset is recorded in the audit trail of the configuration first, and is not made if
/// it cannot be recorded.
#[derive(Debug, clap::Args)]
pub(super) struct ResetArgs {
    /// Agents to reset
    #[arg(value_name = "AGENT", required_unless_present = "all", conflicts_with = "all")]
    agents: Vec<String>,

    /// Reset all agents
    #[arg(long)]
    all: bool,

    /// Reset only the budget or only the circuit breaker
    #[arg(long, value_name = "PART")]
    only: Option<Part>,

    /// Do not ask for confirmation
    #[arg(long, short)]
    yes: bool,

    #[command(flatten)]
    limits: LimitFile,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    Budget,
    Breaker,
}

pub(super) fn run(args: &ResetArgs, format: Format) -> Result<Exit, Failure> {
    let store = args.limits.to_change()?;
    let agents = chosen(&*store, &args.agents)?;
    let mut output = Output::new();
    if agents.is_empty() {
        let _: ControlFlow<()> = output.write(&told(&agents, format));
        return output.finish(Exit::Clean);
    }
    if !args.yes && !confirmed(&question(args.only, &agents), "use --yes to reset without asking")? {
        return Err(Failure::found("nothing was reset: not confirmed"));
    }
    let config = configuration()?;
    let trail = trail::open(&config).map_err(|error| unrecorded(&error))?;
    for agent in &agents {
        record(&trail, agent, args.only)?;
        store.reset(agent, part(args.only)).map_err(|error| unreadable(&error))?;
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
        // With `audit.onUnrecorded = "warn"`, the reset is made anyway.
        Recorded::Kept(_) | Recorded::Lost(_) => Ok(()),
    }
}

fn part(only: Option<Part>) -> LimitReset {
    match only {
        None => LimitReset::All,
        Some(Part::Budget) => LimitReset::Budget,
        Some(Part::Breaker) => LimitReset::Breaker,
    }
}

fn question(only: Option<Part>, agents: &[String]) -> String {
    let what = match only {
        None => "usage and failures",
        Some(Part::Budget) => "usage",
        Some(Part::Breaker) => "failures",
    };
    let names: Vec<_> = agents.iter().take(MAX_NAMES).map(|name| escape(name).into_owned()).collect();
    let more = match agents.len().saturating_sub(MAX_NAMES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("Reset {what} of {}{more}? [y/N] ", names.join(", "))
}

fn told(agents: &[String], format: Format) -> String {
    match format {
        Format::Json => format!("{}\n", to_printable_json(&json!({ "reset": agents }))),
        Format::Text if agents.is_empty() => "no usage recorded\n".to_owned(),
        Format::Text => agents.iter().map(|agent| format!("reset {}\n", escape(agent))).collect(),
    }
}

fn unrecorded(error: &dyn std::error::Error) -> Failure {
    Failure::incomplete(format_args!("cannot record the reset, so nothing was reset: {}", with_causes(error)))
        .with_help("run `stockade doctor` to check the audit trail, or set another file with `audit.path`")
}

impl Part {
    const fn name(self) -> &'static str {
        match self {
            Self::Budget => "budget",
            Self::Breaker => "breaker",
        }
    }
}
