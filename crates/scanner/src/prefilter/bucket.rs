//! Which windows are looked for together.
//!
//! The first step of the prefilter asks sixty-four questions at every place of the text, one a bucket: is each of the next four
//! bytes one that some window of the bucket has there? So a bucket takes more than its windows do, and windows share
//! a bucket well when they are alike.

#[cfg(test)]
pub(super) mod improve;

use std::collections::HashMap;

use super::byte_set::ByteSet;
use super::frequency::Frequency;
use super::gram::WIDTH;

/// How many buckets there are.
pub(crate) const BUCKETS: usize = 64;

/// What it costs to compare one window at a place, beside what it costs to look at the place at all.
const COMPARISON: f64 = 0.03;

/// The neighbouring sets of bytes that a bucket takes.
pub(crate) type Core = [ByteSet; WIDTH];

/// The buckets that windows with some cores are in already.
pub(crate) type Homes = HashMap<Core, usize>;

/// A bucket while it is being filled.
#[derive(Debug, Clone, Default)]
pub(super) struct Bucket {
    /// The windows in it, by their number.
    pub(super) windows: Vec<usize>,
    /// What it takes.
    pub(super) core: Core,
    /// What that is expected to cost, per byte of text.
    cost: f64,
}

/// Puts the windows with these cores into at most [`BUCKETS`] buckets: those that have a home there, the others where they
/// cost least, the common ones first.
pub(super) fn fill(cores: &[Core], homes: &Homes, frequency: Frequency) -> Vec<Bucket> {
    let mut buckets = Vec::new();
    let mut homeless = Vec::new();
    for (window, core) in cores.iter().enumerate() {
        match homes.get(core) {
            Some(&home) => {
                buckets.resize(buckets.len().max(home + 1), Bucket::default());
                if let Some(bucket) = buckets.get_mut(home) {
                    bucket.take(window, core);
                }
            }
            None => homeless.push((frequency(core), window, core)),
        }
    }
    buckets.retain(|bucket| !bucket.windows.is_empty());
    buckets.iter_mut().for_each(|bucket| bucket.reckon(frequency));
    homeless.sort_by(|(one, ..), (other, ..)| other.total_cmp(one));
    homeless.into_iter().for_each(|(_, window, core)| put(&mut buckets, window, core, frequency));
    buckets
}

/// Puts a window where it costs least.
fn put(buckets: &mut Vec<Bucket>, window: usize, core: &Core, frequency: Frequency) {
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
        bucket.take(window, core);
        bucket.reckon(frequency);
    }
}

impl Bucket {
    fn take(&mut self, window: usize, core: &Core) {
        self.windows.push(window);
        self.core = union(&self.core, core);
    }

    /// Reckons what it costs.
    fn reckon(&mut self, frequency: Frequency) {
        self.cost = cost(&self.core, self.windows.len(), frequency);
    }

    /// What it would cost with one more window.
    fn cost_with(&self, core: &Core, frequency: Frequency) -> f64 {
        cost(&union(&self.core, core), self.windows.len() + 1, frequency)
    }
}

/// What it costs to look for so many windows together.
#[expect(clippy::cast_precision_loss, reason = "a few hundred windows")]
fn cost(core: &Core, windows: usize, frequency: Frequency) -> f64 {
    frequency(core) * (1.0 + COMPARISON * windows as f64)
}

pub(super) fn union(one: &Core, other: &Core) -> Core {
    std::array::from_fn(|place| {
        one.get(place).copied().unwrap_or_default() | other.get(place).copied().unwrap_or_default()
    })
}
