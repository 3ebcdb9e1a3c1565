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

/// Whether the script is known and only prints.
pub(super) fn only_prints(command: &Command<'_, '_>) -> bool {
    let from_elsewhere = command.has("-f --file -e --source -E --exec -i --include -l --load");
    let script = command.operand(0).filter(|_| !from_elsewhere);
    script.is_some_and(is_plain)
}

/// Whether a script only uses its input lines.
fn is_plain(script: &str) -> bool {
    let bare = without_strings(script).replace("\\\n", " ");
    let pipes = bare.replace("||", "").contains('|');
    // `print > "f"` writes, `$3 > 5` compares: after `print`, both are possible.
    let writes = bare.split([';', '{', '}', '\n']).any(|statement| {
        statement.find("print").and_then(|at| statement.get(at..)).is_some_and(|after| after.contains('>'))
    });
    // A remaining slash is a division. If awk parsed it differently, it could hide code, and so could a comment.
    let is_sure = bare.bytes().all(is_listed) && has_whole_brackets(script);
    !pipes && !writes && is_sure && calls_are_known(&bare) && words_are_known(&bare)
}

/// Letters of scripts outside strings and patterns. Without `@`, no library is loaded and no function called by a computed name.
const fn is_listed(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || byte.is_ascii_whitespace()
        || matches!(byte, b'_' | b'$' | b'.' | b',' | b';' | b':')
        || matches!(byte, b'(' | b')' | b'{' | b'}' | b'[' | b']' | b'?' | b'!' | b'~' | b'=' | b'<' | b'>')
        || matches!(byte, b'+' | b'-' | b'*' | b'%' | b'^' | b'&' | b'|')
}

/// Variables of awk that describe the input and how it is printed. Without `ENVIRON`, `PROCINFO`, `ARGV` and `SYMTAB`, nothing else is
/// read.
const VARIABLES: &[&str] = &[
    "BEGIN",
    "BEGINFILE",
    "CONVFMT",
    "END",
    "ENDFILE",
    "FIELDWIDTHS",
    "FILENAME",
    "FNR",
    "FPAT",
    "FS",
    "IGNORECASE",
    "NF",
    "NR",
    "OFMT",
    "OFS",
    "ORS",
    "RLENGTH",
    "RS",
    "RSTART",
    "RT",
    "SUBSEP",
];

/// Whether every word is listed or the script's own. All that awk knows itself is in capitals or called with a parenthesis, which
/// [`calls_are_known`] checks; `getline` alone is neither.
fn words_are_known(bare: &str) -> bool {
    let is_own = |word: &str| {
        let is_small = word.len() == 1 || word.bytes().any(|byte| byte.is_ascii_lowercase());
        is_small && word != "getline" && !word.starts_with(|letter: char| letter.is_ascii_digit())
    };
    let words = bare.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    words
        .filter(|word| !word.is_empty())
        .all(|word| VARIABLES.contains(&word) || is_number(word) || is_own(word))
}

/// Whether a word is a number, behind which awk needs no blank: `1getline` is two words.
fn is_number(word: &str) -> bool {
    let parts = word.split_once(['e', 'E']).unwrap_or((word, "0"));
    [parts.0, parts.1].iter().all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
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
                    // It ends the word before it.
                    bare.push(' ');
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
            "{ print given, \"getline\", \"a@b\" }",
            "/system/ { n++ } END { print n * 1.5e3 }",
            "{ a[$1] = a[$1] $2; for (k in a) delete a[k] }",
            "BEGIN { FS = \",\"; OFS = FS } { --x; print x, length }",
            "{ N = N + 1 } END { print \\\n N }",
        ] {
            assert!(is_plain(script), "{script}");
        }
        for script in [
            "{ unheard($1) }",
            "{ system (\"id\") }",
            "{ intdiv0(1, 2) }",
            "{ getline; print }",
            "{ getline x; print x }",
            "{ x\"\"getline y }",
            "{ x = 1getline y < \".env\"; print y }",
            "{ x = 1e5getline y < \".env\"; print y }",
            "{ x = .5system(\"id\") }",
            "{ 1system(\"id\") }",
            "BEGIN { ENVIRON = 1; print ENVIRON[\"HOME\"] }",
            "BEGIN { ENVIRON[1]; for (k in ENVIRON) print k }",
            "BEGIN { ARGV[1] = \".env\"; ARGC = 2 }",
            "BEGIN { print PROCINFO[\"pid\"] }",
            "{ @f($1) }",
            "BEGIN { LINT = 1 }",
            "@load \"readfile\"; {print readfile(\"x\")}",
        ] {
            assert!(!is_plain(script), "{script}");
        }
    }
}
