//! The first step of the prefilter, which goes through the whole text.
//!
//! Where the processor can look sixty-four bytes up at once, it does ([`blocks`]), which spares the scan of real skills a fifth of
//! its time. Elsewhere, and for the last bytes of a text, eight places are looked at together.
//!
//! Tried and not kept: a twin in vector instructions of 256 bits, which looked up the halves of bytes, so that it took more
//! places than there are, and came out no faster in the whole; tables of pairs of bytes, which do not stay in the nearest
//! cache; rows that hold what all four tables say of a byte, so that two places are one lookup of 128 bits: a seventh faster
//! where nothing is taken, and slower in place; noting the blocks in which something is taken and going back to them later;
//! for each bucket, a table of which grams its most telling byte leaves; comparing eight grams at once by a vector
//! instruction, or listing the places before looking at any, which gained a fiftieth.

#[cfg(target_arch = "x86_64")]
mod blocks;

use std::ops::Range;

use super::byte_set::ByteSet;
use super::gram::WIDTH;
use super::run::LANE;
use super::tables::{Misses, Tables};

/// How many places are looked at before anything is decided.
const BLOCK: usize = 8;

/// Takes what is found.
pub(super) trait Finder {
    /// Here some bucket takes the next four bytes; past the end of the text there is a line end for ever.
    fn place(&mut self, at: usize);

    /// Runs may begin here, and those that begin nowhere in such a stretch are none.
    fn runs(&mut self, begins: Range<usize>);
}

/// Tells which buckets take what stands at a place, and what can be a part of a run.
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

    /// Returns that of tables which were not made with the program.
    pub(super) fn of(tables: &Tables) -> Self {
        Self::new(tables.misses(), tables.run_bytes())
    }

    /// The buckets that take the first of these bytes, as bits.
    #[inline]
    pub(super) fn buckets(&self, bytes: [u8; WIDTH]) -> u64 {
        !missing(&self.misses, bytes)
    }

    /// Hands all that there is in a text to `found`.
    pub(super) fn taken(&self, text: &[u8], found: &mut impl Finder) {
        let begin = self.taken_in_blocks(text, found);
        taken(&self.misses, text, begin, |at| found.place(at));
        if !self.run_bytes.is_empty() {
            found.runs(begin.saturating_sub(LANE - 1)..text.len());
        }
    }

    /// The same in whole blocks, as far as the processor can; returns how far that is.
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

/// In a box, since whoever holds it would else be as large, and be carried about when it is made.
impl ToOwned for Lookup {
    type Owned = Box<Self>;

    fn to_owned(&self) -> Box<Self> {
        Box::new(Self::new(self.misses, self.run_bytes))
    }
}

/// The same from a place on.
fn taken(misses: &Misses, text: &[u8], begin: usize, mut found: impl FnMut(usize)) {
    let mut next = begin;
    let text = text.get(begin..).unwrap_or_default();
    // The grams that begin in a block end three bytes behind it.
    for block in text.windows(BLOCK + WIDTH - 1).step_by(BLOCK) {
        let missing: [u64; BLOCK] = std::array::from_fn(|offset| missing_at(misses, block, offset));
        if missing.iter().fold(u64::MAX, |all, missing| all & missing) != u64::MAX {
            // Where in the block it is, is hard to predict, so that becomes a number before it becomes a way to go.
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

/// The buckets that do not take the four bytes at `offset`.
#[inline]
fn missing_at(misses: &Misses, bytes: &[u8], offset: usize) -> u64 {
    bytes.get(offset..).and_then(<[u8]>::first_chunk).map_or(0, |&bytes| missing(misses, bytes))
}

/// The buckets that do not take these bytes.
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

    /// Pieces that buckets take, whole and cut, and others; characters of one to four bytes; pieces of runs.
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
