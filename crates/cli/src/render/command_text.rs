//! Text output of `stockade check command` and `stockade policy explain`.

use std::fmt::Write as _;

use stockade_guard::admission::answers::AnsweredCommand;
use stockade_guard::command::shell::quote;
use stockade_guard::command::{
    Cause, CommandDecision, ConsideredRule, Effect, Part, RuleOutcome, Suggestion,
};

use stockade_text::escape;

use super::snippet::Snippet;
use super::style::Styles;
use stockade_state::command_rules::RulePlaces;

/// Maximum number of parts. JSON output has all.
const SHOWN: usize = 20;

/// Maximum characters of a command within a line. A longer command, or one with hidden characters, is shown separately.
const LINE: usize = 96;

/// Approximate maximum of characters of a separate command.
const MAX_WHOLE: usize = 1200;

/// Formats the decision about the whole command, then about each underlined part, and the fixes.
pub(crate) fn decision(
    decision: &CommandDecision<'_, '_>,
    places: &RulePlaces,
    suggestions: &[Suggestion],
    styles: Styles,
) -> String {
    let mut out = head(decision, styles);
    push_whole(&mut out, decision, styles);
    for part in shown(decision) {
        push_part(&mut out, decision, part, styles);
        push_place(&mut out, part, places, styles);
    }
    push_rest(&mut out, decision, styles);
    push_suggestions(&mut out, decision, suggestions, styles);
    out
}

/// Formats the user's saved answer, which takes precedence over the rules that follow.
pub(crate) fn answered(said: &AnsweredCommand) -> String {
    let (word, answer) = (word(said.effect), said.answer.name());
    format!("{word}: by an earlier answer to exactly this command ({answer}); without it, by the rules:\n\n")
}

/// Formats the same with the considered rules of each part: matching ones, or all about its program.
pub(crate) fn explanation<'p>(
    decision: &CommandDecision<'_, '_>,
    considered: impl Fn(&Part<'_, '_>) -> Vec<ConsideredRule<'p>>,
    all: bool,
    places: &RulePlaces,
    suggestions: &[Suggestion],
    styles: Styles,
) -> String {
    let mut out = head(decision, styles);
    for part in shown(decision) {
        push_part(&mut out, decision, part, styles);
        push_place(&mut out, part, places, styles);
        let rules = considered(part);
        let is_shown = |one: &&ConsideredRule<'_>| all || !matches!(one.outcome, RuleOutcome::No(_));
        for one in rules.iter().filter(is_shown) {
            push_considered(&mut out, one, styles);
        }
        let hidden = rules.len() - rules.iter().filter(is_shown).count();
        if hidden > 0 {
            let rules =
                if hidden == 1 { "rule about its program does" } else { "rules about its program do" };
            writeln!(out, "    {hidden} {rules} not match; --all shows why").ok();
        }
    }
    push_rest(&mut out, decision, styles);
    push_suggestions(&mut out, decision, suggestions, styles);
    out
}

fn head(decision: &CommandDecision<'_, '_>, styles: Styles) -> String {
    let Styles { strong, reset, .. } = styles;
    let parts = match decision.parts.len() {
        1 => "1 part".to_owned(),
        many => format!("{many} parts"),
    };
    format!("{}{}{reset} {strong}{parts}{reset}\n", color(decision.effect, styles), word(decision.effect))
}

/// Returns the parts in order, or only the deciding ones if there are too many.
fn shown<'d, 't, 'p>(decision: &'d CommandDecision<'t, 'p>) -> Vec<&'d Part<'t, 'p>> {
    if decision.parts.len() <= SHOWN {
        return decision.parts.iter().collect();
    }
    decision.decisive().take(SHOWN).collect()
}

/// Shows the whole command, if the lines of its parts would omit something.
fn push_whole(out: &mut String, decision: &CommandDecision<'_, '_>, styles: Styles) {
    let Styles { frame, reset, .. } = styles;
    let whole = decision.shown(MAX_WHOLE);
    if whole != decision.text || whole.chars().count() > LINE {
        writeln!(out, "\n  {frame}={reset} in one line: {whole}").ok();
    }
}

fn push_part(out: &mut String, decision: &CommandDecision<'_, '_>, part: &Part<'_, '_>, styles: Styles) {
    let Styles { frame, reset, .. } = styles;
    let color = color(part.effect, styles);
    let snippet = Snippet::of(decision.text, &(part.span.start..part.span.end));
    let (indent, marks) = (" ".repeat(snippet.indent), "^".repeat(snippet.width));
    let goes_on = if snippet.goes_on { " …" } else { "" };
    writeln!(out, "\n  {frame}|{reset} {}", snippet.line).ok();
    writeln!(
        out,
        "  {frame}|{reset} {indent}{color}{marks}{goes_on} {}{reset}: {}",
        word(part.effect),
        escape(&part.cause.to_string())
    )
    .ok();
    let via = decision.call_chain(part);
    if !via.is_empty() {
        let words =
            part.run().map(|run| run.argv.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "));
        let runs = words.map(|words| format!(" runs `{}`", escape(&words))).unwrap_or_default();
        writeln!(out, "  {frame}={reset} through {}{runs}", escape(&via.join(", "))).ok();
    }
    if let Cause::Hazard(hazard) = &part.cause
        && !hazard.fix.is_empty()
    {
        writeln!(out, "  {frame}={reset} instead: {}", escape(&hazard.fix)).ok();
    }
}

fn push_place(out: &mut String, part: &Part<'_, '_>, places: &RulePlaces, styles: Styles) {
    let Styles { frame, reset, .. } = styles;
    if let Some(place) = places.of(&part.cause) {
        writeln!(out, "  {frame}={reset} rule defined in {}", escape(place)).ok();
    }
}

fn push_considered(out: &mut String, one: &ConsideredRule<'_>, styles: Styles) {
    let Styles { good, strong, reset, .. } = styles;
    let would = |why: &str| format!(": would decide {}; {why}", one.rule.effect);
    let (mark, why) = match &one.outcome {
        RuleOutcome::Decides => (format!("{good}decides{reset}  "), String::new()),
        RuleOutcome::Overruled => ("overruled".to_owned(), would("the detected danger is stricter")),
        RuleOutcome::Matches => {
            ("matches  ".to_owned(), would("a more specific rule, or one of a higher layer, decides"))
        }
        RuleOutcome::MayMatch(why) => ("may match".to_owned(), format!(": {}", escape(why))),
        RuleOutcome::No(why) => ("no       ".to_owned(), format!(": {}", escape(why))),
        _ => ("?        ".to_owned(), String::new()),
    };
    writeln!(
        out,
        "    {mark} {} {strong}{}{reset} ({}){why}",
        one.layer,
        escape(&one.rule.id),
        one.rule.effect
    )
    .ok();
}

fn push_rest(out: &mut String, decision: &CommandDecision<'_, '_>, styles: Styles) {
    let left_out = decision.parts.len().saturating_sub(shown(decision).len());
    if left_out > 0 {
        let Styles { frame, reset, .. } = styles;
        writeln!(out, "\n  {frame}={reset} {left_out} more parts; --format json has all of them").ok();
    }
}

fn push_suggestions(
    out: &mut String,
    decision: &CommandDecision<'_, '_>,
    suggestions: &[Suggestion],
    styles: Styles,
) {
    let Styles { frame, reset, .. } = styles;
    let Some(last) = suggestions.last() else { return };
    let rules = if suggestions.len() == 1 { "this rule" } else { "these rules" };
    let then = match last.then {
        Effect::Allow => "to allow it".to_owned(),
        then if then < decision.effect => format!("to relax it ({})", word(then)),
        _ => "to allow these parts".to_owned(),
    };
    writeln!(out, "\n  {frame}={reset} {then}, add {rules}, with one of --rules FILE and --agent ID:").ok();
    for suggestion in suggestions {
        let (id, command) = (&suggestion.rule.id, quote(decision.text));
        writeln!(out, "\n    stockade policy add {} --for {}", escape(id), escape(&command)).ok();
        for line in suggestion.rule.to_toml().lines() {
            writeln!(out, "    {}", escape(line)).ok();
        }
    }
}

const fn color(effect: Effect, styles: Styles) -> &'static str {
    match effect {
        Effect::Allow => styles.good,
        Effect::Sandbox | Effect::Ask => styles.warn,
        Effect::Deny => styles.critical,
    }
}

/// The word for a decision about a command.
pub(crate) const fn word(effect: Effect) -> &'static str {
    match effect {
        Effect::Allow => "allowed",
        Effect::Sandbox => "sandbox",
        Effect::Ask => "ask",
        Effect::Deny => "refused",
    }
}
