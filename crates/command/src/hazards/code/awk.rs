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
    !pipes && !writes && is_sure && calls_are_known(&bare)
}

/// Words before a parenthesis: functions that compute with their arguments, and statements.
const CALLED: &[&str] = &[
    "and", "asort", "asorti", "atan2", "compl", "cos", "do", "else", "exit", "exp", "for", "gensub", "gsub",
    "if", "in", "index", "int", "isarray", "length", "log", "lshift", "match", "mktime", "or", "patsplit",
    "print", "printf", "rand", "return", "rshift", "sin", "split", "sprintf", "sqrt", "srand", "strftime",
    "strtonum", "sub", "substr", "switch", "systime", "tolower", "toupper", "typeof", "while", "xor",
];

/// Whether every function that is called is known or defined in the script.
fn calls_are_known(bare: &str) -> bool {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let word_before = |end: usize| {
        let before = bare.get(..end).unwrap_or_default().trim_end();
        let start = before.rfind(|letter| !is_part(letter)).map_or(0, |at| at + 1);
        (before.get(..start).unwrap_or_default().trim_end(), before.get(start..).unwrap_or_default())
    };
    let is_number = |word: &str| word.starts_with(|letter: char| letter.is_ascii_digit());
    let is_defined = |head: &str| head.ends_with("function") || head.ends_with("func");
    let calls: Vec<(&str, &str)> = bare.match_indices('(').map(|(at, _)| word_before(at)).collect();
    let defined: Vec<&str> =
        calls.iter().filter(|(head, _)| is_defined(head)).map(|(_, name)| *name).collect();
    let is_known = |(_, word): &(&str, &str)| {
        word.is_empty() || is_number(word) || CALLED.contains(word) || defined.contains(word)
    };
    defined.len() <= MAX_DEFINED && calls.iter().all(is_known)
}

/// More functions than any script in a command line defines.
const MAX_DEFINED: usize = 32;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_functions_are_plain() {
        for script in [
            "{print length($1), substr($0, 2)}",
            "NR > 1 && (x = 1) {s += $2} END {printf(\"%d\\n\", s)}",
            "function f(a) { return a * 2 } { print f($1) }",
            "{ for (i = 1; i <= NF; i++) if ($i in a) print(i) }",
            "{ $(NF) = \"\"; print toupper ($1) }",
        ] {
            assert!(is_plain(script), "{script}");
        }
        for script in [
            "{ unheard($1) }",
            "{ system (\"id\") }",
            "{ intdiv0(1, 2) }",
            "@load \"readfile\"; {print readfile(\"x\")}",
        ] {
            assert!(!is_plain(script), "{script}");
        }
    }
}
