//! Builtins that receive a secret and show nothing of it, not even in an error message.

use stockade_shell::{Arg, Run, WordCount};

/// Builtins that ignore their words.
const DEAF: &[&str] = &[":", "false", "true"];

/// Builtins that store what follows `NAME=`.
const ASSIGNING: &[&str] = &["declare", "export", "local", "readonly", "typeset"];

/// Builtins that print no input. Their words are names and numbers: any other is printed in an error message.
const NAMED: &[&str] = &["exit", "let", "mapfile", "read", "readarray", "return", "shift", "unset", "wait"];

/// Whether a run shows nothing of a secret that it receives. `is_part` tells whether it may receive a part of it: that such a part is
/// empty is one bit of the secret, while `[ -n "$TOKEN" ]` only tells whether there is one.
pub(super) fn keeps(run: &Run<'_>, is_part: bool) -> bool {
    let Some(name) = run.program() else { return false };
    let words = run.argv.get(1..).unwrap_or_default();
    let is_known = |word: &Arg<'_>| word.known().is_some();
    let is_assignment = |word: &Arg<'_>| matches!(word, Arg::Unknown { prefix, .. } if prefix.contains('='));
    match name {
        _ if run.open_ended => false,
        "[" | "test" => !is_part && tests_alone(words),
        _ if DEAF.contains(&name) => true,
        _ if ASSIGNING.contains(&name) => words.iter().all(|word| is_known(word) || is_assignment(word)),
        _ if NAMED.contains(&name) => words.iter().all(is_known),
        _ => false,
    }
}

/// Whether each condition tests one word, or compares a word with nothing.
fn tests_alone(words: &[Arg<'_>]) -> bool {
    let is = |word: &Arg<'_>, texts: &[&str]| word.known().is_some_and(|word| texts.contains(&word));
    let words = match words {
        [words @ .., last] if is(last, &["]"]) => words,
        words => words,
    };
    words.split(|word| is(word, &["-a", "-o"])).all(|condition| {
        let start = condition.iter().position(|word| !is(word, &["!", "("])).unwrap_or(condition.len());
        let condition = condition.get(start..).unwrap_or_default();
        // An unquoted variable may become several words, of which `[` would compare some.
        let is_one = |word: &Arg<'_>| !matches!(word, Arg::Unknown { count, .. } if *count != WordCount::One);
        match condition {
            [] | [_] | [_, _] => {
                condition.iter().all(is_one) || condition.first().is_some_and(|word| is(word, &["-n", "-z"]))
            }
            [word, operator, empty] => is(operator, &["=", "==", "!="]) && is(empty, &[""]) && is_one(word),
            _ => false,
        }
    })
}
