//! Events of a budget.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::arguments::{Arguments, Needs};
use super::{Machine, ScriptError, settings};
use stockade_limits::budget::{Budget, BudgetRefusal, Reservation, Reserved};
use stockade_limits::{AmountError, estimate_tokens};

const OPS: &[&str] = &[
    "estimateCost",
    "checkBudget",
    "recordUsage",
    "reserve",
    "settle",
    "cancel",
    "resetExecution",
    "getSnapshot",
];
/// The execution where an event names none.
const EXECUTION: &str = "script";

struct BudgetMachine {
    budget: Budget,
    reservations: BTreeMap<u64, Reservation>,
    next: u64,
}

pub(super) fn start(config: &Value) -> Result<Box<dyn Machine>, ScriptError> {
    Ok(Box::new(BudgetMachine {
        budget: Budget::new(settings(config)?),
        reservations: BTreeMap::new(),
        next: 1,
    }))
}

impl Machine for BudgetMachine {
    fn ops(&self) -> &'static [&'static str] {
        OPS
    }

    fn step(&mut self, op: &str, args: &Arguments<'_>, now: Duration) -> Result<Value, Needs> {
        match op {
            "estimateCost" => estimate(args),
            "checkBudget" => self.check(args, now),
            "recordUsage" => self.record(args, now),
            "reserve" => self.reserve(args, now),
            "settle" => self.settle(args, now),
            "cancel" => self.cancel(args, now),
            "resetExecution" => {
                self.budget.end(args.text_or(0, EXECUTION));
                Ok(Value::Null)
            }
            _ => Ok(self.snapshot(args.text_or(0, EXECUTION), now)),
        }
    }
}

impl BudgetMachine {
    fn check(&mut self, args: &Arguments<'_>, now: Duration) -> Result<Value, Needs> {
        let usage = match args.usage(0)? {
            Ok(usage) => usage,
            Err(error) => return Ok(not_an_amount(error)),
        };
        Ok(match self.budget.check(args.text_or(1, EXECUTION), usage, now) {
            Ok(()) => json!({"ok": true}),
            Err(refusal) => refused(&refusal),
        })
    }

    fn record(&mut self, args: &Arguments<'_>, now: Duration) -> Result<Value, Needs> {
        match args.usage(0)? {
            Ok(usage) => {
                let _settled = self.budget.record(args.text_or(1, EXECUTION), usage, now);
                Ok(Value::Null)
            }
            Err(error) => Ok(not_an_amount(error)),
        }
    }

    fn reserve(&mut self, args: &Arguments<'_>, now: Duration) -> Result<Value, Needs> {
        let usage = match args.usage(0)? {
            Ok(usage) => usage,
            Err(error) => return Ok(not_an_amount(error)),
        };
        match self.budget.reserve(args.text_or(1, EXECUTION), usage, now) {
            Reserved::Granted(reservation) => {
                let id = self.next;
                self.next += 1;
                self.reservations.insert(id, reservation);
                Ok(json!({"ok": true, "reservation": id}))
            }
            Reserved::Refused(refusal) => Ok(refused(&refusal)),
        }
    }

    fn settle(&mut self, args: &Arguments<'_>, now: Duration) -> Result<Value, Needs> {
        let usage = match args.usage(1)? {
            Ok(usage) => usage,
            Err(error) => return Ok(not_an_amount(error)),
        };
        let reservation = self.take(args)?;
        let settled = self.budget.settle(reservation, usage, now);
        Ok(json!({
            "overrun": settled.overrun.tokens,
            "callsLeft": settled.warning.map(|warning| warning.calls_left),
        }))
    }

    fn cancel(&mut self, args: &Arguments<'_>, now: Duration) -> Result<Value, Needs> {
        let reservation = self.take(args)?;
        self.budget.cancel(reservation, now);
        Ok(Value::Null)
    }

    fn take(&mut self, args: &Arguments<'_>) -> Result<Reservation, Needs> {
        const NEEDS: &str = "the number of a reservation that is not settled yet";
        let id = args.value(0, NEEDS)?.as_u64().ok_or(Needs(NEEDS))?;
        self.reservations.remove(&id).ok_or(Needs(NEEDS))
    }

    fn snapshot(&mut self, execution: &str, now: Duration) -> Value {
        let [of_execution, of_hour, of_day] =
            self.budget.balances(execution, now).map(|balance| balance.used.plus(balance.reserved).tokens);
        json!({"perExecution": of_execution, "perHour": of_hour, "perDay": of_day})
    }
}

fn estimate(args: &Arguments<'_>) -> Result<Value, Needs> {
    const NEEDS: &str = "a number of characters and the longest answer in tokens";
    let answer = match (args.count(0, NEEDS)?, args.count(1, NEEDS)?) {
        (Ok(characters), Ok(longest)) => estimate_tokens(characters, longest).into(),
        (Err(error), _) | (_, Err(error)) => not_an_amount(error),
    };
    Ok(answer)
}

fn refused(refusal: &BudgetRefusal) -> Value {
    let message = refusal.to_string();
    let BudgetRefusal::Exhausted(exhausted) = refusal else {
        return json!({"ok": false, "error": {"scope": "in-flight", "message": message}});
    };
    json!({"ok": false, "error": {
        "scope": exhausted.scope,
        "measure": exhausted.measure,
        "currentUsage": exhausted.used,
        "reserved": exhausted.reserved,
        "cap": exhausted.cap,
        "estimated": exhausted.asked,
        "retryAtMs": exhausted.retry_at.map(|at| u64::try_from(at.as_millis()).unwrap_or(u64::MAX)),
        "message": message,
    }})
}

/// Nothing was changed: a number that is not an amount neither uses nor gives back anything.
fn not_an_amount(error: AmountError) -> Value {
    json!({"ok": false, "error": {"scope": "invalid", "message": format!("the amount is {error}")}})
}
