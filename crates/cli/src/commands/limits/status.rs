//! `stockade limits status`: shows the used and remaining limits of each agent, and its circuit breaker.

use std::ops::ControlFlow;
use std::time::Duration;

use serde::Serialize;
use stockade_guard::limits::breaker::BreakerPhase;
use stockade_guard::limits::budget::{Allowance, Balance};
use stockade_guard::limits::store::{AgentStatus, ManagedStore};
use stockade_guard::limits::{Cap, MicroUsd};

use super::{LimitFile, chosen, configuration, of_known};
use crate::args::Format;
use crate::exit::Exit;
use crate::failure::{Failure, with_causes};
use crate::output::{Output, styles};
use crate::render::limits_text;
use crate::render::style::ColorChoice;
use crate::report::agent_limits::AgentAccount;
use stockade_text::to_printable_json;

/// Show used and remaining budgets of each agent, and its circuit breaker
///
/// Limits are those of the configuration for the current directory. Exits with 1 if every call of at least one agent would be
/// refused now.
#[derive(Debug, clap::Args)]
pub(super) struct StatusArgs {
    /// Agents to show [default: all]
    #[arg(value_name = "AGENT")]
    agents: Vec<String>,

    #[command(flatten)]
    limits: LimitFile,
}

pub(super) fn run(args: &StatusArgs, format: Format, color: ColorChoice) -> Result<Exit, Failure> {
    let (agents, now) = args.accounts()?;
    let mut output = Output::new();
    let _: ControlFlow<()> = output.write(&printed(&agents, now, format, color));
    output.finish(exit(&agents))
}

impl StatusArgs {
    /// The chosen agents, and the time of reading.
    pub(super) fn accounts(&self) -> Result<(Vec<AgentAccount>, Duration), Failure> {
        match self.limits.to_read()? {
            Some(store) => kept(&*store, &self.agents),
            // Without a file, nothing is recorded yet, and no agent is known.
            None => of_known(Vec::new(), &self.agents).map(|_| (Vec::new(), Duration::ZERO)),
        }
    }
}

pub(super) fn printed(agents: &[AgentAccount], now: Duration, format: Format, color: ColorChoice) -> String {
    match format {
        Format::Text => limits_text::agents(agents, now, styles(color)),
        Format::Json => {
            let agents: Vec<Row<'_>> = agents.iter().map(|agent| Row::of(agent, now)).collect();
            format!("{}\n", to_printable_json(&List { agents }))
        }
    }
}

/// Returns the agents with recorded usage as text; empty without any.
#[cfg(target_os = "linux")]
pub(super) fn shown() -> Result<String, Failure> {
    let Some(store) = LimitFile { file: None }.to_read()? else { return Ok(String::new()) };
    let (agents, now) = kept(&*store, &[])?;
    Ok(if agents.is_empty() {
        String::new()
    } else {
        limits_text::agents(&agents, now, crate::render::style::Styles::PLAIN)
    })
}

/// The agents with recorded usage, and the time of reading.
fn kept(store: &dyn ManagedStore, named: &[String]) -> Result<(Vec<AgentAccount>, Duration), Failure> {
    let config = configuration()?;
    let mut latest = Duration::ZERO;
    let agents = chosen(store, named)?.into_iter().map(|name| {
        // The agent was in the configuration when its usage was recorded.
        let limits = config.agent(&name).or_else(|_| config.agent("*")).map(|agent| agent.limits);
        let limits = limits.unwrap_or_default();
        let status = store.look(&name).map(|look| {
            latest = latest.max(look.now);
            look.state.status(&limits, look.now)
        });
        AgentAccount { name, limits, status: status.map_err(|error| with_causes(&error)) }
    });
    let agents = agents.collect();
    Ok((agents, latest))
}

/// A refusal takes precedence over an incomplete result, as in all commands.
fn exit(agents: &[AgentAccount]) -> Exit {
    if agents.iter().any(|agent| agent.status.as_ref().is_ok_and(AgentStatus::refuses)) {
        return Exit::Found;
    }
    match agents.iter().all(|agent| agent.status.is_ok()) {
        true => Exit::Clean,
        false => Exit::Incomplete,
    }
}

#[derive(Serialize)]
struct List<'a> {
    agents: Vec<Row<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row<'a> {
    agent: &'a str,
    /// Why its record cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    #[serde(flatten)]
    status: Option<Status<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Status<'a> {
    refused: bool,
    hour: Account,
    day: Account,
    executions: Vec<Task<'a>>,
    breaker: Breaker,
}

#[derive(Serialize)]
struct Task<'a> {
    name: &'a str,
    #[serde(flatten)]
    account: Account,
}

/// Tokens, and US dollars; a cap of `null` is no limit.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Account {
    used: u64,
    reserved: u64,
    cap: Option<u64>,
    left: Option<u64>,
    used_usd: f64,
    reserved_usd: f64,
    cap_usd: Option<f64>,
    left_usd: Option<f64>,
    /// When the oldest usage leaves the window.
    frees_in_ms: Option<u64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Breaker {
    state: &'static str,
    failures: u32,
    failure_threshold: u32,
    retry_in_ms: Option<u64>,
}

impl<'a> Row<'a> {
    fn of(agent: &'a AgentAccount, now: Duration) -> Self {
        let until = |at: Option<Duration>| {
            at.map(|at| u64::try_from(at.saturating_sub(now).as_millis()).unwrap_or(u64::MAX))
        };
        let account = |balance: &Balance, allowance: Allowance| Account {
            used: balance.used.tokens,
            reserved: balance.reserved.tokens,
            cap: bound(allowance.tokens),
            left: bound(balance.tokens_left),
            used_usd: balance.used.cost.dollars(),
            reserved_usd: balance.reserved.cost.dollars(),
            cap_usd: bound(allowance.cost).map(MicroUsd::dollars),
            left_usd: bound(balance.cost_left).map(MicroUsd::dollars),
            frees_in_ms: until(balance.frees_at),
        };
        let of = |status: &'a AgentStatus| Status {
            refused: status.refuses(),
            hour: account(&status.hour, agent.limits.budget.per_hour),
            day: account(&status.day, agent.limits.budget.per_day),
            executions: status
                .executions
                .iter()
                .map(|(name, balance)| Task {
                    name,
                    account: account(balance, agent.limits.budget.per_execution),
                })
                .collect(),
            breaker: Breaker {
                state: phase_name(status.breaker),
                failures: status.failures,
                failure_threshold: agent.limits.breaker.failure_threshold.get(),
                retry_in_ms: until(status.retry_at),
            },
        };
        Self {
            agent: &agent.name,
            error: agent.status.as_ref().err().map(String::as_str),
            status: agent.status.as_ref().ok().map(of),
        }
    }
}

fn bound<T>(cap: Cap<T>) -> Option<T> {
    match cap {
        Cap::Unlimited => None,
        Cap::AtMost(most) => Some(most),
    }
}

/// The same names as in traces and scripts.
pub(crate) fn phase_name(phase: BreakerPhase) -> &'static str {
    match phase {
        BreakerPhase::Closed => "closed",
        BreakerPhase::Open => "open",
        BreakerPhase::HalfOpen => "halfOpen",
    }
}
