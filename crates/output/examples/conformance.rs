//! Runs the test vectors in `FOLDER/vectors` that concern results of tools and prints one score a file.
//!
//! A row counts when its expectation is a requirement. Rows that only record what another system happens to do are run
//! as well; where this crate decides otherwise, [`DECIDED_OTHERWISE`] has the reason.

#![expect(clippy::indexing_slicing, reason = "a member or an element that is missing is null")]

use std::process::ExitCode;

use serde_json::Value;
use stockade_output::{
    ProfileOverride, SourceProfiles, TailLimits, Truncation, format_size, resolve_source, tail_of,
    truncate_line,
};
use testkit::vectors::{Deviations, Outcome, Vectors, agrees};

/// Rows of vectors that record another system's behaviour which this crate does not share.
const DECIDED_OTHERWISE: &[(&str, &str)] =
    &[("src-p29", "characters are counted in whole numbers: a fraction is cut off")];

const VECTORS: Vectors = Vectors {
    files: &[("comis-source-profiles", source_profiles), ("comis-truncate", truncations)],
    decided_otherwise: DECIDED_OTHERWISE,
    deviations: Deviations::LeftOut,
};

fn main() -> ExitCode {
    VECTORS.main()
}

fn source_profiles(file: &Value) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    for (name, expected) in file["defaults"].as_object().into_iter().flatten() {
        let got = resolve(name, &Value::Null);
        outcomes.push(Outcome::of(name, got.and_then(|got| same(&camel(expected), &got))));
    }
    for case in file["cases"].as_array().into_iter().flatten() {
        let got = resolve(case["tool"].as_str().unwrap_or_default(), &case["overrides"]);
        let id = case["id"].as_str().unwrap_or("?");
        outcomes.push(Outcome::of(id, got.and_then(|got| same(&camel(&case["expect"]), &got))));
    }
    for case in file["resolve_all"].as_array().into_iter().flatten() {
        outcomes.push(Outcome::of("resolve_all", resolve_all(case)));
    }
    // An override that is explicitly nothing changes nothing, and one that is not a number cannot be read.
    let null = resolve("web_fetch", &serde_json::json!({"max_chars": null}));
    let null = null.and_then(|got| same(&50_000.into(), &got["maxChars"]));
    let not_a_number = resolve("web_fetch", &serde_json::json!({"max_chars": "NaN"}));
    outcomes.push(Outcome::of("maxChars null", null));
    outcomes.push(Outcome::new("maxChars NaN", not_a_number.is_err(), "accepted"));
    outcomes
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

fn same(expected: &Value, got: &Value) -> Result<(), String> {
    if agrees(expected, got) { Ok(()) } else { Err(format!("expected {expected}, got {got}")) }
}

fn truncations(rows: &Value) -> Vec<Outcome> {
    let rows = rows.as_array().into_iter().flatten();
    rows.map(|row| Outcome::of(row["note"].as_str().unwrap_or("?"), truncation(row))).collect()
}

fn truncation(row: &Value) -> Result<(), String> {
    match row["fn"].as_str() {
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
