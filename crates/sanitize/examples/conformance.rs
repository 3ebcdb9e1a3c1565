//! Runs the sanitizer's vectors: `cargo run -p stockade-sanitize --example sanitize-conformance -- FOLDER`, where FOLDER holds
//! `vectors/`. Prints `NAME  PASSED/TOTAL` for each file, failures on stderr, and fails if a requirement does.

use std::process::ExitCode;

use serde_json::Value;
use stockade_sanitize::{
    SanitizeOptions, Sanitized, contains_tag_block, sanitize, strip_html_comments, strip_invisible,
};
use testkit::vectors::{Deviations, Outcome, Vectors};

/// What is done with a row.
enum Verdict {
    Passed,
    /// Another crate is responsible for it, for this reason.
    Elsewhere(&'static str),
}

const VECTORS: Vectors = Vectors {
    files: &[("comis-sanitizer", requirements), ("comis-sanitizer-gaps", gaps)],
    decided_otherwise: &[],
    deviations: Deviations::LeftOut,
};

fn main() -> ExitCode {
    VECTORS.main()
}

/// Rows from the reference's own tests. Those that only record its behaviour are no requirements.
fn requirements(rows: &Value) -> Vec<Outcome> {
    let rows = rows.as_array().into_iter().flatten();
    rows.filter(|row| row["source"] == "comis-test")
        .map(|row| Outcome::of(id(row), requirement(row)))
        .collect()
}

fn gaps(rows: &Value) -> Vec<Outcome> {
    let outcome = |row| match gap(row) {
        Ok(Verdict::Passed) => Outcome::of(id(row), Ok(())),
        Ok(Verdict::Elsewhere(reason)) => Outcome::elsewhere(id(row), reason),
        Err(problem) => Outcome::of(id(row), Err(problem)).wished(),
    };
    rows.as_array().into_iter().flatten().map(outcome).collect()
}

fn id(row: &Value) -> String {
    format!("{} ({})", row["id"], row["note"])
}

fn requirement(row: &Value) -> Result<(), String> {
    let input = row["input"].as_str().ok_or("no input")?;
    let expect = &row["expect"];
    match row["fn"].as_str().unwrap_or_default() {
        "strip_comments" => {
            let without = strip_html_comments(input);
            same("text", &expect["text"], &without.text.as_ref().into())?;
            same("count", &expect["count"], &without.count.into())?;
        }
        "strip_invisible" => {
            let without = strip_invisible(input);
            same("text", &expect["text"], &without.text.as_ref().into())?;
            same("tag block", &expect["tag_block_detected"], &without.tag_block_detected.into())?;
        }
        "contains_tag_block" => same("detected", &expect["detected"], &contains_tag_block(input).into())?,
        "sanitize" => {
            let clean = sanitize(input, &options(row)?);
            same("body", &expect["body"], &clean.body.as_ref().into())?;
            same("comments", &expect["html_comments_stripped"], &clean.html_comments_stripped.into())?;
            same("truncated", &expect["truncated"], &clean.truncated.into())?;
            same("tag block", &expect["tag_block_detected"], &clean.tag_block_detected.into())?;
        }
        other => return Err(format!("unknown function `{other}`")),
    }
    Ok(())
}

/// A row that describes a better sanitizer.
fn gap(row: &Value) -> Result<Verdict, String> {
    let input = row["input"].as_str().ok_or("no input")?;
    let wants = row["want"].as_object().ok_or("no wants")?;
    if wants.contains_key("scan_before_truncate") {
        return Ok(Verdict::Elsewhere("the guard scans before it cuts, and is tested for it"));
    }
    let options = options(row)?;
    let clean = sanitize(input, &options);
    if sanitize(&clean.body, &options).body != clean.body {
        return Err("a second pass changes the result".into());
    }
    wants.iter().try_for_each(|(want, value)| fulfils(&clean, want, value)).map(|()| Verdict::Passed)
}

fn fulfils(clean: &Sanitized<'_>, want: &str, value: &Value) -> Result<(), String> {
    let body = clean.body.as_ref();
    let texts = || value.as_array().into_iter().flatten().filter_map(Value::as_str);
    let fulfilled = match want {
        "body" => value == body,
        "must_contain" => texts().all(|text| body.contains(text)),
        "must_not_contain" => texts().all(|text| !body.contains(text)),
        "tagBlockDetected" | "tag_block_detected" => *value == clean.tag_block_detected,
        "truncated" => *value == clean.truncated,
        "html_comments_stripped" | "htmlCommentsStripped" => *value == clean.html_comments_stripped,
        "hidden_text" | "hiddenText" => value.as_str() == clean.hidden_text.as_deref(),
        "no_tag_chars" => !body.contains(|c| matches!(c, '\u{E0000}'..='\u{E007F}')),
        // A Rust string cannot hold a lone surrogate; the cut could still go wrong.
        "no_lone_surrogate" => !body.contains(char::REPLACEMENT_CHARACTER),
        "flag" if value == "none" => clean.notes().is_empty(),
        "flag" => clean.notes().iter().any(|note| value == note.name()),
        "idempotent" | "fixed_point" => true, // checked for every row
        unknown => return Err(format!("do not know how to check `{unknown}`")),
    };
    if fulfilled { Ok(()) } else { Err(format!("wanted {want} = {value}, got {clean:?}")) }
}

fn options(row: &Value) -> Result<SanitizeOptions, String> {
    let limit = row["max_len"].as_u64().ok_or("no max_len")?;
    let max_chars = usize::try_from(limit).map_err(|error| error.to_string())?;
    Ok(SanitizeOptions { max_chars, ..SanitizeOptions::default() })
}

fn same(what: &str, want: &Value, got: &Value) -> Result<(), String> {
    if want == got { Ok(()) } else { Err(format!("{what}: wanted {want}, got {got}")) }
}
