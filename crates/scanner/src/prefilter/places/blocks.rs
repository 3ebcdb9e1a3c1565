//! The first step for sixty-four positions at once, where the processor can look up that many bytes in a table
//! (AVX-512 VBMI: Ice Lake, Zen 4 and later).

use fearless_simd::prelude::*;
use fearless_simd::{Avx512, Level, u8x64};

use super::Finder;
use crate::prefilter::bucket::BUCKETS;
use crate::prefilter::byte_set::{ByteSet, ones};
use crate::prefilter::gram::WIDTH;
use crate::prefilter::run::LANE;
use crate::prefilter::tables::Misses;

/// Number of positions processed together.
const BLOCK: usize = 64;

/// Number of buckets processed together: one per bit of a byte.
const GROUP: usize = 8;

/// Number of blocks that are scanned before their positions are checked: the two kinds of work do not mix well.
const BATCH: usize = 64;

/// [`Misses`], split into tables that fit into vectors, first by the group of buckets.
#[derive(Debug, PartialEq, Eq)]
#[repr(align(64))]
pub(super) struct Blocks {
    /// The buckets of a group that do not accept a byte, one bit each.
    misses: [[Table; WIDTH]; BUCKETS / GROUP],
    /// All bits set for the bytes of runs.
    runs: Table,
}

/// A value for each byte, by its upper two bits and its lower six.
type Table = [[u8; BLOCK]; 4];

/// Results for some blocks.
#[derive(Debug)]
struct Noted {
    /// The positions of each block, one bit each.
    places: [u64; BATCH],
    /// The blocks in which a run may begin, one bit each.
    runs: u64,
}

impl Blocks {
    #[expect(clippy::indexing_slicing, reason = "all are counted through")]
    pub(super) const fn of(misses: &Misses, run_bytes: &ByteSet) -> Self {
        let mut runs = [[0; BLOCK]; 4];
        let mut byte = 0;
        while byte < 256 {
            runs[byte / BLOCK][byte % BLOCK] = if run_bytes.contains(byte as u8) { u8::MAX } else { 0 };
            byte += 1;
        }
        let mut groups = [[[[0; BLOCK]; 4]; WIDTH]; BUCKETS / GROUP];
        let mut group = 0;
        while group < BUCKETS / GROUP {
            let mut entry = 0;
            while entry < WIDTH * 256 {
                let (place, byte) = (entry / 256, entry % 256);
                groups[group][place][byte / BLOCK][byte % BLOCK] =
                    (misses[place][byte] >> (GROUP * group)) as u8;
                entry += 1;
            }
            group += 1;
        }
        Self { misses: groups, runs }
    }

    /// Passes the contents of whole blocks to `found`, and returns how much of the text that was: zero if the
    /// processor lacks the instructions.
    pub(super) fn taken(&self, text: &[u8], found: &mut impl Finder) -> usize {
        // Decided at run time, since one program runs on processors with and without the instructions.
        let Some(simd) = Level::new().as_avx512() else { return 0 };
        let (mut next, mut noted) = (0, Noted { places: [0; BATCH], runs: 0 });
        loop {
            let left = text.get(next..).unwrap_or_default();
            let blocks = simd.vectorize(
                #[inline(always)]
                || self.note(simd, left, &mut noted),
            );
            if blocks == 0 {
                return next;
            }
            for run in ones(noted.runs) {
                let begin = next + BLOCK * usize::from(run);
                // The first whole lane of a run begins at most a lane behind the start of the run.
                found.runs(begin.saturating_sub(LANE - 1)..begin + BLOCK);
            }
            for mut places in noted.places.into_iter().take(blocks) {
                while places != 0 {
                    found.place(next + places.trailing_zeros() as usize);
                    // Clear the lowest set bit.
                    places &= places - 1;
                }
                next += BLOCK;
            }
        }
    }

    /// Scans the next blocks into `noted`, and returns their number.
    #[inline(always)]
    fn note(&self, simd: Avx512, text: &[u8], noted: &mut Noted) -> usize {
        let mut blocks = 0;
        noted.runs = 0;
        // The grams that begin in a block end three bytes behind it.
        for (text, places) in text.windows(BLOCK + WIDTH - 1).step_by(BLOCK).zip(&mut noted.places) {
            let run_bytes;
            (*places, run_bytes) = self.look(simd, text);
            noted.runs |= u64::from(holds_lane(run_bytes)) << blocks;
            blocks += 1;
        }
        blocks
    }

    /// Returns the positions of a block where some bucket accepts the next four bytes, and the bytes that belong to
    /// runs.
    #[inline(always)]
    fn look(&self, simd: Avx512, text: &[u8]) -> (u64, u64) {
        let bytes: [u8x64<Avx512>; WIDTH] = std::array::from_fn(|place| {
            let bytes = text.get(place..).and_then(<[u8]>::first_chunk);
            // The slice always has that many bytes.
            bytes.map_or_else(|| u8x64::splat(simd, 0), |bytes| u8x64::load_array_ref(simd, bytes))
        });
        // Together, the first and the last vector contain every byte. Text that is all ASCII, as most is, needs
        // half of the tables.
        let [first, .., last] = bytes;
        let (missing, in_run) = if (first | last).simd_lt(128).all_true() {
            let look_up = |table: &Table, bytes| in_ascii(simd, table, bytes);
            (self.missing(simd, bytes, look_up), look_up(&self.runs, first))
        } else {
            let look_up = |table: &Table, bytes| in_any(simd, table, bytes);
            (self.missing(simd, bytes, look_up), look_up(&self.runs, first))
        };
        (missing.simd_ne(u8::MAX).to_bitmask(), in_run.simd_ne(0).to_bitmask())
    }

    /// Returns for each position the buckets that do not accept it, combined over the groups by AND: all bits are set
    /// only where no bucket accepts it.
    #[inline(always)]
    fn missing(
        &self,
        simd: Avx512,
        [first, second, third, fourth]: [u8x64<Avx512>; WIDTH],
        look_up: impl Fn(&Table, u8x64<Avx512>) -> u8x64<Avx512>,
    ) -> u8x64<Avx512> {
        // A bucket misses a position if one of its four bytes misses (OR); the position is out if all groups
        // miss (AND).
        let mut by_all = u8x64::splat(simd, u8::MAX);
        for [one, two, three, four] in &self.misses {
            let missing =
                look_up(one, first) | look_up(two, second) | look_up(three, third) | look_up(four, fourth);
            by_all &= missing;
        }
        by_all
    }
}

/// Whether some lane of a block consists of such bytes.
#[inline]
const fn holds_lane(bytes: u64) -> bool {
    let mut all = bytes;
    let mut length = 1;
    while length < LANE {
        // After each step, a set bit marks the start of twice as many bytes of the set.
        all &= all >> length;
        length *= 2;
    }
    // The constant has a bit at the start of each lane.
    all & (u64::MAX / ((1 << LANE) - 1)) != 0
}

/// Looks up sixty-four ASCII bytes.
#[inline(always)]
fn in_ascii(simd: Avx512, [first, second, ..]: &Table, bytes: u8x64<Avx512>) -> u8x64<Avx512> {
    in_half(simd, first, second, bytes)
}

/// Looks up any sixty-four bytes.
#[inline(always)]
fn in_any(simd: Avx512, [first, second, third, fourth]: &Table, bytes: u8x64<Avx512>) -> u8x64<Avx512> {
    let (low, high) = (in_half(simd, first, second, bytes), in_half(simd, third, fourth, bytes));
    bytes.simd_lt(128).select(low, high)
}

/// Looks up sixty-four bytes by their lower seven bits.
#[inline(always)]
fn in_half(simd: Avx512, low: &[u8; BLOCK], high: &[u8; BLOCK], bytes: u8x64<Avx512>) -> u8x64<Avx512> {
    u8x64::load_array_ref(simd, low).concat_swizzle_dyn(u8x64::load_array_ref(simd, high), bytes)
}
