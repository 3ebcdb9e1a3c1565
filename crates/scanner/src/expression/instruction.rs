//! Instructions of a program: one word for the kind, then its operands.
//!
//! Addresses count from the start of the program, sets are numbers in one list for all programs.

/// The match ends here.
pub(crate) const MATCH: u16 = 0;
/// `BYTE b`: the next byte is `b`.
pub(crate) const BYTE: u16 = 1;
/// `SET s`: the next byte is in the set `s`.
pub(crate) const SET: u16 = 2;
/// `LITERAL n b…`: the next bytes are these `n`, one in each word.
pub(crate) const LITERAL: u16 = 3;
/// `LOOK l`: the position is as [`LOOKS`] names it.
pub(crate) const LOOK: u16 = 4;
/// `JUMP a`: goes on at `a`.
pub(crate) const JUMP: u16 = 5;
/// `SPLIT a`: goes on with the next instruction, or, where that leads to no match, at `a`.
pub(crate) const SPLIT: u16 = 6;
/// `GUARD s a`: like `SPLIT a` if the next byte is in the set `s`, otherwise like `JUMP a`.
pub(crate) const GUARD: u16 = 7;
/// `ONLY s a`: goes on if the next byte is in the set `s`, otherwise at `a`.
pub(crate) const ONLY: u16 = 8;
/// `MANY s f min max`: from `min` to `max` bytes of the set `s`, many rather than few, before a byte of the set `f` or
/// the first bytes that the prefix `f` accepts.
pub(crate) const MANY: u16 = 9;
/// `FEW s f min max`: the same, few rather than many.
pub(crate) const FEW: u16 = 10;
/// `ALL s f min max`: as many as there are, because no byte of `s` is in `f`.
pub(crate) const ALL: u16 = 11;

/// In place of a set: any byte, or the end of the text.
pub(crate) const ANYTHING: u16 = u16::MAX;
/// Added to the number of a prefix in place of a set.
pub(crate) const PREFIX: u16 = 1 << 15;
/// In place of a maximum: no limit.
pub(crate) const UNLIMITED: u16 = u16::MAX;

/// Number of words before the first instruction: the set of first bytes, the properties, and the prefix.
pub(crate) const HEADER: u16 = 3;
/// Property: every match begins at the start of a line.
pub(crate) const BEGINS_LINE: u16 = 1;
/// Property: the pattern begins with a long repetition, so that it may be a long run.
pub(crate) const BEGINS_WITH_RUN: u16 = 2;
/// Property: every match begins with the first byte of a word.
pub(crate) const BEGINS_WORD: u16 = 4;

/// Positions that an instruction can require.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Position {
    TextStart,
    TextEnd,
    LineStart,
    LineEnd,
    WordBoundary,
    NoWordBoundary,
}

/// The positions, by number.
pub(crate) const LOOKS: [Position; 6] = [
    Position::TextStart,
    Position::TextEnd,
    Position::LineStart,
    Position::LineEnd,
    Position::WordBoundary,
    Position::NoWordBoundary,
];

/// Hash of a pattern's text (FNV-1a), by which its program is found.
pub(crate) fn hash(pattern: &str) -> u64 {
    pattern.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
