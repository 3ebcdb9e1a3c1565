//! Output of `scan --facts`: a line for each fact, or JSON.

use std::path::Path;

use serde::Serialize;
use stockade_guard::admission::scan_report::path_text;
use stockade_guard::scanner::{CommandFact, DownloadFact, Facts, PackageFact, PackageSource};
use stockade_text::{escape, escape_path, to_printable_json};

/// The facts of a file and its path.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FileFacts<'f> {
    path: &'f str,
    #[serde(flatten)]
    facts: &'f Facts,
}

/// Formats the facts of one file as lines that begin with its path and the line of the fact.
pub(crate) fn lines(path: &Path, facts: &Facts) -> String {
    let Facts { claims, commands, downloads, packages, removals, hidden, .. } = facts;
    let mut rows: Vec<(usize, String)> = Vec::new();
    rows.extend(
        claims.iter().map(|fact| (fact.place.line, format!("claim: {} {}", fact.kind.name(), fact.value))),
    );
    rows.extend(
        hidden.iter().map(|fact| (fact.place.line, format!("hidden: {}: {}", fact.kind.name(), fact.text))),
    );
    rows.extend(commands.iter().map(|fact| (fact.place.line, command(fact))));
    rows.extend(packages.iter().map(|fact| (fact.place.line, package(fact))));
    rows.extend(downloads.iter().map(|fact| (fact.place.line, download(fact))));
    rows.extend(
        removals.iter().map(|fact| (fact.place.line, format!("removal: {}", fact.directories.join(" ")))),
    );
    rows.sort_by_key(|(line, _)| *line);
    let path = escape_path(path);
    let mut out: String =
        rows.iter().map(|(line, row)| format!("{path}:{line}: {}\n", escape(row))).collect();
    if facts.truncated {
        out.push_str(&format!("{path}: only the first {} facts of a kind are shown\n", Facts::MAX_LISTED));
    }
    out
}

fn command(fact: &CommandFact) -> String {
    let mut words = fact.through.clone();
    words.push(fact.program.clone());
    words.extend(fact.arguments.iter().cloned());
    let notes: Vec<String> = [("reads", &fact.reads), ("writes", &fact.writes), ("hosts", &fact.hosts)]
        .into_iter()
        .filter(|(_, values)| !values.is_empty())
        .map(|(name, values)| format!("{name} {}", values.join(" ")))
        .collect();
    let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join("; ")) };
    format!("command: {}{notes}", words.join(" "))
}

fn package(fact: &PackageFact) -> String {
    let from = if fact.source == PackageSource::Address { " from an address" } else { "" };
    let known = if fact.known_vendor && !from.is_empty() { " (known vendor)" } else { "" };
    let like = fact.resembles.as_ref().map(|name| format!(", resembles {name}")).unwrap_or_default();
    format!("package: {}{from}{known} by {}{like}", fact.name, fact.manager)
}

fn download(fact: &DownloadFact) -> String {
    let of = if fact.addresses.is_empty() { "unknown address".to_owned() } else { fact.addresses.join(" ") };
    let known = if fact.known_vendor { " (known vendor)" } else { "" };
    let into = if fact.files.is_empty() { String::new() } else { format!(" to {}", fact.files.join(" ")) };
    let then = fact.run_by.as_ref().map(|place| format!(", run in line {}", place.line)).unwrap_or_default();
    format!("download: {of}{known}{into}{then}")
}

/// Formats the facts of one file as a member of the JSON document.
pub(crate) fn json(path: &Path, facts: &Facts) -> String {
    format!("\n{}", to_printable_json(&FileFacts { path: &path_text(path).0, facts }))
}

/// Formats the facts of one file as a line of JSON.
pub(crate) fn jsonl(path: &Path, facts: &Facts) -> String {
    to_printable_json(&FileFacts { path: &path_text(path).0, facts }) + "\n"
}
