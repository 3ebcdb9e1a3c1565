//! Tables of the prefilter: grams, sorted into buckets and packed.
//!
//! `build.rs` makes those of the built-in rules, as constants. A scanner with custom rules makes its tables by the same code, when a
//! text first contains a literal that such a rule requires.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Not;

use super::bucket::{self, BUCKETS, Core, Homes, union};
use super::byte_set::ByteSet;
use super::extent::MatchExtent;
use super::frequency::{Frequency, independent};
use super::gram::{Gram, WIDTH};
use super::input::{PatternId, PrefilterInput};
use super::run::{self, Run};

/// For each position of a gram and each byte, the buckets that do not accept it there, one bit each.
pub(crate) type Misses = [[u64; 256]; WIDTH];

/// Everything that the prefilter searches for on behalf of one list of patterns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tables {
    /// The certain bits of each gram.
    pub(crate) sketches: Cow<'static, [GramKey]>,
    /// The grams, bucket by bucket.
    pub(crate) grams: Cow<'static, [PackedGram]>,
    /// End of each bucket in `grams`.
    pub(crate) bucket_ends: [u32; BUCKETS],
    /// The byte sets of each gram, as numbers in `sets`.
    pub(crate) fragments: Cow<'static, [u16]>,
    /// The distinct sets.
    pub(crate) sets: Cow<'static, [ByteSet]>,
    /// The runs, with their patterns.
    pub(crate) runs: Cow<'static, [(PatternId, Run)]>,
    /// A run that is present wherever one of them is.
    pub(crate) any_run: Option<Run>,
    /// Patterns that must be expected everywhere.
    pub(crate) always: Cow<'static, [PatternId]>,
    /// Extent of the matches of each pattern around its hits.
    pub(crate) extents: Cow<'static, [Option<MatchExtent>]>,
}

/// The certain bits of eight bytes, as one word: the bits that are equal in every byte that may occur there. One
/// comparison rejects nearly everything that a bucket accepts and a gram does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GramKey {
    pub(crate) bits: u64,
    pub(crate) certain: u64,
}

impl GramKey {
    /// Number of bytes that it covers: those of the core, and the first few behind it.
    pub(super) const WIDTH: usize = 8;

    /// Returns the sketch of consecutive sets. Where there is no set, nothing is certain.
    fn of<'s>(sets: impl Iterator<Item = &'s ByteSet>) -> Self {
        let mut sketch = Self { bits: 0, certain: 0 };
        for (set, place) in sets.zip((0..Self::WIDTH).map(|place| 8 * place)) {
            // A bit is certain if AND and OR over all bytes of the set agree on it.
            let (all, any) = set.bytes().fold((u8::MAX, 0), |(all, any), byte| (all & byte, any | byte));
            sketch.bits |= u64::from(all) << place;
            sketch.certain |= u64::from(!(all ^ any)) << place;
        }
        sketch
    }

    /// Returns the sets that it does not decide, one bit each: other bytes have the same certain bits too.
    fn unsure<'s>(self, sets: impl Iterator<Item = &'s ByteSet>) -> u8 {
        // With n uncertain bits, 2^n bytes pass the comparison: exactly the set, if it has that many.
        let alike = self.certain.to_le_bytes().map(|certain| 1 << certain.count_zeros());
        sets.zip(alike).zip(0..).map(|((set, alike), place)| u8::from(set.len() != alike) << place).sum()
    }

    /// Whether these eight bytes may match.
    #[inline]
    pub(super) const fn fits(self, bytes: u64) -> bool {
        (bytes ^ self.bits) & self.certain == 0
    }
}

/// A gram in packed form: with its byte sets as numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PackedGram {
    pub(crate) id: PatternId,
    /// Start of its sets in `fragments`: those of the core, then those before it, nearest first, then those after.
    pub(crate) fragment: u32,
    pub(crate) before: u8,
    pub(crate) after: u8,
    /// Position in the core from which the extent counts.
    pub(crate) node: u8,
    /// The bytes that the sketch covers and does not decide, one bit each.
    pub(crate) unsure: u8,
}

impl Tables {
    /// Returns the tables with an extended or reduced input, as `add` changes it. Existing grams stay in their
    /// buckets.
    pub(super) fn with(&self, add: impl FnOnce(&mut PrefilterInput)) -> Self {
        let mut input = self.unpack();
        add(&mut input);
        Self::pack(input, &self.homes(), independent)
    }

    /// Returns the buckets of the grams.
    pub(super) fn homes(&self) -> Homes {
        let home = |gram| self.bucket_ends.partition_point(|&end| end <= gram);
        let cores = self.grams.iter().map(|packed| self.unpack_gram(packed).core);
        cores.zip(0..).map(|(core, gram)| (core, home(gram))).collect()
    }

    /// Returns which buckets do not accept which bytes.
    pub(super) fn misses(&self) -> Misses {
        let mut cores = [Core::default(); BUCKETS];
        for (core, bucket) in self.homes() {
            if let Some(cores) = cores.get_mut(bucket) {
                *cores = union(cores, &core);
            }
        }
        // Inverted, so that OR combines the four positions and a bucket that accepts all of them is a zero bit.
        let mut misses = [[u64::MAX; 256]; WIDTH];
        for (core, bucket) in cores.iter().zip(0..) {
            for (set, misses) in core.iter().zip(&mut misses) {
                for (byte, misses) in (0..=u8::MAX).zip(misses) {
                    *misses &= !(u64::from(set.contains(byte)) << bucket);
                }
            }
        }
        misses
    }

    /// Returns the bytes that runs consist of.
    pub(super) fn run_bytes(&self) -> ByteSet {
        self.any_run.map(|run| run.bytes).unwrap_or_default()
    }

    /// Packs the input.
    pub(super) fn pack(input: PrefilterInput, homes: &Homes, frequency: Frequency) -> Self {
        let buckets = bucket::fill(&input.cores(), homes, frequency);
        let any_run = run::any_of(&input.runs);
        let mut packer = Packer::default();
        let mut bucket_ends = [0; BUCKETS];
        for (index, end) in bucket_ends.iter_mut().enumerate() {
            if let Some(bucket) = buckets.get(index) {
                let grams = bucket.grams.iter().filter_map(|&gram| input.grams.get(gram));
                grams.for_each(|(id, gram)| packer.add(*id, gram));
            }
            *end = fit(packer.grams.len());
        }
        Self {
            sketches: packer.sketches.into(),
            grams: packer.grams.into(),
            bucket_ends,
            fragments: packer.fragments.into(),
            sets: packer.sets.into(),
            runs: input.runs.into(),
            any_run,
            always: input.always.into(),
            extents: input.extents.into(),
        }
    }

    /// Returns the input that was packed.
    pub(super) fn unpack(&self) -> PrefilterInput {
        PrefilterInput {
            grams: self.grams.iter().map(|packed| (packed.id, self.unpack_gram(packed))).collect(),
            runs: self.runs.to_vec(),
            always: self.always.to_vec(),
            extents: self.extents.to_vec(),
        }
    }

    fn unpack_gram(&self, packed: &PackedGram) -> Gram {
        let numbers = self.fragments.get(packed.fragment as usize..).unwrap_or_default();
        // A missing set counts as found: see `fit`.
        let set = |&number: &u16| self.sets.get(usize::from(number)).copied().unwrap_or(ByteSet::ANY);
        let mut sets = numbers.iter().map(set);
        let core = std::array::from_fn(|_| sets.next().unwrap_or(ByteSet::ANY));
        let before = sets.by_ref().take(packed.before.into()).collect();
        let after = sets.by_ref().take(packed.after.into()).collect();
        Gram { core, before, after, node: packed.node.into() }
    }
}

/// Collects the grams of [`Tables`].
#[derive(Debug, Default)]
struct Packer {
    sketches: Vec<GramKey>,
    grams: Vec<PackedGram>,
    fragments: Vec<u16>,
    sets: Vec<ByteSet>,
    /// The number of each set.
    numbers: HashMap<ByteSet, u16>,
}

impl Packer {
    fn add(&mut self, id: PatternId, gram: &Gram) {
        let fragment = fit(self.fragments.len());
        for &set in gram.core.iter().chain(&gram.before).chain(&gram.after) {
            let set = self.numbered(set);
            self.fragments.push(set);
        }
        let (before, after, node) = (fit(gram.before.len()), fit(gram.after.len()), fit(gram.node));
        let sets = gram.core.iter().chain(&gram.after);
        let sketch = GramKey::of(sets.clone());
        self.sketches.push(sketch);
        let unsure = sketch.unsure(sets);
        self.grams.push(PackedGram { id, fragment, before, after, node, unsure });
    }

    /// Returns the number of a set among the distinct ones.
    fn numbered(&mut self, set: ByteSet) -> u16 {
        *self.numbers.entry(set).or_insert_with(|| {
            self.sets.push(set);
            fit(self.sets.len() - 1)
        })
    }
}

/// Narrows a number to the size of its field. One that does not fit becomes the largest, which refers to nothing; and
/// a missing entry counts as found, so that no match is lost even then.
fn fit<T: TryFrom<usize> + From<u8> + Not<Output = T>>(number: usize) -> T {
    T::try_from(number).unwrap_or_else(|_| !T::from(0))
}
