//! Events of the step limit, the turn budget and the warning before a budget is spent.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::arguments::{Arguments, Needs};
use super::{Machine, ScriptError, settings};
use stockade_limits::budget::calls_left;
use stockade_limits::steps::Steps;
use stockade_limits::turns::TurnBudget;

pub(super) fn start_steps(config: &Value) -> Result<Box<dyn Machine>, ScriptError> {
    let limit: Option<u32> = settings(config)?;
    Ok(Box::new(limit.map_or_else(Steps::default, Steps::new)))
}

impl Machine for Steps {
    fn ops(&self) -> &'static [&'static str] {
        &["increment", "increment_n", "shouldHalt", "getCount", "reset"]
    }

    fn step(&mut self, op: &str, args: &Arguments<'_>, _now: Duration) -> Result<Value, Needs> {
        match op {
            "increment" => return Ok(self.record().into()),
            "shouldHalt" => return Ok(self.is_complete().into()),
            "getCount" => return Ok(self.taken().into()),
            "increment_n" => {
                const NEEDS: &str = "a number of steps";
                let times = args.count(0, NEEDS)?.map_err(|_| Needs(NEEDS))?;
                // Beyond the limit another step changes nothing that can be asked.
                for _ in 0..times.min(u64::from(self.limit()) + 1) {
                    self.record();
                }
            }
            _ => self.reset(),
        }
        Ok(Value::Null)
    }
}

pub(super) fn start_turns(config: &Value) -> Result<Box<dyn Machine>, ScriptError> {
    let target = u64::deserialize(config).map_err(|_| ScriptError::Config {
        reason: "the target must be a whole number of tokens".to_owned(),
    })?;
    Ok(Box::new(TurnBudget::new(target)))
}

impl Machine for TurnBudget {
    fn ops(&self) -> &'static [&'static str] {
        &["check"]
    }

    fn step(&mut self, _op: &str, args: &Arguments<'_>, _now: Duration) -> Result<Value, Needs> {
        const NEEDS: &str = "how many tokens are written so far";
        let verdict = self.check(args.count(0, NEEDS)?.map_err(|_| Needs(NEEDS))?);
        let action = if verdict.goes_on() { "continue" } else { "stop" };
        Ok(json!({"action": action, "utilization": self.utilization(), "reason": verdict.reason()}))
    }
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct TrajectoryMachine {
    cap: u64,
}

/// How an execution stands.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Standing {
    total_tokens: u64,
    llm_call_count: u32,
    #[serde(default)]
    aborted: bool,
    #[serde(default)]
    budget_warning_emitted: bool,
}

pub(super) fn start_trajectory(config: &Value) -> Result<Box<dyn Machine>, ScriptError> {
    Ok(Box::new(settings::<TrajectoryMachine>(config)?))
}

impl Machine for TrajectoryMachine {
    fn ops(&self) -> &'static [&'static str] {
        &["check"]
    }

    fn step(&mut self, _op: &str, args: &Arguments<'_>, _now: Duration) -> Result<Value, Needs> {
        const NEEDS: &str = "an object with `totalTokens` and `llmCallCount`";
        let standing = Standing::deserialize(args.value(0, NEEDS)?).map_err(|_| Needs(NEEDS))?;
        let spent = standing.total_tokens;
        let near = calls_left(self.cap, spent, spent, standing.llm_call_count).is_some();
        Ok((near && !standing.aborted && !standing.budget_warning_emitted).into())
    }
}
