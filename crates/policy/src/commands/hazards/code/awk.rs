//! Scripts of awk, as far as they start programs or write files.

use crate::commands::hazards::command::Command;

/// The script of awk: the first operand, unless options hold it.
pub(super) fn scripts<'c>(command: &'c Command<'_, '_>) -> impl Iterator<Item = &'c str> {
    let is_awk = matches!(command.name, "awk" | "gawk" | "mawk" | "nawk");
    let operand = command.operand(0).filter(|_| is_awk && !command.has("-f --file -e --source -E --exec"));
    command.texts("-e --source").filter(move |_| is_awk).chain(operand)
}

/// Whether a script of awk starts a program or writes a file: `system()`, a pipe that is no `||`, or `print >`.
pub(super) fn runs(script: &str) -> bool {
    let bare = without_strings(script);
    let pipe = bare.replace("||", "").replace("|&", "|").contains('|');
    let called = bare
        .match_indices("system")
        .any(|(at, word)| bare.get(at + word.len()..).is_some_and(|rest| rest.trim_start().starts_with('(')));
    let writes = bare.split([';', '}', '\n']).any(|statement| {
        let after = statement.find("print").and_then(|at| statement.get(at..)).unwrap_or_default();
        after.contains('>') && !after.contains('(')
    });
    pipe || called || writes
}

/// Removes `"…"` and `/…/`.
fn without_strings(script: &str) -> String {
    let mut bare = String::with_capacity(script.len());
    let mut inside = None;
    let mut protected = false;
    for letter in script.chars() {
        match inside {
            Some(end) => {
                if letter == end && !protected {
                    inside = None;
                }
                protected = letter == '\\' && !protected;
            }
            None if letter == '"' => inside = Some('"'),
            // A slash after a value divides; anywhere else it begins a pattern.
            None if letter == '/' && begins_pattern(&bare) => inside = Some('/'),
            None => bare.push(letter),
        }
    }
    bare
}

fn begins_pattern(before: &str) -> bool {
    before.trim_end().chars().next_back().is_none_or(|letter| "({,;!~&|".contains(letter))
}
