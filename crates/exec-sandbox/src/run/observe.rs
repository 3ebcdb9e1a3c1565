//! Observes system calls of a command by seccomp user notification (seccomp_unotify(2)): to decide on the names that it creates,
//! to change modes in its place, and to explain denials.
//!
//! The kernel passes each such call to threads of this program before executing it ([`seccomp::observe`]). Calls that create
//! names are judged and performed by the thread ([`mediation`]), and so are calls that change modes when only Landlock confines
//! the command ([`modes`]). For other calls, the thread reads the path or address for explanations, and lets the call continue.
//! The command may change that memory meanwhile (TOCTOU), which makes the explanation wrong and has no other effect. The
//! listener descriptor is sent out before the command starts, and no process inside keeps it: if this program ends, such calls
//! fail with ENOSYS.
//!
//! [`seccomp::observe`]: crate::seccomp::observe

mod caller;
mod continued;
mod mediation;
mod modes;
mod resolve;

use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use rustix::process::{Gid, Uid};
use rustix::thread::{set_keep_capabilities, set_thread_gid, set_thread_groups, set_thread_uid};
use stockade_handoff::{Capability, keep_capabilities_without_exec, receive_descriptor};

use super::poll::wait;
use super::saved_meanwhile::SavedMeanwhile;
use crate::explain::Denial;
use crate::explain::asked::{Ask, Asked};
use crate::host::FileIdentity;
use crate::native::Ids;
use crate::plan::Plan;
use crate::provider::Provider;
use crate::seccomp::{Architecture, CarriedOut, Notified, mode_change, observe};
use crate::spec::Explain;
use crate::sys::launch::Observed;
use crate::sys::raw::{self, ALL_SIGNALS, Notice};
use caller::Caller;
use continued::{Continued, let_go_on};
use mediation::{Names, Reply, Waits};

/// Capabilities of an observer: it reads the memory of commands of another user, and looks up their paths.
const KEPT_BY_OBSERVER: &[Capability] = &[Capability::CAP_SYS_PTRACE, Capability::CAP_DAC_READ_SEARCH];

/// Capabilities of a thread that performs calls in the place of a command of another user: it runs as that user, and reads
/// processes that are not dumpable.
const KEPT_BY_DECIDER: &[Capability] = &[Capability::CAP_SYS_PTRACE];

/// Capabilities to change the user of a thread.
const TO_BECOME_ANOTHER: &[Capability] = &[Capability::CAP_SETUID, Capability::CAP_SETGID];

/// Maximum number of threads, and number of calls after which one is added: most commands make fewer.
const MAX_THREADS: usize = 4;
const BUSY: usize = 128;

/// Maximum number of waiting calls (such as opening a named pipe), and the interval between retries.
const MAX_WAITING: usize = 64;
const PAUSE: Duration = Duration::from_millis(2);

/// The threads that handle the observed calls of a command.
pub(super) struct Observer {
    looks_on: Option<JoinHandle<()>>,
    sight: Arc<Sight>,
    /// The socket on which the sandbox sends the listener descriptor.
    to: UnixStream,
    /// Writing a byte to it ends the threads.
    end: OwnedFd,
}

/// The records of an ended command.
#[derive(Debug, Default)]
pub(super) struct ObservedCalls {
    pub(super) asked: Asked,
    pub(super) refused: Vec<Denial>,
}

impl Observer {
    /// Starts to observe a command of this plan.
    pub(super) fn new(plan: Plan, ids: Ids) -> io::Result<Self> {
        let (to, from) = UnixStream::pair()?;
        let (ends, end) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        let sight = Arc::new(Sight::new(plan, ids, ends));
        let seen = Arc::clone(&sight);
        // The new thread inherits a full signal mask, because signals to this program are handled by its own threads.
        let error = io::Error::from_raw_os_error;
        let mask = raw::set_signal_mask(ALL_SIGNALS).map_err(error)?;
        let looks_on =
            std::thread::Builder::new().name("looks on".to_owned()).spawn(move || seen.look_on(&from));
        raw::set_signal_mask(mask).map_err(error)?;
        Ok(Self { looks_on: Some(looks_on?), sight, to, end })
    }

    /// Returns the filter and the socket for the sandbox.
    pub(super) fn observed(&self) -> Observed {
        // An empty filter on other architectures: nothing is observed there, and planning has recorded the gap.
        let filter = Architecture::current().map(|it| observe(it, self.sight.shown)).unwrap_or_default();
        Observed { filter, to: self.to.as_raw_fd() }
    }

    /// The same, where only the command itself makes observed calls.
    pub(super) fn observed_at_once(&self) -> Observed {
        self.begin(Vec::new());
        self.observed()
    }

    /// Starts to attribute calls to the command, except for those of the processes that set up the sandbox.
    pub(super) fn begin(&self, makers: Vec<i32>) {
        *locked(&self.sight.makers) = Some(makers);
    }

    /// Watches what other programs save while the command runs, whose processes descend from `first`. Nothing is hidden or
    /// protected until [`Observer::treat_new_names`] is called with the result.
    pub(super) fn watch_new_names(&self, plan: &Plan, first: i32) -> Option<SavedMeanwhile> {
        self.sight.names.as_ref()?;
        SavedMeanwhile::of(plan, first)
    }

    /// Starts to hide and protect what other programs save, in a thread.
    pub(super) fn treat_new_names(&self, saved: SavedMeanwhile) {
        let sight = Arc::clone(&self.sight);
        let watches = std::thread::Builder::new().name("saved".to_owned());
        // The new thread inherits a full signal mask, because a stop or an interrupt is for the thread that passes it on.
        // On an error, saved secrets are reported at the end.
        let Ok(mask) = raw::set_signal_mask(ALL_SIGNALS) else { return };
        let watches = watches.spawn(move || {
            // The namespaces of a command are joined as their owner, which needs no capability.
            if keep_capabilities_without_exec(KEPT_BY_OBSERVER).is_ok() {
                let is_own = |file: &_| sight.names.as_ref().is_some_and(|names| names.has_written(file));
                saved.watch(&sight.ends, is_own);
            }
        });
        raw::set_signal_mask(mask).ok();
        *locked(&self.sight.saved) = watches.ok();
    }

    /// Whether the command created a directory.
    pub(super) fn has_made(&self, folder: &FileIdentity) -> bool {
        self.sight.names.as_ref().is_some_and(|names| names.has_made(folder))
    }

    /// Ends the threads, and returns the records. The command must have ended.
    pub(super) fn end(mut self) -> ObservedCalls {
        rustix::io::write(&self.end, b"e").ok();
        self.looks_on.take().and_then(|thread| thread.join().ok());
        let asked = std::mem::take(&mut *locked(&self.sight.asked));
        let refused = self.sight.names.as_ref().map(Names::refused).unwrap_or_default();
        ObservedCalls { asked, refused }
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        rustix::io::write(&self.end, b"e").ok();
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The state that the threads share.
struct Sight {
    plan: Plan,
    shown: Notified,
    names: Option<Names>,
    /// The user and group of the command, if the threads must change to them.
    becomes: Option<(u32, u32)>,
    ends: OwnedFd,
    /// Processes that set up the sandbox; nothing while they are unknown, which is before the command starts.
    makers: Mutex<Option<Vec<i32>>>,
    /// Whether the command itself made an observed call.
    has_begun: AtomicBool,
    asked: Mutex<Asked>,
    /// The seccomp listener.
    listener: OnceLock<OwnedFd>,
    /// Locked by the thread that waits for the next call.
    turn: Mutex<()>,
    calls: AtomicUsize,
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// The thread that hides and protects what other programs save.
    saved: Mutex<Option<JoinHandle<()>>>,
    waiting: AtomicUsize,
}

impl Sight {
    fn new(plan: Plan, ids: Ids, ends: OwnedFd) -> Self {
        let is_walled = plan.provider == Provider::Landlock;
        let names = Names::of(&plan);
        let carried = match (plan.decides_names(), plan.decides_shared()) {
            (true, _) => CarriedOut::Names,
            (false, true) => CarriedOut::Shared,
            (false, false) => CarriedOut::Nothing,
        };
        let shown = Notified { asks: plan.explain == Explain::Asked, modes: is_walled, carried };
        Self {
            becomes: ids.outside().filter(|_| is_walled || names.is_some()),
            plan,
            shown,
            names,
            ends,
            makers: Mutex::default(),
            has_begun: AtomicBool::new(false),
            asked: Mutex::default(),
            listener: OnceLock::new(),
            turn: Mutex::default(),
            calls: AtomicUsize::new(0),
            threads: Mutex::default(),
            saved: Mutex::default(),
            waiting: AtomicUsize::new(0),
        }
    }

    fn look_on(self: &Arc<Self>, from: &UnixStream) {
        // On an error, the listener is dropped, so that observed calls fail. Without a reader they would block forever.
        if self.become_the_commands_user().is_err() || !self.is_ready(from.as_fd()) {
            return;
        }
        let Ok(Some(listener)) = receive_descriptor(from) else { return };
        // Lets the kernel wake this thread on the CPU of the command, because the two take turns.
        raw::take_turns(listener.as_fd());
        let listener = self.listener.get_or_init(|| listener);
        self.work(listener.as_fd());
        // Joined, so that no call is performed after the sandbox counts as ended.
        let others = std::mem::take(&mut *locked(&self.threads));
        let saved = locked(&self.saved).take();
        others.into_iter().chain(saved).for_each(|thread| drop(thread.join()));
        self.names.iter().for_each(Names::settle_all);
    }

    /// Handles calls until the end.
    fn work(self: &Arc<Self>, shown: BorrowedFd<'_>) {
        if self.names.is_some() && raw::own_umask().is_err() {
            return;
        }
        while let Some(notice) = self.next(shown) {
            if let Some(notice) = notice {
                self.answer(shown, &notice);
                self.is_busy();
            }
        }
    }

    /// Waits for the next call; `None` at the end, and `Some(None)` if the calling thread was killed meanwhile.
    fn next(&self, shown: BorrowedFd<'_>) -> Option<Option<Notice>> {
        // One thread at a time: several readers of a listener would all wake up for each call.
        let _turn = locked(&self.turn);
        if !self.is_ready(shown) {
            return None;
        }
        match raw::next_notice(shown) {
            Ok(notice) => Some(Some(notice)),
            // ENOENT: the calling thread was killed between the event and the read (seccomp_unotify(2)).
            Err(libc::ENOENT | libc::EINTR) => Some(None),
            Err(_) => None,
        }
    }

    /// Adds a thread if there are many calls.
    fn is_busy(self: &Arc<Self>) {
        let calls = self.calls.fetch_add(1, Ordering::Relaxed);
        if self.names.is_none() || calls % BUSY != BUSY - 1 {
            return;
        }
        let mut threads = locked(&self.threads);
        if threads.len() + 1 < MAX_THREADS {
            let seen = Arc::clone(self);
            let looks_on = std::thread::Builder::new().name("looks on".to_owned());
            let looks_on = looks_on.spawn(move || seen.listener.get().map_or((), |it| seen.work(it.as_fd())));
            threads.extend(looks_on);
        }
    }

    fn answer(self: &Arc<Self>, shown: BorrowedFd<'_>, notice: &Notice) {
        // Behind Landlock only. These calls are never continued, because Landlock does not check them.
        if self.carries_out(shown, notice) {
            return;
        }
        for ask in self.look(shown, notice) {
            locked(&self.asked).note(&self.plan, &ask);
        }
        let names = self.names.as_ref().filter(|_| !self.is_of_a_maker(notice.thread));
        match names.and_then(|names| names.carry_out(shown, notice)) {
            Some(Ok(Reply::Waits(waits))) => self.wait_for(waits, *notice),
            Some(reply) => send(shown, notice, reply),
            None => let_go_on(shown, notice, Continued::Undecided),
        }
    }

    /// Moves a blocking call to a thread of its own, because it would delay all others here.
    fn wait_for(self: &Arc<Self>, waits: Waits, notice: Notice) {
        let Some(listener) = self.listener.get() else { return };
        let (seen, shown) = (Arc::clone(self), listener.as_fd());
        let is_one_too_many = self.waiting.fetch_add(1, Ordering::Relaxed) >= MAX_WAITING;
        let until_then = move || {
            let shown = seen.listener.get().map(OwnedFd::as_fd);
            let mut reply = None;
            while let Some(shown) = shown.filter(|shown| raw::still_waits(*shown, &notice)) {
                // A real system call would return for a signal; a notified one only returns when it is answered.
                let interrupted = || Caller::of(shown, &notice).interrupted().map(Err);
                reply = waits.try_again().or_else(interrupted);
                let mut ends = [PollFd::new(&seen.ends, PollFlags::IN)];
                if reply.is_some() || wait(&mut ends, Some(PAUSE)).is_err() || !ends[0].revents().is_empty() {
                    break;
                }
            }
            // Descriptors are closed before the answer: the command may close its own at once, and must find all locks released.
            drop(waits);
            if let (Some(shown), Some(reply)) = (shown, reply) {
                send(shown, &notice, reply);
            }
            seen.waiting.fetch_sub(1, Ordering::Relaxed);
        };
        let is_begun = !is_one_too_many
            && std::thread::Builder::new().name("waits".to_owned()).spawn(until_then).is_ok();
        if !is_begun {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            // EAGAIN, as for a non-blocking call: programs with locks handle it, and a hanging command is worse.
            raw::answer(shown, &notice, Err(libc::EAGAIN)).ok();
        }
    }

    /// Waits for input. Returns false at the end.
    fn is_ready(&self, from: BorrowedFd<'_>) -> bool {
        let mut fds = [PollFd::from_borrowed_fd(from, PollFlags::IN), PollFd::new(&self.ends, PollFlags::IN)];
        loop {
            let pause = self.names.as_ref().and_then(Names::pause);
            if wait(&mut fds, pause).is_err() {
                return false;
            }
            let [from, ends] = fds.each_ref().map(PollFd::revents);
            self.names.iter().filter(|_| pause.is_some()).for_each(Names::settle);
            if !ends.is_empty() || !from.is_empty() {
                return ends.is_empty() && from.contains(PollFlags::IN);
            }
        }
    }

    /// Drops all other capabilities. If the command has another user, this thread alone changes to it: unlike those of libc, the
    /// setuid calls of rustix apply to the calling thread only.
    fn become_the_commands_user(&self) -> io::Result<()> {
        let Some((user, group)) = self.becomes else {
            return keep_capabilities_without_exec(KEPT_BY_OBSERVER);
        };
        let kept = if self.names.is_some() { KEPT_BY_DECIDER } else { &[] };
        // Before the change of user, because lowering the bounding set needs CAP_SETPCAP.
        keep_capabilities_without_exec(&[KEPT_BY_DECIDER, TO_BECOME_ANOTHER].concat())?;
        set_keep_capabilities(!kept.is_empty())?;
        // Before the user changes, which drops the capability for it.
        set_thread_groups(&[])?;
        set_thread_gid(Gid::from_raw(group))?;
        set_thread_uid(Uid::from_raw(user))?;
        keep_capabilities_without_exec(kept)
    }

    /// Performs a call that changes modes or times. Returns whether it was one.
    fn carries_out(&self, shown: BorrowedFd<'_>, notice: &Notice) -> bool {
        let change = Architecture::current().and_then(|it| mode_change(it, notice.number));
        let Some(change) = change.filter(|_| self.shown.modes) else { return false };
        let ended = modes::carry_out(&self.plan, shown, notice, change);
        raw::answer(shown, notice, ended.map_err(rustix::io::Errno::raw_os_error)).ok();
        true
    }

    /// Returns the requests of a call for explanations, if it is one of the command. The result is discarded if the calling
    /// thread ended meanwhile, because its ID may have been reused.
    fn look(&self, shown: BorrowedFd<'_>, notice: &Notice) -> Vec<Ask> {
        if !self.shown.asks || notice.thread == 0 || !self.concerns(notice.thread) {
            return Vec::new();
        }
        let asks = resolve::asks(notice);
        if raw::still_waits(shown, notice) { asks } else { Vec::new() }
    }

    fn concerns(&self, thread: u32) -> bool {
        // Until the makers are known, no call is the command's: it starts after `begin`.
        let makers = locked(&self.makers);
        makers.as_ref().is_some_and(|makers| !makers.iter().any(|maker| maker.cast_unsigned() == thread))
    }

    /// Whether a call belongs to the setup of the sandbox. After the first call of the command this is always false: a remaining
    /// setup process only waits for the end, and if the command takes it over, it is judged as the command.
    fn is_of_a_maker(&self, thread: u32) -> bool {
        if self.has_begun.load(Ordering::Relaxed) {
            return false;
        }
        let concerns = self.concerns(thread);
        self.has_begun.store(concerns, Ordering::Relaxed);
        !concerns
    }
}

/// Answers a call.
fn send(shown: BorrowedFd<'_>, notice: &Notice, reply: raw::Result<Reply>) {
    let ended = match reply {
        Ok(Reply::GoesOn(why)) => {
            let_go_on(shown, notice, why);
            return;
        }
        Ok(Reply::File(file, close_on_exec)) => {
            match raw::hand_over(shown, notice, file.as_fd(), close_on_exec) {
                Ok(()) => return,
                // The command has reached its limit on open files.
                Err(error) => Err(error),
            }
        }
        Ok(Reply::Done | Reply::Waits(_)) => Ok(()),
        Err(error) => Err(error),
    };
    raw::answer(shown, notice, ended).ok();
}
