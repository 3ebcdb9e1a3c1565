//! The first step of the sieve, which goes through the whole text.
//!
//! Tried and not kept: a twin in vector instructions of 256 bits, which looked up the halves of bytes, so that it took more
//! places than there are, and came out no faster in the whole; one of 512 bits that looks up whole bytes, 1.6 times as
//! fast, which spares the scan of a folder one part in thirty and asks for unsafe code; tables of pairs of bytes, which do
//! not stay in the nearest cache; rows that hold what all four tables say of a byte, so that two places are one lookup of
//! 128 bits: a seventh faster where nothing is taken, and slower in place; noting the blocks in which something is taken
//! and going back to them later; for each bucket, a table of which windows its most telling byte leaves.

use super::tables::Misses;

/// How many places are looked at before anything is decided.
const BLOCK: usize = 8;

/// Hands every place to `found` where some bucket takes the next four bytes; past the end of the text
/// there is a line end for ever.
pub(super) fn taken(misses: &Misses, text: &[u8], mut found: impl FnMut(usize)) {
    let mut next = 0;
    // The windows that begin in a block end three bytes behind it.
    for block in text.windows(BLOCK + 3).step_by(BLOCK) {
        let missing: [u64; BLOCK] = std::array::from_fn(|offset| missing(misses, block, offset));
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
    let mut tail = [b'\n'; BLOCK * 2 + 3];
    let left = text.get(next..).unwrap_or_default();
    for (slot, &byte) in tail.iter_mut().zip(left) {
        *slot = byte;
    }
    let hits = (0..left.len()).filter(|&offset| missing(misses, &tail, offset) != u64::MAX);
    hits.for_each(|offset| found(next + offset));
}

/// The buckets that do not take the four bytes at `offset`.
#[inline]
#[expect(clippy::indexing_slicing, reason = "every byte has an entry")]
fn missing(misses: &Misses, bytes: &[u8], offset: usize) -> u64 {
    let Some(&[a, b, c, d]) = bytes.get(offset..).and_then(<[u8]>::first_chunk) else { return 0 };
    let [first, second, third, fourth] = misses;
    first[a as usize] | second[b as usize] | third[c as usize] | fourth[d as usize]
}
