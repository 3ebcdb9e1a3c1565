//! The first step of the prefilter, a pass over the whole text.
//!
//! Where the processor can look up sixty-four bytes at once, it does ([`blocks`]), which saves a fifth of the time of
//! scanning real skills. Elsewhere, and for the last bytes of a text, eight positions are processed together.
//!
//! Tried and rejected: 256-bit vectors with lookups of half bytes, which accept more positions than necessary and
//! were no faster overall; tables of byte pairs, which do not fit into the nearest cache; rows with the entries of
//! all four tables for a byte, so that two positions are one 128-bit lookup: a seventh faster where nothing is
//! accepted, but slower in practice; recording accepted blocks and returning to them later; for each bucket, a table
//! of the grams that its most selective byte leaves; comparing eight grams by one vector instruction, or listing the
//! positions before checking any, which gained a fiftieth.

#[cfg(target_arch = "x86_64")]
mod blocks;

use std::ops::Range;

use super::byte_set::ByteSet;
use super::gram::WIDTH;
use super::run::LANE;
use super::tables::{Misses, Tables};

/// Number of positions that are processed before a branch.
const BLOCK: usize = 8;

/// Receives the results of the first step.
pub(super) trait Finder {
    /// A bucket accepts the next four bytes here; behind the end of the text there are only line ends.
    fn place(&mut self, at: usize);

    /// Runs may begin here; outside of such stretches no run begins.
    fn runs(&mut self, begins: Range<usize>);
}

/// Maps bytes to accepting buckets, and to membership in runs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Lookup {
    pub(super) misses: Misses,
    pub(super) run_bytes: ByteSet,
    #[cfg(target_arch = "x86_64")]
    blocks: blocks::Blocks,
}

impl Lookup {
    pub(super) const fn new(misses: Misses, run_bytes: ByteSet) -> Self {
        Self {
            #[cfg(target_arch = "x86_64")]
            blocks: blocks::Blocks::of(&misses, &run_bytes),
            misses,
            run_bytes,
        }
    }

    /// Returns the lookup of tables that were made at run time.
    pub(super) fn of(tables: &Tables) -> Self {
        Self::new(tables.misses(), tables.run_bytes())
    }

    /// Returns the buckets that accept these bytes, as bits.
    #[inline]
    pub(super) fn buckets(&self, bytes: [u8; WIDTH]) -> u64 {
        !missing(&self.misses, bytes)
    }

    /// Passes everything that the text contains to `found`.
    pub(super) fn taken(&self, text: &[u8], found: &mut impl Finder) {
        let begin = self.taken_in_blocks(text, found);
        taken(&self.misses, text, begin, |at| found.place(at));
        if !self.run_bytes.is_empty() {
            found.runs(begin.saturating_sub(LANE - 1)..text.len());
        }
    }

    /// Processes whole blocks, if the processor supports it; returns how far.
    #[cfg(target_arch = "x86_64")]
    fn taken_in_blocks(&self, text: &[u8], found: &mut impl Finder) -> usize {
        self.blocks.taken(text, found)
    }

    #[cfg(not(target_arch = "x86_64"))]
    #[expect(clippy::unused_self, reason = "elsewhere it is used")]
    fn taken_in_blocks(&self, _: &[u8], _: &mut impl Finder) -> usize {
        0
    }
}

/// Boxed, since a `Cow` would otherwise be as large as the table, and be moved with it.
impl ToOwned for Lookup {
    type Owned = Box<Self>;

    fn to_owned(&self) -> Box<Self> {
        Box::new(Self::new(self.misses, self.run_bytes))
    }
}

/// The same, starting at a position.
fn taken(misses: &Misses, text: &[u8], begin: usize, mut found: impl FnMut(usize)) {
    let mut next = begin;
    let text = text.get(begin..).unwrap_or_default();
    // The grams that begin in a block end three bytes behind it.
    for block in text.windows(BLOCK + WIDTH - 1).step_by(BLOCK) {
        let missing: [u64; BLOCK] = std::array::from_fn(|offset| missing_at(misses, block, offset));
        if missing.iter().fold(u64::MAX, |all, missing| all & missing) != u64::MAX {
            // Which position of the block it is, is hard to predict; collect a bit mask before branching.
            let mut taken = 0_u32;
            for (&missing, offset) in missing.iter().zip(0..) {
                taken |= u32::from(missing != u64::MAX) << offset;
            }
            while taken != 0 {
                found(next + taken.trailing_zeros() as usize);
                taken &= taken - 1;
            }
        }
        next += BLOCK;
    }
    let mut tail = [b'\n'; BLOCK * 2 + WIDTH - 1];
    let left = text.get(next - begin..).unwrap_or_default();
    for (slot, &byte) in tail.iter_mut().zip(left) {
        *slot = byte;
    }
    let hits = (0..left.len()).filter(|&offset| missing_at(misses, &tail, offset) != u64::MAX);
    hits.for_each(|offset| found(next + offset));
}

/// Returns the buckets that do not accept the four bytes at `offset`.
#[inline]
fn missing_at(misses: &Misses, bytes: &[u8], offset: usize) -> u64 {
    bytes.get(offset..).and_then(<[u8]>::first_chunk).map_or(0, |&bytes| missing(misses, bytes))
}

/// Returns the buckets that do not accept these bytes.
#[inline]
#[expect(clippy::indexing_slicing, reason = "every byte has an entry")]
fn missing([first, second, third, fourth]: &Misses, [a, b, c, d]: [u8; WIDTH]) -> u64 {
    first[a as usize] | second[b as usize] | third[c as usize] | fourth[d as usize]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::prefilter::builtin;

    /// Fragments that buckets accept, whole and cut, and others; characters of one to four bytes; parts of runs.
    const PIECES: [&str; 12] = [
        "curl ",
        "| sh",
        "eval(",
        "\u{200b}",
        "日本",
        "é",
        "🦀",
        "\n",
        "Use it with care. ",
        "w",
        "QUFBQUFBQUFB",
        "Q0JDQkNCQ0JDQkNCQ0JDQkNCQ0JDQkNCQ0JDQkNCQ0JDQkNCQ0JDQkNCQ0JDQkNC",
    ];

    #[derive(Default)]
    struct Found {
        places: Vec<usize>,
        runs: Vec<Range<usize>>,
    }

    impl Finder for Found {
        fn place(&mut self, at: usize) {
            self.places.push(at);
        }

        fn runs(&mut self, begins: Range<usize>) {
            self.runs.push(begins);
        }
    }

    proptest! {
        #[test]
        fn every_place_is_found_and_no_other(
            picks in prop::collection::vec(0..PIECES.len(), 0..120),
            cut in 0..9_usize,
            times in 1..12_usize,
        ) {
            let text: String = picks.into_iter().map(|pick| PIECES[pick]).collect::<String>().repeat(times);
            let bytes = text.as_bytes().get(cut..).unwrap_or_default();
            let lookup = &builtin::LOOKUP;
            let padded = [bytes, b"\n\n\n"].concat();
            let wanted: Vec<usize> =
                (0..bytes.len()).filter(|&at| lookup.buckets(*padded[at..].first_chunk().unwrap()) != 0).collect();
            let (mut found, mut one_by_one) = (Found::default(), Vec::new());
            lookup.taken(bytes, &mut found);
            taken(&lookup.misses, bytes, 0, |at| one_by_one.push(at));
            prop_assert_eq!(&found.places, &wanted);
            prop_assert_eq!(one_by_one, wanted);
        }

        #[test]
        fn every_run_begins_where_runs_may(
            picks in prop::collection::vec(0..PIECES.len(), 0..120),
            cut in 0..9_usize,
        ) {
            let text: String = picks.into_iter().map(|pick| PIECES[pick]).collect();
            let bytes = text.as_bytes().get(cut..).unwrap_or_default();
            let lookup = &builtin::LOOKUP;
            let mut found = Found::default();
            lookup.taken(bytes, &mut found);
            let mut at = 0;
            for run in bytes.split(|&byte| !lookup.run_bytes.contains(byte)) {
                if run.len() >= 2 * LANE - 1 {
                    prop_assert!(found.runs.iter().any(|begins| begins.contains(&at)), "{} in {:?}", at, found.runs);
                }
                at += run.len() + 1;
            }
        }
    }
}
