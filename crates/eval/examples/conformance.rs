//! Runs the test vectors in `FOLDER/vectors` that concern evaluation, and prints one score per file.

use std::process::ExitCode;

use serde_json::Value;
use stockade_eval::{Data, EvalError, EvalOptions, condition, eval, eval_async, interpolate};
use testkit::vectors::{Deviations, Outcome, Vectors};

/// Rows that this crate decides otherwise.
const DECIDED_OTHERWISE: &[(&str, &str)] = &[
    ("se-142", "the expression that explodes elsewhere is answered at once: nothing backtracks here"),
    ("se-150", "BigInt does not exist here: it is refused before any work is done"),
];

const VECTORS: Vectors = Vectors {
    files: &[("cb-safe-eval", rows)],
    decided_otherwise: DECIDED_OTHERWISE,
    deviations: Deviations::LeftOut,
};

fn main() -> ExitCode {
    VECTORS.main()
}

fn rows(file: &Value) -> Vec<Outcome> {
    let rows = file.as_array().into_iter().flatten();
    rows.map(|row| Outcome::of(row["id"].as_str().unwrap_or("?"), check(row))).collect()
}

fn check(row: &Value) -> Result<(), String> {
    let outcome = run(row);
    if let Some(wanted) = row.get("expect") {
        let found = outcome.map_err(|error| format!("expected {wanted}, failed: {error}"))?;
        return if agrees(wanted, &found) { Ok(()) } else { Err(format!("expected {wanted}, got {found}")) };
    }
    match (row["error"].as_str(), outcome) {
        (Some("limit" | "timeout"), Err(error)) if error.kind.is_limit() => Ok(()),
        (Some("throws"), Err(_)) => Ok(()),
        (Some(wanted), outcome) => Err(format!("expected {wanted}, got {outcome:?}")),
        // Any result is fine: there is no host that it could have touched.
        (None, _) => Ok(()),
    }
}

fn run(row: &Value) -> Result<Value, EvalError> {
    let source = row["expr"].as_str().unwrap_or_default();
    let vars: Vec<(&str, Data)> = row["vars"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, value)| (name.as_str(), serde_json::from_value(value.clone()).unwrap_or_default()))
        .collect();
    let options = EvalOptions::default();
    let data = match row["fn"].as_str() {
        Some("condition") => Data::Bool(condition(source, &vars, &options)),
        Some("interpolate") => Data::Text(interpolate(source, &vars, &options)?),
        Some("eval_async") => eval_async(source, &vars, &options)?,
        _ => eval(source, &vars, &options)?,
    };
    Ok(serde_json::to_value(data).unwrap_or_default())
}

/// Numbers are the same however they are written.
fn agrees(wanted: &Value, found: &Value) -> bool {
    match (wanted, found) {
        (Value::Number(wanted), Value::Number(found)) => wanted.as_f64() == found.as_f64(),
        (Value::Array(wanted), Value::Array(found)) => {
            wanted.len() == found.len()
                && wanted.iter().zip(found).all(|(wanted, found)| agrees(wanted, found))
        }
        (Value::Object(wanted), Value::Object(found)) => {
            wanted.len() == found.len()
                && wanted
                    .iter()
                    .all(|(key, wanted)| found.get(key).is_some_and(|found| agrees(wanted, found)))
        }
        _ => wanted == found,
    }
}
