//! Control of a run from outside: cancellation, and the destinations of its output.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;

/// Ends a run from any thread, before or after its start. It only uses a descriptor once a run waits for it.
#[derive(Debug, Clone, Default)]
pub struct Cancellation(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    is_cancelled: AtomicBool,
    /// Readable when cancelled; created when a run waits for it.
    bell: OnceLock<OwnedFd>,
}

impl Cancellation {
    /// Ends the runs that have this cancellation. Repeated calls have no effect.
    pub fn cancel(&self) {
        self.0.is_cancelled.store(true, Ordering::SeqCst);
        self.ring();
    }

    /// Whether it was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled.load(Ordering::SeqCst)
    }

    /// Whether both are clones of the same cancellation.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Returns a descriptor for poll(2) that becomes readable on cancellation.
    ///
    /// # Errors
    /// When the limit on descriptors is reached.
    pub fn bell(&self) -> io::Result<BorrowedFd<'_>> {
        if self.0.bell.get().is_none() {
            let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
            // Ignored: another thread has set one at the same time.
            self.0.bell.set(bell).ok();
            // It may have been cancelled before the descriptor existed.
            if self.is_cancelled() {
                self.ring();
            }
        }
        self.0.bell.get().map(|bell| bell.as_fd()).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Writes all bytes to a pipe, unless it is cancelled meanwhile: then the rest is dropped. A closed read end is not an error,
    /// and drops the rest as well.
    ///
    /// # Errors
    /// When the pipe cannot be written.
    pub fn write_unless(&self, to: &OwnedFd, bytes: &[u8]) -> io::Result<()> {
        fcntl_setfl(to, fcntl_getfl(to)? | OFlags::NONBLOCK)?;
        let bell = self.bell()?;
        let mut rest = bytes;
        while !rest.is_empty() && !self.is_cancelled() {
            let mut fds = [PollFd::new(to, PollFlags::OUT), PollFd::from_borrowed_fd(bell, PollFlags::IN)];
            rustix::io::retry_on_intr(|| poll(&mut fds, None))?;
            match rustix::io::write(to, rest) {
                Ok(count) => rest = rest.get(count..).unwrap_or_default(),
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(Errno::PIPE) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn ring(&self) {
        if let Some(bell) = self.0.bell.get() {
            // Ignored: a counter at its maximum is readable already.
            rustix::io::write(bell, &1_u64.to_ne_bytes()).ok();
        }
    }
}

/// Control of a run from outside.
#[derive(Debug, Clone, Default)]
pub struct RunControl {
    /// Ends the run.
    pub cancellation: Option<Cancellation>,
    /// The pipe for standard output with [`Stream::Hand`](super::Stream::Hand). If its reader is slow, the command blocks.
    pub stdout: Option<Arc<OwnedFd>>,
    /// The same for standard error.
    pub stderr: Option<Arc<OwnedFd>>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::Timespec;

    fn rings(cancellation: &Cancellation) -> bool {
        let bell = cancellation.bell().unwrap();
        poll(&mut [PollFd::new(&bell, PollFlags::IN)], Some(&Timespec::default())).unwrap() == 1
    }

    #[test]
    fn a_cancellation_before_or_after_waiting_is_noticed() {
        let (early, late) = (Cancellation::default(), Cancellation::default());
        assert!(!rings(&early) && !early.is_cancelled());
        early.cancel();
        late.clone().cancel();
        for cancelled in [&early, &late] {
            assert!(cancelled.is_cancelled() && rings(cancelled) && rings(cancelled));
        }
    }
}
