//! A walk through an automaton.

use std::ops::Range;

use super::{COLUMN_WORDS, SET_WORDS, Words};
use crate::sieve::ByteSet;

/// How many words a state counts.
pub(super) const UNIT_WORDS: usize = 4;

/// An automaton.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Automaton {
    /// Where nothing has begun: after each of [`Before`], and at the beginning of a text.
    idle: [State; 4],
    /// Up to this state, what leads on is looked for.
    waits: State,
    leads_on: Signs,
    /// The column of every byte where a match may begin, and where none may.
    columns: &'static [u8; 256],
    columns_between: &'static [u8; 256],
    /// That of the end of a text.
    end_column: usize,
    rows: Words,
}

/// A state of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct State(u16);

impl State {
    /// A match has ended.
    const END: Self = Self(0);
}

/// What stands before a byte, so far as any pattern asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Before {
    Other,
    Word,
    LineEnd,
}

impl Before {
    /// What comes into words is what `\b` takes for a part of one.
    pub(super) const fn of(byte: u8) -> Self {
        match byte {
            b'\n' => Self::LineEnd,
            _ if ByteSet::WORD.contains(byte) => Self::Word,
            _ => Self::Other,
        }
    }
}

/// What is looked for.
#[derive(Debug, Clone, Copy)]
enum Signs {
    Byte(u8),
    Bytes(ByteSet),
    /// Two bytes each, by [`pair`].
    Pairs(ByteSet),
}

/// Two bytes as one: five bits of the first, which tell letters apart and not their case, and three of the second.
pub(super) const fn pair(first: u8, second: u8) -> u8 {
    first << 3 | second & 7
}

impl Signs {
    fn of(signs: ByteSet, are_pairs: bool) -> Self {
        match (signs.len(), signs.bytes().next()) {
            _ if are_pairs => Self::Pairs(signs),
            (1, Some(byte)) => Self::Byte(byte),
            _ => Self::Bytes(signs),
        }
    }

    /// The first place of one, or where it could be that ends behind these bytes.
    #[inline]
    fn find(&self, bytes: &[u8]) -> usize {
        match self {
            Self::Byte(sign) => memchr::memchr(*sign, bytes).unwrap_or(bytes.len()),
            Self::Bytes(signs) => bytes.iter().position(|&byte| signs.contains(byte)).unwrap_or(bytes.len()),
            Self::Pairs(signs) => {
                let is_sign = |two: &[u8; 2]| signs.contains(pair(two[0], two[1]));
                bytes.array_windows().position(is_sign).unwrap_or(bytes.len().saturating_sub(1))
            }
        }
    }
}

impl Automaton {
    /// Reads an automaton.
    pub(super) fn new(words: Words) -> Option<Self> {
        let [other, word, line_end, text, waits] = words.0.first_chunk()?.map(u16::from_le_bytes).map(State);
        let end_column = 5;
        let are_pairs = end_column + 1;
        let set = are_pairs + 1;
        let columns = set + SET_WORDS;
        let between = columns + COLUMN_WORDS;
        let rows = between + COLUMN_WORDS;
        Some(Self {
            idle: [other, word, line_end, text],
            waits,
            leads_on: Signs::of(words.set(set)?, words.word(are_pairs)? == 1),
            columns: words.columns(columns)?,
            columns_between: words.columns(between)?,
            end_column: words.number(end_column)?,
            rows: words.part(rows..words.0.len())?,
        })
    }

    /// Whether a match can lie `within` a stretch of a text, if matches begin only where `may_begin` says. Adds to `looked` how
    /// many bytes that took.
    pub(crate) fn may_match(
        &self,
        text: &[u8],
        within: Range<usize>,
        may_begin: impl FnMut(usize) -> bool,
        looked: &mut usize,
    ) -> bool {
        let end = self.end_of_match(text, within.clone(), may_begin);
        *looked += end.unwrap_or(within.end).saturating_sub(within.start);
        end.is_some()
    }

    /// Whether a match lies in a text.
    pub(crate) fn matches(&self, text: &[u8]) -> bool {
        self.end_of_match(text, 0..text.len(), |_| true).is_some()
    }

    /// Returns where it shows that a match lies within a stretch.
    fn end_of_match(
        &self,
        text: &[u8],
        within: Range<usize>,
        mut may_begin: impl FnMut(usize) -> bool,
    ) -> Option<usize> {
        // What cannot be looked at may match.
        let Some(stretch) = text.get(..within.end) else { return Some(within.end) };
        let byte_before = |at: usize| at.checked_sub(1).and_then(|before| text.get(before)).copied();
        let mut at = within.start;
        let mut state = self.idle_after(byte_before(at));
        loop {
            let ahead = stretch.get(at..)?;
            if state <= self.waits {
                let lead = at + self.leads_on.find(ahead);
                // Over the bytes in between nothing begins, so only the last one matters.
                if lead > at {
                    state = self.idle_after(byte_before(lead));
                }
                at = lead;
            }
            for &byte in stretch.get(at..)? {
                state = self.step(state, byte, || may_begin(at));
                at += 1;
                if state <= self.waits {
                    break;
                }
            }
            // A match that ends with the stretch may show by the byte behind it.
            let is_over = at == within.end;
            if is_over && state != State::END {
                let behind = text.get(at);
                state = match behind {
                    Some(&byte) => self.step(state, byte, || false),
                    None => self.target(state, self.end_column),
                };
            }
            if is_over || state == State::END {
                return (state == State::END).then_some(at);
            }
        }
    }

    fn idle_after(&self, byte: Option<u8>) -> State {
        let [other, word, line_end, text] = self.idle;
        match byte.map(Before::of) {
            None => text,
            Some(Before::LineEnd) => line_end,
            Some(Before::Word) => word,
            Some(Before::Other) => other,
        }
    }

    /// Where a byte leads. It is asked whether a match may begin there only if that matters.
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "there is a column for every byte")]
    fn step(&self, state: State, byte: u8, may_begin: impl FnOnce() -> bool) -> State {
        let [begins, between] = [self.columns, self.columns_between]
            .map(|columns| self.target(state, columns[usize::from(byte)].into()));
        if begins == between || may_begin() { begins } else { between }
    }

    /// Where a column leads. If it cannot be told, a match has ended.
    #[inline]
    fn target(&self, State(state): State, column: usize) -> State {
        self.rows.word(UNIT_WORDS * usize::from(state) + column).map_or(State::END, State)
    }

    /// Whether all of its states are rows.
    #[cfg(test)]
    pub(super) fn leads_to_states(&self) -> bool {
        let columns = self.columns.iter().chain(self.columns_between).map(|&column| usize::from(column));
        let columns = columns.chain([self.end_column]).max().map_or(0, |last| last + 1);
        let row = columns.div_ceil(UNIT_WORDS) * UNIT_WORDS;
        let is_row = |State(state): State| {
            let at = UNIT_WORDS * usize::from(state);
            at.is_multiple_of(row) && at + row <= self.rows.0.len()
        };
        let states = self.rows.0.iter().map(|word| State(u16::from_le_bytes(*word)));
        states.chain(self.idle).chain([self.waits]).all(is_row)
    }
}
