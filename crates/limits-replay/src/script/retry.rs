//! Events of the retry breaker.

use std::time::Duration;

use serde_json::{Value, json};

use super::arguments::{Arguments, Needs};
use super::{Machine, ScriptError, settings};
use crate::fingerprint::fingerprint_of;
use stockade_limits::retry::{ErrorClass, Fingerprint, Retries, RetryRefusal};

const OPS: &[&str] = &["beforeToolCall", "recordResult", "getBlockedTools", "reset"];

pub(super) fn start(config: &Value) -> Result<Box<dyn Machine>, ScriptError> {
    Ok(Box::new(Retries::new(settings(config)?)))
}

impl Machine for Retries {
    fn ops(&self) -> &'static [&'static str] {
        OPS
    }

    fn step(&mut self, op: &str, args: &Arguments<'_>, _now: Duration) -> Result<Value, Needs> {
        match op {
            "beforeToolCall" => {
                let (tool, call) = call(args)?;
                Ok(match self.check(tool, call) {
                    Ok(()) => json!({"block": false}),
                    Err(refusal) => refused(&refusal),
                })
            }
            "recordResult" => record(self, args),
            "getBlockedTools" => Ok(self.refused_tools().map(Value::from).collect()),
            _ => {
                self.reset();
                Ok(Value::Null)
            }
        }
    }
}

fn record(retries: &mut Retries, args: &Arguments<'_>) -> Result<Value, Needs> {
    const NEEDS: &str = "a tool, its arguments, and whether it went well";
    let (tool, call) = call(args)?;
    if args.value(2, NEEDS)?.as_bool().ok_or(Needs(NEEDS))? {
        retries.succeeded(tool, call);
    } else {
        retries.failed(tool, call, &ErrorClass::of(args.text_or(3, "unknown")));
    }
    Ok(Value::Null)
}

fn call<'a>(args: &Arguments<'a>) -> Result<(&'a str, Fingerprint), Needs> {
    let tool = args.text(0, "the name of a tool")?;
    let arguments = args.value(1, "the arguments of the tool")?;
    Ok((tool, fingerprint_of(arguments)))
}

fn refused(refusal: &RetryRefusal) -> Value {
    let reason = refusal.to_string();
    json!({"block": true, "reason": reason, "error": {"scope": refusal.code(), "message": reason}})
}
