//! Runs the test vectors of a folder: `cargo run --release --example scanner-conformance -- FOLDER`.
//!
//! Prints a line `NAME PASSED/TOTAL` for each file, failures on standard error, and ends with 1 if a required case fails.

use std::collections::BTreeSet;
use std::process::ExitCode;

use serde_json::Value;
use stockade_scanner::Scanner;
use testkit::vectors::{Deviations, Outcome, Vectors};

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

const VECTORS: Vectors = Vectors {
    files: &[("comis-scanner", required), ("comis-scanner-gaps", wished)],
    decided_otherwise: &[],
    deviations: Deviations::LeftOut,
};

fn main() -> ExitCode {
    VECTORS.main()
}

fn required(rows: &Value) -> Vec<Outcome> {
    outcomes(rows, required_case).collect()
}

fn wished(rows: &Value) -> Vec<Outcome> {
    outcomes(rows, gap_case).map(Outcome::wished).collect()
}

fn outcomes(rows: &Value, case: fn(&Value) -> Option<Case>) -> impl Iterator<Item = Outcome> {
    let cases = rows.as_array().into_iter().flatten().filter_map(case);
    cases.map(|case| Outcome::of(&case.name, judge(&case).map_or(Ok(()), Err)))
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
    wrong.then(|| format!("missing {missing:?}, too much {extra:?}, in {:?}", case.input))
}
