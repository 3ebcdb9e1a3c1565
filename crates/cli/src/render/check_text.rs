//! Text output of `stockade check`.

use std::fmt::Write as _;

use stockade_text::Shown;

use super::style::Styles;
use crate::report::answer::{Answer, Decision};

/// Formats the decisions, with their rules and fixes.
pub(crate) fn answers(answers: &[Answer], styles: Styles) -> String {
    answers.iter().fold(String::new(), |mut out, answer| {
        push_answer(&mut out, answer, styles);
        out
    })
}

fn push_answer(out: &mut String, answer: &Answer, styles: Styles) {
    let Styles { critical, warn, good, strong, frame, reset } = styles;
    let (color, word) = match answer.decision {
        Decision::Allow => (good, "allowed"),
        Decision::Ask => (warn, "ask"),
        Decision::Deny => (critical, "refused"),
    };
    write!(out, "{color}{word}{reset} {strong}{}{reset}", Shown(&answer.name)).ok();
    if let Some(reason) = &answer.reason {
        write!(out, " ({})", Shown(reason)).ok();
    }
    writeln!(out, ": {}", Shown(&answer.rule)).ok();
    if let Some(real) = &answer.real_path {
        writeln!(out, "  {frame}-->{reset} resolves to {}", Shown(real)).ok();
    }
    for limit in &answer.limits {
        writeln!(out, "  {frame}={reset} {}", Shown(limit)).ok();
    }
    for (number, fix) in (1..).zip(&answer.fixes) {
        let label = if number == 1 { "to allow it" } else { "and then" };
        writeln!(out, "  {frame}={reset} {label}: {}", Shown(fix)).ok();
    }
}
