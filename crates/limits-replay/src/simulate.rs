//! Replays a trace of tool calls through all limits together.

mod chart;

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::chart::chart;

use crate::fingerprint::fingerprint_of;
use stockade_limits::breaker::{
    Breaker, BreakerAdmission, BreakerPermit, BreakerPhase, BreakerSettings, CallOutcome,
};
use stockade_limits::budget::{Budget, BudgetLimits, BudgetScope, Reservation, Reserved};
use stockade_limits::retry::{ErrorClass, Fingerprint, Retries, RetrySettings};
use stockade_limits::steps::{Step, Steps};
use stockade_limits::{MicroUsd, Usage};

/// A trace: the limits, and the calls that an agent makes.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Trace {
    /// The limits; what is not written is the default.
    #[serde(default)]
    pub limits: TraceLimits,
    /// The calls, in the order of their times.
    pub calls: Vec<TraceCall>,
}

/// All limits together, as a configuration writes them.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct TraceLimits {
    /// Tokens and money.
    pub budget: BudgetLimits,
    /// When a failing service is left alone.
    pub breaker: BreakerSettings,
    /// Tool uses in one execution.
    pub max_steps: u32,
    /// When a call is not worth repeating.
    pub retry: RetrySettings,
}

/// One call: when it begins, what it asks for, and how it goes if it is allowed.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TraceCall {
    /// When it begins.
    pub at_ms: u64,
    /// Which tool.
    pub tool: String,
    /// With what.
    #[serde(default)]
    pub arguments: Value,
    /// In which task.
    #[serde(default = "main_execution")]
    pub execution: String,
    /// The most tokens that it can cost.
    #[serde(default)]
    pub estimate: u64,
    /// The most dollars that it can cost.
    #[serde(default)]
    pub estimate_usd: f64,
    /// The tokens that it does cost; the estimate if this is not written.
    pub used: Option<u64>,
    /// The dollars that it does cost; the estimate if this is not written.
    pub used_usd: Option<f64>,
    /// How long it takes.
    #[serde(default)]
    pub takes_ms: u64,
    /// How it fails, if it does.
    pub error: Option<String>,
}

/// What the limits do at one moment.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SimulatedStep {
    /// When.
    pub at_ms: u64,
    /// The task of the call.
    pub execution: String,
    /// The tool.
    pub tool: String,
    /// What happens.
    pub event: SimulatedEvent,
    /// How full each budget is afterwards.
    pub budgets: Vec<SimulatedBudget>,
    /// What the breaker is doing afterwards.
    pub breaker: BreakerPhase,
    /// How many steps the execution has taken.
    pub steps: u32,
}

/// What happens to a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum SimulatedEvent {
    /// The call is admitted and begins.
    Allowed,
    /// It must not begin.
    Refused {
        /// By which limit: `steps`, `budget`, `breaker` or `retry`.
        limit: &'static str,
        /// Why.
        reason: String,
    },
    /// It ends well, and is charged.
    Succeeded {
        /// What there is to say about the budget.
        note: Option<String>,
    },
    /// It fails, and is charged.
    Failed {
        /// What there is to say about the budget.
        note: Option<String>,
    },
}

/// How full a budget is.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SimulatedBudget {
    /// Which.
    pub scope: BudgetScope,
    /// Tokens that are used.
    pub used: u64,
    /// Tokens that are reserved for calls under way.
    pub reserved: u64,
    /// The cap, if there is one.
    pub cap: Option<u64>,
}

/// Why a trace cannot be replayed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// A call begins before the one above it.
    #[error("call {call}: it starts before the previous call; sort the calls by `atMs`")]
    OutOfOrder {
        /// Which call, from one.
        call: usize,
    },
    /// An amount of money is invalid.
    #[error("call {call}: the cost is {reason}")]
    Cost {
        /// Which call, from one.
        call: usize,
        /// Why.
        reason: stockade_limits::AmountError,
    },
}

impl Default for TraceLimits {
    fn default() -> Self {
        Self {
            budget: BudgetLimits::default(),
            breaker: BreakerSettings::default(),
            max_steps: 150,
            retry: RetrySettings::default(),
        }
    }
}

fn main_execution() -> String {
    "main".to_owned()
}

/// Replays a trace and returns what happens, in the order of time.
///
/// # Errors
/// When the calls are not in order, or a cost is not an amount of money.
///
/// ```
/// use stockade_limits_replay::simulate::{SimulatedEvent, Trace, simulate};
///
/// let trace: Trace = serde_json::from_str(r#"{
///     "limits": {"budget": {"perHour": 100}},
///     "calls": [
///         {"atMs": 0, "tool": "web_search", "estimate": 60, "takesMs": 10},
///         {"atMs": 5, "tool": "web_fetch", "estimate": 60}
///     ]
/// }"#)?;
/// let steps = simulate(&trace).unwrap();
/// assert!(matches!(steps[1].event, SimulatedEvent::Refused { limit: "budget", .. }));
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn simulate(trace: &Trace) -> Result<Vec<SimulatedStep>, TraceError> {
    let mut simulation = Simulation::new(trace.limits);
    let mut last = 0;
    for (index, call) in trace.calls.iter().enumerate() {
        let number = index + 1;
        if call.at_ms < last {
            return Err(TraceError::OutOfOrder { call: number });
        }
        last = call.at_ms;
        let planned = Planned::new(call).map_err(|reason| TraceError::Cost { call: number, reason })?;
        simulation.end_calls(call.at_ms);
        simulation.begin(planned);
    }
    simulation.end_calls(u64::MAX);
    Ok(simulation.steps)
}

/// A call with its costs read.
#[derive(Clone)]
struct Planned {
    call: TraceCall,
    fingerprint: Fingerprint,
    estimate: Usage,
    actual: Usage,
}

impl Planned {
    fn new(call: &TraceCall) -> Result<Self, stockade_limits::AmountError> {
        let used_usd = call.used_usd.unwrap_or(call.estimate_usd);
        Ok(Self {
            fingerprint: fingerprint_of(&call.arguments),
            estimate: Usage { tokens: call.estimate, cost: MicroUsd::from_dollars(call.estimate_usd)? },
            actual: Usage {
                tokens: call.used.unwrap_or(call.estimate),
                cost: MicroUsd::from_dollars(used_usd)?,
            },
            call: call.clone(),
        })
    }
}

/// A call under way.
struct Running {
    planned: Planned,
    reservation: Reservation,
    permit: BreakerPermit,
}

/// What belongs to one task.
struct Task {
    steps: Steps,
    retries: Retries,
}

struct Simulation {
    limits: TraceLimits,
    budget: Budget,
    breaker: Breaker,
    tasks: BTreeMap<String, Task>,
    /// By when they end, and the order in which they began.
    running: BTreeMap<(u64, usize), Running>,
    begun: usize,
    steps: Vec<SimulatedStep>,
}

impl Simulation {
    fn new(limits: TraceLimits) -> Self {
        Self {
            limits,
            budget: Budget::new(limits.budget),
            breaker: Breaker::new(limits.breaker),
            tasks: BTreeMap::new(),
            running: BTreeMap::new(),
            begun: 0,
            steps: Vec::new(),
        }
    }

    fn begin(&mut self, planned: Planned) {
        let (at, call) = (planned.call.at_ms, planned.call.clone());
        let event = match self.decide(&planned) {
            Ok((reservation, permit)) => {
                let ends = at.saturating_add(call.takes_ms);
                self.begun += 1;
                self.running.insert((ends, self.begun), Running { planned, reservation, permit });
                SimulatedEvent::Allowed
            }
            Err((limit, reason)) => SimulatedEvent::Refused { limit, reason },
        };
        self.note(at, &call, event);
    }

    /// Asks the limits in turn. What one of them gave is given back when a later one refuses.
    fn decide(&mut self, planned: &Planned) -> Result<(Reservation, BreakerPermit), (&'static str, String)> {
        let (call, now) = (&planned.call, Duration::from_millis(planned.call.at_ms));
        let limits = self.limits;
        let task = self.tasks.entry(call.execution.clone()).or_insert_with(|| Task {
            steps: Steps::new(limits.max_steps),
            retries: Retries::new(limits.retry),
        });
        if task.steps.is_complete() {
            let limit = task.steps.limit();
            return Err((
                "steps",
                format!("all {limit} steps are taken: the execution ends with what it has"),
            ));
        }
        let reservation = match self.budget.reserve(&call.execution, planned.estimate, now) {
            Reserved::Granted(reservation) => reservation,
            Reserved::Refused(refusal) => return Err(("budget", refusal.to_string())),
        };
        if let Err(refusal) = task.retries.check(&call.tool, planned.fingerprint) {
            self.budget.cancel(reservation, now);
            return Err(("retry", refusal.to_string()));
        }
        match self.breaker.admit(now) {
            BreakerAdmission::Admitted(permit) => {
                let _step: Step = task.steps.begin();
                Ok((reservation, permit))
            }
            BreakerAdmission::Refused { retry_at } => {
                self.budget.cancel(reservation, now);
                let wait = retry_at.saturating_sub(now).as_secs_f64();
                Err(("breaker", format!("the service failed too often in a row; ask again in {wait:.1} s")))
            }
        }
    }

    /// Ends the calls that are over by `until`.
    fn end_calls(&mut self, until: u64) {
        while let Some(entry) = self.running.first_entry()
            && entry.key().0 <= until
        {
            let ((at, _), running) = entry.remove_entry();
            self.end(at, running);
        }
    }

    fn end(&mut self, at: u64, running: Running) {
        let Running { planned: Planned { call, fingerprint, actual, .. }, reservation, permit } = running;
        let now = Duration::from_millis(at);
        let settled = self.budget.settle(reservation, actual, now);
        let mut notes = Vec::new();
        if settled.overrun != Usage::ZERO {
            notes.push(format!("{} tokens more than reserved", settled.overrun.tokens));
        }
        if let Some(warning) = settled.warning {
            let left = match warning.calls_left {
                0 => "no call".to_owned(),
                1 => "one call".to_owned(),
                calls => format!("{calls} calls"),
            };
            notes.push(format!("{left} of average size left in the {} budget", warning.scope.name()));
        }
        let note = (!notes.is_empty()).then(|| notes.join("; "));
        let task = self.tasks.get_mut(&call.execution);
        let (outcome, event) = match &call.error {
            None => (CallOutcome::Success, SimulatedEvent::Succeeded { note }),
            Some(_) => (CallOutcome::Failure, SimulatedEvent::Failed { note }),
        };
        if let Some(task) = task {
            match &call.error {
                None => task.retries.succeeded(&call.tool, fingerprint),
                Some(error) => task.retries.failed(&call.tool, fingerprint, &ErrorClass::of(error)),
            }
        }
        self.breaker.report(permit, outcome, now);
        self.note(at, &call, event);
    }

    fn note(&mut self, at_ms: u64, call: &TraceCall, event: SimulatedEvent) {
        let now = Duration::from_millis(at_ms);
        let limits = self.limits.budget;
        let budgets = self.budget.balances(&call.execution, now).map(|balance| SimulatedBudget {
            scope: balance.scope,
            used: balance.used.tokens,
            reserved: balance.reserved.tokens,
            cap: match limits.of(balance.scope).tokens {
                stockade_limits::Cap::AtMost(cap) => Some(cap),
                stockade_limits::Cap::Unlimited => None,
            },
        });
        self.steps.push(SimulatedStep {
            at_ms,
            execution: call.execution.clone(),
            tool: call.tool.clone(),
            event,
            budgets: budgets.to_vec(),
            breaker: self.breaker.phase(now),
            steps: self.tasks.get(&call.execution).map_or(0, |task| task.steps.taken()),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn events(trace: Value) -> Vec<String> {
        let steps = simulate(&serde_json::from_value(trace).unwrap()).unwrap();
        let show = |step: SimulatedStep| match step.event {
            SimulatedEvent::Allowed => format!("{} begins", step.at_ms),
            SimulatedEvent::Refused { limit, .. } => format!("{} {limit}", step.at_ms),
            SimulatedEvent::Succeeded { .. } => format!("{} ok", step.at_ms),
            SimulatedEvent::Failed { .. } => format!("{} fails", step.at_ms),
        };
        steps.into_iter().map(show).collect()
    }

    #[test]
    fn each_limit_refuses_in_its_turn() {
        let call = |at: u64, arguments: &str, error: Option<&str>| json!({"atMs": at, "tool": "t", "arguments": arguments, "estimate": 10, "error": error});
        let limits = json!({"maxSteps": 5, "budget": {"perHour": 45}, "breaker": {"failureThreshold": 3}});
        let calls = [
            call(0, "a", Some("alpha")),
            call(1, "b", Some("beta")),
            call(2, "c", Some("gamma")),
            call(3, "d", None),
            call(60_003, "e", Some("beta")),
            call(60_004, "f", None),
        ];
        let expected = [
            "0 begins",
            "0 fails",
            "1 begins",
            "1 fails",
            "2 begins",
            "2 fails",
            "3 breaker",
            "60003 begins",
            "60003 fails",
            "60004 budget",
        ];
        assert_eq!(events(json!({"limits": limits, "calls": calls})), expected);
    }

    #[test]
    fn calls_under_way_keep_their_share() {
        let trace = json!({"limits": {"budget": {"perExecution": 100}}, "calls": [
            {"atMs": 0, "tool": "a", "estimate": 80, "used": 10, "takesMs": 50},
            {"atMs": 10, "tool": "b", "estimate": 80},
            {"atMs": 10, "tool": "b", "estimate": 80, "execution": "other"},
            {"atMs": 60, "tool": "b", "estimate": 80},
        ]});
        assert_eq!(
            events(trace),
            ["0 begins", "10 budget", "10 begins", "10 ok", "50 ok", "60 begins", "60 ok"]
        );
    }

    #[test]
    fn a_trace_that_makes_no_sense_is_refused() {
        let trace = |calls: Value| simulate(&serde_json::from_value(json!({"calls": calls})).unwrap());
        let backwards = json!([{"atMs": 5, "tool": "a"}, {"atMs": 4, "tool": "a"}]);
        assert_eq!(trace(backwards).unwrap_err(), TraceError::OutOfOrder { call: 2 });
        let refund = json!([{"atMs": 5, "tool": "a", "usedUsd": -1.0}]);
        assert_eq!(trace(refund).unwrap_err().to_string(), "call 1: the cost is below zero");
    }
}
