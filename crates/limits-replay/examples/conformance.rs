//! Runs the test vectors in `FOLDER/vectors` that concern limits and prints one score a file.
//!
//! A row counts when its expectation is a requirement. Rows that only record what another system happens to do are run
//! as well; where this crate decides otherwise, [`DECIDED_OTHERWISE`] has the reason.

#![expect(clippy::indexing_slicing, reason = "adds members to an object")]

use std::process::ExitCode;

use serde_json::Value;
use stockade_limits_replay::script::{LimitScript, run_script};
use testkit::vectors::{Deviations, Outcome, Vectors, agrees};

/// Rows of vectors that record another system's behaviour which this crate does not share.
const DECIDED_OTHERWISE: &[(&str, &str)] = &[
    ("bud66", "at the cap nothing is left: another call would overshoot it"),
    ("bud67", "at the cap nothing is left: another call would overshoot it"),
    ("bud71", "what is not a number is refused instead of passing every cap"),
];

const VECTORS: Vectors = Vectors {
    files: &[("comis-budget", scripts), ("comis-circuit", scripts)],
    decided_otherwise: DECIDED_OTHERWISE,
    deviations: Deviations::LeftOut,
};

fn main() -> ExitCode {
    VECTORS.main()
}

/// The names of the machines in the vectors, and ours.
const COMPONENTS: &[(&str, &str)] = &[
    ("budget_guard", "budget"),
    ("circuit_breaker", "breaker"),
    ("step_counter", "steps"),
    ("turn_budget", "turnBudget"),
    ("tool_retry_breaker", "retry"),
    ("trajectory", "trajectory"),
    ("cost_tracker", "costs"),
];

fn scripts(rows: &Value) -> Vec<Outcome> {
    let rows = rows.as_array().into_iter().flatten();
    rows.map(|row| Outcome::of(row["id"].as_str().unwrap_or("?"), script(row))).collect()
}

fn script(row: &Value) -> Result<(), String> {
    let component = row["component"].as_str().unwrap_or_default();
    let ours = COMPONENTS.iter().find(|(theirs, _)| *theirs == component).map(|(_, ours)| *ours);
    let ours = ours.ok_or_else(|| format!("no component `{component}` here"))?;
    let steps: Vec<&Value> = row["script"].as_array().into_iter().flatten().collect();
    let script: Vec<Value> = steps.iter().map(|step| rename(step)).collect();
    let script = serde_json::json!({"component": ours, "config": row["config"], "script": script});
    let script: LimitScript = serde_json::from_value(script).map_err(|error| error.to_string())?;
    let results = run_script(&script).map_err(|error| error.to_string())?;
    for (step, result) in steps.iter().zip(&results) {
        if let Some(expected) = step.get("expect")
            && !agrees(expected, result)
        {
            return Err(format!("{}: expected {expected}, got {result}", step["op"]));
        }
    }
    Ok(())
}

fn rename(step: &Value) -> Value {
    let mut renamed = serde_json::json!({"op": step["op"]});
    for (from, to) in [("at_ms", "atMs"), ("args", "args")] {
        if let Some(value) = step.get(from) {
            renamed[to] = value.clone();
        }
    }
    renamed
}
