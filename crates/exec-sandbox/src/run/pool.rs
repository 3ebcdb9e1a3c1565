//! Sandboxes that are ready before a command is there to run in them, for a program that runs one after the other.
//!
//! Most of the time that a command takes to start goes into its sandbox. A pool makes some beforehand, each up to the point
//! where the program would begin; a command takes one, uses it alone, and it is gone with the command. What is enforced is
//! the same: it is the same plan, made by the same steps. The machine is looked at and the command is planned as ever; only
//! where that plan, and each file that it shows or hides, is the one that a waiting sandbox was made from, is that one taken.
//!
//! Measured in turns on two busy cores (`cargo bench --bench startup`): to look, plan and run `true` takes 5.5 ms at best and 19 ms
//! in the median in a sandbox made for it, 1.6 and 4.4 ms in one that waits. To look and to plan takes 0.4 ms of that, so a
//! quicker look is not worth its code. Of a whole request to `stockade serve` on a quiet machine, with its two records on the disk,
//! it is less: 6.5 ms in the median against 7.6.

#![expect(clippy::disallowed_methods, reason = "keeps a thread that makes sandboxes")]

mod kind;

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::begin::{Running, Speaks, copy};
use super::observe::Observer;
use super::prepared::{Recovered, in_turn};
use super::stdio::Pump;
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

/// Sandboxes that wait for commands like the last ones. It is dropped with all that is ready.
///
/// It begins to make them when two commands in a row differ in nothing but their words; so a single one of another kind
/// does not throw away what waits. A command that no ready sandbox fits gets one of its own, as by
/// [`run_prepared`](super::run_prepared): where something has changed, where control groups, a terminal, a proxy or a look at what it asks for are
/// wanted, or where the native launcher does not make the sandbox.
#[derive(Debug)]
pub struct SandboxPool {
    shared: Arc<Shared>,
    maker: Option<JoinHandle<()>>,
}

impl SandboxPool {
    /// Begins to keep up to so many sandboxes ready, of one kind at a time.
    #[must_use]
    pub fn new(size: usize) -> Self {
        let shared = Arc::<Shared>::default();
        let for_thread = Arc::clone(&shared);
        // Without a thread, nothing is ever ready, and each command gets a sandbox of its own.
        let maker = std::thread::Builder::new()
            .name("sandbox-pool".to_owned())
            .spawn(move || make(&for_thread, size))
            .ok();
        Self { shared, maker }
    }

    /// Runs what was planned from these facts, in a sandbox that is ready if one fits.
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

    /// The same, where somebody reaches into the run from outside.
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
        let handing_over = || RunError::setup("handing over the command");
        let (programs, arguments) = native::words(&planned).map_err(handing_over())?;
        let variables = native::variables(&planned).map_err(handing_over())?;
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
        // The kernel ends a sandbox with the thread that made it, so this one is the last to go.
        if let Some(maker) = self.maker.take() {
            maker.join().ok();
        }
    }
}

/// How long the next sandbox waits to be made when one was taken and others are left. To make one while a command starts
/// holds the command up, since both change what this process and the kernel have mapped.
const AFTER_ONE_IS_TAKEN: Duration = Duration::from_millis(4);

/// What the pool and the thread that makes sandboxes both see.
#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// What to make; nothing until two commands in a row were alike.
    wanted: Option<Arc<Kind>>,
    /// What the last command was that got a sandbox of its own.
    last: Option<Kind>,
    ready: VecDeque<Ready>,
    /// When the last one was taken.
    taken: Option<Instant>,
    /// What is to be thrown away, which takes time.
    stale: Vec<Ready>,
    /// First processes whose command has ended, and which the kernel takes down.
    ended: Vec<i32>,
    /// Whether the last one could not be made. Whoever runs a command is told why by the one that is made for it.
    fails: bool,
    ends: bool,
}

impl State {
    fn pop(&mut self) -> Option<Ready> {
        self.taken = Some(Instant::now());
        self.ready.pop_front()
    }

    /// How long the command in the last one that was taken is still left alone.
    fn pause(&self) -> Option<Duration> {
        if self.ready.is_empty() {
            return None;
        }
        AFTER_ONE_IS_TAKEN.checked_sub(self.taken?.elapsed())
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns one of this kind, if there is one. If it is the second of its kind in a row, such are made from now on.
    fn take(&self, kind: Kind) -> Option<Ready> {
        let mut state = self.lock();
        let ready = if state.wanted.as_deref() == Some(&kind) {
            state.last = None;
            state.pop()
        } else if state.last.as_ref() == Some(&kind) {
            let stale: Vec<Ready> = state.ready.drain(..).collect();
            state.stale.extend(stale);
            (state.wanted, state.fails) = (Some(Arc::new(kind)), false);
            None
        } else {
            state.last = Some(kind);
            None
        };
        drop(state);
        self.changed.notify_all();
        ready
    }

    /// Keeps the number of a process to wait for.
    fn bury(&self, pid: i32) {
        self.lock().ended.push(pid);
        self.changed.notify_all();
    }

    /// Waits until there is something to do, and returns what to make; nothing at the end.
    fn next(&self, size: usize) -> Option<Arc<Kind>> {
        let mut state = self.lock();
        loop {
            let (stale, ended) = (std::mem::take(&mut state.stale), std::mem::take(&mut state.ended));
            if !stale.is_empty() || !ended.is_empty() {
                drop(state);
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
            let kind = state.wanted.as_ref().filter(|_| state.ready.len() < size && !state.fails);
            state = match (kind, state.pause()) {
                (Some(kind), None) => return Some(Arc::clone(kind)),
                (Some(_), Some(pause)) => {
                    self.changed.wait_timeout(state, pause).unwrap_or_else(PoisonError::into_inner).0
                }
                (None, _) => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Keeps one, if it is still of the kind that is wanted.
    fn keep(&self, kind: &Arc<Kind>, made: Result<Ready, RunError>) {
        let mut state = self.lock();
        let is_wanted = state.wanted.as_ref().is_some_and(|wanted| Arc::ptr_eq(wanted, kind));
        match made {
            Ok(ready) if is_wanted => state.ready.push_back(ready),
            Ok(ready) => state.stale.push(ready),
            Err(_) => state.fails |= is_wanted,
        }
    }
}

fn make(shared: &Shared, size: usize) {
    while let Some(kind) = shared.next(size) {
        let made = Ready::make(&kind);
        shared.keep(&kind, made);
    }
    let left = std::mem::take(&mut shared.lock().ready);
    drop(left);
}

/// A sandbox in which nothing has run yet.
struct Ready {
    running: Option<(Running, Pump)>,
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
        let mailbox = ArgvMailbox::new().map_err(RunError::setup("sharing memory"))?;
        let (pump, ends) = Pump::new(*streams, &plan.provider).map_err(RunError::setup("making pipes"))?;
        let ids = Ids::new(plan.identity, sandbox_number());
        let mut launch =
            prepare(plan, ids, ends.handed(), false).map_err(RunError::setup("preparing the mounts"))?;
        launch.argv_mailbox = Some(mailbox.place());
        let observer = observer(plan.clone(), ids)?;
        launch.observed = observer.as_ref().map(Observer::observed_at_once);
        let identify = |pid| ids.write_maps(pid);
        let (running, go) = copy(&launch, Speaks::Reports, &Groups::default(), ends, identify)?;
        let ready = Self { running: Some((running, pump)), mailbox, go, observer };
        ready.mailbox.share_no_more().map_err(RunError::setup("sharing memory"))?;
        let report = ready.running.as_ref().map(|(running, _)| read_report(&running.news)).transpose();
        match report.map_err(RunError::Watch)?.flatten() {
            Some([REPORT_READY, ..]) => Ok(ready),
            _ => Err(RunError::setup("making a sandbox beforehand")(std::io::ErrorKind::Other.into())),
        }
    }

    /// Lets the command begin, which both processes wait for. The thread that makes sandboxes waits for the end of this one.
    fn go(&mut self, shared: &Arc<Shared>) -> Result<Option<(Running, Pump)>, RunError> {
        rustix::io::write(&self.go, b"gg").map_err(|error| RunError::Watch(error.into()))?;
        let shared = Arc::clone(shared);
        let running = self.running.take().map(|(mut running, pump)| {
            running.buried_by = Some(Box::new(move |pid| shared.bury(pid)));
            (running, pump)
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
