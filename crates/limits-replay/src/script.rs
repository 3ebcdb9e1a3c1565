//! Replays scripts of events written in JSON: what each limit answers, step by step.

mod arguments;
mod breaker;
mod budget;
mod costs;
mod counters;
mod retry;

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use self::arguments::{Arguments, Needs};

/// A script for one kind of limit, as the interface for other languages takes it.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LimitScript {
    /// Which limit: `budget`, `breaker`, `steps`, `retry`, `turnBudget`, `trajectory` or `costs`.
    pub component: String,
    /// Its settings, or nothing for the defaults.
    #[serde(default)]
    pub config: Value,
    /// What happens, in order.
    pub script: Vec<ScriptStep>,
}

/// An event of the script.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "LimitEvent"))]
pub struct ScriptStep {
    /// Its time, in milliseconds; 0 by default. A negative time is 0.
    #[serde(default)]
    pub at_ms: i64,
    /// The operation.
    pub op: String,
    /// The arguments; the string `"NaN"` is the number NaN.
    #[serde(default)]
    pub args: Vec<Value>,
}

/// Why a script cannot be run. A refusal by a limit is not such an error but an answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptError {
    /// No limit of that name.
    #[error("unknown component `{name}`; components: {}", list(COMPONENTS.iter().map(|(name, _)| *name)))]
    UnknownComponent {
        /// What was asked for.
        name: String,
    },
    /// The limit does not know that event.
    #[error("step {step}: unknown op `{op}`; ops: {ops}")]
    UnknownOp {
        /// Which step, from one.
        step: usize,
        /// What was asked for.
        op: String,
        /// What there is.
        ops: String,
    },
    /// An argument is missing or of the wrong kind.
    #[error("step {step}: `{op}` needs {needs}")]
    Argument {
        /// Which step, from one.
        step: usize,
        /// The event.
        op: String,
        /// What is missing.
        needs: String,
    },
    /// The settings cannot be read.
    #[error("config: {reason}")]
    Config {
        /// Why.
        reason: String,
    },
}

/// One limit, driven by events.
trait Machine {
    /// The events it knows.
    fn ops(&self) -> &'static [&'static str];

    /// Answers an event; an `op` outside [`Machine::ops`] never comes.
    fn step(&mut self, op: &str, args: &Arguments<'_>, now: Duration) -> Result<Value, Needs>;
}

type Start = fn(&Value) -> Result<Box<dyn Machine>, ScriptError>;

/// The limits that a script can drive.
const COMPONENTS: &[(&str, Start)] = &[
    ("budget", budget::start),
    ("breaker", breaker::start),
    ("steps", counters::start_steps),
    ("retry", retry::start),
    ("turnBudget", counters::start_turns),
    ("trajectory", counters::start_trajectory),
    ("costs", costs::start),
];

/// Runs a script and returns the answer to each step: `null` for nothing, `{"error": …}` within a refusal.
///
/// # Errors
/// When the script names what does not exist. Numbers that are not amounts (`"NaN"`, negative ones) are no such error:
/// the limit refuses them.
///
/// ```
/// let script = serde_json::from_str(
///     r#"{"component": "steps", "config": 1, "script": [{"op": "increment"}, {"op": "shouldHalt"}]}"#,
/// )?;
/// let results = stockade_limits_replay::script::run_script(&script).unwrap();
/// assert_eq!(serde_json::Value::from(results).to_string(), "[1,true]");
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn run_script(script: &LimitScript) -> Result<Vec<Value>, ScriptError> {
    let start = COMPONENTS.iter().find(|(name, _)| *name == script.component).map(|(_, start)| start);
    let Some(start) = start else {
        return Err(ScriptError::UnknownComponent { name: script.component.clone() });
    };
    let mut machine = start(&script.config)?;
    let mut results = Vec::with_capacity(script.script.len());
    for (index, event) in script.script.iter().enumerate() {
        let (step, op) = (index + 1, event.op.clone());
        if !machine.ops().contains(&op.as_str()) {
            let ops = list(machine.ops().iter().copied());
            return Err(ScriptError::UnknownOp { step, op, ops });
        }
        let now = Duration::from_millis(u64::try_from(event.at_ms).unwrap_or(0));
        let answer = machine.step(&op, &Arguments::new(&event.args), now);
        results.push(answer.map_err(|Needs(needs)| ScriptError::Argument {
            step,
            op,
            needs: needs.to_owned(),
        })?);
    }
    Ok(results)
}

/// Reads settings; none at all means the defaults.
fn settings<T: Default + serde::de::DeserializeOwned>(config: &Value) -> Result<T, ScriptError> {
    if config.is_null() {
        return Ok(T::default());
    }
    T::deserialize(config).map_err(|error| ScriptError::Config { reason: error.to_string() })
}

fn list<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    names.join(", ")
}
