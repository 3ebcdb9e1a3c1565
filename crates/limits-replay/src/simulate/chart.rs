//! A simulation as a small chart of text.

use std::fmt::Write as _;

use super::{SimulatedBudget, SimulatedEvent, SimulatedStep};

/// How many cells a bar has.
const WIDTH: u64 = 12;
/// The longest name of a tool that is shown.
const MAX_NAME_CHARS: usize = 16;
/// How many cells notes begin after.
const INDENT: usize = 12;
/// Notes are broken before they are longer, so that a chart fits a narrow terminal.
const LINE: usize = 80;

/// Draws a simulation: a line for each step, with the budget that is fullest as a bar. Control characters in names are
/// shown as `\u{…}`.
///
/// `█` is used, `▒` is reserved for calls under way, `░` is left.
#[must_use]
pub fn chart(steps: &[SimulatedStep]) -> String {
    let mut text = String::new();
    for step in steps {
        let seconds = step.at_ms as f64 / 1e3;
        let name = name(&step.tool);
        let (event, note) = describe(&step.event);
        let bar = fullest(&step.budgets).map(bar).unwrap_or_default();
        // Writing to a string cannot fail.
        let _written = writeln!(text, "{seconds:>9.3}s  {name:<MAX_NAME_CHARS$}  {event:<7}  {bar}");
        push_note(&mut text, note.as_deref().unwrap_or_default());
    }
    text
}

/// Adds a note below a step, broken between words.
fn push_note(text: &mut String, note: &str) {
    let mut column = 0;
    for word in note.split_whitespace() {
        let width = word.chars().count();
        if column == 0 || column + 1 + width > LINE {
            text.push_str(if column == 0 { "" } else { "\n" });
            text.push_str(&" ".repeat(INDENT));
            column = INDENT;
        } else {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += width;
    }
    if column > 0 {
        text.push('\n');
    }
}

fn name(tool: &str) -> String {
    let escaped: String = tool
        .chars()
        .flat_map(|c| if c.is_control() { c.escape_unicode().collect::<Vec<_>>() } else { vec![c] })
        .collect();
    if escaped.chars().count() <= MAX_NAME_CHARS {
        return escaped;
    }
    escaped.chars().take(MAX_NAME_CHARS - 1).chain(['…']).collect()
}

fn describe(event: &SimulatedEvent) -> (&'static str, Option<String>) {
    match event {
        SimulatedEvent::Allowed => ("begins", None),
        SimulatedEvent::Refused { limit, reason } => {
            ("refused", Some(format!("{limit}: {}", name_free(reason))))
        }
        SimulatedEvent::Succeeded { note } => ("ends", note.clone()),
        SimulatedEvent::Failed { note } => ("fails", note.clone()),
    }
}

/// Reasons repeat the name of the tool, so control characters in them are escaped as well.
fn name_free(reason: &str) -> String {
    reason.chars().filter(|character| !character.is_control()).collect()
}

/// Returns the budget of which the largest part is taken.
fn fullest(budgets: &[SimulatedBudget]) -> Option<&SimulatedBudget> {
    let part = |budget: &&SimulatedBudget| {
        let taken = u128::from(budget.used) + u128::from(budget.reserved);
        budget.cap.map_or(0, |cap| taken * 1_000_000 / u128::from(cap.max(1)))
    };
    // Of two that are equally full, the first is the narrower one.
    budgets.iter().filter(|budget| budget.cap.is_some()).rev().max_by_key(part)
}

fn bar(budget: &SimulatedBudget) -> String {
    let cap = budget.cap.unwrap_or(0).max(1);
    let cells = |tokens: u64| {
        let cells = (u128::from(tokens) * u128::from(WIDTH)).div_ceil(u128::from(cap));
        u64::try_from(cells).unwrap_or(WIDTH).min(WIDTH) as usize
    };
    let used = cells(budget.used);
    let taken = cells(budget.used.saturating_add(budget.reserved));
    let (reserved, left) = (taken - used, WIDTH as usize - taken);
    let bar = ["█".repeat(used), "▒".repeat(reserved), "░".repeat(left)].concat();
    let taken = budget.used.saturating_add(budget.reserved);
    format!("{bar} {taken}/{cap} {}", budget.scope.name())
}

#[cfg(test)]
mod tests {
    use crate::simulate::{Trace, simulate};

    #[test]
    fn a_simulation_is_drawn_step_by_step() {
        let trace: Trace = serde_json::from_str(
            r#"{"limits": {"budget": {"perExecution": 100}}, "calls": [
                {"atMs": 0, "tool": "web_search", "estimate": 50, "used": 30, "takesMs": 1500},
                {"atMs": 100, "tool": "mcp__files__read_many\u001b[2J", "estimate": 60}]}"#,
        )
        .unwrap();
        let lines = [
            "    0.000s  web_search        begins   ▒▒▒▒▒▒░░░░░░ 50/100 per-execution",
            "    0.100s  mcp__files__rea…  refused  ▒▒▒▒▒▒░░░░░░ 50/100 per-execution",
            "            budget: the per-execution token budget of 100 is exhausted: 50 used",
            "            (50 of it reserved for calls in flight), 60 more asked for",
            "    1.500s  web_search        ends     ████░░░░░░░░ 30/100 per-execution",
        ];
        assert_eq!(super::chart(&simulate(&trace).unwrap()), lines.join("\n") + "\n");
    }
}
