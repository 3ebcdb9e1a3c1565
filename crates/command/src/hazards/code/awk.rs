//! Awk scripts that start programs or write files.

use crate::hazards::command::Command;

/// Returns the script: the first operand, unless an option contains it.
pub(super) fn scripts<'c>(command: &'c Command<'_, '_>) -> impl Iterator<Item = &'c str> {
    let is_awk = matches!(command.name, "awk" | "gawk" | "mawk" | "nawk");
    let operand = command.operand(0).filter(|_| is_awk && !command.has("-f --file -e --source -E --exec"));
    command.texts("-e --source").filter(move |_| is_awk).chain(operand)
}

/// Whether a script starts a program or writes a file: `system()`, a pipe that is not `||`, or `print >`.
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

/// Words with which a script reads other files, runs programs, or reads the environment.
const REACHING: &[&str] = &[
    "system", "getline", "ENVIRON", "PROCINFO", "ARGV", "ARGC", "ARGIND", "close", "fflush", "@", "/inet",
    "nextfile", "SYMTAB", "FUNCTAB",
];

/// Whether the script is known and only prints.
pub(super) fn only_prints(command: &Command<'_, '_>) -> bool {
    let from_elsewhere = command.has("-f --file -e --source -E --exec -i --include -l --load");
    let script = command.operand(0).filter(|_| !from_elsewhere);
    script.is_some_and(is_plain)
}

/// Whether a script only uses its input lines.
fn is_plain(script: &str) -> bool {
    if REACHING.iter().any(|word| script.contains(word)) {
        return false;
    }
    let bare = without_strings(script);
    let pipes = bare.replace("||", "").contains('|');
    // `print > "f"` writes, `$3 > 5` compares: after `print`, both are possible.
    let writes = bare.split([';', '{', '}', '\n']).any(|statement| {
        statement.find("print").and_then(|at| statement.get(at..)).is_some_and(|after| after.contains('>'))
    });
    // A remaining slash is a division. If awk parsed it differently, it could hide code, and so could a comment.
    let is_sure = !bare.contains(['/', '#']) && has_whole_brackets(script);
    !pipes && !writes && is_sure
}

/// Whether no bracket expression contains a slash, which implementations parse differently.
fn has_whole_brackets(script: &str) -> bool {
    script.split('/').all(|text| {
        text.rfind('[').is_none_or(|open| text.get(open..).is_some_and(|rest| rest.contains(']')))
    })
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
    if inside.is_some() {
        // An unterminated literal has unknown content.
        bare.push('#');
    }
    bare
}

fn begins_pattern(before: &str) -> bool {
    before.trim_end().chars().next_back().is_none_or(|letter| "({,;!~&|".contains(letter))
}
