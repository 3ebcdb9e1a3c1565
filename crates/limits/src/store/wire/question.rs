//! The arguments of a script that decides.

use std::time::Duration;

use crate::amount::{Cap, Usage};
use crate::breaker::CallOutcome;
use crate::budget::{Allowance, MAX_EXECUTIONS, MAX_IN_FLIGHT};
use crate::store::agent_limits::AgentLimits;
use crate::store::operation::{AdmittedCall, LimitOperation};

/// Up to this, numbers of the script are exact.
const MAX_EXACT: u64 = 1 << 53;

/// An operation, and all that a decision on it depends on besides what is stored.
#[derive(Clone, Copy, Debug)]
pub struct Question<'q> {
    /// Limits of the agent.
    pub limits: &'q AgentLimits,
    /// The operation.
    pub operation: &'q LimitOperation<'q>,
    /// The time; nothing where the store knows it.
    pub now: Option<Duration>,
}

impl Question<'_> {
    /// Returns the arguments of the script: the name of the operation, its execution and the time; the caps of an execution, an hour
    /// and a day in tokens and cost; lease, failures, cooldown and timeout of a probe; the most steps, calls and executions; and
    /// last of a call its estimate, its number, generation and role, what it did cost, and whether it failed. What is not limited
    /// is an empty text, and what does not matter at the end is missing.
    #[must_use]
    pub fn arguments(&self) -> Vec<String> {
        let (name, execution) = self.name();
        let mut arguments = vec![name.to_owned(), execution.to_owned()];
        arguments.push(self.now.map(millis).unwrap_or_default());
        let AgentLimits { budget, breaker, max_steps } = self.limits;
        for allowance in [budget.per_execution, budget.per_hour, budget.per_day] {
            arguments.extend(caps(allowance));
        }
        arguments.push(millis(budget.lease));
        arguments.push(breaker.failure_threshold.to_string());
        arguments.extend([breaker.cooldown, breaker.probe_timeout].map(millis));
        arguments.push(max_steps.map(|most| most.to_string()).unwrap_or_default());
        arguments.extend([MAX_IN_FLIGHT, MAX_EXECUTIONS].map(|most| most.to_string()));
        self.add_call(&mut arguments);
        arguments
    }

    fn name(&self) -> (&'static str, &str) {
        match self.operation {
            LimitOperation::Admit { execution, .. } => ("admit", execution),
            LimitOperation::TakeStep { execution } => ("step", execution),
            LimitOperation::Settle { call, .. } => ("settle", call.execution),
            LimitOperation::Withdraw { call } => ("withdraw", call.execution),
            LimitOperation::End { execution } => ("end", execution),
            // A check belongs to no execution.
            LimitOperation::Check => ("check", ""),
        }
    }

    fn add_call(&self, arguments: &mut Vec<String>) {
        match self.operation {
            LimitOperation::Admit { estimate, .. } => arguments.extend(amounts(*estimate)),
            LimitOperation::Withdraw { call } => add_admitted(arguments, call),
            LimitOperation::Settle { call, actual, outcome } => {
                add_admitted(arguments, call);
                arguments.extend(amounts(*actual));
                arguments.push(flag(*outcome == CallOutcome::Failure));
            }
            LimitOperation::TakeStep { .. } | LimitOperation::Check | LimitOperation::End { .. } => {}
        }
    }
}

fn add_admitted(arguments: &mut Vec<String>, call: &AdmittedCall<'_>) {
    arguments.extend(amounts(call.estimate));
    arguments.push(call.grant.hold.to_string());
    arguments.push(call.grant.breaker.generation().to_string());
    arguments.push(flag(call.grant.breaker.is_probe()));
}

fn amounts(usage: Usage) -> [String; 2] {
    [usage.tokens, usage.cost.micros()].map(amount)
}

fn caps(allowance: Allowance) -> [String; 2] {
    let tokens = match allowance.tokens {
        Cap::Unlimited => String::new(),
        Cap::AtMost(tokens) => amount(tokens),
    };
    let cost = match allowance.cost {
        Cap::Unlimited => String::new(),
        Cap::AtMost(cost) => amount(cost.micros()),
    };
    [tokens, cost]
}

fn amount(number: u64) -> String {
    number.min(MAX_EXACT).to_string()
}

fn flag(is_set: bool) -> String {
    u8::from(is_set).to_string()
}

/// Whole milliseconds, rounded up.
fn millis(time: Duration) -> String {
    amount(u64::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(MAX_EXACT))
}
