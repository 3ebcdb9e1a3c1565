//! What reaches into a run from outside: somebody who ends it, and whoever takes what it prints.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use rustix::event::{EventfdFlags, eventfd};

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
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

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
