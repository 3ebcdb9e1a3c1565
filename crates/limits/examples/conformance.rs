//! Runs the test vectors in `FOLDER/vectors` that concern limits and prints one score a file.
//!
//! A row counts when its expectation is a requirement. Rows that only record what another system happens to do are run
//! as well; where this crate decides otherwise, [`DECIDED_OTHERWISE`] says why.

#![expect(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command that reads vectors and reports to a person"
)]

use std::path::Path;
use std::process::ExitCode;

use serde_json::Value;
use stockade_limits::script::{LimitScript, run_script};

/// Rows of vectors that record another system's behaviour which this crate does not share.
const DECIDED_OTHERWISE: &[(&str, &str)] = &[
    ("bud66", "at the cap nothing is left: another call would overshoot it"),
    ("bud67", "at the cap nothing is left: another call would overshoot it"),
    ("bud71", "what is not a number is refused instead of passing every cap"),
];

/// Runs the rows of a file.
type Run = fn(&Value, &mut Score);

fn main() -> ExitCode {
    let Some(folder) = std::env::args_os().nth(1) else {
        eprintln!("usage: conformance FOLDER");
        return ExitCode::from(2);
    };
    let vectors = Path::new(&folder).join("vectors");
    let files: [(&str, Run); 2] = [("comis-budget", scripts), ("comis-circuit", scripts)];
    let mut all_passed = true;
    for (name, run) in files {
        let mut score = Score::default();
        match read(&vectors.join(name).with_extension("json")) {
            Ok(rows) => run(&rows, &mut score),
            Err(error) => score.check(name, Err(error)),
        }
        println!("{name}  {}/{}", score.passed, score.total);
        all_passed &= score.passed == score.total;
    }
    if all_passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn read(path: &Path) -> Result<Value, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}

#[derive(Default)]
struct Score {
    passed: usize,
    total: usize,
}

impl Score {
    fn check(&mut self, id: &str, outcome: Result<(), String>) {
        if let Some((_, reason)) = DECIDED_OTHERWISE.iter().find(|(row, _)| *row == id) {
            match outcome {
                Ok(()) => eprintln!("{id}: agrees, although it is listed as decided otherwise"),
                Err(_) => eprintln!("{id}: decided otherwise: {reason}"),
            }
            return;
        }
        self.total += 1;
        match outcome {
            Ok(()) => self.passed += 1,
            Err(why) => eprintln!("{id}: {why}"),
        }
    }
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

fn scripts(rows: &Value, score: &mut Score) {
    for row in rows.as_array().into_iter().flatten() {
        let id = row["id"].as_str().unwrap_or("?");
        score.check(id, script(row));
    }
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

/// Compares what was wanted with what came: fields may be added, sums of money are compared as money, and the words of a
/// message and the clock of the recording are not compared.
fn agrees(expected: &Value, got: &Value) -> bool {
    match (expected, got) {
        (Value::Object(expected), Value::Object(got)) => expected.iter().all(|(key, value)| {
            matches!(key.as_str(), "message" | "timestamp")
                || got.get(key).is_some_and(|found| agrees(value, found))
        }),
        (Value::Array(expected), Value::Array(got)) => {
            expected.len() == got.len() && expected.iter().zip(got).all(|(e, g)| agrees(e, g))
        }
        (Value::Number(expected), Value::Number(got)) => match (expected.as_f64(), got.as_f64()) {
            (Some(expected), Some(got)) => (expected - got).abs() < 1e-9,
            _ => expected == got,
        },
        _ => expected == got,
    }
}
