//! A glob as a regular expression, in the ways that lists read it.

use std::fmt::Write as _;

use super::brackets::Class;
use super::pattern::Token;
use crate::paths::fold;

/// How the characters of a glob are compared with those of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// As they are written.
    Exact,
    /// Folded, with a path that is folded as well.
    Folded,
    /// In any case, with a path as it is written: folding may drop a character or make two of one, and `?` and
    /// brackets count them. A negated bracket lists exceptions, and an exception is as narrow as it is written:
    /// `[!a]` refuses `A`.
    ByCharacter,
}

/// Any folders. Paths may be no UTF-8.
const DEEP: &str = "(?s-u:.)*";

/// What lies below a folder, or nothing.
const BELOW: &str = "(?:/(?s-u:.)*)?";

/// Returns the expression that matches the paths that a glob means.
pub(super) fn exactly(tokens: &[Token], reading: Reading) -> String {
    format!(r"\A{}\z", grouped(tokens, reading))
}

/// Returns the expression that matches these paths and all that lies below them, in one go over the path.
pub(super) fn with_all_below(tokens: &[Token], reading: Reading) -> String {
    format!(r"\A{}{BELOW}\z", grouped(tokens, reading))
}

fn grouped(tokens: &[Token], reading: Reading) -> String {
    let mut regex = String::from(if reading == Reading::ByCharacter { "(?i:" } else { "(?:" });
    push_all(&mut regex, tokens, reading);
    regex.push(')');
    regex
}

fn push_all(regex: &mut String, tokens: &[Token], reading: Reading) {
    for token in tokens {
        match token {
            Token::Literal(literal) => push_literal(regex, *literal, reading),
            Token::One => regex.push_str("[^/]"),
            Token::Star => regex.push_str("(?-u:[^/])*"),
            Token::Class(class) => push_class(regex, class, reading),
            Token::Deep => regex.push_str(DEEP),
            Token::DeepSlash => {
                regex.push_str("(?:");
                regex.push_str(DEEP);
                regex.push_str("/)?");
            }
            Token::Choice(branches) => push_choice(regex, branches, reading),
        }
    }
}

fn push_choice(regex: &mut String, branches: &[Vec<Token>], reading: Reading) {
    let mut open = "(?:";
    for branch in branches {
        regex.push_str(open);
        push_all(regex, branch, reading);
        open = "|";
    }
    regex.push(')');
}

fn push_literal(regex: &mut String, literal: char, reading: Reading) {
    match reading {
        Reading::Exact | Reading::ByCharacter => push_character(regex, literal),
        Reading::Folded => {
            let folded = fold::fold(literal.encode_utf8(&mut [0; 4])).into_owned();
            folded.chars().for_each(|character| push_character(regex, character));
        }
    }
}

fn push_class(regex: &mut String, class: &Class, reading: Reading) {
    regex.push_str(match (reading, class.negated) {
        (Reading::Exact, true) => "[^/",
        (Reading::Exact, false) => "[[",
        (Reading::Folded, true) => "(?i:[^/",
        (Reading::ByCharacter, true) => "(?-i:[^/",
        (Reading::Folded | Reading::ByCharacter, false) => "(?i:[[",
    });
    for (first, last) in &class.ranges {
        push_character(regex, *first);
        regex.push('-');
        push_character(regex, *last);
    }
    // A range may span the slash, which nothing but a slash matches.
    regex.push_str(if class.negated { "]" } else { "]&&[^/]]" });
    if reading != Reading::Exact {
        regex.push(')');
    }
}

fn push_character(regex: &mut String, character: char) {
    if character.is_ascii_alphanumeric() || !character.is_ascii() {
        regex.push(character);
    } else {
        // Writing to a String never fails.
        let _written = write!(regex, r"\x{:02x}", u32::from(character));
    }
}
