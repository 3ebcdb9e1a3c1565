//! The requests in flight on one connection, and its unwritten answers. Both are bounded: the server stops
//! reading from a client that does not read.

#![expect(clippy::disallowed_methods, reason = "keeps the time that commands take to end")]

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Bytes of unwritten answers at which reading requests stops.
const MAX_WAITING: usize = 4 << 20;

/// Bytes of unwritten output at which notifications wait. Answers are always queued.
const MAX_NOTIFICATIONS: usize = 1 << 20;

/// Maximum number of requests of one connection that workers have.
const MAX_IN_FLIGHT: usize = 64;

/// How often a thread that waits for workers checks whether the client is still connected.
const LOOK: Duration = Duration::from_millis(200);

/// Time that the commands of a disconnected client have to end after they are cancelled.
const AFTER_CANCEL: Duration = Duration::from_secs(5);

/// Buffer capacity that is reused for later answers.
const KEPT: usize = 1 << 20;

/// Number of clients so far.
static CLIENTS: AtomicU64 = AtomicU64::new(0);

/// Requests in flight and unwritten answers of one connection.
#[derive(Debug)]
pub(super) struct ConnectionQueue {
    state: Mutex<State>,
    /// Signalled when a request ended or answers were taken.
    room: Condvar,
    /// Signalled when answers were queued.
    filled: Condvar,
    /// Maximum bytes of the requests that workers have. A single longer request is accepted.
    max_bytes: usize,
    /// The unique number of the client.
    client: u64,
    /// Commands that the client can cancel.
    pub(super) in_flight: super::in_flight::InFlight,
}

#[derive(Debug, Default)]
struct State {
    waiting: Vec<u8>,
    in_flight: usize,
    bytes: usize,
    /// Output limits of the running commands, added up: their output is in memory until the answer.
    kept: u64,
    /// All requests are answered.
    ended: bool,
    /// The client no longer reads answers.
    closed: bool,
}

/// Memory reserved for the output of a command. Dropping it releases the memory.
#[derive(Debug)]
pub(super) struct KeptOutput<'t> {
    queue: &'t ConnectionQueue,
    bytes: u64,
}

impl Drop for KeptOutput<'_> {
    fn drop(&mut self) {
        self.queue.lock().kept -= self.bytes;
    }
}

impl ConnectionQueue {
    /// Reserves memory for a command's output, if all of the client's commands together stay within `most`.
    pub(super) fn keep(&self, bytes: u64, most: u64) -> Option<KeptOutput<'_>> {
        let mut state = self.lock();
        let kept = state.kept.checked_add(bytes).filter(|kept| *kept <= most)?;
        state.kept = kept;
        drop(state);
        Some(KeptOutput { queue: self, bytes })
    }

    pub(super) fn new(max_bytes: usize) -> Self {
        Self {
            state: Mutex::default(),
            room: Condvar::new(),
            filled: Condvar::new(),
            max_bytes,
            client: CLIENTS.fetch_add(1, Ordering::Relaxed),
            in_flight: super::in_flight::InFlight::default(),
        }
    }

    /// Whether workers have any request of the client.
    pub(super) fn is_busy(&self) -> bool {
        self.lock().in_flight > 0
    }

    /// Whether there are unwritten answers.
    pub(super) fn has_answers(&self) -> bool {
        let state = self.lock();
        !state.closed && !state.waiting.is_empty()
    }

    /// Returns the number of the client.
    pub(super) const fn client(&self) -> u64 {
        self.client
    }

    /// Waits until another request may be read. Returns false if the client no longer reads answers.
    pub(super) fn may_read(&self) -> bool {
        let full = |state: &mut State| !state.closed && state.waiting.len() >= MAX_WAITING;
        let state = self.room.wait_while(self.lock(), full).unwrap_or_else(PoisonError::into_inner);
        !state.closed
    }

    /// Waits until a request of this size may go to the workers, and counts it.
    pub(super) fn begin(&self, bytes: usize) {
        let full = |state: &mut State| {
            let many = state.in_flight >= MAX_IN_FLIGHT || state.bytes + bytes > self.max_bytes;
            !state.closed && state.in_flight > 0 && many
        };
        let mut state = self.room.wait_while(self.lock(), full).unwrap_or_else(PoisonError::into_inner);
        state.in_flight += 1;
        state.bytes += bytes;
    }

    /// Ends the count of a request that the workers answered.
    pub(super) fn end(&self, bytes: usize) {
        let mut state = self.lock();
        state.in_flight -= 1;
        state.bytes -= bytes;
        drop(state);
        self.room.notify_all();
    }

    /// Queues an answer for the writer. Never waits.
    pub(super) fn answer(&self, line: &str) {
        let mut state = self.lock();
        if state.closed {
            return;
        }
        let was_empty = state.waiting.is_empty();
        state.waiting.extend_from_slice(line.as_bytes());
        state.waiting.push(b'\n');
        drop(state);
        if was_empty {
            self.filled.notify_one();
        }
    }

    /// Queues a notification once there is room. Returns whether it was queued: false when the client reads no more, or the
    /// sender has waited long enough.
    pub(super) fn notify(&self, line: &str, has_patience: impl Fn() -> bool) -> bool {
        let mut state = self.lock();
        while state.waiting.len() >= MAX_NOTIFICATIONS && !state.closed {
            if !has_patience() {
                return false;
            }
            state = self.room.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        }
        let is_heard = !state.closed;
        drop(state);
        self.answer(line);
        is_heard
    }

    /// Waits until the workers have answered all requests, or the client is gone.
    pub(super) fn drain(&self, is_heard: impl Fn() -> bool) {
        let mut state = self.lock();
        while state.in_flight > 0 && !state.closed {
            state = self.room.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner).0;
            if !is_heard() {
                state.closed = true;
            }
        }
        if state.closed {
            drop(state);
            self.cancel_all();
            state = self.lock();
            // The program must not end before the leftovers of commands are deleted.
            let until = Instant::now() + AFTER_CANCEL;
            while state.in_flight > 0 && Instant::now() < until {
                state = self.room.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner).0;
            }
        }
        state.ended = true;
        drop(state);
        self.filled.notify_one();
    }

    /// Waits for answers and swaps them into `chunk`. Returns false once there will be no more.
    pub(super) fn take(&self, chunk: &mut Vec<u8>) -> bool {
        chunk.clear();
        chunk.shrink_to(KEPT);
        let none = |state: &mut State| state.waiting.is_empty() && !state.ended && !state.closed;
        let mut state = self.filled.wait_while(self.lock(), none).unwrap_or_else(PoisonError::into_inner);
        if state.closed {
            return false;
        }
        std::mem::swap(&mut state.waiting, chunk);
        drop(state);
        self.room.notify_all();
        !chunk.is_empty()
    }

    /// Discards all answers and cancels all commands: the client no longer reads.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        state.waiting = Vec::new();
        drop(state);
        self.cancel_all();
        self.room.notify_all();
        self.filled.notify_all();
    }

    /// Cancels all commands of the client.
    fn cancel_all(&self) {
        self.in_flight.cancel_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "two sides of a connection are two threads")]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn reading_stops_while_answers_are_not_read() {
        let queue = ConnectionQueue::new(100);
        queue.answer(&"x".repeat(MAX_WAITING));
        thread::scope(|scope| {
            let reader = scope.spawn(|| queue.may_read());
            thread::sleep(Duration::from_millis(50));
            assert!(!reader.is_finished(), "it reads on although the client does not read answers");
            let mut chunk = Vec::new();
            assert!(queue.take(&mut chunk));
            assert!(reader.join().unwrap());
        });
    }

    #[test]
    fn requests_in_flight_are_bounded_by_number_and_size_but_a_single_one_is_accepted() {
        for (first, second) in [(1000, 1), (60, 60)] {
            let queue = ConnectionQueue::new(100);
            queue.begin(first);
            thread::scope(|scope| {
                let reader = scope.spawn(|| queue.begin(second));
                thread::sleep(Duration::from_millis(50));
                assert!(!reader.is_finished(), "{first} and {second}");
                queue.end(first);
                reader.join().unwrap();
            });
        }
    }

    #[test]
    fn memory_for_output_is_reserved_once() {
        let queue = ConnectionQueue::new(100);
        let first = queue.keep(60, 100).unwrap();
        assert!(queue.keep(60, 100).is_none() && queue.keep(u64::MAX, 100).is_none());
        assert!(queue.keep(40, 100).is_some());
        drop(first);
        assert!(queue.keep(100, 100).is_some());
    }

    #[test]
    fn a_client_that_is_gone_frees_waiting_threads() {
        let queue = ConnectionQueue::new(100);
        queue.begin(1);
        queue.answer(&"x".repeat(MAX_WAITING));
        thread::scope(|scope| {
            let reader = scope.spawn(|| queue.may_read());
            let drained = scope.spawn(|| queue.drain(|| true));
            queue.close();
            assert!(!reader.join().unwrap());
            drained.join().unwrap();
        });
        assert!(!queue.take(&mut Vec::new()));
    }
}
