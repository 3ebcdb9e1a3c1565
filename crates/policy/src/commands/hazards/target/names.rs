//! Names of files with patterns in them: whether two can mean the same file.
//!
//! Two patterns meet when the languages of their automata intersect. Each has a state for every letter, so the product has
//! `n * m` states, and is walked row by row, as in the dynamic programme for one wildcard pattern and one text.

/// A longer pattern is taken to mean every name: no honest one is as long, and comparing it would take long.
const MAX_NAME_BYTES: usize = 1024;

/// Whether a name, which may be a pattern itself, can be one that `part` means.
pub(super) fn fits(name: &str, part: &str) -> bool {
    let is_plain = |letter: u8| !matches!(letter, b'*' | b'?' | b'[' | b'\\');
    if name.bytes().all(is_plain) && !part.as_bytes().contains(&b'*') {
        return name == part;
    }
    // Cheap before dear: most names differ in their first or last letter, and need no table.
    if ends_differ(name.chars().next(), part.chars().next())
        || ends_differ(name.chars().next_back(), part.chars().next_back())
    {
        return false;
    }
    if name.len() > MAX_NAME_BYTES {
        return name.contains(['*', '?', '[']);
    }
    let name = letters(name);
    // `*` alone means any file, and is no sign that this one is meant.
    let says_something = name.iter().any(|letter| matches!(letter, Letter::Is(_)));
    let hides = part.starts_with('.') && !matches!(name.first(), Some(Letter::Is('.')));
    (says_something || part == "*") && !hides && meet(&name, &letters(part))
}

/// Whether two letters are no part of a pattern, and not the same.
fn ends_differ(left: Option<char>, right: Option<char>) -> bool {
    let is_plain = |letter: char| !matches!(letter, '*' | '?' | '[' | ']' | '\\');
    matches!((left, right), (Some(left), Some(right)) if is_plain(left) && is_plain(right) && left != right)
}

/// A letter of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Letter {
    Is(char),
    One,
    Many,
}

fn letters(pattern: &str) -> Vec<Letter> {
    let mut letters = Vec::new();
    let last_end = pattern.rfind(']');
    let mut rest = pattern.char_indices();
    while let Some((at, character)) = rest.next() {
        letters.push(match character {
            '\\' => Letter::Is(rest.next().map_or('\\', |(_, character)| character)),
            '*' => Letter::Many,
            '?' => Letter::One,
            '[' if last_end.is_some_and(|end| end > at) => {
                rest.by_ref().find(|(_, end)| *end == ']');
                Letter::One
            }
            character => Letter::Is(character),
        });
    }
    letters
}

/// Whether a text exists that both patterns match.
fn meet(left: &[Letter], right: &[Letter]) -> bool {
    // `reach[j]`: the beginning of `left` read so far can be the beginning `right[..j]`.
    let mut reach = vec![false; right.len() + 1];
    start(&mut reach, right);
    for letter in left {
        let mut next = vec![false; right.len() + 1];
        for (at, reached) in reach.iter().enumerate() {
            if !reached {
                continue;
            }
            let other = right.get(at);
            if *letter == Letter::Many || other == Some(&Letter::Many) {
                set(&mut next, at);
            }
            match (letter, other) {
                (_, None) => {}
                (Letter::Is(one), Some(Letter::Is(other))) if one != other => {}
                _ => set(&mut next, at + 1),
            }
        }
        // `*` on the left takes any number of letters of the right, and `*` on the right none of the left.
        for at in 0..right.len() {
            let here = next.get(at).copied().unwrap_or(false);
            if here && (*letter == Letter::Many || right.get(at) == Some(&Letter::Many)) {
                set(&mut next, at + 1);
            }
        }
        reach = next;
    }
    reach.last().copied().unwrap_or(false)
}

/// Marks what is reached before the first letter: past every `*` at the start.
fn start(reach: &mut [bool], right: &[Letter]) {
    set(reach, 0);
    for at in 0..right.iter().take_while(|letter| **letter == Letter::Many).count() {
        set(reach, at + 1);
    }
}

fn set(row: &mut [bool], at: usize) {
    if let Some(cell) = row.get_mut(at) {
        *cell = true;
    }
}
