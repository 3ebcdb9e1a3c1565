//! Runs the tests of test262 in `FOLDER`, and reports which pass, which are refused, and which have a wrong result.
//!
//! ```text
//! cargo run --release -p stockade-eval --all-features --example eval-test262 -- FOLDER [FILE-FOR-THE-LIST]
//! ```
//!
//! A test counts if Node passes it with the same prelude, and if its source uses nothing that this crate lacks
//! (`scope.rs`). An invalid program always counts: none may be accepted. Wrong means a result that differs from
//! JavaScript; refused means an explicit error about a missing feature.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command that reads tests, asks Node and reports to a person"
)]

#[path = "test262/case.rs"]
mod case;
#[path = "test262/node.rs"]
mod node;
#[path = "test262/scope.rs"]
mod scope;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use case::{Case, Expected};
use stockade_eval::{ErrorKind, EvalLimits, EvalOptions, eval};

/// Result of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Passed,
    Refused,
    Wrong,
    /// An invalid program that was not refused.
    Accepted,
}

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let Some(folder) = arguments.next() else {
        eprintln!("usage: eval-test262 FOLDER [FILE-FOR-THE-LIST]");
        return ExitCode::from(2);
    };
    let mut files = Vec::new();
    for part in ["language", "built-ins", "annexB"] {
        list(&Path::new(&folder).join(part), &mut files);
    }
    files.sort();
    let cases: Vec<Case> = files.iter().filter_map(|file| Case::read(file, Path::new(&folder))).collect();
    let cases = node::passing(cases);
    let (mut counts, mut report) = (BTreeMap::new(), String::new());
    for case in &cases {
        let (outcome, why) = judge(case);
        *counts.entry((case.expected == Expected::SyntaxError, outcome)).or_insert(0_usize) += 1;
        if outcome != Outcome::Passed {
            let _ = writeln!(report, "{outcome:?}\t{}\t{why}", case.name);
        }
    }
    for ((is_invalid, outcome), count) in &counts {
        println!("{} {outcome:?}: {count}", if *is_invalid { "invalid programs" } else { "programs" });
    }
    let all: usize = counts.iter().filter(|((is_invalid, _), _)| !is_invalid).map(|(_, count)| count).sum();
    let passed = counts.get(&(false, Outcome::Passed)).copied().unwrap_or(0);
    println!("{passed} of {all} programs pass: {:.1} %", passed as f64 * 100.0 / all.max(1) as f64);
    if let Some(file) = arguments.next()
        && let Err(error) = std::fs::write(&file, report)
    {
        eprintln!("{}: {error}", PathBuf::from(file).display());
    }
    let wrong = counts.keys().any(|(_, outcome)| matches!(outcome, Outcome::Wrong | Outcome::Accepted));
    if wrong { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn list(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            list(&path, files);
        } else if path.extension().is_some_and(|end| end == "js") {
            files.push(path);
        }
    }
}

fn judge(case: &Case) -> (Outcome, String) {
    let limits = EvalLimits {
        max_source: 4 << 20,
        max_steps: 40_000_000,
        max_bytes: 512 << 20,
        ..EvalLimits::default()
    };
    let options = EvalOptions { limits, now_ms: Some(1.7e12), seed: Some(1), ..EvalOptions::default() };
    let outcome = eval(&case.source, &[], &options);
    match (case.expected, outcome) {
        (Expected::Value, Ok(_)) => (Outcome::Passed, String::new()),
        (Expected::Value, Err(error)) => {
            let is_refusal = match error.kind {
                ErrorKind::Thrown => is_missing(&error.message),
                ErrorKind::Type => is_missing(&error.message),
                _ => true,
            };
            let outcome = if is_refusal { Outcome::Refused } else { Outcome::Wrong };
            (outcome, format!("{}: {}", error.kind, error.message))
        }
        (Expected::SyntaxError, Err(error))
            if matches!(error.kind, ErrorKind::Syntax | ErrorKind::Forbidden) =>
        {
            (Outcome::Passed, String::new())
        }
        (Expected::SyntaxError, Err(error)) if error.kind.is_limit() => {
            (Outcome::Refused, format!("{}: {}", error.kind, error.message))
        }
        (Expected::SyntaxError, outcome) => (Outcome::Accepted, format!("{outcome:?}")),
    }
}

/// Whether an error reports a missing feature.
fn is_missing(message: &str) -> bool {
    message.ends_with("` is not a function") || message.starts_with("only built-in kinds are made with new")
}
