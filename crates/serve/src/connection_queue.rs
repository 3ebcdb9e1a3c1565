//! The requests in flight on one connection, and the answers that wait to be written. Both are bounded: the server stops
//! reading from a client that does not read.

#![expect(clippy::disallowed_methods, reason = "keeps the time that commands take to end")]

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The most bytes of answers that wait to be written before no further request is read.
const MAX_WAITING: usize = 4 << 20;

/// The most bytes that wait to be written before no further notification is put there. Answers always have room.
const MAX_NOTIFICATIONS: usize = 1 << 20;

/// The most requests of one connection that are with the workers.
const MAX_UNDER_WAY: usize = 64;

/// How often a thread that waits for workers checks whether the client is still connected.
const LOOK: Duration = Duration::from_millis(200);

/// How long commands of a client that is gone may take to end.
const AFTER_CANCEL: Duration = Duration::from_secs(5);

/// What may stay allocated for the next answers.
const KEPT: usize = 1 << 20;

/// How many clients there were so far.
static CLIENTS: AtomicU64 = AtomicU64::new(0);

/// The traffic of one connection.
#[derive(Debug)]
pub(super) struct Traffic {
    state: Mutex<State>,
    /// Something became less.
    room: Condvar,
    /// Something became more.
    filled: Condvar,
    /// The most bytes of requests that are with the workers, unless it is a single one.
    max_bytes: usize,
    /// The number of the client, which no other has.
    client: u64,
    /// Commands that the client may still cancel.
    pub(super) under_way: super::in_flight::UnderWay,
}

#[derive(Debug, Default)]
struct State {
    waiting: Vec<u8>,
    under_way: usize,
    bytes: usize,
    /// What commands may print that is held until they are answered.
    kept: u64,
    /// Nothing more will be answered.
    ended: bool,
    /// The client reads no more answers.
    closed: bool,
}

/// Room for what a command prints, which is free again when this is dropped.
#[derive(Debug)]
pub(super) struct KeptOutput<'t> {
    traffic: &'t Traffic,
    bytes: u64,
}

impl Drop for KeptOutput<'_> {
    fn drop(&mut self) {
        self.traffic.lock().kept -= self.bytes;
    }
}

impl Traffic {
    /// Takes room for what a command may print, if all of the client's together print no more than `most`.
    pub(super) fn keep(&self, bytes: u64, most: u64) -> Option<KeptOutput<'_>> {
        let mut state = self.lock();
        let kept = state.kept.checked_add(bytes).filter(|kept| *kept <= most)?;
        state.kept = kept;
        drop(state);
        Some(KeptOutput { traffic: self, bytes })
    }

    pub(super) fn new(max_bytes: usize) -> Self {
        Self {
            state: Mutex::default(),
            room: Condvar::new(),
            filled: Condvar::new(),
            max_bytes,
            client: CLIENTS.fetch_add(1, Ordering::Relaxed),
            under_way: super::in_flight::UnderWay::default(),
        }
    }

    /// Whether any request of the client is with the workers.
    pub(super) fn is_busy(&self) -> bool {
        self.lock().under_way > 0
    }

    /// Whether answers wait to be written.
    pub(super) fn has_answers(&self) -> bool {
        let state = self.lock();
        !state.closed && !state.waiting.is_empty()
    }

    /// Returns the number of the client.
    pub(super) const fn client(&self) -> u64 {
        self.client
    }

    /// Waits until another request may be read. Returns whether anybody reads the answers.
    pub(super) fn may_read(&self) -> bool {
        let full = |state: &mut State| !state.closed && state.waiting.len() >= MAX_WAITING;
        let state = self.room.wait_while(self.lock(), full).unwrap_or_else(PoisonError::into_inner);
        !state.closed
    }

    /// Waits until a request of this size may be handed to the workers, and takes note that it is.
    pub(super) fn begin(&self, bytes: usize) {
        let full = |state: &mut State| {
            let many = state.under_way >= MAX_UNDER_WAY || state.bytes + bytes > self.max_bytes;
            !state.closed && state.under_way > 0 && many
        };
        let mut state = self.room.wait_while(self.lock(), full).unwrap_or_else(PoisonError::into_inner);
        state.under_way += 1;
        state.bytes += bytes;
    }

    /// A request that was handed to the workers is done.
    pub(super) fn end(&self, bytes: usize) {
        let mut state = self.lock();
        state.under_way -= 1;
        state.bytes -= bytes;
        drop(state);
        self.room.notify_all();
    }

    /// Puts an answer where the writer finds it. It never waits.
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

    /// Waits until the workers are done with everything, for as long as there is anybody to answer.
    pub(super) fn drain(&self, is_heard: impl Fn() -> bool) {
        let mut state = self.lock();
        while state.under_way > 0 && !state.closed {
            state = self.room.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner).0;
            if !is_heard() {
                state.closed = true;
            }
        }
        if state.closed {
            drop(state);
            self.cancel_all();
            state = self.lock();
            // What a command left is deleted before this program may end.
            let until = Instant::now() + AFTER_CANCEL;
            while state.under_way > 0 && Instant::now() < until {
                state = self.room.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner).0;
            }
        }
        state.ended = true;
        drop(state);
        self.filled.notify_one();
    }

    /// Waits for answers and swaps them into `chunk`. Returns whether there are any; else there never will be again.
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

    /// The client reads no more answers.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        state.waiting = Vec::new();
        drop(state);
        self.cancel_all();
        self.room.notify_all();
        self.filled.notify_all();
    }

    /// Cancels all commands: their client is gone.
    fn cancel_all(&self) {
        self.under_way.cancel_all();
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
    fn nothing_is_read_while_answers_pile_up() {
        let traffic = Traffic::new(100);
        traffic.answer(&"x".repeat(MAX_WAITING));
        thread::scope(|scope| {
            let reader = scope.spawn(|| traffic.may_read());
            thread::sleep(Duration::from_millis(50));
            assert!(!reader.is_finished(), "it reads on although the client does not read answers");
            let mut chunk = Vec::new();
            assert!(traffic.take(&mut chunk));
            assert!(reader.join().unwrap());
        });
    }

    #[test]
    fn what_is_under_way_is_bounded_by_number_and_size_but_a_single_one_always_goes() {
        for (first, second) in [(1000, 1), (60, 60)] {
            let traffic = Traffic::new(100);
            traffic.begin(first);
            thread::scope(|scope| {
                let reader = scope.spawn(|| traffic.begin(second));
                thread::sleep(Duration::from_millis(50));
                assert!(!reader.is_finished(), "{first} and {second}");
                traffic.end(first);
                reader.join().unwrap();
            });
        }
    }

    #[test]
    fn room_for_output_is_given_once() {
        let traffic = Traffic::new(100);
        let first = traffic.keep(60, 100).unwrap();
        assert!(traffic.keep(60, 100).is_none() && traffic.keep(u64::MAX, 100).is_none());
        assert!(traffic.keep(40, 100).is_some());
        drop(first);
        assert!(traffic.keep(100, 100).is_some());
    }

    #[test]
    fn a_client_that_is_gone_frees_waiting_threads() {
        let traffic = Traffic::new(100);
        traffic.begin(1);
        traffic.answer(&"x".repeat(MAX_WAITING));
        thread::scope(|scope| {
            let reader = scope.spawn(|| traffic.may_read());
            let drained = scope.spawn(|| traffic.drain(|| true));
            traffic.close();
            assert!(!reader.join().unwrap());
            drained.join().unwrap();
        });
        assert!(!traffic.take(&mut Vec::new()));
    }
}
