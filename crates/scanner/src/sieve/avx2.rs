//! The first step of the sieve, thirty-two places at once.
//!
//! A table lookup in a vector register knows sixteen entries, so a byte is looked up by its two halves: a bucket takes
//! a byte if it takes some byte with that high half and some byte with that low half. That is a little too generous,
//! which is as well: whoever uses the places checks them exactly.

use std::arch::is_x86_feature_detected;
use std::arch::x86_64::{
    __m256i, _mm_set_epi64x, _mm256_and_si256, _mm256_broadcastsi128_si256, _mm256_cmpeq_epi8,
    _mm256_movemask_epi8, _mm256_or_si256, _mm256_set_epi64x, _mm256_set1_epi8, _mm256_setzero_si256,
    _mm256_shuffle_epi8, _mm256_srli_epi16,
};

use super::bucket::BUCKETS;
use super::tables::Misses;
use super::window::WIDTH;

/// How many places are looked at in one go.
const LANES: usize = 32;

/// The buckets are dealt with in groups of eight, one for each bit of a byte.
const GROUPS: usize = BUCKETS / 8;

/// For each place of a window and each group, which buckets take a byte, by its low and by its high half.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Halves(pub(crate) [[[[u8; 16]; 2]; GROUPS]; WIDTH]);

impl Halves {
    /// Splits the table of the buckets that do not take a byte.
    #[expect(clippy::indexing_slicing, reason = "half a byte is below sixteen")]
    pub(super) fn new(misses: &Misses) -> Self {
        let mut halves = Self([[[[0; 16]; 2]; GROUPS]; WIDTH]);
        for (groups, misses) in halves.0.iter_mut().zip(misses) {
            for (byte, &missing) in (0_usize..).zip(misses) {
                for ([low, high], taking) in groups.iter_mut().zip((!missing).to_le_bytes()) {
                    low[byte & 15] |= taking;
                    high[byte >> 4] |= taking;
                }
            }
        }
        halves
    }
}

/// Hands at least every place to `found` where some bucket takes the next four bytes, and returns the first place that
/// it did not look at: one near the end of the text, or the very first if the processor has no such vectors.
pub(super) fn places(halves: &Halves, text: &[u8], found: impl FnMut(usize)) -> usize {
    if !is_x86_feature_detected!("avx2") {
        return 0;
    }
    // SAFETY: all that the function asks for is a processor with AVX2, and this one was just found to have it.
    #[expect(unsafe_code, reason = "the compiler cannot know the processor")]
    unsafe {
        places_by_vector(halves, text, found)
    }
}

#[target_feature(enable = "avx2")]
fn places_by_vector(halves: &Halves, text: &[u8], mut found: impl FnMut(usize)) -> usize {
    let tables = halves.0.map(|groups| groups.map(|pair| pair.map(|half| broadcast(half))));
    let mut at = 0;
    while let Some(block) = text.get(at..).and_then(|rest| rest.first_chunk::<{ LANES + WIDTH - 1 }>()) {
        let mut hits = taken(&tables, block);
        while hits != 0 {
            found(at + hits.trailing_zeros() as usize);
            hits &= hits - 1;
        }
        at += LANES;
    }
    at
}

/// One half of a byte's table, in both halves of a register.
#[inline]
#[target_feature(enable = "avx2")]
fn broadcast(half: [u8; 16]) -> __m256i {
    let both = u128::from_le_bytes(half).cast_signed();
    #[expect(clippy::cast_possible_truncation, reason = "the two halves of it")]
    let (low, high) = (both as i64, (both >> 64) as i64);
    _mm256_broadcastsi128_si256(_mm_set_epi64x(high, low))
}

/// Reads thirty-two bytes. Compiles to one instruction.
#[inline]
#[target_feature(enable = "avx2")]
fn load(bytes: &[u8; LANES]) -> __m256i {
    let (words, _) = bytes.as_chunks::<8>();
    let &[a, b, c, d] = words else { return _mm256_setzero_si256() };
    let [a, b, c, d] = [a, b, c, d].map(i64::from_le_bytes);
    _mm256_set_epi64x(d, c, b, a)
}

/// The places of a block where some bucket takes the next four bytes, as bits.
#[inline]
#[target_feature(enable = "avx2")]
fn taken(tables: &[[[__m256i; 2]; GROUPS]; WIDTH], block: &[u8; LANES + WIDTH - 1]) -> u32 {
    let half = _mm256_set1_epi8(15);
    let mut taking = [_mm256_set1_epi8(-1); GROUPS];
    for (bytes, groups) in block.windows(LANES).zip(tables) {
        let Some(bytes) = bytes.first_chunk() else { return u32::MAX };
        let bytes = load(bytes);
        let low = _mm256_and_si256(bytes, half);
        let high = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), half);
        for (taking, [low_table, high_table]) in taking.iter_mut().zip(groups) {
            let by_low = _mm256_shuffle_epi8(*low_table, low);
            let by_high = _mm256_shuffle_epi8(*high_table, high);
            *taking = _mm256_and_si256(*taking, _mm256_and_si256(by_low, by_high));
        }
    }
    let any = taking.into_iter().fold(_mm256_setzero_si256(), |any, group| _mm256_or_si256(any, group));
    let none = _mm256_cmpeq_epi8(any, _mm256_setzero_si256());
    !_mm256_movemask_epi8(none).cast_unsigned()
}
