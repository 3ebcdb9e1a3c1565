//! Looks on at what a command asks the kernel for, to say afterwards what it was refused.
//!
//! The kernel shows each such call to a thread of this program before it carries it out ([`seccomp::observe`]). The thread
//! reads which path or address it is about, and lets the call go on: it knows no other answer, so it decides nothing. What
//! it reads may be changed under its hands, which makes the explanation wrong and nothing else. The descriptor at
//! which calls are shown is sent out before the command begins and kept by nobody inside.
//!
//! [`seccomp::observe`]: crate::seccomp::observe

mod modes;
mod view;

use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use rustix::event::{PollFd, PollFlags};
use rustix::process::{Gid, Uid};
use rustix::thread::{set_thread_gid, set_thread_groups, set_thread_uid};

use super::poll::wait;
use crate::capabilities::{KEPT_BY_OBSERVER, keep_only};
use crate::explain::asked::{Ask, Asked};
use crate::native::Ids;
use crate::plan::Plan;
use crate::provider::Provider;
use crate::seccomp::{Architecture, Shown, mode_change, observe};
use crate::spec::Explain;
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
    shown: Shown,
}

/// Processes that make the sandbox, and whose calls say nothing about the command; nothing until they are known, and
/// until then nothing is noted.
type Makers = Arc<Mutex<Option<Vec<i32>>>>;

impl Observer {
    /// Begins to look on, at a command of this plan.
    pub(super) fn new(plan: Plan, ids: Ids) -> io::Result<Self> {
        let is_walled = plan.provider == Provider::Landlock;
        let shown = Shown { asks: plan.explain == Explain::Asked, modes: is_walled };
        let becomes = ids.outside().filter(|_| is_walled);
        let (to, from) = UnixStream::pair()?;
        let (ends, end) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        let makers = Makers::default();
        let sight = Sight { plan, shown, becomes, from, ends, makers: Arc::clone(&makers) };
        // Signals to this program concern the thread that waits for them.
        let error = io::Error::from_raw_os_error;
        let mask = raw::set_signal_mask(ALL_SIGNALS).map_err(error)?;
        let looks_on = std::thread::Builder::new().name("looks on".to_owned()).spawn(move || sight.look_on());
        raw::set_signal_mask(mask).map_err(error)?;
        Ok(Self { looks_on: Some(looks_on?), to, end, makers, shown })
    }

    /// What a sandbox needs to be looked at.
    pub(super) fn observed(&self) -> Observed {
        let filter = Architecture::current().map(|it| observe(it, self.shown)).unwrap_or_default();
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
    shown: Shown,
    /// Whose files are changed in place of the command, if that is somebody else than whoever starts it.
    becomes: Option<(u32, u32)>,
    from: UnixStream,
    ends: OwnedFd,
    makers: Makers,
}

impl Sight {
    fn look_on(self) -> Asked {
        let mut asked = Asked::default();
        // Whoever is shown a call and does not answer lets it wait for ever; so this end is closed instead.
        if self.become_the_commands_user().is_err() {
            return asked;
        }
        if !self.is_ready(self.from.as_fd()) {
            return asked;
        }
        let Ok(Some(shown)) = crate::listener_handoff::receive(&self.from) else { return asked };
        while self.is_ready(shown.as_fd()) {
            match raw::next_notice(shown.as_fd()) {
                Ok(notice) => {
                    if self.carries_out(shown.as_fd(), &notice) {
                        continue;
                    }
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

    /// Gives up all but what it takes to look. Where files of somebody else are changed, this thread alone becomes that user.
    fn become_the_commands_user(&self) -> io::Result<()> {
        let Some((user, group)) = self.becomes else { return keep_only(KEPT_BY_OBSERVER) };
        set_thread_groups(&[])?;
        set_thread_gid(Gid::from_raw(group))?;
        set_thread_uid(Uid::from_raw(user))?;
        keep_only(&[])
    }

    /// Answers a call that changes modes or times, and says whether it was one.
    fn carries_out(&self, shown: BorrowedFd<'_>, notice: &raw::Notice) -> bool {
        let change = Architecture::current().and_then(|it| mode_change(it, notice.number));
        let Some(change) = change.filter(|_| self.shown.modes) else { return false };
        let ended = modes::carry_out(&self.plan, shown, notice, change);
        raw::answer(shown, notice, ended.map_err(rustix::io::Errno::raw_os_error)).ok();
        true
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
