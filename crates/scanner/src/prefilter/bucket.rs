//! Which grams are looked for together.
//!
//! The first step of the prefilter asks sixty-four questions at every place of the text, one a bucket: is each of the next four
//! bytes one that some gram of the bucket has there? So a bucket takes more than its grams do, and grams share
//! a bucket well when they are alike.

#[cfg(test)]
pub(super) mod improve;

use std::collections::HashMap;

use super::byte_set::ByteSet;
use super::frequency::Frequency;
use super::gram::WIDTH;

/// How many buckets there are.
pub(crate) const BUCKETS: usize = 64;

/// What it costs to compare one gram at a place, beside what it costs to look at the place at all.
const COMPARISON: f64 = 0.03;

/// The neighbouring sets of bytes that a bucket takes.
pub(crate) type Core = [ByteSet; WIDTH];

/// The buckets that grams with some cores are in already.
pub(crate) type Homes = HashMap<Core, usize>;

/// A bucket while it is being filled.
#[derive(Debug, Clone, Default)]
pub(super) struct Bucket {
    /// The grams in it, by their number.
    pub(super) grams: Vec<usize>,
    /// What it takes.
    pub(super) core: Core,
    /// What that is expected to cost, per byte of text.
    cost: f64,
}

/// Puts the grams with these cores into at most [`BUCKETS`] buckets: those that have a home there, the others where they
/// cost least, the common ones first.
pub(super) fn fill(cores: &[Core], homes: &Homes, frequency: Frequency) -> Vec<Bucket> {
    let mut buckets = Vec::new();
    let mut homeless = Vec::new();
    for (gram, core) in cores.iter().enumerate() {
        match homes.get(core) {
            Some(&home) => {
                buckets.resize(buckets.len().max(home + 1), Bucket::default());
                if let Some(bucket) = buckets.get_mut(home) {
                    bucket.take(gram, core);
                }
            }
            None => homeless.push((frequency(core), gram, core)),
        }
    }
    // Remembered homes of grams that no pattern has any more leave buckets empty.
    buckets.retain(|bucket| !bucket.grams.is_empty());
    buckets.iter_mut().for_each(|bucket| bucket.reckon(frequency));
    // What a common gram is put beside is asked about often, so it chooses while buckets still are narrow.
    homeless.sort_by(|(one, ..), (other, ..)| other.total_cmp(one));
    homeless.into_iter().for_each(|(_, gram, core)| put(&mut buckets, gram, core, frequency));
    buckets
}

/// Puts a gram where it costs least.
fn put(buckets: &mut Vec<Bucket>, gram: usize, core: &Core, frequency: Frequency) {
    let more = buckets.iter().map(|bucket| bucket.cost_with(core, frequency) - bucket.cost);
    let best = more.enumerate().min_by(|(_, one), (_, other)| one.total_cmp(other));
    let alone = Bucket::default().cost_with(core, frequency);
    let home = match best {
        Some((home, more)) if buckets.len() == BUCKETS || more < alone => home,
        _ => {
            buckets.push(Bucket::default());
            buckets.len() - 1
        }
    };
    if let Some(bucket) = buckets.get_mut(home) {
        bucket.take(gram, core);
        bucket.reckon(frequency);
    }
}

impl Bucket {
    fn take(&mut self, gram: usize, core: &Core) {
        self.grams.push(gram);
        self.core = union(&self.core, core);
    }

    /// Reckons what it costs.
    fn reckon(&mut self, frequency: Frequency) {
        self.cost = cost(&self.core, self.grams.len(), frequency);
    }

    /// What it would cost with one more gram.
    fn cost_with(&self, core: &Core, frequency: Frequency) -> f64 {
        cost(&union(&self.core, core), self.grams.len() + 1, frequency)
    }
}

/// What it costs to look for so many grams together.
#[expect(clippy::cast_precision_loss, reason = "a few hundred grams")]
fn cost(core: &Core, grams: usize, frequency: Frequency) -> f64 {
    frequency(core) * (1.0 + COMPARISON * grams as f64)
}

pub(super) fn union(one: &Core, other: &Core) -> Core {
    std::array::from_fn(|place| {
        one.get(place).copied().unwrap_or_default() | other.get(place).copied().unwrap_or_default()
    })
}
