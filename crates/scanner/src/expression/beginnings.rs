//! Derives the [`Prefix`] of a part of a pattern, for `build.rs`.

use regex_syntax::hir::{Hir, HirKind, Repetition};

use super::assemble::set_of;
use super::prefix::{LENGTH, Prefix};
use crate::prefilter::byte_set::ByteSet;

/// Maximum number of sequences; more of them are shortened until they are equal.
const MAX_SEQUENCES: usize = 24;

/// Number of groups: the bits of an entry of a [`Prefix`].
const GROUPS: usize = 8;

/// What the first bytes of matches can be: each match begins with one of these sequences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Beginnings(Vec<Sequence>);

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Sequence {
    sets: Vec<ByteSet>,
    /// Whether the match can go on with bytes that are not known.
    is_cut: bool,
}

impl Sequence {
    const EMPTY: Self = Self { sets: Vec::new(), is_cut: false };

    fn of(set: ByteSet) -> Self {
        Self { sets: vec![set], is_cut: false }
    }

    const fn is_complete(&self) -> bool {
        self.is_cut || self.sets.len() >= LENGTH
    }

    fn shortened(mut self, length: usize) -> Self {
        self.is_cut |= self.sets.len() > length;
        self.sets.truncate(length);
        self
    }

    /// The set at a position; any byte, or the end of the text, behind the sequence.
    fn at(&self, position: usize) -> Option<ByteSet> {
        self.sets.get(position).copied()
    }

    /// Returns a sequence for both, if they differ at one position at most.
    fn joined(&self, other: &Self) -> Option<Self> {
        let is_alike = self.is_cut == other.is_cut && self.sets.len() == other.sets.len();
        let differing = self.sets.iter().zip(&other.sets).filter(|(one, other)| one != other).count();
        (is_alike && differing <= 1).then(|| self.with(other))
    }

    /// Returns a sequence for both.
    fn with(&self, other: &Self) -> Self {
        let sets = self.sets.iter().zip(&other.sets).map(|(one, other)| *one | *other).collect();
        Self { sets, is_cut: self.is_cut || other.is_cut || self.sets.len() != other.sets.len() }
    }

    /// About how many texts of [`LENGTH`] bytes it accepts.
    fn width(&self) -> usize {
        (0..LENGTH).map(|position| self.at(position).map_or(256, ByteSet::len)).product()
    }
}

impl Beginnings {
    /// Any bytes or none.
    pub(crate) fn unknown() -> Self {
        Self(vec![Sequence { is_cut: true, ..Sequence::EMPTY }])
    }

    pub(crate) fn of(hir: &Hir) -> Self {
        let nothing = || Self(vec![Sequence::EMPTY]);
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => nothing(),
            HirKind::Literal(literal) => {
                let bytes = literal.0.iter().map(|byte| ByteSet::range(*byte, *byte));
                Self(vec![Sequence { sets: bytes.collect(), is_cut: false }.shortened(LENGTH)])
            }
            HirKind::Class(class) => {
                set_of(class).map_or_else(Self::unknown, |set| Self(vec![Sequence::of(set)]))
            }
            HirKind::Capture(capture) => Self::of(&capture.sub),
            HirKind::Concat(parts) => parts.iter().fold(nothing(), |before, part| {
                if before.is_complete() { before } else { before.then(&Self::of(part)) }
            }),
            HirKind::Alternation(parts) => {
                Self(parts.iter().flat_map(|part| Self::of(part).0).collect()).reduced()
            }
            HirKind::Repetition(repetition) => Self::of_repetition(repetition),
        }
    }

    fn of_repetition(repetition: &Repetition) -> Self {
        let sub = Self::of(&repetition.sub);
        let may_be_empty = |sequence: &Sequence| sequence.sets.is_empty();
        if sub.0.iter().any(may_be_empty) {
            return Self::unknown();
        }
        let rounds = repetition.max.map_or(LENGTH, |max| LENGTH.min(usize::try_from(max).unwrap_or(LENGTH)));
        let min = usize::try_from(repetition.min).unwrap_or(LENGTH).min(LENGTH);
        let mut found = Vec::new();
        let mut so_far = Self(vec![Sequence::EMPTY]);
        for round in 0..=rounds {
            if round >= min {
                found.extend(so_far.0.iter().cloned());
            }
            so_far = so_far.then(&sub);
        }
        Self(found).reduced()
    }

    /// What comes first if `next` follows.
    pub(crate) fn then(&self, next: &Self) -> Self {
        let follow = |sequence: &Sequence| -> Vec<Sequence> {
            if sequence.is_complete() {
                return vec![sequence.clone()];
            }
            let with = |next: &Sequence| {
                let sets = sequence.sets.iter().chain(&next.sets).copied().collect();
                Sequence { sets, is_cut: next.is_cut }.shortened(LENGTH)
            };
            next.0.iter().map(with).collect()
        };
        Self(self.0.iter().flat_map(follow).collect()).reduced()
    }

    fn is_complete(&self) -> bool {
        self.0.iter().all(Sequence::is_complete)
    }

    /// Joins sequences, and shortens them if there are too many.
    fn reduced(self) -> Self {
        let mut sequences = self.0;
        for length in (1..=LENGTH).rev() {
            sequences = joined(sequences.into_iter().map(|sequence| sequence.shortened(length)).collect());
            if sequences.len() <= MAX_SEQUENCES {
                return Self(sequences);
            }
        }
        Self::unknown()
    }

    /// Returns the tables; `None` if they could not exclude more than the set of first bytes.
    pub(crate) fn prefix(&self) -> Option<Prefix> {
        let is_long = |sequence: &Sequence| sequence.sets.len() >= 2;
        let mut groups = self.0.clone();
        if groups.iter().any(|sequence| sequence.sets.is_empty()) || !groups.iter().any(is_long) {
            return None;
        }
        while groups.len() > GROUPS {
            join_nearest(&mut groups);
        }
        let mut prefix = Prefix::default();
        for (group, sequence) in groups.iter().enumerate() {
            let bit = 1 << group;
            let tables = prefix.low.iter_mut().zip(&mut prefix.high).zip(&mut prefix.ended);
            for (position, ((low, high), ended)) in tables.enumerate() {
                let set = sequence.at(position);
                for byte in set.unwrap_or(ByteSet::ANY).bytes() {
                    for (table, half) in [(&mut *low, byte & 15), (&mut *high, byte >> 4)] {
                        if let Some(entry) = table.get_mut(usize::from(half)) {
                            *entry |= bit;
                        }
                    }
                }
                *ended |= if set.is_none() { bit } else { 0 };
            }
        }
        Some(prefix)
    }
}

/// Joins sequences that differ at one position, as long as there are such.
fn joined(mut sequences: Vec<Sequence>) -> Vec<Sequence> {
    sequences.sort_unstable();
    sequences.dedup();
    let mut kept: Vec<Sequence> = Vec::new();
    while let Some(sequence) = sequences.pop() {
        let found = kept.iter().enumerate().find_map(|(at, other)| Some((at, sequence.joined(other)?)));
        match found {
            // What was joined may fit to others now.
            Some((at, both)) => {
                kept.swap_remove(at);
                sequences.push(both);
            }
            None => kept.push(sequence),
        }
    }
    kept.sort_unstable();
    kept
}

/// Joins the two sequences that together accept the fewest texts more than they do apart.
fn join_nearest(sequences: &mut Vec<Sequence>) {
    let cost = |one: &Sequence, other: &Sequence| {
        one.with(other).width().saturating_sub(one.width() + other.width())
    };
    let pairs = sequences.iter().enumerate().flat_map(|(at, one)| {
        sequences.iter().enumerate().take(at).map(move |(with, other)| (at, with, cost(one, other)))
    });
    let Some((one, other, _)) = pairs.min_by_key(|(.., cost)| *cost) else { return };
    let last = sequences.swap_remove(one);
    if let Some(kept) = sequences.get_mut(other) {
        *kept = kept.with(&last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::parse_one;

    fn prefix(pattern: &str) -> Option<Prefix> {
        Beginnings::of(&parse_one(pattern)).prefix()
    }

    #[test]
    fn what_a_match_begins_with_is_accepted_and_little_else() {
        let cases: [(&str, &[&str], &[&str]); 8] = [
            ("abc", &["abc", "abcd"], &["abd", "ab", "a", "", "bc"]),
            ("ab", &["ab", "abx"], &["a", "b", "xb"]),
            ("(?i)ab|cde", &["aB", "CDE", "cdex"], &["ad", "cd", "cbe", "xx"]),
            (r"\bx[0-9]*y", &["xy", "x1y", "x12"], &["x", "xa", "x1a", "y"]),
            (r"[ab]{1,2}c", &["ac", "abc", "bbc"], &["aaa", "cc", "c"]),
            (r"(?:a|bc)?d[^\n]e", &["ad\t", "bcd", "d e"], &["bd ", "ac ", "e"]),
            ("a(?:bc)+", &["abc"], &["abb", "ab", "acb"]),
            (r"(?:a|[^a]{2})b", &["ab", "xyb"], &["xy", "xya"]),
        ];
        for (pattern, accepted, rejected) in cases {
            let prefix = prefix(pattern).unwrap();
            for text in accepted {
                assert!(prefix.may_begin(text.as_bytes()), "{pattern} in {text:?}");
            }
            for text in rejected {
                assert!(!prefix.may_begin(text.as_bytes()), "{pattern} in {text:?}");
            }
        }
    }

    #[test]
    fn what_can_be_empty_or_one_byte_has_no_prefix() {
        for pattern in ["a*", "a?b?", "", "[a-z]", "(?:a|b*)c?", "a|b|"] {
            assert_eq!(prefix(pattern), None, "{pattern}");
        }
    }

    #[test]
    fn many_alternatives_are_joined_and_none_is_lost() {
        let words: Vec<String> =
            (0..40_u32).map(|n| format!("{:03x}x", n.wrapping_mul(2_654_435_761) >> 20)).collect();
        let prefix = prefix(&words.join("|")).unwrap();
        assert!(words.iter().all(|word| prefix.may_begin(word.as_bytes())));
        assert!(!prefix.may_begin(b"xyz"));
    }
}
