//! Which words of one command are secrets, by the program and by the word before.

use std::ops::Range;

use super::forms::SCHEMES;
use super::options::{
    OTHERWISE, POSITIONS, PRINTERS, Part, READERS, READERS_OF_PAIRS, ROWS, Row, SETTERS, Shape,
};
use crate::names::{Sensitivity, is_exact, is_switch, sensitivity};
use crate::values::{is_reference, is_secret, looks_secret};

/// A secret among the words of a command: the place of its word, and the bytes of the word that are secret.
pub(super) type Found = (usize, Range<usize>);

/// Finds the secrets among the words of a command. A word that is not known is what is known of its beginning.
pub(super) fn find(words: &[&str]) -> Vec<Found> {
    let Some(program) = words.first().map(|word| program(word)) else { return Vec::new() };
    let mut found = Vec::new();
    for row in ROWS.iter().filter(|row| row.programs.contains(&program) && has(words, row.verb)) {
        by_option(words, row, &mut found);
    }
    by_place(program, words, &mut found);
    by_name(program, words, &mut found);
    found
}

/// Whether a command reads a secret from its standard input.
pub(super) fn reads_secret(words: &[&str]) -> bool {
    let program = words.first().map_or("", |word| program(word));
    READERS.iter().any(|(programs, word)| programs.contains(&program) && has(words, word))
}

/// Whether a command reads a name and a secret behind a colon from its standard input.
pub(super) fn reads_pair(words: &[&str]) -> bool {
    let program = words.first().map_or("", |word| program(word));
    READERS_OF_PAIRS.contains(&program)
}

/// The secret of a pair: `name:secret`.
pub(super) fn behind_colons(words: &[&str], found: Vec<Found>) -> Vec<Found> {
    let behind = |(place, part): Found| {
        let colon = words.get(place).and_then(|word| word.get(part.clone())?.find(':'));
        (place, colon.map_or(part.start, |at| part.start + at + 1)..part.end)
    };
    found.into_iter().map(behind).collect()
}

/// Finds what a command prints, where what it prints is a secret.
pub(super) fn printed(words: &[&str]) -> Vec<Found> {
    let program = words.first().map_or("", |word| program(word));
    let first = match program {
        "echo" | "yes" => 1,
        // The first says how the others are printed, unless it is alone.
        "printf" if words.len() > 2 => 2,
        "printf" => 1,
        _ => return Vec::new(),
    };
    let printed = words
        .iter()
        .enumerate()
        .skip(first)
        .filter(|(_, word)| !word.starts_with('-') && !is_reference(word));
    printed.map(|(place, word)| (place, 0..word.len())).filter(|(_, part)| !part.is_empty()).collect()
}

/// The name of a program without its folder.
pub(super) fn program(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    name.strip_suffix(".exe").or_else(|| name.strip_suffix(".py")).unwrap_or(name)
}

fn has(words: &[&str], wanted: &str) -> bool {
    wanted.is_empty() || words.iter().skip(1).any(|word| *word == wanted)
}

fn by_option(words: &[&str], row: &Row, found: &mut Vec<Found>) {
    for (place, word) in words.iter().enumerate().skip(1) {
        for option in row.options {
            let is_long = option.starts_with("--") || option.len() > 3;
            let joined = word
                .strip_prefix(option)
                .filter(|value| !value.is_empty() && (!is_long || value.starts_with('=')));
            let is_alone = *word == *option || (!is_long && ends_cluster(word, option, row));
            match joined {
                Some(value) if row.shape != Shape::Apart => {
                    let value = value
                        .strip_prefix(['=', ':'])
                        .filter(|_| is_long || *option == "/p")
                        .unwrap_or(value);
                    push(row.part, place, word, word.len() - value.len(), found);
                }
                _ if is_alone && row.shape != Shape::Joined => {
                    let next = words.get(place + 1).copied().unwrap_or_default();
                    push(row.part, place + 1, next, 0, found);
                }
                _ => {}
            }
        }
    }
}

/// `-su` ends in `-u`, for programs whose short options may stand together.
fn ends_cluster(word: &str, option: &str, row: &Row) -> bool {
    let letters = word
        .strip_prefix('-')
        .filter(|letters| letters.len() < 6 && letters.bytes().all(|byte| byte.is_ascii_alphabetic()));
    let last = option.strip_prefix('-').filter(|last| last.len() == 1);
    row.shape == Shape::Either && letters.zip(last).is_some_and(|(letters, last)| letters.ends_with(last))
}

/// Adds what is secret of a word from this byte on.
fn push(part: Part, place: usize, word: &str, from: usize, found: &mut Vec<Found>) {
    let value = word.get(from..).unwrap_or_default();
    let end = word.len();
    let after = |sign: char| value.find(sign).map(|at| from + at + 1..end);
    let secret = match part {
        Part::Whole => Some(from..end),
        Part::AfterColon => match value.split_once(':') {
            Some((name, "")) if looks_secret(name) => Some(from..end - 1),
            Some(_) => after(':'),
            None => looks_secret(value).then_some(from..end),
        },
        Part::AfterPercent => after('%'),
        Part::AfterComma => after(','),
        Part::AfterSlash => {
            after('/').map(|range| range.start..word.rfind('@').filter(|at| *at > range.start).unwrap_or(end))
        }
        Part::UserInfo => value
            .rfind('@')
            .zip(value.find(':'))
            .filter(|(at, colon)| colon < at && !value.contains("://"))
            .map(|(at, colon)| from + colon + 1..from + at),
        Part::Pass => value.strip_prefix("pass:").map(|secret| end - secret.len()..end),
        Part::Cookies => value.contains('=').then_some(from..end),
        Part::Header => value.split_once(':').and_then(|(name, value)| {
            let value = behind_scheme(value.trim_start());
            is_secret(sensitivity(name), value).then_some(end - value.len()..end)
        }),
    };
    let is_value = |range: &Range<usize>| {
        word.get(range.clone()).is_some_and(|value| !value.is_empty() && !is_reference(value))
    };
    let is_option = from == 0 && word.starts_with("--");
    found.extend(secret.filter(|range| is_value(range) && !is_option).map(|range| (place, range)));
}

/// The value of a header behind the scheme that says how it is read: `Bearer`.
fn behind_scheme(value: &str) -> &str {
    let behind =
        value.split_once(' ').filter(|(scheme, _)| SCHEMES.contains(&scheme.to_ascii_lowercase().as_str()));
    behind.map_or(value, |(_, credentials)| credentials.trim_start())
}

fn by_place(program: &str, words: &[&str], found: &mut Vec<Found>) {
    for row in POSITIONS.iter().filter(|row| row.programs.contains(&program)) {
        let start = match row.after.first() {
            None => Some(1),
            Some(word) => words.iter().position(|found| found == word).map(|at| at + 1),
        };
        let Some(start) = start else { continue };
        let mut places = words.iter().enumerate().skip(start).filter(|(_, word)| !(row.is_option)(word));
        if let Some((place, word)) = places.nth(row.skip) {
            push(row.part, place, word, 0, found);
        }
    }
}

/// Finds the value of an option or setting with the name of a secret.
fn by_name(program: &str, words: &[&str], found: &mut Vec<Found>) {
    let sets = words.iter().position(|word| {
        SETTERS.iter().any(|(set, of)| set == word && (of.is_empty() || of.contains(&program)))
    });
    for (place, word) in words.iter().enumerate().skip(1) {
        if joined_otherwise(program, word).is_none() {
            assigned(place, word, found);
        }
        let option = word.trim_start_matches('-');
        let is_option = option.len() < word.len() && option.len() > 1 && !is_switch(option);
        // `aws configure set aws_secret_access_key VALUE`
        let is_setting = sets.is_some_and(|set| set < place) && option.contains(['_', '.', ':', '-', '/']);
        // `-ppassword` is `-p` and a password.
        let is_one =
            word.starts_with("--") || !is_option || is_exact(option) || option.contains(['-', '_', '.']);
        let name = if is_setting { option.rsplit('/').next().unwrap_or(option) } else { option };
        let said = if is_one { sensitivity(name) } else { Sensitivity::Ordinary };
        if word.contains('=')
            || is_otherwise(program, word)
            || has_row(program, word, words)
            || !(is_option || is_setting)
            || said < Sensitivity::Perhaps
        {
            continue;
        }
        let next = words.get(place + 1).copied().unwrap_or_default();
        if !next.starts_with("--")
            && is_secret(said, next)
            && !(next.starts_with('-') && said < Sensitivity::Password)
        {
            found.push((place + 1, 0..next.len()));
        }
    }
}

/// Finds what is no secret although it stands behind a name of secrets, by the program: `gcloud … --secret=NAME`.
pub(super) fn ordinary(words: &[&str]) -> Vec<Found> {
    let program = words.first().map_or("", |word| program(word));
    let behind = |(place, word): (usize, &&str)| Some((place, joined_otherwise(program, word)?..word.len()));
    words.iter().enumerate().skip(1).filter_map(behind).collect()
}

/// Whether a row of the table tells what is secret of the word behind an option.
fn has_row(program: &str, option: &str, words: &[&str]) -> bool {
    let tells =
        |row: &Row| row.programs.contains(&program) && row.options.contains(&option) && has(words, row.verb);
    ROWS.iter().any(|row| row.shape != Shape::Joined && tells(row))
}

fn is_otherwise(program: &str, option: &str) -> bool {
    OTHERWISE.iter().any(|(programs, known)| programs.contains(&program) && *known == option)
}

/// Where the value begins that is joined to an option with another meaning than its name has.
fn joined_otherwise(program: &str, word: &str) -> Option<usize> {
    word.find('=')
        .filter(|at| word.get(..*at).is_some_and(|option| is_otherwise(program, option)))
        .map(|at| at + 1)
}

/// Whether an option or a variable has a command for a value that prints a secret.
pub(super) fn is_printer(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    PRINTERS.iter().any(|end| name.ends_with(end))
}

/// Whether a value is a call in a program's text: `password=getpass.getpass()`.
fn is_call(value: &str) -> bool {
    let called = value.split('(').next().filter(|called| called.len() < value.len() && !called.is_empty());
    called.is_some_and(|called| {
        called.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'))
    })
}

/// `NAME=value` is one word, whatever signs are in the value.
fn assigned(place: usize, word: &str, found: &mut Vec<Found>) {
    for (at, _) in word.match_indices('=').take(4) {
        let (before, value) = (word.get(..at).unwrap_or_default(), word.get(at + 1..).unwrap_or_default());
        // What follows may be another command: few passwords hold a sign that joins commands and a blank behind it.
        let value = value.split("; ").next().and_then(|value| value.split(" | ").next()).unwrap_or(value);
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
        let name = before.trim_start_matches('-').rsplit(|c: char| !is_name(c)).next().unwrap_or_default();
        // Further settings may follow; the values before them are found by the signs in between.
        let is_last = !value.contains('=') || value.trim_end_matches('=').find('=').is_none();
        if is_last
            && !is_call(value)
            && !value.contains(['&', '\n'])
            && is_secret(sensitivity(name), value.trim_matches(['"', '\'']))
        {
            found.push((place, at + 1..at + 1 + value.len()));
        }
    }
}
