//! Benches: the CPU time of a thread, and medians of rounds in which all cases take turns.
//!
//! Turns, since a busy moment of the machine then affects every case alike.

use std::cmp::Ordering;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Rounds of [`table`].
const ROUNDS: usize = 31;

/// How long a round of [`table`] repeats its work.
const ROUND: Duration = Duration::from_millis(2);

/// Work that is measured, perhaps as one of several items at once.
pub type Work<'w> = Box<dyn FnMut() + 'w>;

/// Returns the time that this thread was computing. Other programs on the machine do not count.
pub fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default())
}

/// Returns how long some work takes.
pub fn cpu_time_of(work: impl FnOnce()) -> Duration {
    let start = cpu_time();
    work();
    cpu_time().saturating_sub(start)
}

/// Returns the value in the middle, and zero of none.
pub fn median<T: Copy + Default + Ord>(values: impl IntoIterator<Item = T>) -> T {
    middle(values, T::cmp)
}

/// Returns the number in the middle, and zero of none.
pub fn median_of_floats(values: impl IntoIterator<Item = f64>) -> f64 {
    middle(values, f64::total_cmp)
}

fn middle<T: Copy + Default>(values: impl IntoIterator<Item = T>, compare: fn(&T, &T) -> Ordering) -> T {
    let mut values: Vec<T> = values.into_iter().collect();
    values.sort_by(compare);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// Runs all cases in turn, round after round, and returns the median time of each.
pub fn medians<N>(rounds: usize, cases: &mut [(N, Work<'_>)]) -> Vec<Duration> {
    let mut times = vec![Vec::new(); cases.len()];
    for _ in 0..rounds {
        for ((_, work), times) in cases.iter_mut().zip(&mut times) {
            times.push(cpu_time_of(work));
        }
    }
    times.into_iter().map(median).collect()
}

/// Returns how often a round repeats the work to take some two milliseconds.
pub fn repeats(work: &mut Work<'_>) -> u32 {
    let once = cpu_time_of(work).max(Duration::from_nanos(10));
    u32::try_from(ROUND.as_nanos() / once.as_nanos()).unwrap_or(u32::MAX).clamp(1, 100_000)
}

/// Lets the engines of a group take turns, and prints the median time of one item and the median ratio to the first engine. An
/// engine is a name, the number of its items, and the work for all of them.
pub fn table(title: &str, engines: &mut [(&str, u32, Work<'_>)]) {
    let repeats: Vec<u32> = engines.iter_mut().map(|(_, _, work)| repeats(work)).collect();
    let mut rounds: Vec<Vec<f64>> = vec![Vec::new(); engines.len()];
    for _ in 0..ROUNDS {
        for (((_, items, work), repeats), round) in engines.iter_mut().zip(&repeats).zip(&mut rounds) {
            let took = cpu_time_of(|| (0..*repeats).for_each(|_| work()));
            round.push(took.as_secs_f64() * 1e9 / f64::from(*repeats) / f64::from(*items));
        }
    }
    println!("\n{title}\n{:>12}  {:>7}", "ns", "ratio");
    let first = rounds.first().cloned().unwrap_or_default();
    for ((name, ..), round) in engines.iter().zip(&rounds) {
        let ratio = median_of_floats(round.iter().zip(&first).map(|(this, first)| first / this));
        println!("{:>12.1}  {ratio:>7.2}  {name}", median_of_floats(round.iter().copied()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median([3, 1, 2]), 2);
        assert_eq!(median_of_floats([0.5, f64::NAN, 0.25]), 0.5);
        assert_eq!(median(Vec::<u8>::new()), 0);
    }

    #[test]
    fn every_case_runs_once_a_round_and_its_time_is_counted() {
        let mut counts = [0, 0];
        let [first, second] = &mut counts;
        let spin = || (0..200_000_u32).map(std::hint::black_box).for_each(drop);
        let mut cases: [(&str, Work<'_>); 2] = [
            (
                "slow",
                Box::new(|| {
                    *first += 1;
                    spin();
                }),
            ),
            ("quick", Box::new(|| *second += 1)),
        ];
        let times = medians(3, &mut cases);
        drop(cases);
        assert_eq!(counts, [3, 3]);
        assert!(times[0] > times[1], "{times:?}");
    }

    #[test]
    fn quick_work_is_repeated_and_slow_work_is_not() {
        let mut nothing: Work<'_> = Box::new(|| {});
        assert!(repeats(&mut nothing) > 100);
        let mut slow: Work<'_> = Box::new(|| {
            let start = cpu_time();
            while cpu_time().saturating_sub(start) < ROUND {}
        });
        assert_eq!(repeats(&mut slow), 1);
    }
}
