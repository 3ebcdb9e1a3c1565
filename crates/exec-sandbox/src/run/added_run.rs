//! A command that a backend runs on a thread of its own, as seen from outside of that thread.

#![expect(clippy::disallowed_methods, reason = "waits for a thread no longer than it may take")]

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};

use super::{Cancellation, RunError};
use crate::outcome::End;
use crate::sys::raw;

/// Signals that ask a program to end.
pub(super) const ASKS_TO_END: &[i32] = &[libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM];

/// How long a backend may take to end a command and to see that it is gone, once it was told to stop.
const UNTIL_GONE: Duration = Duration::from_secs(30);

/// A command that a backend runs, as whoever looks after commands sees it.
pub(super) struct AddedRun {
    stop: Cancellation,
    told: Told,
    /// Becomes readable when the thread is done.
    done: OwnedFd,
    /// The signal by which it was ended, if it was.
    signal: AtomicI32,
}

/// Where the thread of a backend says how its command ended.
#[derive(Clone, Default)]
pub(super) struct Told(Arc<Mutex<Option<Result<End, RunError>>>>);

impl Told {
    pub(super) fn tell(&self, result: Result<End, RunError>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
    }

    fn take(&self) -> Option<Result<End, RunError>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl AddedRun {
    /// One whose thread is done when the other end of `done` is closed.
    pub(super) fn new(stop: Cancellation, done: OwnedFd) -> Self {
        Self { stop, told: Told::default(), done, signal: AtomicI32::new(0) }
    }

    /// Where its thread says how it ended.
    pub(super) fn told_to(&self) -> Told {
        self.told.clone()
    }

    /// How the command ended by itself. A thread that is gone without a word ran nothing to its end.
    pub(super) fn told(&self) -> Result<End, RunError> {
        let end = self
            .told
            .take()
            .unwrap_or_else(|| Err(RunError::Watch(io::Error::other("the backend broke off"))))?;
        match self.signal.load(Ordering::SeqCst) {
            0 => Ok(end),
            signal => Ok(End::Signalled(signal)),
        }
    }

    /// Hands a signal on: one that asks for an end is one.
    pub(super) fn signal(&self, signal: i32) {
        if ASKS_TO_END.contains(&signal) {
            self.signal.store(signal, Ordering::SeqCst);
            self.stop.cancel();
        }
    }

    /// Has the backend end the command, and returns when it says that it is gone.
    pub(super) fn end(&self) -> Result<raw::Used, RunError> {
        self.stop.cancel();
        let late = Instant::now() + UNTIL_GONE;
        loop {
            let rest = late.saturating_duration_since(Instant::now());
            let mut wait = [PollFd::from_borrowed_fd(self.done.as_fd(), PollFlags::IN)];
            super::poll::wait(&mut wait, Some(rest)).map_err(RunError::Watch)?;
            if wait.iter().any(|fd| !fd.revents().is_empty()) {
                break;
            }
            if rest.is_zero() {
                let why = "the backend did not say in time that the command is gone";
                return Err(RunError::Watch(io::Error::new(io::ErrorKind::TimedOut, why)));
            }
        }
        // What it told before this is with whoever asked.
        match self.told.take() {
            Some(Err(error)) => Err(error),
            Some(Ok(_)) | None => Ok(raw::Used::default()),
        }
    }
}

impl Drop for AddedRun {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}
