//! Sorts grams into buckets.
//!
//! The first step of the prefilter asks sixty-four questions at every position, one per bucket: is each of the next
//! four bytes one that some gram of the bucket accepts there? So a bucket accepts more than its grams do, and grams
//! share a bucket well when they are similar.

#[cfg(test)]
pub(super) mod improve;

use std::collections::HashMap;

use super::byte_set::ByteSet;
use super::frequency::Frequency;
use super::gram::WIDTH;

/// Number of buckets.
pub(crate) const BUCKETS: usize = 64;

/// Cost of comparing one gram at a position, relative to visiting the position at all.
const COMPARISON: f64 = 0.03;

/// The byte sets that a bucket accepts.
pub(crate) type Core = [ByteSet; WIDTH];

/// Known buckets of grams with some cores.
pub(crate) type Homes = HashMap<Core, usize>;

/// A bucket while it is being filled.
#[derive(Debug, Clone, Default)]
pub(super) struct Bucket {
    /// Its grams, by number.
    pub(super) grams: Vec<usize>,
    /// The bytes that it accepts.
    pub(super) core: Core,
    /// Its expected cost per byte of text.
    cost: f64,
}

/// Sorts the grams with these cores into at most [`BUCKETS`] buckets: those with a known bucket there, the others
/// where they cost least, common ones first.
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
    // Known buckets of grams that no longer exist may be empty.
    buckets.retain(|bucket| !bucket.grams.is_empty());
    buckets.iter_mut().for_each(|bucket| bucket.reckon(frequency));
    // A bucket with a common gram is visited often, so place the common ones while buckets are still narrow.
    homeless.sort_by(|(one, ..), (other, ..)| other.total_cmp(one));
    homeless.into_iter().for_each(|(_, gram, core)| put(&mut buckets, gram, core, frequency));
    buckets
}

/// Puts a gram where it costs least.
fn put(buckets: &mut Vec<Bucket>, gram: usize, core: &Core, frequency: Frequency) {
    let more = buckets.iter().map(|bucket| bucket.cost_with(core, frequency) - bucket.cost);
    let best = more.enumerate().min_by(|(_, one), (_, other)| one.total_cmp(other));
    // Share a bucket only if that costs less than a new one, unless all buckets are in use.
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

    /// Recomputes its cost.
    fn reckon(&mut self, frequency: Frequency) {
        self.cost = cost(&self.core, self.grams.len(), frequency);
    }

    /// Returns its cost with one more gram.
    fn cost_with(&self, core: &Core, frequency: Frequency) -> f64 {
        cost(&union(&self.core, core), self.grams.len() + 1, frequency)
    }
}

/// Returns the expected cost of a bucket.
#[expect(clippy::cast_precision_loss, reason = "a few hundred grams")]
fn cost(core: &Core, grams: usize, frequency: Frequency) -> f64 {
    // Every accepted position costs a visit, and a comparison with each gram of the bucket.
    frequency(core) * (1.0 + COMPARISON * grams as f64)
}

pub(super) fn union(one: &Core, other: &Core) -> Core {
    std::array::from_fn(|place| {
        one.get(place).copied().unwrap_or_default() | other.get(place).copied().unwrap_or_default()
    })
}
