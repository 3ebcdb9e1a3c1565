//! File names with globs: whether two can match the same file, and whether one indicates the other.
//!
//! Two globs can match the same file if the languages of their automata intersect. Each has one state per letter, so the product
//! has `n * m` states, which are computed row by row, like dynamic programming for a wildcard and a text. Each state counts the
//! letters that both globs share literally: nearly every glob intersects `id_ecdsa*`, as `*.md` does in `id_ecdsa.md`, but only
//! one that shares letters with it was written for it.

/// A longer glob counts as matching every name: honest ones are shorter, and comparing it would be slow.
const MAX_NAME_BYTES: usize = 1024;

/// Whether a name, which may be a glob, can match a name that `part` matches.
pub(super) fn fits(name: &str, part: &str) -> bool {
    let is_plain = |letter: u8| !matches!(letter, b'*' | b'?' | b'[' | b'\\');
    if name.bytes().all(is_plain) && !part.as_bytes().contains(&b'*') {
        return name == part;
    }
    // Cheap check first: most names differ in their first or last letter.
    if ends_differ(name.chars().next(), part.chars().next())
        || ends_differ(name.chars().next_back(), part.chars().next_back())
    {
        return false;
    }
    if name.len() > MAX_NAME_BYTES {
        return name.contains(['*', '?', '[']);
    }
    let name = letters(name);
    // `*` alone matches any file, and does not indicate this one.
    let says_something = name.iter().any(|letter| matches!(letter, Letter::Is(_)));
    // Shells do not expand `*` to hidden files.
    let hides = part.starts_with('.') && !matches!(name.first(), Some(Letter::Is('.')));
    (says_something || part == "*") && !hides && meet(&name, &letters(part))
}

/// Whether the letters before the first `*` and after the last are compatible.
pub(super) fn may_be(name: &str, part: &str) -> bool {
    let is_plain = |letter: &u8| !matches!(letter, b'*' | b'?' | b'[' | b']' | b'\\');
    let both_plain = |(one, other): &(u8, u8)| is_plain(one) && is_plain(other);
    let same = |(one, other): (u8, u8)| one == other;
    let first = (name.bytes().next(), part.bytes().next());
    // Only a literal dot matches the leading dot of a hidden name.
    if let (Some(b'*' | b'?' | b'['), Some(b'.')) = first {
        return false;
    }
    let mut starts = name.bytes().zip(part.bytes()).take_while(both_plain);
    let mut ends = name.bytes().rev().zip(part.bytes().rev()).take_while(both_plain);
    starts.all(same) && ends.all(same)
}

/// Number of shared letters that suffices in a directory with few other files.
const ENOUGH: usize = 3;

/// How likely a name, which may be a glob, is one of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::hazards) enum Likeness {
    /// No file matches both.
    Other,
    /// Some file could match both, but the letters do not indicate it: `*`, `x*`.
    Possible,
    /// The letters indicate such a file: `id_*`, `.e?v`, or the name itself.
    Meant,
}

/// Returns how likely `name` is one of `part`. In a directory with few other files, fewer shared letters suffice.
pub(super) fn likeness(name: &str, part: &str, is_known_folder: bool) -> Likeness {
    // The most frequent glob indicates nothing, and can match anything that is not hidden.
    if name == "*" {
        return if part.starts_with('.') { Likeness::Other } else { Likeness::Possible };
    }
    let is_plain = |letter: u8| !matches!(letter, b'*' | b'?' | b'[' | b'\\');
    if name.bytes().all(is_plain) {
        return if fits(name, part) { Likeness::Meant } else { Likeness::Other };
    }
    if ends_differ(name.chars().next(), part.chars().next())
        || ends_differ(name.chars().next_back(), part.chars().next_back())
    {
        return Likeness::Other;
    }
    if name.len() > MAX_NAME_BYTES {
        // Too long to compare: treated like the secret itself, because no honest glob is that long.
        return Likeness::Meant;
    }
    let (name, other) = (letters(name), letters(part));
    if part.starts_with('.') && name.first() != Some(&Letter::Is('.')) {
        return Likeness::Other;
    }
    let stem = Stem::of(part, is_known_folder);
    match shared(&name, &other, &stem) {
        None => Likeness::Other,
        // `id_*` shares three letters with `id_rsa`, which is less than half, but ends exactly at its separator.
        Some(shared) if stem.is_spoken_of(shared) || speaks_up_to_a_mark(&name, &other) => Likeness::Meant,
        Some(_) if is_everything_hidden(&name) => Likeness::Meant,
        // Otherwise `*.md` would count as reading `id_ecdsa*`, and `cat *.md` would need a sandbox.
        Some(shared) if shared < ENOUGH && reaches_only_through_the_end(&name, &other) => Likeness::Other,
        Some(_) => Likeness::Possible,
    }
}

/// The letters that identify a name: all except a common extension.
struct Stem {
    /// The range of letters, in the order of the pattern.
    letters: std::ops::Range<usize>,
    /// How many of them another glob has to share.
    needed: usize,
}

impl Stem {
    fn of(part: &str, is_known_folder: bool) -> Self {
        let letters = letters(part);
        let dot = letters.iter().rposition(|letter| *letter == Letter::Is('.'));
        let is_hidden = letters.first() == Some(&Letter::Is('.'));
        let is_ending = letters.first() == Some(&Letter::Many);
        let end = dot.filter(|dot| *dot > 0 && !is_hidden && !is_ending).unwrap_or(letters.len());
        let all = letters.iter().take(end).filter(|letter| matches!(letter, Letter::Is(_))).count();
        // An extension must be shared almost completely. In a hidden name, the dot does not count, because all of them have it.
        let needed = match (is_ending, is_hidden) {
            (true, _) => all.min(ENOUGH).max(all / 2 + 1),
            (_, true) => all.div_ceil(2).max(2),
            // In `~/.ssh`, `id*` can hardly be anything but a key.
            _ if is_known_folder => ENOUGH.min(all / 2 + 1),
            _ => all / 2 + 1,
        };
        Self { letters: 0..end, needed }
    }

    const fn is_spoken_of(&self, shared: usize) -> bool {
        shared >= self.needed
    }
}

/// Whether a glob starts like the other one up to a separator: `id_*` and `id_rsa`.
fn speaks_up_to_a_mark(name: &[Letter], other: &[Letter]) -> bool {
    let same = name.iter().zip(other).take_while(|(one, other)| matches!(one, Letter::Is(_)) && one == other);
    let same: Vec<&Letter> = same.map(|(one, _)| one).collect();
    let ends_there = name.get(same.len()).is_none_or(|next| !matches!(next, Letter::Is(_)));
    let mark = matches!(same.last(), Some(Letter::Is('_' | '-')));
    ends_there && mark && same.len() >= ENOUGH
}

/// Whether a glob matches every hidden file, such as `.*`, and so those with secrets.
fn is_everything_hidden(name: &[Letter]) -> bool {
    let [Letter::Is('.'), rest @ ..] = name else { return false };
    rest.iter().all(|letter| !matches!(letter, Letter::Is(_)))
}

/// Whether two globs only intersect because a trailing `*` of one matches the extension of the other: `*.md` and `id_ecdsa*`.
fn reaches_only_through_the_end(name: &[Letter], other: &[Letter]) -> bool {
    let (Some(Letter::Is(_)), Some((Letter::Many, shorter))) = (name.last(), other.split_last()) else {
        return false;
    };
    if name.first() == Some(&Letter::Is('.')) {
        return false;
    }
    shared(name, shorter, &Stem { letters: 0..0, needed: 0 }).is_none()
}

/// Whether `part` matches every file that `name` matches: `server*.pub` and `*.pub`. Supports parts with one `*`.
pub(super) fn is_within(name: &str, part: &str) -> bool {
    let Some((before, after)) = part.split_once('*').filter(|(_, after)| !after.contains('*')) else {
        return name == part;
    };
    let letters = letters(name);
    let is_literal = |letter: &&Letter| matches!(letter, Letter::Is(_));
    let text = |letters: &mut dyn Iterator<Item = &Letter>| -> String {
        letters.filter_map(|letter| if let Letter::Is(one) = letter { Some(*one) } else { None }).collect()
    };
    let start = text(&mut letters.iter().take_while(is_literal));
    let end = text(&mut letters.iter().rev().take_while(is_literal));
    start.starts_with(before) && end.chars().rev().collect::<String>().ends_with(after)
}

/// Whether two letters are literal and different.
fn ends_differ(left: Option<char>, right: Option<char>) -> bool {
    let is_plain = |letter: char| !matches!(letter, '*' | '?' | '[' | ']' | '\\');
    matches!((left, right), (Some(left), Some(right)) if is_plain(left) && is_plain(right) && left != right)
}

/// A letter of a glob.
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

/// Whether some text matches both globs.
fn meet(left: &[Letter], right: &[Letter]) -> bool {
    shared(left, right, &Stem { letters: 0..0, needed: 0 }).is_some()
}

/// Returns the maximum number of letters in the stem of `right` that `left` shares literally, over all texts that match both.
fn shared(left: &[Letter], right: &[Letter], stem: &Stem) -> Option<usize> {
    // `reach[j]`: the maximum number of shared letters if the prefix of `left` so far matches `right[..j]`.
    let mut reach: Vec<Option<usize>> = vec![None; right.len() + 1];
    start(&mut reach, right);
    let mut next = reach.clone();
    for letter in left {
        next.fill(None);
        for (at, reached) in reach.iter().enumerate() {
            let Some(score) = *reached else { continue };
            let other = right.get(at);
            if *letter == Letter::Many || other == Some(&Letter::Many) {
                raise(&mut next, at, score);
            }
            match (letter, other) {
                (_, None) => {}
                (Letter::Is(one), Some(Letter::Is(other))) if one != other => {}
                (Letter::Is(_), Some(Letter::Is(_))) if stem.letters.contains(&at) => {
                    raise(&mut next, at + 1, score + 1);
                }
                _ => raise(&mut next, at + 1, score),
            }
        }
        // `*` on the left matches any number of letters of the right, and `*` on the right matches none of the left.
        for at in 0..right.len() {
            let here = next.get(at).copied().flatten();
            let is_skipped = *letter == Letter::Many || right.get(at) == Some(&Letter::Many);
            if let Some(score) = here.filter(|_| is_skipped) {
                raise(&mut next, at + 1, score);
            }
        }
        std::mem::swap(&mut reach, &mut next);
    }
    reach.last().copied().flatten()
}

/// Marks the states that are reachable before the first letter, after every leading `*`.
fn start(reach: &mut [Option<usize>], right: &[Letter]) {
    raise(reach, 0, 0);
    for at in 0..right.iter().take_while(|letter| **letter == Letter::Many).count() {
        raise(reach, at + 1, 0);
    }
}

fn raise(row: &mut [Option<usize>], at: usize, score: usize) {
    if let Some(cell) = row.get_mut(at) {
        *cell = (*cell).max(Some(score));
    }
}
