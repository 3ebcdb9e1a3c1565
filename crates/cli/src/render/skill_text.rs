//! Text output about skills.

use std::fmt::Write as _;

use stockade_guard::admission::{Admission, ProblemLevel, Reading, SkillFinding, SkillProblem, Surface};

use stockade_text::escape;

use super::scan_text::severity_style;
use super::style::Styles;

/// Maximum number of notes and surfaces of one kind. JSON output has all.
const SHOWN: usize = 10;

/// Number of skills with each result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) accepted: usize,
    pub(crate) flagged: usize,
    pub(crate) malformed: usize,
    pub(crate) blocked: usize,
    pub(crate) unread: usize,
}

/// Formats the verdict on one skill of many, with its worst finding.
pub(crate) fn line(path: &str, admission: &Admission, styles: Styles) -> String {
    let report = admission.report();
    let problems = report.problems.iter().filter(|problem| problem.level > ProblemLevel::Note);
    let problems = problems.map(|problem| format!("{} {}", level_word(problem.level), problem.rule));
    let findings =
        report.findings.iter().map(|found| format!("{} {}", found.severity, escape(&found.rule_id)));
    // Errors, which block a skill, come first.
    let (errors, warnings): (Vec<_>, Vec<_>) = problems.partition(|problem| problem.starts_with("error"));
    let mut reasons = errors.into_iter().chain(findings).chain(warnings);
    let worst = match (reasons.next(), reasons.count()) {
        (None, _) => String::new(),
        (Some(worst), 0) => format!(": {worst}"),
        (Some(worst), more) => format!(": {worst} and {more} more"),
    };
    let head = head(path, admission, styles);
    format!("{head}{worst}\n")
}

/// Formats an unreadable skill or collection.
pub(crate) fn unread_line(path: &str, error: &str, styles: Styles) -> String {
    format!("{}unread{} {path}: {error}\n", styles.warn, styles.reset)
}

/// Formats the totals.
pub(crate) fn total(tally: Tally, styles: Styles) -> String {
    let Tally { accepted, flagged, malformed, blocked, unread } = tally;
    let all = accepted + flagged + malformed + blocked;
    let s = if all == 1 { "" } else { "s" };
    let counts = [
        (accepted, "accepted"),
        (flagged, "flagged"),
        (malformed, "malformed"),
        (blocked, "blocked"),
        (unread, "unread"),
    ];
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts.map(|(count, what)| format!("{count} {what}")).collect();
    let Styles { strong, reset, .. } = styles;
    let list = if counts.is_empty() { String::new() } else { format!(": {}", counts.join(", ")) };
    format!("{strong}{all} skill{s}{reset}{list}\n")
}

/// Formats the verdict and its reasons.
pub(crate) fn report(path: &str, admission: &Admission, styles: Styles) -> String {
    let report = admission.report();
    let mut out = format!("{}\n", head(path, admission, styles));
    for finding in &report.findings {
        push_finding(&mut out, finding, styles);
    }
    let (notes, problems): (Vec<_>, Vec<_>) =
        report.problems.iter().partition(|problem| problem.level == ProblemLevel::Note);
    for problem in problems {
        push_problem(&mut out, problem, styles);
    }
    for problem in notes.iter().take(SHOWN) {
        push_problem(&mut out, problem, styles);
    }
    push_more(&mut out, notes.len(), "notes");
    for surface in report.surfaces.iter().take(SHOWN) {
        push_surface(&mut out, surface, styles);
    }
    push_more(&mut out, report.surfaces.len(), "things that run");
    for rule in &report.rules_off {
        writeln!(out, "  note: the rule {}", escape(rule)).ok();
    }
    if let Some(hidden) = &report.hidden_text {
        writeln!(out, "  hidden message: {}", escape(hidden)).ok();
    }
    let removed =
        [(report.comments_removed, "HTML comment"), (report.invisible_removed, "invisible character")];
    for (count, what) in removed.into_iter().filter(|(count, _)| *count > 0) {
        let s = if count == 1 { "" } else { "s" };
        writeln!(out, "  removed: {count} {what}{s}").ok();
    }
    out
}

fn head(path: &str, admission: &Admission, styles: Styles) -> String {
    let Styles { critical, warn, good, strong, reset, .. } = styles;
    let color = match admission {
        Admission::Accepted(_) => good,
        Admission::Flagged(_) => warn,
        _ => critical,
    };
    format!("{color}{}{reset} {strong}{}{reset} ({path})", admission.name(), escape(&admission.report().name))
}

fn push_more(out: &mut String, count: usize, what: &str) {
    if count > SHOWN {
        writeln!(out, "  and {} more {what}; --format json lists them", count - SHOWN).ok();
    }
}

/// Adds a finding of the scanner.
pub(crate) fn push_finding(out: &mut String, finding: &SkillFinding, styles: Styles) {
    let Styles { strong, frame, reset, .. } = styles;
    let severity = severity_style(finding.severity, styles);
    let (rule, description) = (escape(&finding.rule_id), escape(&finding.description));
    writeln!(out, "  {severity}{}{reset} {strong}{rule}{reset}: {description}", finding.severity).ok();
    let how = match finding.reading {
        Reading::Written => String::new(),
        reading => format!(", {}", reading.name()),
    };
    let path = escape(&finding.path);
    writeln!(out, "    {frame}-->{reset} {path}:{}:{}{how}", finding.line, finding.column).ok();
    writeln!(out, "    {frame}|{reset} {}", escape(&finding.matched_text)).ok();
    if !finding.why.is_empty() {
        writeln!(out, "    {frame}={reset} why: {}", escape(&finding.why)).ok();
    }
    if let Some(by) = &finding.changed_by {
        writeln!(out, "    {frame}={reset} note: severity changed by the configuration: {}", escape(by)).ok();
    }
    if let Some(step) = &finding.completed_by {
        let (from, command) = (finding.line, escape(&step.text));
        writeln!(
            out,
            "    {frame}={reset} chain: downloads in line {from}, runs it in line {}: {command}",
            step.line
        )
        .ok();
    }
    for other in &finding.also {
        let (severity, id) = (other.severity, escape(&other.rule_id));
        let (at, description) = (other.line, escape(&other.description));
        writeln!(out, "    {frame}={reset} also: {severity} {id} in line {at}: {description}").ok();
    }
    writeln!(out, "    {frame}={reset} fix: {}", escape(&finding.remedy)).ok();
}

fn push_problem(out: &mut String, problem: &SkillProblem, styles: Styles) {
    let Styles { critical, warn, strong, frame, reset, .. } = styles;
    let word = level_word(problem.level);
    let color = match problem.level {
        ProblemLevel::Error => critical,
        ProblemLevel::Warning => warn,
        ProblemLevel::Note | ProblemLevel::Ignored => "",
    };
    writeln!(out, "  {color}{word}{reset} {strong}{}{reset}: {}", problem.rule, escape(&problem.message))
        .ok();
    let path = escape(&problem.path);
    writeln!(out, "    {frame}-->{reset} {path}:{}:{}", problem.line, problem.column).ok();
    writeln!(out, "    {frame}={reset} fix: {}", escape(&problem.fix)).ok();
}

const fn level_word(level: ProblemLevel) -> &'static str {
    match level {
        ProblemLevel::Error => "error",
        ProblemLevel::Warning => "warning",
        ProblemLevel::Note | ProblemLevel::Ignored => "note",
    }
}

fn push_surface(out: &mut String, surface: &Surface, styles: Styles) {
    let Styles { frame, reset, .. } = styles;
    let effect = surface.effect.map(|effect| format!(" ({effect})")).unwrap_or_default();
    let (path, text) = (escape(&surface.path), escape(&surface.text));
    writeln!(out, "  {}{effect} {frame}-->{reset} {path}:{}: {text}", surface.kind.name(), surface.line).ok();
}
