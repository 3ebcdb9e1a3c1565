//! Improves the assignment of grams to buckets by local search. Finding a good assignment takes a minute, so only the
//! generator of the built-in tables does it, and the tables remember it.

use super::{Bucket, Core, Homes, fill, put};
use crate::prefilter::frequency::Frequency;

/// How often some grams are removed and placed where they then cost least. Enough for a pattern or two; where many
/// are new, ten times as many attempts, made once and remembered, have saved half of all visited positions.
const ATTEMPTS: usize = 40;

/// One gram of this many is removed.
const ONE_IN: usize = 4;

/// How often each removed gram is placed again, once all have a bucket.
const ROUNDS: usize = 3;

/// Returns better buckets for grams with these cores.
pub(in crate::prefilter) fn improve(cores: &[Core], homes: &Homes, frequency: Frequency) -> Homes {
    let mut best = fill(cores, homes, frequency);
    let mut order: Vec<usize> = (0..cores.len()).collect();
    let mut dice = Dice(1);
    for _ in 0..ATTEMPTS {
        // Large neighbourhood search: remove a random part of the grams, then insert them again greedily.
        dice.shuffle(&mut order);
        let some = &order[..cores.len() / ONE_IN];
        let mut buckets = best.clone();
        some.iter().for_each(|&gram| take_out(&mut buckets, gram, cores, frequency));
        for (round, &gram) in (0..ROUNDS).flat_map(|round| some.iter().map(move |gram| (round, gram))) {
            // In the first round all are removed already; later rounds move each one again, given the places of
            // the others.
            if round > 0 {
                take_out(&mut buckets, gram, cores, frequency);
            }
            put(&mut buckets, gram, &cores[gram], frequency);
        }
        if total(&buckets) < total(&best) {
            best = buckets;
        }
    }
    let homes = best.iter().enumerate();
    homes.flat_map(|(home, bucket)| bucket.grams.iter().map(move |&gram| (cores[gram], home))).collect()
}

fn total(buckets: &[Bucket]) -> f64 {
    buckets.iter().map(|bucket| bucket.cost).sum()
}

/// Removes a gram from its bucket.
fn take_out(buckets: &mut Vec<Bucket>, gram: usize, cores: &[Core], frequency: Frequency) {
    let Some(bucket) = buckets.iter_mut().find(|bucket| bucket.grams.contains(&gram)) else { return };
    let mut left = Bucket::default();
    let grams = bucket.grams.iter().filter(|&&other| other != gram);
    grams.for_each(|&other| left.take(other, &cores[other]));
    left.reckon(frequency);
    *bucket = left;
    buckets.retain(|bucket| !bucket.grams.is_empty());
}

/// Xorshift with a fixed seed: reproducible random numbers.
struct Dice(u64);

impl Dice {
    fn throw(&mut self) -> u64 {
        for shifted in [|x: u64| x << 13, |x| x >> 7, |x| x << 17] {
            self.0 ^= shifted(self.0);
        }
        self.0
    }

    fn shuffle(&mut self, items: &mut [usize]) {
        for last in (1..items.len()).rev() {
            let with = self.throw() % (last as u64 + 1);
            items.swap(last, usize::try_from(with).unwrap());
        }
    }
}
