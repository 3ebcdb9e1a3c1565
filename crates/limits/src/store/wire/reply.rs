//! The answer of a script that decides: a word, and numbers.

use std::time::Duration;

use crate::amount::{MicroUsd, Usage};
use crate::breaker::{BreakerPermit, Role};
use crate::budget::{BudgetRefusal, BudgetScope, Exhausted, Measure, Settled, Trajectory};
use crate::store::operation::{Grant, LimitAnswer};
use crate::store::refusal::CallRefusal;

impl LimitAnswer {
    /// Parses the answer of a script to a [`Question`](super::Question). Returns nothing where it is not an answer.
    #[must_use]
    pub fn parse(answer: &str) -> Option<Self> {
        parse(answer)
    }
}

fn parse(answer: &str) -> Option<LimitAnswer> {
    let mut words = answer.split(' ');
    let name = words.next()?;
    let numbers = words.map(|word| word.parse().ok()).collect::<Option<Vec<i64>>>()?;
    match (name, numbers.as_slice()) {
        ("done", []) => Some(LimitAnswer::Done),
        ("step", [left]) => Some(LimitAnswer::Step { left: optional(*left) }),
        ("granted", [hold, generation, role, left]) => {
            let role = if *role == 1 { Role::Probe } else { Role::Ordinary };
            let breaker = BreakerPermit::of_store(count(*generation)?, role);
            Some(LimitAnswer::Granted(Grant { hold: count(*hold)?, breaker, steps_left: optional(*left) }))
        }
        ("settled", [tokens, cost, scope, measure, left]) => {
            let overrun = Usage { tokens: count(*tokens)?, cost: MicroUsd::new(count(*cost)?) };
            let warning = match scope {
                -1 => None,
                scope => Some(Trajectory {
                    scope: scope_of(*scope)?,
                    measure: measure_of(*measure)?,
                    calls_left: count(*left)?,
                }),
            };
            Some(LimitAnswer::Settled(Settled { overrun, warning }))
        }
        (name, numbers) => refusal(name, numbers).map(LimitAnswer::Refused),
    }
}

fn refusal(name: &str, numbers: &[i64]) -> Option<CallRefusal> {
    match (name, numbers) {
        ("steps", [limit]) => Some(CallRefusal::Steps { limit: u32::try_from(*limit).ok()? }),
        ("open", [at]) => Some(CallRefusal::BreakerOpen { retry_at: Duration::from_millis(count(*at)?) }),
        ("inFlight", []) => Some(CallRefusal::Budget(BudgetRefusal::TooManyInFlight)),
        ("executions", []) => Some(CallRefusal::Budget(BudgetRefusal::TooManyExecutions)),
        ("exhausted", [scope, measure, used, reserved, asked, cap, retry_at]) => {
            Some(CallRefusal::Budget(BudgetRefusal::Exhausted(Exhausted {
                scope: scope_of(*scope)?,
                measure: measure_of(*measure)?,
                used: count(*used)?,
                reserved: count(*reserved)?,
                asked: count(*asked)?,
                cap: count(*cap)?,
                retry_at: count(*retry_at).map(Duration::from_millis),
            })))
        }
        _ => None,
    }
}

fn count(number: i64) -> Option<u64> {
    u64::try_from(number).ok()
}

fn optional(number: i64) -> Option<u32> {
    u32::try_from(number).ok()
}

fn scope_of(number: i64) -> Option<BudgetScope> {
    let [execution, hour, day] = BudgetScope::ALL;
    match number {
        1 => Some(execution),
        2 => Some(hour),
        3 => Some(day),
        _ => None,
    }
}

const fn measure_of(number: i64) -> Option<Measure> {
    match number {
        1 => Some(Measure::Tokens),
        2 => Some(Measure::Cost),
        _ => None,
    }
}
