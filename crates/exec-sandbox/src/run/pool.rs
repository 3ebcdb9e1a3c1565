//! A pool of prepared sandboxes, for a program that runs commands one after the other.
//!
//! Creating the sandbox takes most of the start-up time of a command. A pool prepares some in advance, up to the point where the
//! program would start. Each is used for one command. The enforcement is the same, because the plan and the steps are the same.
//! Each command is probed and planned as usual; it only gets a prepared sandbox if its plan, and every file that it shows or
//! hides, are those that the sandbox was prepared with.
//!
//! Sandboxes are prepared after an answer was sent, and dropped after a minute without a command. Probing and planning take 0.4 ms of
//! a command, so caching them is not worth the code.

#![expect(clippy::disallowed_methods, reason = "keeps a thread that makes sandboxes")]

mod kind;

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};

use super::begin::{ExitSource, Running, copy};
use super::observe::Observer;
use super::poll::wait;
use super::prepared::{Recovered, in_turn};
use super::stdio::Relay;
use super::supervise::read_report;
use super::{RunControl, RunError, Streams, carried_out, observer, sandbox_number, tell};
use crate::cgroup::Groups;
use crate::host::HostFacts;
use crate::native::{self, Ids, prepare};
use crate::outcome::Outcome;
use crate::plan::Plan;
use crate::spec::SandboxSpec;
use crate::sys::argv_mailbox::ArgvMailbox;
use crate::sys::launch::REPORT_READY;
use crate::sys::raw;
use kind::Kind;

/// A pool of prepared sandboxes for commands like the last ones. Dropping it ends the prepared ones.
///
/// It starts to prepare sandboxes when two commands in a row have the same plan except for their arguments, so a single
/// different command does not discard the prepared ones. A command without a matching sandbox gets a new one, as by
/// [`run_prepared`](super::run_prepared): after a change, with control groups, a terminal, a proxy or observed system calls, or
/// with another backend than the native one.
#[derive(Debug)]
pub struct SandboxPool {
    shared: Arc<Shared>,
    maker: Option<JoinHandle<()>>,
}

impl SandboxPool {
    /// Creates a pool of up to `size` sandboxes, of one kind at a time.
    #[must_use]
    pub fn new(size: usize) -> Self {
        Self::with(size, TIMES)
    }

    fn with(size: usize, times: Times) -> Self {
        let (state, changed) = Default::default();
        let shared = Arc::new(Shared { state, changed, size, times });
        let for_thread = Arc::clone(&shared);
        // If the thread cannot be started, no sandbox is prepared, and each command gets a new one.
        let maker =
            std::thread::Builder::new().name("sandbox-pool".to_owned()).spawn(move || make(&for_thread)).ok();
        Self { shared, maker }
    }

    /// Runs a planned command, in a prepared sandbox if one matches.
    ///
    /// # Errors
    /// As [`run_prepared`](super::run_prepared).
    pub fn run_prepared(
        &self,
        spec: &SandboxSpec,
        facts: HostFacts,
        first: Plan,
        streams: Streams,
    ) -> Result<(Plan, Outcome), RunError> {
        self.run_controlled(spec, facts, first, streams, &RunControl::default())
    }

    /// The same, with control from outside.
    ///
    /// # Errors
    /// As [`run_prepared`](super::run_prepared).
    pub fn run_controlled(
        &self,
        spec: &SandboxSpec,
        facts: HostFacts,
        first: Plan,
        streams: Streams,
        control: &RunControl,
    ) -> Result<(Plan, Outcome), RunError> {
        let Recovered { facts, plan, taken } = Recovered::before(spec, facts, first)?;
        let _running = RunningCommand::begin(&self.shared);
        let (plan, mut outcome) = match Kind::of(&plan, streams).and_then(|kind| self.shared.take(kind)) {
            Some(ready) => self.run_in(ready, spec, facts, plan, streams, control)?,
            None => in_turn(spec, facts, plan, streams, control)?,
        };
        outcome.quarantine.splice(0..0, taken);
        Ok((plan, outcome))
    }

    fn run_in(
        &self,
        mut ready: Ready,
        spec: &SandboxSpec,
        facts: HostFacts,
        planned: Plan,
        streams: Streams,
        control: &RunControl,
    ) -> Result<(Plan, Outcome), RunError> {
        let handing_over = || RunError::setup("sending the command to the prepared sandbox");
        let (programs, arguments) = native::words(&planned).map_err(handing_over())?;
        let variables = native::variables(&planned).map_err(handing_over())?;
        // The command line does not fit into the shared memory.
        if !ready.mailbox.write([&programs, &arguments, &variables]) {
            return in_turn(spec, facts, planned, streams, control);
        }
        let observer = ready.observer.take();
        let begin = || ready.go(&self.shared);
        let mut outcome =
            carried_out(&planned, streams, control, &Groups::default(), observer.as_ref(), begin)?;
        tell(&mut outcome, observer);
        Ok((planned, outcome))
    }

    /// Reports that the answers of all commands that have ended were sent. Until then, no sandbox is prepared; a caller that never
    /// reports it gets them a moment after a command.
    pub fn answered(&self) {
        let mut state = self.shared.lock();
        if state.unanswered > 0 {
            state.permits = (state.permits + state.unanswered).min(self.shared.size);
            state.unanswered = 0;
            drop(state);
            self.shared.changed.notify_all();
        }
    }

    /// Returns how many sandboxes are ready.
    #[must_use]
    pub fn ready(&self) -> usize {
        self.shared.lock().ready.len()
    }
}

impl Drop for SandboxPool {
    fn drop(&mut self) {
        self.shared.lock().ends = true;
        self.shared.changed.notify_all();
        // Sandboxes end with the thread that created them (PR_SET_PDEATHSIG), so that thread is joined last.
        if let Some(maker) = self.maker.take() {
            maker.join().ok();
        }
    }
}

/// When sandboxes are prepared and dropped.
#[derive(Debug, Clone, Copy)]
struct Times {
    /// The delay after a command, where the caller does not report its answers, see [`SandboxPool::answered`].
    rest: Duration,
    /// How long sandboxes wait for a command.
    idle: Duration,
}

const TIMES: Times = Times { rest: Duration::from_millis(200), idle: Duration::from_secs(60) };

/// The state that the pool shares with its thread.
#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    size: usize,
    times: Times,
}

#[derive(Debug, Default)]
struct State {
    /// The kind to prepare; nothing until two commands in a row were alike.
    wanted: Option<Arc<Kind>>,
    /// The kind of the last command that got a new sandbox, or of sandboxes that waited for too long.
    last: Option<Arc<Kind>>,
    ready: VecDeque<Ready>,
    /// Number of running commands.
    running: usize,
    /// Number of ended commands whose answers were not sent yet.
    unanswered: usize,
    /// Number of sandboxes that may be prepared although commands run.
    permits: usize,
    /// When the last command ended.
    quiet_since: Option<Instant>,
    /// Sandboxes to discard on the thread, because that takes time.
    stale: Vec<Ready>,
    /// Init processes of ended commands that have to be reaped.
    ended: Vec<i32>,
    /// Whether the last one could not be prepared. The caller gets the error from the new sandbox of its command.
    fails: bool,
    ends: bool,
}

/// What the thread of a pool does next.
enum Due {
    Make(Arc<Kind>),
    /// Drop the prepared sandboxes: no command came.
    Expire,
    /// Wait for a change, for this long at most.
    Wait(Option<Duration>),
}

impl State {
    /// Preparing a sandbox changes the memory maps of this process and of the kernel, which delays a running command and its answer.
    /// So it is done after the answer was sent.
    fn due(&mut self, size: usize, times: Times) -> Due {
        let quiet = self.quiet_since.map_or(Duration::ZERO, |since| since.elapsed());
        let missing = size.saturating_sub(self.ready.len());
        self.permits = self.permits.min(missing);
        let is_missing = missing > 0 && !self.fails;
        if let Some(kind) = self.wanted.as_ref().filter(|_| is_missing) {
            let is_at_rest = self.running == 0 && quiet >= times.rest;
            if self.permits > 0 {
                self.permits -= 1;
                return Due::Make(Arc::clone(kind));
            }
            if is_at_rest {
                self.unanswered = 0;
                return Due::Make(Arc::clone(kind));
            }
            return Due::Wait((self.running == 0).then(|| times.rest.saturating_sub(quiet)));
        }
        match self.running {
            0 if self.ready.is_empty() => Due::Wait(None),
            0 if quiet >= times.idle => Due::Expire,
            0 => Due::Wait(Some(times.idle.saturating_sub(quiet))),
            _ => Due::Wait(None),
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a prepared sandbox of this kind, if there is one. The second request of a kind in a row makes it the wanted kind.
    fn take(&self, kind: Kind) -> Option<Ready> {
        let mut state = self.lock();
        let ready = if state.wanted.as_deref() == Some(&kind) {
            state.last = None;
            let (alive, dead): (VecDeque<_>, _) =
                std::mem::take(&mut state.ready).into_iter().partition(Ready::is_alive);
            state.ready = alive;
            state.stale.extend(dead);
            state.ready.pop_front()
        } else if state.last.as_deref() == Some(&kind) {
            let stale: Vec<Ready> = state.ready.drain(..).collect();
            state.stale.extend(stale);
            (state.wanted, state.fails) = (Some(Arc::new(kind)), false);
            None
        } else {
            state.last = Some(Arc::new(kind));
            None
        };
        drop(state);
        self.changed.notify_all();
        ready
    }

    /// Registers a process to reap.
    fn bury(&self, pid: i32) {
        self.lock().ended.push(pid);
        self.changed.notify_all();
    }

    /// Waits for work, and returns the kind to prepare; nothing when the pool is dropped.
    fn next(&self) -> Option<Arc<Kind>> {
        let mut state = self.lock();
        loop {
            let (stale, ended) = (std::mem::take(&mut state.stale), std::mem::take(&mut state.ended));
            if !stale.is_empty() || !ended.is_empty() {
                drop(state);
                // Outside of the lock: dropping a sandbox waits for its processes.
                drop(stale);
                for pid in ended {
                    raw::wait_for(pid).ok();
                }
                state = self.lock();
                continue;
            }
            if state.ends {
                return None;
            }
            state = match state.due(self.size, self.times) {
                Due::Make(kind) => return Some(kind),
                Due::Expire => {
                    let expired: Vec<Ready> = state.ready.drain(..).collect();
                    state.stale.extend(expired);
                    state.last = state.wanted.take();
                    state
                }
                Due::Wait(Some(time)) => {
                    self.changed.wait_timeout(state, time).unwrap_or_else(PoisonError::into_inner).0
                }
                Due::Wait(None) => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Stores a prepared sandbox, if its kind is still wanted.
    fn keep(&self, kind: &Arc<Kind>, made: Result<Ready, RunError>) {
        let mut state = self.lock();
        let is_wanted = state.wanted.as_ref().is_some_and(|wanted| Arc::ptr_eq(wanted, kind));
        match made {
            Ok(ready) if is_wanted => state.ready.push_back(ready),
            // Not dropped here, because that waits for processes and the lock is held.
            Ok(ready) => state.stale.push(ready),
            Err(_) => state.fails |= is_wanted,
        }
    }
}

/// A running command of a pool, until this is dropped.
struct RunningCommand<'s>(&'s Shared);

impl<'s> RunningCommand<'s> {
    fn begin(shared: &'s Shared) -> Self {
        shared.lock().running += 1;
        Self(shared)
    }
}

impl Drop for RunningCommand<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.running = state.running.saturating_sub(1);
        state.unanswered += 1;
        state.quiet_since = Some(Instant::now());
        drop(state);
        self.0.changed.notify_all();
    }
}

fn make(shared: &Shared) {
    while let Some(kind) = shared.next() {
        let made = Ready::make(&kind);
        shared.keep(&kind, made);
    }
    let left = std::mem::take(&mut shared.lock().ready);
    drop(left);
}

/// A prepared sandbox, in which nothing has run yet.
struct Ready {
    running: Option<(Running, Relay)>,
    mailbox: ArgvMailbox,
    go: OwnedFd,
    observer: Option<Observer>,
}

impl std::fmt::Debug for Ready {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ready")
    }
}

impl Ready {
    fn make(kind: &Kind) -> Result<Self, RunError> {
        let Kind { plan, streams, .. } = kind;
        // The arguments are not known yet, and a copied process cannot receive allocations of this one.
        let mailbox = ArgvMailbox::new().map_err(RunError::setup("sharing memory"))?;
        let (relay, ends) = Relay::new(*streams, &plan.provider).map_err(RunError::setup("making pipes"))?;
        let ids = Ids::new(plan.identity, sandbox_number());
        let mut launch =
            prepare(plan, ids, ends.handed(), false).map_err(RunError::setup("preparing the mounts"))?;
        launch.argv_mailbox = Some(mailbox.place());
        let observer = observer(plan.clone(), ids)?;
        // The observer runs before the command is known, because the filter must be installed before the sandbox
        // waits.
        launch.observed = observer.as_ref().map(Observer::observed_at_once);
        let identify = |pid| ids.write_maps(pid);
        let (running, go) = copy(&launch, ExitSource::Reports, &Groups::default(), ends, identify)?;
        let ready = Self { running: Some((running, relay)), mailbox, go, observer };
        // Later copies of this process must not inherit the page, through which they could change the arguments.
        ready.mailbox.share_no_more().map_err(RunError::setup("sharing memory"))?;
        let report = ready.running.as_ref().map(|(running, _)| read_report(&running.news)).transpose();
        match report.map_err(RunError::Watch)?.flatten() {
            Some([REPORT_READY, ..]) => Ok(ready),
            _ => Err(RunError::setup("preparing a sandbox for the pool")(std::io::ErrorKind::Other.into())),
        }
    }

    /// Whether its processes still wait: they report nothing, and the pipe for reports is open.
    fn is_alive(&self) -> bool {
        self.running.as_ref().is_some_and(|(running, _)| {
            let mut news = [PollFd::new(&running.news, PollFlags::IN)];
            wait(&mut news, Some(Duration::ZERO)).is_ok() && news.iter().all(|it| it.revents().is_empty())
        })
    }

    /// Starts the command: two processes wait for one byte each. The pool's thread reaps the sandbox.
    fn go(&mut self, shared: &Arc<Shared>) -> Result<Option<(Running, Relay)>, RunError> {
        rustix::io::write(&self.go, b"gg").map_err(|error| RunError::Watch(error.into()))?;
        let shared = Arc::clone(shared);
        let running = self.running.take().map(|(mut running, relay)| {
            running.buried_by = Some(Box::new(move |pid| shared.bury(pid)));
            (running, relay)
        });
        Ok(running)
    }
}

impl Drop for Ready {
    fn drop(&mut self) {
        if let Some((running, _)) = &self.running {
            running.end(None).ok();
        }
    }
}

#[cfg(test)]
mod tests;
