//! Puts grams into other buckets, until that helps no more. To find the best buckets takes a minute, so only the maker of
//! the built-in tables does it, and the tables remember which they were.

use super::{Bucket, Core, Homes, fill, put};
use crate::prefilter::frequency::Frequency;

/// How often some grams are taken out and put where they cost least then. Enough for a pattern or two; where many are new,
/// ten times as many attempts, made once and remembered, have spared half of all places to look at.
const ATTEMPTS: usize = 40;

/// Of so many grams, one is taken out.
const ONE_IN: usize = 4;

/// How often each of those is put elsewhere, once all have a place.
const ROUNDS: usize = 3;

/// Returns better homes for grams with these cores.
pub(in crate::prefilter) fn improve(cores: &[Core], homes: &Homes, frequency: Frequency) -> Homes {
    let mut best = fill(cores, homes, frequency);
    let mut order: Vec<usize> = (0..cores.len()).collect();
    let mut dice = Dice(1);
    for _ in 0..ATTEMPTS {
        dice.shuffle(&mut order);
        let some = &order[..cores.len() / ONE_IN];
        let mut buckets = best.clone();
        some.iter().for_each(|&gram| take_out(&mut buckets, gram, cores, frequency));
        for (round, &gram) in (0..ROUNDS).flat_map(|round| some.iter().map(move |gram| (round, gram))) {
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

/// Takes a gram out of its bucket.
fn take_out(buckets: &mut Vec<Bucket>, gram: usize, cores: &[Core], frequency: Frequency) {
    let Some(bucket) = buckets.iter_mut().find(|bucket| bucket.grams.contains(&gram)) else { return };
    let mut left = Bucket::default();
    let grams = bucket.grams.iter().filter(|&&other| other != gram);
    grams.for_each(|&other| left.take(other, &cores[other]));
    left.reckon(frequency);
    *bucket = left;
    buckets.retain(|bucket| !bucket.grams.is_empty());
}

/// Xorshift: the same throws each time.
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
