//! The answer of `scan` for people, in the manner of a compiler.

use std::fmt::Write as _;

use stockade_guard::admission::{Coverage, FileScan};
use stockade_guard::scanner::{Finding, Severity, TextView};

use stockade_text::{escape, escape_path};

use super::snippet::Snippet;
use super::style::Styles;
use stockade_guard::admission::scan_report::SetAside;
use stockade_guard::admission::scan_report::{Gaps, ScanTally, Surfaces};

/// Files that are listed by name at the end. Programs find all of them in the JSON.
const LISTED: usize = 10;

/// Returns what there is to say about one file; nothing where all is well.
pub(crate) fn file(scan: &FileScan<'_>, styles: Styles) -> String {
    let mut out = String::new();
    if scan.report.clean() && scan.gap.is_none() {
        return out;
    }
    let path = escape_path(scan.path);
    for found in &scan.report.findings {
        finding(&mut out, &path, scan.text, found, styles);
    }
    let Styles { warn, strong, reset, .. } = styles;
    if scan.report.truncated {
        let n = scan.report.findings.len();
        line(
            &mut out,
            format_args!(
                "{warn}INCOMPLETE{reset} {strong}{path}{reset}: only the first {n} findings are shown\n"
            ),
        );
    }
    if let Some(gap) = scan.gap.as_ref().filter(|gap| gap.coverage() == Coverage::Incomplete) {
        line(
            &mut out,
            format_args!("{warn}INCOMPLETE{reset} {strong}{path}{reset}: {}\n", escape(&gap.to_string())),
        );
    }
    out
}

fn finding(out: &mut String, path: &str, text: &str, finding: &Finding<'_>, styles: Styles) {
    let Styles { strong, frame, reset, .. } = styles;
    let severity = severity_style(finding.severity, styles);
    let snippet = Snippet::of(text, &finding.span);
    let number = finding.line.to_string();
    let margin = " ".repeat(number.len());
    let on = if snippet.goes_on { " …" } else { "" };

    let (id, description) = (escape(finding.rule_id), escape(finding.description));
    line(out, format_args!("{severity}{}{reset} {strong}{id}{reset}: {description}", finding.severity));
    line(out, format_args!("{margin}{frame}-->{reset} {path}:{}:{}", finding.line, finding.column));
    line(out, format_args!("{margin} {frame}|{reset}"));
    line(out, format_args!("{frame}{number} |{reset} {}", snippet.line));
    let (indent, marks) = (" ".repeat(snippet.indent), "^".repeat(snippet.width));
    line(out, format_args!("{margin} {frame}|{reset} {indent}{severity}{marks}{on}{reset}"));
    if finding.view == TextView::Deobfuscated {
        line(
            out,
            format_args!(
                "{margin} {frame}={reset} note: seen once look-alike and invisible characters, comments and idle quoting are off"
            ),
        );
    }
    if finding.view == TextView::Decoded {
        line(out, format_args!("{margin} {frame}={reset} note: seen once what is spelled here is decoded"));
    }
    if let Some(by) = finding.changed {
        let by = escape(by);
        line(
            out,
            format_args!("{margin} {frame}={reset} note: the configuration changed its severity: {by}"),
        );
    }
    if let Some(why) = finding.lowered {
        line(out, format_args!("{margin} {frame}={reset} note: a warning here, since {why}"));
    }
    line(out, format_args!("{margin} {frame}={reset} fix: {}\n", escape(finding.remedy)));
}

/// Returns the last lines: which files were only listed, and the numbers.
pub(crate) fn summary(tally: &ScanTally, styles: Styles) -> String {
    let mut out = String::new();
    surfaces(&mut out, &tally.surfaces);
    notes(&mut out, &tally.listed, "files");
    notes(&mut out, &tally.excluded, "paths");
    set_aside(&mut out, &tally.set_aside);
    line(&mut out, format_args!("{}", verdict(tally, styles)));
    out
}

/// Appends a line for each of the first few things that run without being called, or that instruct. Scripts run when they are
/// called, and stand where anybody looks.
fn surfaces(out: &mut String, surfaces: &Surfaces) {
    for row in surfaces.rows.iter().take(LISTED) {
        let (kind, text) = (row.kind.name(), escape(&row.text));
        line(out, format_args!("note: {}:{}: {kind}: {text}", row.shown, row.line_number));
    }
    let more = surfaces.total.saturating_sub(LISTED);
    if more > 0 {
        line(out, format_args!("note: {more} more things that run or instruct; --format json names them"));
    }
}

/// Appends a line for each of the first few findings that were set aside, and one for all others.
fn set_aside(out: &mut String, list: &SetAside) {
    for row in list.rows.iter().take(LISTED) {
        line(out, format_args!("note: {}: {}", row.shown_path, row.told));
    }
    let more = list.total.saturating_sub(LISTED);
    if more > 0 {
        line(out, format_args!("note: {more} more like these; --format json names them"));
    }
}

/// Appends a line for each of the first few paths, and one for all others.
fn notes(out: &mut String, gaps: &Gaps, noun: &str) {
    for row in gaps.rows.iter().take(LISTED) {
        line(out, format_args!("note: {}: {}", row.shown, row.reason));
    }
    let more = gaps.total.saturating_sub(LISTED);
    if more > 0 {
        line(out, format_args!("note: {more} more {noun} like these; --format json names them"));
    }
}

/// Returns the one line that says it all.
fn verdict(tally: &ScanTally, styles: Styles) -> String {
    let Styles { critical, warn, good, reset, .. } = styles;
    let files = count(tally.files, "file");
    let mut parts = Vec::new();
    if tally.critical > 0 {
        parts.push(format!("{critical}{} critical{reset}", tally.critical));
    }
    if tally.warn > 0 {
        parts.push(format!("{warn}{}{reset}", count(tally.warn, "warning")));
    }
    if tally.incomplete.total > 0 {
        parts.push(format!(
            "{warn}incomplete{reset}: {} not fully scanned",
            count(tally.incomplete.total, "path")
        ));
    }
    let excluded = match tally.excluded.total {
        0 => String::new(),
        n => format!(", {} excluded", count(n, "path")),
    };
    let opaque = match tally.opaque {
        0 => String::new(),
        n => format!(", {n} not looked into"),
    };
    let set_aside = tally.set_aside.sum().map(|sum| format!(", {sum}")).unwrap_or_default();
    match parts.is_empty() {
        true if tally.clean() => format!("{good}clean{reset}: {files} scanned"),
        true => format!("nothing found: {files} scanned{opaque}{excluded}{set_aside}"),
        false => format!("{}; {files} scanned{opaque}{excluded}{set_aside}", parts.join(", ")),
    }
}

/// Returns the number with its noun.
fn count(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

/// Returns the colour of a severity.
pub(crate) const fn severity_style(severity: Severity, styles: Styles) -> &'static str {
    match severity {
        Severity::Critical => styles.critical,
        Severity::Warn => styles.warn,
    }
}

/// Appends one line.
fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    writeln!(out, "{text}").ok();
}
