//! A pool with a bounded number of threads, which are started on demand.
#![expect(clippy::disallowed_methods, reason = "starts threads")]

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::catch_panic::catch_panic;

/// A job for a thread of the pool.
pub(super) type Job = Box<dyn FnOnce() + Send>;

/// Stack size of the threads. Requests are parsed recursively, up to the permitted depth of JSON.
const STACK: usize = 8 << 20;

/// Threads and their queue. The caller limits the length of the queue.
#[derive(Clone)]
pub(super) struct Pool(Arc<Inner>);

struct Inner {
    name: &'static str,
    most: usize,
    state: Mutex<State>,
    given: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Job>,
    threads: usize,
    idle: usize,
}

impl Pool {
    pub(super) fn new(name: &'static str, most: usize) -> Self {
        Self(Arc::new(Inner { name, most: most.max(1), state: Mutex::default(), given: Condvar::new() }))
    }

    /// Runs the job on the next free thread.
    pub(super) fn give(&self, job: Job) {
        let mut state = self.0.lock();
        state.waiting.push_back(job);
        let needed = state.waiting.len() > state.idle && state.threads < self.0.most;
        if needed && self.start() {
            state.threads += 1;
        }
        let alone = state.threads == 0;
        drop(state);
        self.0.given.notify_one();
        if alone {
            // No thread can be created, so the queue is processed here.
            while let Some(job) = self.0.take_now() {
                job();
            }
        }
    }

    fn start(&self) -> bool {
        let inner = Arc::clone(&self.0);
        let thread = thread::Builder::new().name(inner.name.to_owned()).stack_size(STACK);
        thread.spawn(move || inner.work()).is_ok()
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, State> {
        // No job runs while the lock is held, so the state is consistent even after a panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_now(&self) -> Option<Job> {
        self.lock().waiting.pop_front()
    }

    fn work(&self) {
        let mut state = self.lock();
        loop {
            match state.waiting.pop_front() {
                Some(job) => {
                    drop(state);
                    // A job handles its own errors; a panic must not reduce the number of threads.
                    catch_panic(job);
                    state = self.lock();
                }
                None => {
                    state.idle += 1;
                    state = self.given.wait(state).unwrap_or_else(PoisonError::into_inner);
                    state.idle -= 1;
                }
            }
        }
    }
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool").field("name", &self.0.name).field("most", &self.0.most).finish_non_exhaustive()
    }
}

/// Returns the number of processors available to this program.
pub(super) fn processors() -> usize {
    thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn everything_is_done_by_no_more_threads_than_allowed() {
        let pool = Pool::new("test", 3);
        let (say, hear) = mpsc::channel();
        for number in 0..500 {
            let say = say.clone();
            pool.give(Box::new(move || say.send((number, thread::current().id())).unwrap()));
        }
        drop(say);
        let mut done: Vec<_> = hear.iter().take(500).collect();
        done.sort_by_key(|(number, _)| *number);
        assert!(done.iter().map(|(number, _)| *number).eq(0..500));
        let threads: std::collections::HashSet<_> = done.iter().map(|(_, thread)| *thread).collect();
        assert!(threads.len() <= 3);
    }

    #[test]
    fn a_job_that_panics_takes_no_thread_with_it() {
        let pool = Pool::new("test", 1);
        let (say, hear) = mpsc::channel();
        pool.give(Box::new(|| panic!("as planned")));
        pool.give(Box::new(move || say.send(()).unwrap()));
        hear.recv_timeout(std::time::Duration::from_secs(30)).unwrap();
    }
}
