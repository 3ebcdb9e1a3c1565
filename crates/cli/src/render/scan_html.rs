//! Output of `scan` as an HTML page. It is written file by file, so the totals come last; the style sheet moves them to the top.

use stockade_guard::admission::{Coverage, FileScan};
use stockade_guard::scanner::{Finding, FindingGroup, Severity, TextView};
use stockade_text::escape_path;

use super::html::bars::{Bar, Bars};
use super::html::{self, END, Number, Tone, numbers, section, text};
use super::snippet::Snippet;
use super::told::{chain, others};
use stockade_guard::admission::scan_report::SetAside;
use stockade_guard::admission::scan_report::{Gaps, ScanTally, Surfaces};

/// Maximum number of paths in each list. JSON output has all.
const LISTED: usize = 50;

/// Returns the start of the page.
pub(crate) fn head() -> String {
    html::head("Findings") + "<p class=\"skip\"><a href=\"#sums\">To the totals</a></p>\n"
}

/// Formats the findings of one file.
pub(crate) fn file(scan: &FileScan<'_>) -> String {
    let path = text(&escape_path(scan.path));
    let mut out: String = scan.report.groups().iter().map(|group| finding(&path, scan.text, group)).collect();
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

fn finding(path: &str, source: &str, group: &FindingGroup<'_, '_>) -> String {
    let finding = group.main;
    let (tone, word) = match finding.severity {
        Severity::Critical => (Tone::Bad, "critical"),
        Severity::Warn => (Tone::Doubtful, "warning"),
    };
    let seen = match finding.view {
        TextView::Deobfuscated => {
            "Found after removing look-alike and invisible characters, comments and no-op quoting."
        }
        TextView::Decoded => "Found after decoding.",
        _ => "",
    };
    let lowered =
        finding.lowered.map(|why| format!("Lowered to a warning because {why}.")).unwrap_or_default();
    let changed = finding.changed.map(|by| format!("Severity changed by the configuration: {by}."));
    let why = (!finding.why.is_empty()).then(|| format!("Why here: {}.", finding.why));
    let also = (!group.others.is_empty()).then(|| format!("Also found by {}.", others(group)));
    let notes: String = [why, chain(finding), Some(seen.to_owned()), Some(lowered), changed, also]
        .iter()
        .flatten()
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

/// Formats the line of a finding with the match marked.
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

/// Returns the end of the page: the totals, and what was not scanned.
pub(crate) fn tail(tally: &ScanTally) -> String {
    let count = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
    let number = |tone, value, noun| Number { tone, value: count(value), noun };
    let (tone, word) = verdict(tally);
    let mut sums = format!("<p class=\"{}\"><b>{word}</b></p>\n", tone.class());
    sums.push_str(&numbers(&[
        number(Tone::Bad, tally.critical, "critical"),
        number(Tone::Doubtful, tally.warn, "warnings"),
        number(Tone::Doubtful, tally.incomplete.total, "not fully scanned"),
        number(Tone::Doubtful, tally.opaque, "opaque"),
        number(Tone::Plain, tally.excluded.total, "excluded"),
        number(Tone::Plain, tally.set_aside.findings, "suppressed or known"),
        number(Tone::Plain, tally.files, "files scanned"),
    ]));
    sums.push_str(&pictures(tally));
    let notes = surfaces(&tally.surfaces)
        + &gaps("Not text", &tally.listed)
        + &gaps("Excluded", &tally.excluded)
        + &set_aside(&tally.set_aside);
    format!("<div id=\"sums\" class=\"first\">\n{sums}</div>\n<footer>\n{notes}</footer>\n{END}")
}

/// Returns the overall result.
fn verdict(tally: &ScanTally) -> (Tone, &'static str) {
    match tally.worst() {
        Some(Severity::Critical) => (Tone::Bad, "Critical findings."),
        Some(Severity::Warn) => (Tone::Doubtful, "Warnings that need a review."),
        None if tally.clean() => (Tone::Good, "Clean."),
        None if tally.complete() => (Tone::Plain, "No findings in the scanned files."),
        None => (Tone::Doubtful, "No findings, but not everything could be scanned."),
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
    list("Files that run or instruct without being called", &rows, surfaces.total + surfaces.total_scripts)
}

fn gaps(heading: &str, gaps: &Gaps) -> String {
    let rows: Vec<_> =
        gaps.rows.iter().take(LISTED).map(|row| (row.shown.clone(), row.reason.clone())).collect();
    list(heading, &rows, gaps.total)
}

fn set_aside(all: &SetAside) -> String {
    let rows: Vec<_> =
        all.rows.iter().take(LISTED).map(|row| (row.shown_path.clone(), row.told.clone())).collect();
    list("Suppressed and known findings", &rows, all.total)
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
        more => format!("<p class=\"lead\">and {more} more; <code>--format json</code> lists them</p>\n"),
    };
    section(heading, &format!("<table class=\"wide\">\n<tbody>\n{items}</tbody>\n</table>\n{more}"))
}
