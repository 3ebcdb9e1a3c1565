//! Parallel map with ordered results and a bounded number of pending ones.
#![expect(clippy::disallowed_methods, reason = "spreads work over scoped threads")]

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Maximum number of results that wait for an earlier one.
const WINDOW: usize = 256;

/// Jobs per batch: threads with small jobs would otherwise mostly wait for each other.
const BATCH: usize = 8;

/// How long the calling thread works alone: a few files are done sooner than a thread starts.
const ALONE: Duration = Duration::from_micros(250);

/// Runs every job on one of `threads` threads, each with its own `scratch`, and passes the results to `take` in the
/// order of the jobs, until it breaks. `None` means one thread per processor.
pub(crate) fn in_order<J, S, R: Send>(
    threads: Option<NonZeroUsize>,
    jobs: impl Iterator<Item = J> + Send,
    scratch: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, J) -> R + Sync,
    take: impl FnMut(R) -> ControlFlow<()> + Send,
) {
    let queue = Queue {
        jobs: Mutex::new(jobs.enumerate()),
        results: Mutex::new(Results::new(take)),
        progress: Condvar::new(),
    };
    let run = |batch, go_on: &dyn Fn() -> bool| {
        let mut scratch = scratch();
        queue.run(batch, go_on, |job| work(&mut scratch, job));
    };
    let began = Instant::now();
    run(1, &|| began.elapsed() < ALONE);
    if queue.results().ended {
        return;
    }
    // Querying the number of processors costs as much as scanning several files, so it is deferred until here.
    let threads = threads.or_else(|| thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN);
    thread::scope(|scope| {
        for _ in 1..threads.get() {
            // Failing to spawn a thread is not an error: the others do its share.
            if thread::Builder::new().spawn_scoped(scope, || run(BATCH, &|| true)).is_err() {
                break;
            }
        }
        run(BATCH, &|| true);
    });
}

struct Queue<I, R, T> {
    jobs: Mutex<I>,
    results: Mutex<Results<R, T>>,
    /// Notified whenever a result was taken.
    progress: Condvar,
}

struct Results<R, T> {
    /// Results that arrived early. The first slot is that of the next result.
    waiting: VecDeque<Option<R>>,
    /// Number of the next result.
    next: usize,
    /// There are no more jobs, or `take` broke.
    ended: bool,
    /// Number of threads that wait for progress. A wake-up without waiters would still cost a system call per job.
    blocked: usize,
    /// `None` after it broke.
    take: Option<T>,
}

impl<J, I, R, T> Queue<I, R, T>
where
    I: Iterator<Item = (usize, J)>,
    T: FnMut(R) -> ControlFlow<()>,
{
    /// Runs jobs in batches of `batch`, while there are some and `go_on` returns true.
    fn run(&self, batch: usize, go_on: impl Fn() -> bool, mut work: impl FnMut(J) -> R) {
        // If `work` panics, the other threads must not wait for its result forever.
        let _end = EndOnPanic(self);
        let (mut jobs, mut results) = (VecDeque::new(), Vec::new());
        while !jobs.is_empty() || (go_on() && self.wait_for_jobs(batch, &mut jobs)) {
            if let Some((number, job)) = jobs.pop_front() {
                results.push((number, work(job)));
            }
            if results.len() >= batch || jobs.is_empty() {
                self.hand_in(results.drain(..));
            }
            if jobs.len() < batch / 2 {
                self.take_more_jobs(batch, &mut jobs);
            }
        }
    }

    /// Takes up to `most` more jobs if the queue is free. A thread with jobs in hand must not wait here: others may wait
    /// for their results.
    fn take_more_jobs(&self, most: usize, jobs: &mut VecDeque<(usize, J)>) {
        if self.results().may_take()
            && let Ok(mut more) = self.jobs.try_lock()
        {
            jobs.extend(more.by_ref().take(most));
        }
    }

    /// Takes up to `most` jobs and returns whether there were any.
    fn wait_for_jobs(&self, most: usize, jobs: &mut VecDeque<(usize, J)>) -> bool {
        let mut results = self.results();
        // The earliest unfinished job is always held by a thread that does not wait here.
        while !results.ended && !results.may_take() {
            results.blocked += 1;
            results = self.progress.wait(results).unwrap_or_else(PoisonError::into_inner);
            results.blocked -= 1;
        }
        if results.ended {
            return false;
        }
        drop(results);
        jobs.extend(self.jobs.lock().unwrap_or_else(PoisonError::into_inner).by_ref().take(most));
        if jobs.is_empty() {
            self.end();
        }
        !jobs.is_empty()
    }

    fn hand_in(&self, done: impl Iterator<Item = (usize, R)>) {
        let mut results = self.results();
        done.for_each(|(number, result)| results.put(number, result));
        results.take_ready();
        let blocked = results.blocked;
        drop(results);
        if blocked > 0 {
            self.progress.notify_all();
        }
    }
}

impl<R, T: FnMut(R) -> ControlFlow<()>> Results<R, T> {
    fn new(take: T) -> Self {
        Self { waiting: VecDeque::new(), next: 0, ended: false, blocked: 0, take: Some(take) }
    }

    /// Whether there is room for more results.
    fn may_take(&self) -> bool {
        !self.ended && self.waiting.len() < WINDOW
    }

    /// Stores a result until its turn.
    fn put(&mut self, number: usize, result: R) {
        let place = number - self.next;
        if self.waiting.len() <= place {
            self.waiting.resize_with(place + 1, || None);
        }
        if let Some(slot) = self.waiting.get_mut(place) {
            *slot = Some(result);
        }
    }

    /// Takes every result whose turn has come.
    fn take_ready(&mut self) {
        while let Some(result) = self.waiting.front_mut().and_then(Option::take) {
            self.waiting.pop_front();
            self.next += 1;
            if self.take.as_mut().is_none_or(|take| take(result).is_break()) {
                self.take = None;
                self.ended = true;
            }
        }
    }
}

impl<I, R, T> Queue<I, R, T> {
    fn results(&self) -> MutexGuard<'_, Results<R, T>> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self) {
        self.results().ended = true;
        self.progress.notify_all();
    }
}

struct EndOnPanic<'q, I, R, T>(&'q Queue<I, R, T>);

impl<I, R, T> Drop for EndOnPanic<'_, I, R, T> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.end();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::in_order;
    use std::num::NonZeroUsize;
    use std::ops::ControlFlow;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    /// Jobs take turns being slow, so results arrive out of order.
    fn squares(threads: usize, jobs: usize, stop_after: usize) -> Vec<usize> {
        let mut taken = Vec::new();
        in_order(
            NonZeroUsize::new(threads),
            0..jobs,
            || (),
            |(), job| {
                if job % 7 == 0 {
                    std::thread::sleep(Duration::from_micros(300));
                }
                job * job
            },
            |square| {
                taken.push(square);
                if taken.len() == stop_after { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            },
        );
        taken
    }

    #[test]
    fn results_come_in_order() {
        for threads in [1, 2, 7] {
            for jobs in [0, 1, 15, 16, 17, 1000] {
                let expected: Vec<usize> = (0..jobs).map(|job| job * job).collect();
                assert_eq!(squares(threads, jobs, usize::MAX), expected, "{threads} threads, {jobs} jobs");
            }
        }
    }

    #[test]
    fn nothing_is_taken_after_a_stop() {
        for (jobs, stop_after) in [(10, 3), (1000, 1), (1000, 20), (1000, 999)] {
            assert_eq!(squares(4, jobs, stop_after).len(), stop_after);
        }
    }

    #[test]
    fn few_results_wait_for_a_slow_one() {
        let (started, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let mut most = 0;
        in_order(
            NonZeroUsize::new(4),
            0..5000,
            || (),
            |(), job| {
                if job == 16 {
                    std::thread::sleep(Duration::from_millis(50));
                }
                let started = started.fetch_add(1, Ordering::Relaxed) + 1;
                started.saturating_sub(taken.load(Ordering::Relaxed))
            },
            |ahead| {
                taken.fetch_add(1, Ordering::Relaxed);
                most = most.max(ahead);
                ControlFlow::Continue(())
            },
        );
        assert!(most <= super::WINDOW + 2 * 4 * super::BATCH, "{most} were ahead");
    }
}
