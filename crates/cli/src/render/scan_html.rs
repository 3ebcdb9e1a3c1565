//! The answer of `scan` as a page for a browser. It is written as the files come, so the sums stand behind the findings; the style shows
//! them first, and a link at the top leads there.

use stockade_guard::admission::{Coverage, FileScan};
use stockade_guard::scanner::{Finding, Severity, TextView};
use stockade_text::escape_path;

use super::html::bars::{Bar, Bars};
use super::html::{self, END, Number, Tone, numbers, section, text};
use super::snippet::Snippet;
use stockade_guard::admission::scan_report::SetAside;
use stockade_guard::admission::scan_report::{Gaps, ScanTally, Surfaces};

/// Paths that are listed by name in each list. Programs find all of them in the JSON.
const LISTED: usize = 50;

/// Returns how the page begins.
pub(crate) fn head() -> String {
    html::head("What was found") + "<p class=\"skip\"><a href=\"#sums\">To the sums</a></p>\n"
}

/// Returns the findings of one file.
pub(crate) fn file(scan: &FileScan<'_>) -> String {
    let path = text(&escape_path(scan.path));
    let mut out: String = scan.report.findings.iter().map(|found| finding(&path, scan.text, found)).collect();
    if scan.report.truncated {
        out.push_str(&incomplete(
            &path,
            &format!("only the first {} findings are shown", scan.report.findings.len()),
        ));
    }
    if let Some(gap) = scan.gap.as_ref().filter(|gap| gap.coverage() == Coverage::Incomplete) {
        out.push_str(&incomplete(&path, &gap.to_string()));
    }
    out
}

fn finding(path: &str, source: &str, finding: &Finding<'_>) -> String {
    let (tone, word) = match finding.severity {
        Severity::Critical => (Tone::Bad, "critical"),
        Severity::Warn => (Tone::Doubtful, "warning"),
    };
    let seen = match finding.view {
        TextView::Deobfuscated => {
            "Seen once look-alike and invisible characters, comments and idle quoting are off."
        }
        TextView::Decoded => "Seen once what is spelled here is decoded.",
        _ => "",
    };
    let lowered = finding.lowered.map(|why| format!("A warning here, since {why}.")).unwrap_or_default();
    let changed = finding.changed.map(|by| format!("The configuration changed its severity: {by}."));
    let notes: String = [seen, &lowered, changed.as_deref().unwrap_or_default()]
        .iter()
        .filter(|note| !note.is_empty())
        .map(|note| format!("<p class=\"lead\">{}</p>\n", text(note)))
        .collect();
    format!(
        "<article class=\"{}\">\n<h3><span class=\"word\">{word}</span> <code>{}</code></h3>\n<p>{}</p>\n\
         <p class=\"path\">{path}:{}:{}</p>\n{}{notes}<p>Fix: {}</p>\n</article>\n",
        tone.class(),
        text(finding.rule_id),
        text(finding.description),
        finding.line,
        finding.column,
        quoted(source, finding),
        text(finding.remedy),
    )
}

/// The line of a finding with the found part marked.
fn quoted(source: &str, finding: &Finding<'_>) -> String {
    let Snippet { line, found, goes_on, .. } = Snippet::of(source, &finding.span);
    let part = |range: std::ops::Range<usize>| text(line.get(range).unwrap_or_default());
    let on = if goes_on { " …" } else { "" };
    format!(
        "<pre>{}<mark>{}{on}</mark>{}</pre>\n",
        part(0..found.start),
        part(found.clone()),
        part(found.end..line.len())
    )
}

fn incomplete(path: &str, why: &str) -> String {
    format!(
        "<article class=\"doubtful\">\n<h3><span class=\"word\">not fully scanned</span></h3>\n\
         <p class=\"path\">{path}</p>\n<p>{}</p>\n</article>\n",
        text(why)
    )
}

/// Returns the end of the page: the sums, which the style shows first, and what was not scanned.
pub(crate) fn tail(tally: &ScanTally) -> String {
    let count = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
    let number = |tone, value, noun| Number { tone, value: count(value), noun };
    let (tone, word) = verdict(tally);
    let mut sums = format!("<p class=\"{}\"><b>{word}</b></p>\n", tone.class());
    sums.push_str(&numbers(&[
        number(Tone::Bad, tally.critical, "critical"),
        number(Tone::Doubtful, tally.warn, "warnings"),
        number(Tone::Doubtful, tally.incomplete.total, "not fully scanned"),
        number(Tone::Doubtful, tally.opaque, "not looked into"),
        number(Tone::Plain, tally.excluded.total, "excluded"),
        number(Tone::Plain, tally.set_aside.findings, "set aside"),
        number(Tone::Plain, tally.files, "files scanned"),
    ]));
    sums.push_str(&pictures(tally));
    let notes = surfaces(&tally.surfaces)
        + &gaps("Not text", &tally.listed)
        + &gaps("Excluded", &tally.excluded)
        + &set_aside(&tally.set_aside);
    format!("<div id=\"sums\" class=\"first\">\n{sums}</div>\n<footer>\n{notes}</footer>\n{END}")
}

/// The same words as the last line on a terminal begins with.
fn verdict(tally: &ScanTally) -> (Tone, &'static str) {
    match tally.worst() {
        Some(Severity::Critical) => (Tone::Bad, "Something critical was found."),
        Some(Severity::Warn) => (Tone::Doubtful, "Somebody should look at this."),
        None if tally.clean() => (Tone::Good, "Clean."),
        None if tally.complete() => (Tone::Plain, "Nothing was found in what was scanned."),
        None => (Tone::Doubtful, "Nothing was found, and not everything could be scanned."),
    }
}

fn pictures(tally: &ScanTally) -> String {
    let row = |name: &str, counts: &[u64; 2]| {
        let [critical, warn] = *counts;
        Bar { name: name.to_owned(), parts: vec![(Tone::Bad, critical), (Tone::Doubtful, warn)] }
    };
    let (skills, unnamed) = tally.groups.by_skill();
    let skills = skills.iter().map(|(name, counts)| row(name, counts)).collect();
    let rules = tally.groups.rules.by_name.iter().map(|(name, counts)| row(name, counts)).collect();
    let parts = &["critical", "warnings"];
    Bars { heading: "By skill", names: "folder", parts }.table(skills, unnamed)
        + &Bars { heading: "By rule", names: "rule", parts }.table(rules, tally.groups.rules.unnamed)
}

fn surfaces(surfaces: &Surfaces) -> String {
    let rows = surfaces.rows.iter().chain(&surfaces.scripts).take(LISTED);
    let rows: Vec<_> = rows
        .map(|row| {
            (format!("{}:{}", row.shown, row.line_number), format!("{}: {}", row.kind.name(), row.text))
        })
        .collect();
    list("What runs or instructs because it is there", &rows, surfaces.total + surfaces.total_scripts)
}

fn gaps(heading: &str, gaps: &Gaps) -> String {
    let rows: Vec<_> =
        gaps.rows.iter().take(LISTED).map(|row| (row.shown.clone(), row.reason.clone())).collect();
    list(heading, &rows, gaps.total)
}

fn set_aside(all: &SetAside) -> String {
    let rows: Vec<_> =
        all.rows.iter().take(LISTED).map(|row| (row.shown_path.clone(), row.told.clone())).collect();
    list("Set aside, and what lists say", &rows, all.total)
}

fn list(heading: &str, rows: &[(String, String)], total: usize) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let items: String = rows
        .iter()
        .map(|(path, what)| {
            format!("<tr><th scope=\"row\" class=\"path\">{}</th><td>{}</td></tr>\n", text(path), text(what))
        })
        .collect();
    let more = match total.saturating_sub(rows.len()) {
        0 => String::new(),
        more => format!("<p class=\"lead\">and {more} more; <code>--format json</code> names them</p>\n"),
    };
    section(heading, &format!("<table class=\"wide\">\n<tbody>\n{items}</tbody>\n</table>\n{more}"))
}
