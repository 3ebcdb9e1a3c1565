//! Puts windows into other buckets, until that helps no more. To find the best buckets takes a minute, so only the maker of
//! the built-in tables does it, and the tables remember which they were.

use super::{Bucket, Core, Homes, fill, put};
use crate::prefilter::frequency::Frequency;

/// How often some windows are taken out and put where they cost least then. Enough for a pattern or two; where many are new,
/// ten times as many attempts, made once and remembered, have spared half of all places to look at.
const ATTEMPTS: usize = 40;

/// Of so many windows, one is taken out.
const ONE_IN: usize = 4;

/// How often each of those is put elsewhere, once all have a place.
const ROUNDS: usize = 3;

/// Returns better homes for windows with these cores.
pub(in crate::prefilter) fn improve(cores: &[Core], homes: &Homes, frequency: Frequency) -> Homes {
    let mut best = fill(cores, homes, frequency);
    let mut order: Vec<usize> = (0..cores.len()).collect();
    let mut dice = Dice(1);
    for _ in 0..ATTEMPTS {
        dice.shuffle(&mut order);
        let some = &order[..cores.len() / ONE_IN];
        let mut buckets = best.clone();
        some.iter().for_each(|&window| take_out(&mut buckets, window, cores, frequency));
        for (round, &window) in (0..ROUNDS).flat_map(|round| some.iter().map(move |window| (round, window))) {
            if round > 0 {
                take_out(&mut buckets, window, cores, frequency);
            }
            put(&mut buckets, window, &cores[window], frequency);
        }
        if total(&buckets) < total(&best) {
            best = buckets;
        }
    }
    let homes = best.iter().enumerate();
    homes.flat_map(|(home, bucket)| bucket.windows.iter().map(move |&window| (cores[window], home))).collect()
}

fn total(buckets: &[Bucket]) -> f64 {
    buckets.iter().map(|bucket| bucket.cost).sum()
}

/// Takes a window out of its bucket.
fn take_out(buckets: &mut Vec<Bucket>, window: usize, cores: &[Core], frequency: Frequency) {
    let Some(bucket) = buckets.iter_mut().find(|bucket| bucket.windows.contains(&window)) else { return };
    let mut left = Bucket::default();
    let windows = bucket.windows.iter().filter(|&&other| other != window);
    windows.for_each(|&other| left.take(other, &cores[other]));
    left.reckon(frequency);
    *bucket = left;
    buckets.retain(|bucket| !bucket.windows.is_empty());
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
