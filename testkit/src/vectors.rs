//! Test vectors: runs the rows of some files, and prints one score a file.

#![expect(clippy::print_stderr, reason = "explains the failures beside the scores")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use serde_json::Value;

/// The vectors of a crate, for its example `conformance`.
#[derive(Debug)]
pub struct Vectors {
    /// The name of each file, without `.json`, and what runs its rows.
    pub files: &'static [(&'static str, RunRows)],
    /// Rows that record another system's behaviour that the crate does not share, each with the reason. They never fail the run.
    pub decided_otherwise: &'static [(&'static str, &'static str)],
    /// How those rows count.
    pub deviations: Deviations,
}

/// Runs the rows of one file.
pub type RunRows = fn(&Value) -> Vec<Outcome>;

/// How rows count that are decided otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deviations {
    /// Not at all.
    LeftOut,
    /// Like all others: as missed, unless they agree after all.
    Counted,
}

/// The result of one row.
#[derive(Debug)]
pub struct Outcome {
    id: String,
    result: RowResult,
    /// Whether the run fails if the row does.
    is_required: bool,
}

#[derive(Debug)]
enum RowResult {
    Passed,
    Failed(String),
    /// Another crate is responsible for the row, for this reason.
    Elsewhere(&'static str),
}

/// Passed and all rows of a file.
#[derive(Debug, Default, PartialEq, Eq)]
struct Score {
    passed: usize,
    total: usize,
    /// Whether no row failed that is required.
    is_good: bool,
}

impl Outcome {
    /// A row with a result of its own, and the reason if it failed.
    pub fn of(id: impl Into<String>, result: Result<(), String>) -> Self {
        let result = result.map_or_else(RowResult::Failed, |()| RowResult::Passed);
        Self { id: id.into(), result, is_required: true }
    }

    /// A row that passed, or failed with a detail.
    pub fn new(id: impl Into<String>, passed: bool, detail: impl Into<String>) -> Self {
        Self::of(id, if passed { Ok(()) } else { Err(detail.into()) })
    }

    /// A row that asks for one value.
    pub fn compare(id: impl Into<String>, found: &Value, expected: &Value) -> Self {
        Self::new(id, found == expected, format!("expected {expected}, found {found}"))
    }

    /// A row that another crate is responsible for.
    pub fn elsewhere(id: impl Into<String>, reason: &'static str) -> Self {
        Self { id: id.into(), result: RowResult::Elsewhere(reason), is_required: false }
    }

    /// The same row, as one that only lowers the score if it fails.
    #[must_use]
    pub fn wished(self) -> Self {
        Self { is_required: false, ..self }
    }
}

impl Vectors {
    /// Runs the files of `FOLDER/vectors`, where FOLDER is the argument of this program. Failures go to the standard error.
    pub fn main(&self) -> ExitCode {
        let Some(folder) = std::env::args_os().nth(1) else {
            eprintln!("usage: conformance FOLDER, where FOLDER contains vectors/*.json");
            return ExitCode::from(2);
        };
        let vectors = Path::new(&folder).join("vectors");
        let mut all_good = true;
        for (name, run) in self.files {
            let outcomes = read(&vectors.join(name).with_extension("json"))
                .map_or_else(|error| vec![Outcome::of(*name, Err(error))], |rows| run(&rows));
            let score = self.score(name, &outcomes);
            println!("{name}  {}/{}", score.passed, score.total);
            all_good &= score.is_good;
        }
        if all_good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }

    /// Adds up the outcomes of a file, and explains all that did not pass.
    fn score(&self, name: &str, outcomes: &[Outcome]) -> Score {
        let mut score = Score { is_good: true, ..Score::default() };
        let mut elsewhere: BTreeMap<&str, usize> = BTreeMap::new();
        for Outcome { id, result, is_required } in outcomes {
            let otherwise = self.decided_otherwise.iter().find(|(row, _)| row == id).map(|row| row.1);
            let is_counted = otherwise.is_none() || self.deviations == Deviations::Counted;
            match (result, otherwise) {
                (RowResult::Elsewhere(reason), _) => {
                    *elsewhere.entry(reason).or_default() += 1;
                    continue;
                }
                (RowResult::Passed, None) => {}
                (RowResult::Passed, Some(_)) => {
                    eprintln!("{name} {id}: agrees, although it is listed as decided otherwise");
                }
                (RowResult::Failed(_), Some(reason)) => eprintln!("{name} {id}: decided otherwise: {reason}"),
                (RowResult::Failed(why), None) => {
                    eprintln!("{name} {id}: {why}");
                    score.is_good &= !is_required;
                }
            }
            score.total += usize::from(is_counted);
            score.passed += usize::from(is_counted && matches!(result, RowResult::Passed));
        }
        for (reason, count) in elsewhere {
            eprintln!("{name}: {count} rows not run: {reason}");
        }
        score
    }
}

fn read(path: &Path) -> Result<Value, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}

/// Whether a value has all that was expected: fields may be added, numbers are compared as numbers, and the words of a message and
/// the clock of the recording are not compared.
pub fn agrees(expected: &Value, found: &Value) -> bool {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => expected.iter().all(|(key, value)| {
            matches!(key.as_str(), "message" | "timestamp")
                || found.get(key).is_some_and(|found| agrees(value, found))
        }),
        (Value::Array(expected), Value::Array(found)) => {
            expected.len() == found.len() && expected.iter().zip(found).all(|(one, other)| agrees(one, other))
        }
        (Value::Number(expected), Value::Number(found)) => match (expected.as_f64(), found.as_f64()) {
            (Some(expected), Some(found)) => (expected - found).abs() < 1e-9,
            _ => expected == found,
        },
        _ => expected == found,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const DECIDED_OTHERWISE: &[(&str, &str)] = &[("b", "a reason"), ("d", "a reason")];

    fn score(deviations: Deviations, outcomes: &[Outcome]) -> (usize, usize, bool) {
        let vectors = Vectors { files: &[], decided_otherwise: DECIDED_OTHERWISE, deviations };
        let score = vectors.score("x", outcomes);
        (score.passed, score.total, score.is_good)
    }

    fn rows() -> Vec<Outcome> {
        let passed = |id| Outcome::of(id, Ok(()));
        let failed = |id| Outcome::new(id, false, "why");
        vec![passed("a"), failed("b"), Outcome::elsewhere("c", "a reason"), passed("d")]
    }

    #[test]
    fn rows_that_are_decided_otherwise_never_fail() {
        assert_eq!(score(Deviations::LeftOut, &rows()), (1, 1, true));
        assert_eq!(score(Deviations::Counted, &rows()), (2, 3, true));
    }

    #[test]
    fn another_row_that_fails_fails_the_run() {
        let mut rows = rows();
        rows.push(Outcome::compare("e", &json!(1), &json!(2)));
        assert_eq!(score(Deviations::LeftOut, &rows), (1, 2, false));
        assert_eq!(score(Deviations::Counted, &rows), (2, 4, false));
    }

    #[test]
    fn a_wished_row_only_lowers_the_score() {
        let rows = [Outcome::new("a", false, "why").wished(), Outcome::new("c", true, "").wished()];
        assert_eq!(score(Deviations::LeftOut, &rows), (1, 2, true));
    }

    #[test]
    fn values_agree_where_fields_are_added() {
        let found = json!({"a": [1, 2.0], "message": "x", "more": null});
        assert!(agrees(&json!({"a": [1.0, 2], "message": "y"}), &found));
        for expected in [json!({"a": [1]}), json!({"b": 1}), json!({"a": [1, 3]}), json!([])] {
            assert!(!agrees(&expected, &found), "{expected}");
        }
    }
}
