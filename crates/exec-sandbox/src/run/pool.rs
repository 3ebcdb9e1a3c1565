//! Sandboxes that are ready before a command is there to run in them.
//!
//! Most of the time that a command takes to start goes into its sandbox. A pool makes some beforehand, each up to the point
//! where the program would begin; a command takes one, uses it alone, and it is gone with the command. What is enforced is
//! the same: it is the same plan, made by the same steps. Before one is handed out, this machine is looked at again; when
//! anything about the plan or its files is not as it was, all are thrown away.

#![expect(clippy::disallowed_methods, reason = "keeps a thread that makes sandboxes")]

mod kind;

use std::collections::VecDeque;
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::begin::{Running, Speaks, copy};
use super::pump::Pump;
use super::supervise::read_report;
use super::{RunError, Streams, carried_out, run_prepared, sandbox_number};
use crate::cgroup::Groups;
use crate::native::{self, Ids, prepare};
use crate::outcome::Outcome;
use crate::plan::{Plan, command, plan};
use crate::refusal::Refusal;
use crate::spec::SandboxSpec;
use crate::sys::argv_mailbox::ArgvMailbox;
use crate::sys::launch::REPORT_READY;
use crate::sys::raw;
use kind::{Glance, Kind};

/// Sandboxes for commands that differ in nothing but their words. It is dropped with all that is ready.
///
/// A command that no ready sandbox fits gets one of its own, as by [`plan_and_run`](crate::plan_and_run()): the first one,
/// one after something has changed, where control groups, a terminal or a look at what it asks for are wanted, or where the native launcher does not
/// make the sandbox.
#[derive(Debug)]
pub struct Pool {
    spec: SandboxSpec,
    streams: Streams,
    shared: Arc<Shared>,
    maker: Option<JoinHandle<()>>,
}

impl Pool {
    /// Begins to make so many sandboxes for commands like this one; its own words do not matter.
    pub fn new(spec: SandboxSpec, streams: Streams, size: usize) -> Result<Self, Refusal> {
        let spec = SandboxSpec { command: vec!["true".into()], ..spec };
        let glance = Glance::at(&spec);
        let planned = plan(&spec, &crate::probe::probe(&spec))?;
        let wanted = Kind::of(&planned, streams).map(Arc::new);
        let state = State {
            wanted,
            glance: Arc::new(glance),
            ready: VecDeque::new(),
            taken: None,
            stale: Vec::new(),
            ended: Vec::new(),
            fails: false,
            ends: false,
        };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
        let maker = {
            let shared = Arc::clone(&shared);
            std::thread::spawn(move || make(&shared, streams, size))
        };
        Ok(Self { spec, streams, shared, maker: Some(maker) })
    }

    /// Runs a command, and returns when it and everything that it started are gone.
    pub fn run(
        &self,
        command: impl IntoIterator<Item = impl Into<OsString>>,
    ) -> Result<(Plan, Outcome), RunError> {
        let command = command.into_iter().map(Into::into).collect();
        let spec = SandboxSpec { command, ..self.spec.clone() };
        if let Some((planned, ready)) = self.at_once(&spec)? {
            return self.run_in(ready, planned, &spec);
        }
        let glance = Glance::at(&spec);
        let facts = crate::probe::probe(&spec);
        let planned = plan(&spec, &facts)?;
        match Kind::of(&planned, self.streams).and_then(|kind| self.shared.take(kind, glance)) {
            Some(ready) => self.run_in(ready, planned, &spec),
            None => run_prepared(&spec, facts, planned, self.streams),
        }
    }

    fn run_in(
        &self,
        mut ready: Ready,
        planned: Plan,
        spec: &SandboxSpec,
    ) -> Result<(Plan, Outcome), RunError> {
        let handing_over = || RunError::setup("handing over the command");
        let (programs, arguments) = native::words(&planned).map_err(handing_over())?;
        let variables = native::variables(&planned).map_err(handing_over())?;
        if !ready.order.write([&programs, &arguments, &variables]) {
            return super::plan_and_run(spec, self.streams);
        }
        let outcome = carried_out(&planned, self.streams, &Groups::default(), || ready.go(&self.shared))?;
        Ok((planned, outcome))
    }

    /// Takes one for a command if a glance says that this machine is as it was: then the plan is as well, but for the words.
    fn at_once(&self, spec: &SandboxSpec) -> Result<Option<(Plan, Ready)>, Refusal> {
        let (wanted, glance) = {
            let state = self.shared.lock();
            (state.wanted.clone(), Arc::clone(&state.glance))
        };
        let Some(kind) = wanted.filter(|kind| glance.still_holds(spec, kind) && kind.still_holds()) else {
            return Ok(None);
        };
        let (program, arguments) = command(&spec.command)?;
        let watched = glance.found.watched.clone();
        let planned = Plan { program, arguments, watched, ..kind.plan.clone() };
        Ok(self.shared.take_same(&kind).map(|ready| (planned, ready)))
    }

    /// Returns how many sandboxes are ready.
    pub fn ready(&self) -> usize {
        self.shared.lock().ready.len()
    }
}

impl Drop for Pool {
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
#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    /// What to make; nothing where none can be made beforehand.
    wanted: Option<Arc<Kind>>,
    /// What this machine was like when that was found out.
    glance: Arc<Glance>,
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

    /// Returns one of this kind, if that is what is made and one is ready.
    fn take_same(&self, kind: &Arc<Kind>) -> Option<Ready> {
        let mut state = self.lock();
        let is_wanted = state.wanted.as_ref().is_some_and(|wanted| Arc::ptr_eq(wanted, kind));
        let ready = if is_wanted { state.pop() } else { None };
        drop(state);
        self.changed.notify_all();
        ready
    }

    /// Returns one of this kind, if there is one. If others are made, they are not from now on.
    fn take(&self, kind: Kind, glance: Glance) -> Option<Ready> {
        let mut state = self.lock();
        state.glance = Arc::new(glance);
        let ready = if state.wanted.as_deref() == Some(&kind) {
            state.pop()
        } else {
            let stale: Vec<Ready> = state.ready.drain(..).collect();
            state.stale.extend(stale);
            (state.wanted, state.fails) = (Some(Arc::new(kind)), false);
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

fn make(shared: &Shared, streams: Streams, size: usize) {
    while let Some(kind) = shared.next(size) {
        let made = Ready::make(&kind.plan, streams);
        shared.keep(&kind, made);
    }
    let left = std::mem::take(&mut shared.lock().ready);
    drop(left);
}

/// A sandbox in which nothing has run yet.
struct Ready {
    running: Option<(Running, Pump)>,
    order: ArgvMailbox,
    go: OwnedFd,
}

impl std::fmt::Debug for Ready {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ready")
    }
}

impl Ready {
    fn make(plan: &Plan, streams: Streams) -> Result<Self, RunError> {
        let order = ArgvMailbox::new().map_err(RunError::setup("sharing memory"))?;
        let (pump, ends) = Pump::new(streams).map_err(RunError::setup("making pipes"))?;
        let ids = Ids::new(plan.identity, sandbox_number());
        let mut launch =
            prepare(plan, ids, ends.handed(), false).map_err(RunError::setup("preparing the mounts"))?;
        launch.argv_mailbox = Some(order.place());
        let identify = |pid| ids.write_maps(pid);
        let (running, go) = copy(&launch, Speaks::Reports, &Groups::default(), ends, identify)?;
        let ready = Self { running: Some((running, pump)), order, go };
        ready.order.share_no_more().map_err(RunError::setup("sharing memory"))?;
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
