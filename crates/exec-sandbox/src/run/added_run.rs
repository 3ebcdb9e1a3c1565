//! The supervisor's handle of a command that a registered backend runs on a thread of its own.

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

/// Signals that request termination.
pub(super) const ASKS_TO_END: &[i32] = &[libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM];

/// How long a backend may take to end a cancelled command and to confirm that it is gone.
const UNTIL_GONE: Duration = Duration::from_secs(30);

/// A command of a registered backend.
pub(super) struct AddedRun {
    stop: Cancellation,
    result: ResultSlot,
    /// Readable (hung up) when the thread is done.
    done: OwnedFd,
    /// The forwarded termination signal, or 0.
    signal: AtomicI32,
}

/// The slot for the result of the backend's thread.
#[derive(Clone, Default)]
pub(super) struct ResultSlot(Arc<Mutex<Option<Result<End, RunError>>>>);

impl ResultSlot {
    pub(super) fn set(&self, result: Result<End, RunError>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
    }

    fn take(&self) -> Option<Result<End, RunError>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl AddedRun {
    /// Returns a handle whose thread is done when the other end of `done` is closed.
    pub(super) fn new(stop: Cancellation, done: OwnedFd) -> Self {
        Self { stop, result: ResultSlot::default(), done, signal: AtomicI32::new(0) }
    }

    /// Returns the slot for the result.
    pub(super) fn result_slot(&self) -> ResultSlot {
        self.result.clone()
    }

    /// Returns how the command ended. A thread without a result panicked, which is an error.
    pub(super) fn result(&self) -> Result<End, RunError> {
        let end = self.result.take().unwrap_or_else(|| {
            Err(RunError::Watch(io::Error::other("the backend ended without a result")))
        })?;
        match self.signal.load(Ordering::SeqCst) {
            0 => Ok(end),
            signal => Ok(End::Signalled(signal)),
        }
    }

    /// Forwards a signal: a termination signal cancels the command, other signals are ignored.
    pub(super) fn signal(&self, signal: i32) {
        if ASKS_TO_END.contains(&signal) {
            self.signal.store(signal, Ordering::SeqCst);
            self.stop.cancel();
        }
    }

    /// Cancels the command, and returns when the backend confirms that it is gone.
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
                let why = "the backend did not confirm in time that the command is gone";
                return Err(RunError::Watch(io::Error::new(io::ErrorKind::TimedOut, why)));
            }
        }
        // An earlier result was already taken by `result`.
        match self.result.take() {
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
