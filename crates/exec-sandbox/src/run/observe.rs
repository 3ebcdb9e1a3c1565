//! Looks on at what a command asks the kernel for, to say afterwards what it was refused.
//!
//! The kernel shows each such call to a thread of this program before it carries it out ([`seccomp::observe`]). The thread
//! reads which path or address it is about, and lets the call go on: it knows no other answer, so it decides nothing. What
//! it reads may be changed under its hands, which makes the explanation wrong and nothing else. The descriptor at
//! which calls are shown is sent out before the command begins and kept by nobody inside.
//!
//! [`seccomp::observe`]: crate::seccomp::observe

mod view;

use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use rustix::event::{PollFd, PollFlags};

use super::poll::wait;
use crate::capabilities::{KEPT_BY_OBSERVER, keep_only};
use crate::explain::asked::{Ask, Asked};
use crate::plan::Plan;
use crate::seccomp::{Architecture, observe};
use crate::sys::launch::Observed;
use crate::sys::raw::{self, ALL_SIGNALS};

/// The thread that is shown the calls of a command, and how to end it.
pub(super) struct Observer {
    looks_on: Option<JoinHandle<Asked>>,
    /// Where the sandbox sends what to look at.
    to: UnixStream,
    /// A byte on it ends it.
    end: OwnedFd,
    makers: Makers,
}

/// Processes that make the sandbox, and whose calls say nothing about the command; nothing until they are known, and
/// until then nothing is noted.
type Makers = Arc<Mutex<Option<Vec<i32>>>>;

impl Observer {
    /// Begins to look on, at a command of this plan.
    pub(super) fn new(plan: Plan) -> io::Result<Self> {
        let (to, from) = UnixStream::pair()?;
        let (ends, end) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        let makers = Makers::default();
        let sight = Sight { plan, from, ends, makers: Arc::clone(&makers) };
        // Signals to this program concern the thread that waits for them.
        let error = io::Error::from_raw_os_error;
        let mask = raw::set_signal_mask(ALL_SIGNALS).map_err(error)?;
        let looks_on = std::thread::Builder::new().name("looks on".to_owned()).spawn(move || sight.look_on());
        raw::set_signal_mask(mask).map_err(error)?;
        Ok(Self { looks_on: Some(looks_on?), to, end, makers })
    }

    /// What a sandbox needs to be looked at.
    pub(super) fn observed(&self) -> Observed {
        let filter = Architecture::current().map(observe).unwrap_or_default();
        Observed { filter, to: self.to.as_raw_fd() }
    }

    /// The same, where nothing is shown but the calls of the command.
    pub(super) fn observed_at_once(&self) -> Observed {
        self.begin(Vec::new());
        self.observed()
    }

    /// Notes from now on what processes ask for that are not among these.
    pub(super) fn begin(&self, makers: Vec<i32>) {
        *self.makers.lock().unwrap_or_else(PoisonError::into_inner) = Some(makers);
    }

    /// Ends it, and returns what was asked for. The command is gone by now.
    pub(super) fn end(mut self) -> Asked {
        rustix::io::write(&self.end, b"e").ok();
        self.looks_on.take().and_then(|thread| thread.join().ok()).unwrap_or_default()
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        rustix::io::write(&self.end, b"e").ok();
    }
}

/// What the thread has.
struct Sight {
    plan: Plan,
    from: UnixStream,
    ends: OwnedFd,
    makers: Makers,
}

impl Sight {
    fn look_on(self) -> Asked {
        let mut asked = Asked::default();
        // Whoever is shown a call and does not answer lets it wait for ever; so this end is closed instead.
        if keep_only(KEPT_BY_OBSERVER).is_err() {
            return asked;
        }
        if !self.is_ready(self.from.as_fd()) {
            return asked;
        }
        let Ok(Some(shown)) = crate::listener_handoff::receive(&self.from) else { return asked };
        while self.is_ready(shown.as_fd()) {
            match raw::next_notice(shown.as_fd()) {
                Ok(notice) => {
                    for ask in self.look(shown.as_fd(), &notice) {
                        asked.note(&self.plan, &ask);
                    }
                    raw::let_go_on(shown.as_fd(), &notice).ok();
                }
                // Whoever made the call was ended meanwhile.
                Err(libc::ENOENT | libc::EINTR) => {}
                Err(_) => break,
            }
        }
        asked
    }

    /// Waits; says whether there is something to read, and it is not the end.
    fn is_ready(&self, from: BorrowedFd<'_>) -> bool {
        let mut fds = [PollFd::from_borrowed_fd(from, PollFlags::IN), PollFd::new(&self.ends, PollFlags::IN)];
        loop {
            if wait(&mut fds, None).is_err() {
                return false;
            }
            let [from, ends] = fds.each_ref().map(PollFd::revents);
            if !ends.is_empty() || !from.is_empty() {
                return ends.is_empty() && from.contains(PollFlags::IN);
            }
        }
    }

    /// What a call asks for, if the thread that makes it was there all the time and is one of the command.
    fn look(&self, shown: BorrowedFd<'_>, notice: &raw::Notice) -> Vec<Ask> {
        if notice.thread == 0 || !self.concerns(notice.thread) {
            return Vec::new();
        }
        let asks = view::asks(notice);
        if raw::still_waits(shown, notice) { asks } else { Vec::new() }
    }

    fn concerns(&self, thread: u32) -> bool {
        let makers = self.makers.lock().unwrap_or_else(PoisonError::into_inner);
        makers.as_ref().is_some_and(|makers| !makers.iter().any(|maker| maker.cast_unsigned() == thread))
    }
}
