//! Text output of `scan`, in the style of a compiler.

use std::fmt::Write as _;

use stockade_guard::admission::{Coverage, FileScan};
use stockade_guard::scanner::{FindingGroup, Severity, TextView};

use stockade_text::{escape, escape_path};

use super::snippet::Snippet;
use super::style::Styles;
use stockade_guard::admission::scan_report::SetAside;
use stockade_guard::admission::scan_report::{Gaps, ScanTally, Surfaces};

/// Maximum number of files in each list at the end. JSON output has all.
const LISTED: usize = 10;

/// Formats the findings and the gap of one file; empty without either.
pub(crate) fn file(scan: &FileScan<'_>, styles: Styles) -> String {
    let mut out = String::new();
    if scan.report.clean() && scan.gap.is_none() {
        return out;
    }
    let path = escape_path(scan.path);
    for group in scan.report.groups() {
        finding(&mut out, &path, scan.text, &group, styles);
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

fn finding(out: &mut String, path: &str, text: &str, group: &FindingGroup<'_, '_>, styles: Styles) {
    let finding = group.main;
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
    if !finding.why.is_empty() {
        line(out, format_args!("{margin} {frame}={reset} why: {}", escape(finding.why)));
    }
    if finding.view == TextView::Deobfuscated {
        line(
            out,
            format_args!(
                "{margin} {frame}={reset} note: found after removing look-alike and invisible characters, comments and no-op quoting"
            ),
        );
    }
    if finding.view == TextView::Decoded {
        line(out, format_args!("{margin} {frame}={reset} note: found after decoding"));
    }
    if let Some(by) = finding.changed {
        let by = escape(by);
        line(out, format_args!("{margin} {frame}={reset} note: severity changed by the configuration: {by}"));
    }
    if let Some(why) = finding.lowered {
        line(out, format_args!("{margin} {frame}={reset} note: lowered to a warning because {why}"));
    }
    if let Some(step) = &finding.completed_by {
        let (from, command) = (finding.line, escape(step.text));
        line(
            out,
            format_args!(
                "{margin} {frame}={reset} chain: downloads in line {from}, runs it in line {}: {command}",
                step.line
            ),
        );
    }
    for other in &group.others {
        let (severity, id) = (other.severity, escape(other.rule_id));
        let (at, description) = (other.line, escape(other.description));
        line(out, format_args!("{margin} {frame}={reset} also: {severity} {id} in line {at}: {description}"));
    }
    line(out, format_args!("{margin} {frame}={reset} fix: {}\n", escape(finding.remedy)));
}

/// Formats the last lines: files that were only listed, and the totals.
pub(crate) fn summary(tally: &ScanTally, styles: Styles) -> String {
    let mut out = String::new();
    surfaces(&mut out, &tally.surfaces);
    notes(&mut out, &tally.listed, "files");
    notes(&mut out, &tally.excluded, "paths");
    set_aside(&mut out, &tally.set_aside);
    line(&mut out, format_args!("{}", verdict(tally, styles)));
    out
}

/// Appends lines for the first files that run or instruct without being called. Scripts are left out: they run only when called.
fn surfaces(out: &mut String, surfaces: &Surfaces) {
    for row in surfaces.rows.iter().take(LISTED) {
        let (kind, text) = (row.kind.name(), escape(&row.text));
        line(out, format_args!("note: {}:{}: {kind}: {text}", row.shown, row.line_number));
    }
    let more = surfaces.total.saturating_sub(LISTED);
    if more > 0 {
        line(out, format_args!("note: {more} more files that run or instruct; --format json lists them"));
    }
}

/// Appends lines for the first suppressed and known findings, and one for all others.
fn set_aside(out: &mut String, list: &SetAside) {
    for row in list.rows.iter().take(LISTED) {
        line(out, format_args!("note: {}: {}", row.shown_path, row.told));
    }
    let more = list.total.saturating_sub(LISTED);
    if more > 0 {
        line(out, format_args!("note: {more} more like these; --format json lists them"));
    }
}

/// Appends lines for the first paths, and one for all others.
fn notes(out: &mut String, gaps: &Gaps, noun: &str) {
    for row in gaps.rows.iter().take(LISTED) {
        line(out, format_args!("note: {}: {}", row.shown, row.reason));
    }
    let more = gaps.total.saturating_sub(LISTED);
    if more > 0 {
        line(out, format_args!("note: {more} more {noun} like these; --format json lists them"));
    }
}

/// Formats the summary line.
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
        n => format!(", {n} opaque"),
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

/// Returns the color of a severity.
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
