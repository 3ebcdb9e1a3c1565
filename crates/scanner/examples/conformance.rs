//! Runs the test vectors of a folder: `cargo run --release --example scanner-conformance -- FOLDER`.
//!
//! Prints a line `NAME PASSED/TOTAL` for each file, failures on standard error, and ends with 1 if a required case fails.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command of its own, not the library"
)]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;

use serde_json::Value;
use stockade_scanner::Scanner;

/// Whether a failure fails the run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Weight {
    Required,
    Wished,
}

struct Case {
    name: String,
    input: String,
    /// The rules that must fire.
    wanted: BTreeSet<String>,
    /// The rules that must not: those observed elsewhere to be wrong, or all others.
    unwanted: Unwanted,
}

enum Unwanted {
    AllOthers,
    These(BTreeSet<String>),
}

fn main() -> ExitCode {
    let Some(folder) = std::env::args_os().nth(1) else {
        eprintln!("usage: conformance FOLDER (it holds vectors/comis-scanner.json)");
        return ExitCode::from(2);
    };
    let vectors = Path::new(&folder).join("vectors");
    let results = [
        run(&vectors, "comis-scanner", Weight::Required, required_case),
        run(&vectors, "comis-scanner-gaps", Weight::Wished, gap_case),
    ];
    if results.iter().all(|&passed| passed) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn run(vectors: &Path, name: &str, weight: Weight, case: fn(&Value) -> Option<Case>) -> bool {
    let Some(rows) = read(&vectors.join(name).with_extension("json")) else {
        return weight == Weight::Wished;
    };
    let cases: Vec<Case> = rows.iter().filter_map(case).collect();
    let failures: Vec<String> = cases.iter().filter_map(judge).collect();
    println!("{name}  {}/{}", cases.len() - failures.len(), cases.len());
    failures.iter().for_each(|failure| eprintln!("{name}: {failure}"));
    failures.is_empty() || weight == Weight::Wished
}

fn read(path: &Path) -> Option<Vec<Value>> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| eprintln!("cannot read {}: {error}", path.display()))
        .ok()?;
    serde_json::from_str(&text).map_err(|error| eprintln!("cannot parse {}: {error}", path.display())).ok()
}

/// Rows recorded from the tests of the original are requirements; the others only describe it.
fn required_case(row: &Value) -> Option<Case> {
    let name = row.get("note")?.as_str()?.to_owned();
    (row.get("source")?.as_str()? == "comis-test").then_some(())?;
    Some(Case {
        name,
        input: row.get("input")?.as_str()?.to_owned(),
        wanted: rules(row, "expect_rules"),
        unwanted: Unwanted::AllOthers,
    })
}

fn gap_case(row: &Value) -> Option<Case> {
    let name = format!("{} ({})", row.get("id")?.as_str()?, row.get("note")?.as_str()?);
    let wanted = rules(row, "want_rules");
    let unwanted = match wanted.is_empty() {
        true => Unwanted::AllOthers,
        false => Unwanted::These(BTreeSet::new()),
    };
    Some(Case { name, input: row.get("input")?.as_str()?.to_owned(), wanted, unwanted })
}

fn rules(row: &Value, key: &str) -> BTreeSet<String> {
    let list = row.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(|rule| rule.as_str().map(str::to_owned)).collect()
}

/// Returns what is wrong with the scanner's result, if anything.
fn judge(case: &Case) -> Option<String> {
    let report = Scanner::builtin().scan(&case.input);
    let fired: BTreeSet<String> = report.findings.iter().map(|finding| finding.rule_id.to_owned()).collect();
    let missing: Vec<_> = case.wanted.difference(&fired).collect();
    let extra: Vec<_> = fired
        .difference(&case.wanted)
        .filter(|rule| match &case.unwanted {
            Unwanted::AllOthers => true,
            Unwanted::These(rules) => rules.contains(*rule),
        })
        .collect();
    let wrong = !missing.is_empty() || !extra.is_empty();
    wrong.then(|| format!("{}: missing {missing:?}, too much {extra:?}, in {:?}", case.name, case.input))
}
