//! Text output about decisions that would be made.

use std::fmt::Write as _;

use stockade_guard::command::Effect;
use stockade_guard::{RuleOrigin, WhyPart};
use stockade_text::{Shown, escape};

use super::Asking;
use super::answer::Answer;
use crate::render::command_text::word;
use crate::render::style::Styles;

pub(super) fn text(asking: &Asking<'_>, styles: Styles) -> String {
    let Asking { asked, kind, or, agent, workspace, decisions } = asking;
    let Styles { strong, reset, frame, .. } = styles;
    let mut out = format!(
        "{} {strong}{}{reset}, by agent {} in {}\n",
        kind.name(),
        Shown(asked),
        escape(agent),
        escape(workspace)
    );
    let others: Vec<String> = or.iter().map(|kind| format!("--as {}", kind.name())).collect();
    if !others.is_empty() {
        writeln!(out, "{frame}other meanings: {}{reset}", others.join(", ")).ok();
    }
    for answer in *decisions {
        push(&mut out, answer, styles);
    }
    out
}

fn push(out: &mut String, answer: &Answer, styles: Styles) {
    let Styles { critical, warn, good, frame, reset, .. } = styles;
    let color = match answer.decision {
        Effect::Allow | Effect::Sandbox => good,
        Effect::Ask => warn,
        Effect::Deny => critical,
    };
    writeln!(out, "{color}{}{reset} {}: {}", word(answer.decision), answer.wanted, Shown(&answer.reason))
        .ok();
    let mut row = |name: &str, value: &str| {
        writeln!(out, "  {frame}={reset} {name}: {}", Shown(value)).ok();
    };
    row("rule", &format!("{} ({})", answer.rule, answer.layer));
    if let Some(by) = &answer.by {
        row("because", by);
    }
    row("from", &place(&answer.from));
    for (number, fix) in (1..).zip(&answer.to_allow) {
        row(if number == 1 { "to allow it" } else { "and then" }, fix);
    }
    if let Some(never) = &answer.never {
        row("cannot be allowed", never);
    }
    for note in &answer.notes {
        row("note", note);
    }
    if answer.parts.len() > 1 {
        for part in &answer.parts {
            row("part", &of_part(part));
        }
    }
}

fn of_part(part: &WhyPart) -> String {
    format!("{} `{}`: {} ({})", word(part.effect), part.text, part.reason, place(&part.from))
}

/// Formats the origins of a rule, the nearest first.
fn place(from: &RuleOrigin) -> String {
    let words = [from.place.as_deref(), Some(from.layer.as_str()), from.key.as_deref()];
    words.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
