//! What reaches into a run from outside: somebody who ends it, and whoever takes what it prints.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;

/// Ends a run from any thread, before it begins or while it is under way. One that nobody listens to costs no descriptor.
#[derive(Debug, Clone, Default)]
pub struct Cancellation(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    is_cancelled: AtomicBool,
    /// What becomes readable, once somebody waits for it.
    bell: OnceLock<OwnedFd>,
}

impl Cancellation {
    /// Ends what it was given to. To do so twice is the same.
    pub fn cancel(&self) {
        self.0.is_cancelled.store(true, Ordering::SeqCst);
        self.ring();
    }

    /// Whether it was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled.load(Ordering::SeqCst)
    }

    /// Whether both end the same run.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Returns what becomes readable when it is cancelled, to wait for it beside other things.
    ///
    /// # Errors
    /// When there are no more descriptors.
    pub fn bell(&self) -> io::Result<BorrowedFd<'_>> {
        if self.0.bell.get().is_none() {
            let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
            // Whoever was quicker has made one.
            self.0.bell.set(bell).ok();
            // It may have been cancelled while there was no bell to ring.
            if self.is_cancelled() {
                self.ring();
            }
        }
        self.0.bell.get().map(|bell| bell.as_fd()).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Writes all of this to the end of a pipe, unless it is cancelled meanwhile: then the rest is dropped. Where nobody reads any
    /// more, that is nobody's fault.
    ///
    /// # Errors
    /// When it cannot be written.
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
            // A bell that is full was rung.
            rustix::io::write(bell, &1_u64.to_ne_bytes()).ok();
        }
    }
}

/// What reaches into a run from outside.
#[derive(Debug, Clone, Default)]
pub struct RunControl {
    /// What ends it.
    pub cancellation: Option<Cancellation>,
    /// Where standard output goes that is [handed over](super::Stream::Hand): the end of a pipe. If nobody reads there, the
    /// command waits.
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
    fn it_is_heard_whether_somebody_listens_before_or_after() {
        let (early, late) = (Cancellation::default(), Cancellation::default());
        assert!(!rings(&early) && !early.is_cancelled());
        early.cancel();
        late.clone().cancel();
        for cancelled in [&early, &late] {
            assert!(cancelled.is_cancelled() && rings(cancelled) && rings(cancelled));
        }
    }
}
