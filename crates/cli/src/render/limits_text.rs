//! Text output about limits and usage of agents.

use std::fmt::Write as _;
use std::time::Duration;

use stockade_guard::limits::breaker::BreakerPhase;
use stockade_guard::limits::budget::{Allowance, Balance};
use stockade_guard::limits::store::{AgentLimits, AgentStatus};
use stockade_guard::limits::{Cap, MicroUsd};

use stockade_text::escape;

use super::style::Styles;
use crate::report::agent_limits::AgentAccount;

/// Maximum number of tasks of an agent, those with the highest usage.
const MAX_TASKS: usize = 5;

/// Formats a block of lines for each agent.
pub(crate) fn agents(agents: &[AgentAccount], now: Duration, styles: Styles) -> String {
    if agents.is_empty() {
        return "no usage recorded\n".to_owned();
    }
    agents.iter().fold(String::new(), |mut out, agent| {
        push_agent(&mut out, agent, now, styles);
        out
    })
}

fn push_agent(out: &mut String, agent: &AgentAccount, now: Duration, styles: Styles) {
    let Styles { critical, warn, good, strong, reset, .. } = styles;
    let (color, word) = match &agent.status {
        Err(_) => (warn, "unknown"),
        Ok(status) if status.refuses() => (critical, "refused"),
        Ok(_) => (good, "ok"),
    };
    writeln!(out, "{color}{word:7}{reset}  {strong}{}{reset}", escape(&agent.name)).ok();
    let rows = match &agent.status {
        Ok(status) => rows(&agent.limits, status, now),
        Err(error) => vec![("unreadable".to_owned(), escape(error).into_owned())],
    };
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or_default();
    for (name, text) in rows {
        writeln!(out, "         {name:width$}  {text}").ok();
    }
}

fn rows(limits: &AgentLimits, status: &AgentStatus, now: Duration) -> Vec<(String, String)> {
    let budget = &limits.budget;
    let mut rows = vec![
        ("last hour".to_owned(), account(&status.hour, budget.per_hour, now)),
        ("last day".to_owned(), account(&status.day, budget.per_day, now)),
        ("breaker".to_owned(), breaker(status, limits.breaker.failure_threshold.get(), now)),
    ];
    rows.extend(most_used(status).into_iter().map(|(name, balance)| {
        (format!("task {}", escape(name)), account(balance, budget.per_execution, now))
    }));
    if let Some(more) = status.executions.len().checked_sub(MAX_TASKS).filter(|more| *more > 0) {
        rows.push((String::new(), format!("{more} more tasks used less; --format json shows all")));
    }
    rows
}

fn most_used(status: &AgentStatus) -> Vec<&(String, Balance)> {
    let mut tasks: Vec<_> = status.executions.iter().collect();
    tasks.sort_by_key(|(_, balance)| std::cmp::Reverse(balance.used.plus(balance.reserved).tokens));
    tasks.truncate(MAX_TASKS);
    tasks
}

/// `1500 of 10000000 tokens (300 reserved), $0.50 of $2.00; the oldest usage expires in 60m`
fn account(balance: &Balance, allowance: Allowance, now: Duration) -> String {
    let counted = balance.used.plus(balance.reserved);
    let mut text = format!("{} of {} tokens", counted.tokens, cap(allowance.tokens));
    if balance.reserved.tokens > 0 {
        write!(text, " ({} reserved)", balance.reserved.tokens).ok();
    }
    // Costs are omitted if prices are unknown.
    if counted.cost > MicroUsd::ZERO || allowance.cost != Cap::Unlimited {
        write!(text, ", {} of {}", counted.cost, cap(allowance.cost)).ok();
    }
    if balance.is_exhausted() {
        text.push_str("; exhausted");
    }
    if let Some(at) = balance.frees_at {
        write!(text, "; the oldest usage expires in {}", span(at.saturating_sub(now))).ok();
    }
    text
}

fn cap<T: std::fmt::Display>(cap: Cap<T>) -> String {
    match cap {
        Cap::Unlimited => "unlimited".to_owned(),
        Cap::AtMost(most) => most.to_string(),
    }
}

fn breaker(status: &AgentStatus, threshold: u32, now: Duration) -> String {
    match (status.breaker, status.retry_at) {
        (BreakerPhase::Closed, _) => {
            format!("closed, {} of {threshold} consecutive failures", status.failures)
        }
        (BreakerPhase::Open, Some(at)) => {
            format!("open: too many failures; one trial call is allowed in {}", span(at.saturating_sub(now)))
        }
        (_, Some(at)) => {
            format!("half open: a trial call is in progress; retry in {}", span(at.saturating_sub(now)))
        }
        (_, None) => "half open: one trial call is allowed".to_owned(),
    }
}

/// Formats a waiting time, rounded up.
fn span(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..120 => format!("{}s", seconds + 1),
        120..7200 => format!("{}m", seconds.div_ceil(60)),
        _ => format!("{}h", seconds.div_ceil(3600)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_times_are_rounded_up() {
        for (millis, told) in [
            (0, "1s"),
            (999, "1s"),
            (119_999, "120s"),
            (120_001, "2m"),
            (7_199_000, "120m"),
            (86_399_000, "24h"),
        ] {
            assert_eq!(span(Duration::from_millis(millis)), told);
        }
    }
}
