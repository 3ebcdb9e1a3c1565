//! Runs the sanitizer's vectors: `cargo run -p stockade-sanitize --example sanitize-conformance -- FOLDER`, where FOLDER holds
//! `vectors/`. Prints `NAME  PASSED/TOTAL` for each file, failures on stderr, and fails if a requirement does.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for people"
)]

use std::path::Path;
use std::process::ExitCode;

use serde_json::Value;
use stockade_sanitize::{
    SanitizeOptions, Sanitized, contains_tag_block, sanitize, strip_html_comments, strip_invisible,
};

type Check = fn(&Value) -> Result<Verdict, String>;

/// The result of a row.
enum Verdict {
    Passed,
    /// The row describes the reference's behaviour, or belongs to another crate.
    NotOurs(&'static str),
}

/// Whether a failing row fails the program.
#[derive(PartialEq)]
enum Rows {
    Required,
    Wished,
}

/// The files, each with the check of its rows.
const FILES: [(&str, Rows, Check); 2] =
    [("comis-sanitizer", Rows::Required, requirement), ("comis-sanitizer-gaps", Rows::Wished, gap)];

fn main() -> ExitCode {
    let Some(folder) = std::env::args_os().nth(1) else {
        eprintln!("usage: conformance FOLDER    (the folder that holds vectors/)");
        return ExitCode::from(2);
    };
    let vectors = Path::new(&folder).join("vectors");
    let mut fulfilled = true;
    for (name, rows, check) in FILES {
        match run(&vectors.join(name).with_extension("json"), check) {
            Ok((passed, total)) => {
                println!("{name}  {passed}/{total}");
                fulfilled &= passed == total || rows == Rows::Wished;
            }
            Err(error) => {
                eprintln!("{name}: {error}");
                fulfilled = false;
            }
        }
    }
    if fulfilled { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn run(path: &Path, check: Check) -> Result<(usize, usize), String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read: {error}"))?;
    let rows: Vec<Value> = serde_json::from_str(&text).map_err(|error| format!("cannot parse: {error}"))?;
    let (mut passed, mut total) = (0, 0);
    for row in &rows {
        match check(row) {
            Ok(Verdict::NotOurs("")) => continue,
            Ok(Verdict::NotOurs(reason)) => {
                eprintln!("{} is not this crate's: {reason}", row["id"]);
                continue;
            }
            Ok(Verdict::Passed) => passed += 1,
            Err(problem) => eprintln!("{} failed: {problem} ({})", row["id"], row["note"]),
        }
        total += 1;
    }
    Ok((passed, total))
}

/// A row from the reference's own tests; merely observed behaviour is not required.
fn requirement(row: &Value) -> Result<Verdict, String> {
    if row["source"] != "comis-test" {
        return Ok(Verdict::NotOurs(""));
    }
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
    Ok(Verdict::Passed)
}

/// A row that describes a better sanitizer.
fn gap(row: &Value) -> Result<Verdict, String> {
    let input = row["input"].as_str().ok_or("no input")?;
    let wants = row["want"].as_object().ok_or("no wants")?;
    if wants.contains_key("scan_before_truncate") {
        return Ok(Verdict::NotOurs("the guard scans before it cuts, and is tested for it"));
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
