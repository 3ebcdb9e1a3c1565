//! What was found out about a skill, for people.

use std::fmt::Write as _;

use stockade_guard::{Admission, ProblemLevel, Reading, SkillFinding, SkillProblem, Surface};

use super::escape::escape;
use super::scan_text::severity_style;
use super::style::Styles;

/// Notes and surfaces of one kind that are shown; programs find all of them in the JSON.
const SHOWN: usize = 10;

/// Returns the verdict, and below it what it rests on.
pub(crate) fn report(path: &str, admission: &Admission, styles: Styles) -> String {
    let Styles { critical, warn, good, strong, reset, .. } = styles;
    let color = match admission {
        Admission::Accepted(_) => good,
        Admission::Flagged(_) => warn,
        _ => critical,
    };
    let report = admission.report();
    let mut out =
        format!("{color}{}{reset} {strong}{}{reset} ({path})\n", admission.name(), escape(&report.name));
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

fn push_more(out: &mut String, count: usize, what: &str) {
    if count > SHOWN {
        writeln!(out, "  and {} more {what}; --format json lists them", count - SHOWN).ok();
    }
}

fn push_finding(out: &mut String, finding: &SkillFinding, styles: Styles) {
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
    writeln!(out, "    {frame}={reset} fix: {}", escape(&finding.remedy)).ok();
}

fn push_problem(out: &mut String, problem: &SkillProblem, styles: Styles) {
    let Styles { critical, warn, strong, frame, reset, .. } = styles;
    let (color, word) = match problem.level {
        ProblemLevel::Error => (critical, "error"),
        ProblemLevel::Warning => (warn, "warning"),
        ProblemLevel::Note | ProblemLevel::Ignored => ("", "note"),
    };
    writeln!(out, "  {color}{word}{reset} {strong}{}{reset}: {}", problem.rule, escape(&problem.message))
        .ok();
    let path = escape(&problem.path);
    writeln!(out, "    {frame}-->{reset} {path}:{}:{}", problem.line, problem.column).ok();
    writeln!(out, "    {frame}={reset} fix: {}", escape(&problem.fix)).ok();
}

fn push_surface(out: &mut String, surface: &Surface, styles: Styles) {
    let Styles { frame, reset, .. } = styles;
    let effect = surface.effect.map(|effect| format!(" ({effect})")).unwrap_or_default();
    let (path, text) = (escape(&surface.path), escape(&surface.text));
    writeln!(out, "  {}{effect} {frame}-->{reset} {path}:{}: {text}", surface.kind.name(), surface.line).ok();
}
