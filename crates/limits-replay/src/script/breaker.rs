//! Events of a circuit breaker.

use std::time::Duration;

use serde_json::Value;

use super::arguments::{Arguments, Needs};
use super::{Machine, ScriptError, settings};
use stockade_limits::breaker::{Breaker, BreakerAdmission, BreakerPermit, CallOutcome};

const OPS: &[&str] = &["isOpen", "recordSuccess", "recordFailure", "getState", "reset"];

/// `isOpen` asks to make a call, so in a half-open breaker it takes the only place; the next outcome is that call's.
struct BreakerMachine {
    breaker: Breaker,
    probe: Option<BreakerPermit>,
}

pub(super) fn start(config: &Value) -> Result<Box<dyn Machine>, ScriptError> {
    Ok(Box::new(BreakerMachine { breaker: Breaker::new(settings(config)?), probe: None }))
}

impl Machine for BreakerMachine {
    fn ops(&self) -> &'static [&'static str] {
        OPS
    }

    fn step(&mut self, op: &str, _args: &Arguments<'_>, now: Duration) -> Result<Value, Needs> {
        match op {
            "isOpen" => return Ok(self.is_open(now).into()),
            "recordSuccess" => self.record(CallOutcome::Success, now),
            "recordFailure" => self.record(CallOutcome::Failure, now),
            "getState" => {
                let phase = serde_json::to_value(self.breaker.phase(now));
                return phase.map_err(|_| Needs("a phase that can be written"));
            }
            _ => {
                self.probe = None;
                self.breaker.reset();
            }
        }
        Ok(Value::Null)
    }
}

impl BreakerMachine {
    fn is_open(&mut self, now: Duration) -> bool {
        match self.breaker.admit(now) {
            BreakerAdmission::Admitted(permit) => {
                if permit.is_probe() {
                    self.probe = Some(permit);
                }
                false
            }
            BreakerAdmission::Refused { .. } => true,
        }
    }

    fn record(&mut self, outcome: CallOutcome, now: Duration) {
        match self.probe.take() {
            Some(permit) => self.breaker.report(permit, outcome, now),
            None => self.breaker.observe(outcome, now),
        }
    }
}
