//! Runs the test vectors in `FOLDER/vectors` that concern results of tools and prints one score a file.
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
use stockade_output::{
    ProfileOverride, SourceProfiles, TailLimits, Truncation, format_size, resolve_source, tail_of,
    truncate_line,
};

/// Rows of vectors that record another system's behaviour which this crate does not share.
const DECIDED_OTHERWISE: &[(&str, &str)] =
    &[("src-p29", "characters are counted in whole numbers: a fraction is cut off")];

/// Runs the rows of a file.
type Run = fn(&Value, &mut Score);

fn main() -> ExitCode {
    let Some(folder) = std::env::args_os().nth(1) else {
        eprintln!("usage: conformance FOLDER");
        return ExitCode::from(2);
    };
    let vectors = Path::new(&folder).join("vectors");
    let files: [(&str, Run); 2] =
        [("comis-source-profiles", source_profiles), ("comis-truncate", truncations)];
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

fn source_profiles(file: &Value, score: &mut Score) {
    for (name, expected) in file["defaults"].as_object().into_iter().flatten() {
        score.check(name, resolve(name, &Value::Null).and_then(|got| same(&camel(expected), &got)));
    }
    for case in file["cases"].as_array().into_iter().flatten() {
        let id = case["id"].as_str().unwrap_or("?");
        let tool = case["tool"].as_str().unwrap_or_default();
        let got = resolve(tool, &case["overrides"]);
        score.check(id, got.and_then(|got| same(&camel(&case["expect"]), &got)));
    }
    for case in file["resolve_all"].as_array().into_iter().flatten() {
        score.check("resolve_all", resolve_all(case));
    }
    // An override that is explicitly nothing changes nothing, and one that is not a number cannot be read.
    score.check(
        "maxChars null",
        resolve("web_fetch", &serde_json::json!({"max_chars": null}))
            .and_then(|got| same(&50_000.into(), &got["maxChars"])),
    );
    let not_a_number = resolve("web_fetch", &serde_json::json!({"max_chars": "NaN"}));
    score.check("maxChars NaN", if not_a_number.is_err() { Ok(()) } else { Err("accepted".to_owned()) });
}

fn resolve(tool: &str, overrides: &Value) -> Result<Value, String> {
    let profile = resolve_source(tool, &read_override(overrides)?);
    serde_json::to_value(profile).map_err(|error| error.to_string())
}

fn read_override(overrides: &Value) -> Result<ProfileOverride, String> {
    if overrides.is_null() {
        return Ok(ProfileOverride::default());
    }
    serde_json::from_value(camel(overrides)).map_err(|error| error.to_string())
}

fn resolve_all(case: &Value) -> Result<(), String> {
    let mut overrides = Vec::new();
    for (tool, wish) in case["overrides"].as_object().into_iter().flatten() {
        overrides.push((tool.clone(), read_override(wish)?));
    }
    let got =
        serde_json::to_value(SourceProfiles::new(overrides).all()).map_err(|error| error.to_string())?;
    let expected = case["expect"].as_object().into_iter().flatten();
    let expected: Value = expected.map(|(tool, profile)| (tool.clone(), camel(profile))).collect();
    same(&expected, &got)
}

/// Writes the keys of an object as this crate does.
fn camel(object: &Value) -> Value {
    let rename = |key: &str| {
        let mut words = key.split('_');
        let first = words.next().unwrap_or_default().to_owned();
        words.fold(first, |name, word| {
            let mut letters = word.chars();
            let initial = letters.next().map(|letter| letter.to_ascii_uppercase());
            name + &initial.into_iter().chain(letters).collect::<String>()
        })
    };
    object.as_object().into_iter().flatten().map(|(key, value)| (rename(key), value.clone())).collect()
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

fn same(expected: &Value, got: &Value) -> Result<(), String> {
    if agrees(expected, got) { Ok(()) } else { Err(format!("expected {expected}, got {got}")) }
}

fn truncations(rows: &Value, score: &mut Score) {
    for row in rows.as_array().into_iter().flatten() {
        let note = row["note"].as_str().unwrap_or("?");
        let outcome = match row["fn"].as_str() {
            Some("truncateTail") => truncate_tail(row),
            Some("formatSize") => {
                let size = row["args"][0].as_u64().unwrap_or_default();
                same(&row["result"], &format_size(size).into())
            }
            Some("truncateLine") => {
                let limit = row["args"][1].as_u64().unwrap_or(500);
                let line = row["args"][0].as_str().unwrap_or_default();
                same(&row["result"], &truncate_line(line, limit as usize).into())
            }
            other => Err(format!("no function {other:?} here")),
        };
        score.check(note, outcome);
    }
}

fn truncate_tail(row: &Value) -> Result<(), String> {
    let text = row["args"][0].as_str().unwrap_or_default();
    let mut limits = TailLimits { max_lines: 2_000, max_bytes: 51_200, ..TailLimits::default() };
    if let Some(lines) = row["args"][1]["maxLines"].as_u64() {
        limits.max_lines = lines as usize;
    }
    if let Some(bytes) = row["args"][1]["maxBytes"].as_u64() {
        limits.max_bytes = bytes as usize;
    }
    let tail = tail_of(text, &limits);
    let by = match tail.truncation {
        Truncation::None => Value::Null,
        Truncation::Lines => "lines".into(),
        _ => "bytes".into(),
    };
    let got = serde_json::json!({
        "content": tail.text, "truncated": tail.truncation != Truncation::None, "truncatedBy": by,
        "totalLines": tail.total_lines, "totalBytes": tail.total_bytes, "outputLines": tail.lines,
        "outputBytes": tail.text.len(), "lastLinePartial": tail.first_line_is_cut,
        "maxLines": limits.max_lines, "maxBytes": limits.max_bytes,
    });
    same(&row["result"], &got)
}
