//! Begins a command in what the plan chose, up to the point where it is looked after.

#![expect(clippy::disallowed_methods, reason = "starts processes and lets them go on")]

use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::path::Path;

use super::RunError;
use super::added_run::AddedRun;
use super::contained::Container;
use super::observe::Observer;
use super::private::Private;
use super::stdio::Ends;
use crate::backends::engine;
use crate::bwrap::start::{self as bubblewrap, handle, sees};
use crate::cgroup::Groups;
use crate::container_request::ContainerPlan;
use crate::native::{Ids, in_place, prepare};
use crate::plan::Plan;
use crate::provider::Provider;
use crate::refusal::{Refusal, SandboxRule, What};
use crate::sys::launch::{self, Launch, PARENT_GONE, SpawnedInit};
use crate::sys::raw;

/// A command that has begun.
pub(super) struct Running {
    /// The first process, where there is one on this machine.
    pub(super) init: Option<SpawnedInit>,
    /// What becomes readable when there is something to know.
    pub(super) news: OwnedFd,
    pub(super) speaks: Speaks,
    /// Held until everything is gone.
    _lock: Option<OwnedFd>,
    /// Who waits for the first process once all others are gone; if nobody does, this value does.
    pub(super) buried_by: Option<Burial>,
}

/// Takes the number of a process that has ended, or is about to, to wait for it later.
pub(super) type Burial = Box<dyn Fn(i32) + Send>;

/// How a sandbox says how its command ended.
pub(super) enum Speaks {
    /// By reports of its first process; when that one is killed, all others are.
    Reports,
    /// By reports of its first process, which ends all others when it is asked to.
    WhenAsked,
    /// By what the engine of a container says when its client has ended.
    Engine(Box<Container>),
    /// By the thread of a backend that was added.
    Added(AddedRun),
    /// By the way in which the program ends that made it.
    Ends {
        /// The first process in the sandbox.
        first: i32,
        handle: OwnedFd,
    },
}

/// Begins a command; nothing if it is known beforehand that there is no such program.
pub(super) fn begin(
    plan: &Plan,
    ends: Ends,
    groups: &Groups,
    number: u32,
    private: Option<&Private>,
    observer: Option<&Observer>,
) -> Result<Option<Running>, RunError> {
    match &plan.provider {
        Provider::Native => {
            let ids = Ids::new(plan.identity, number);
            ends.terminal().into_iter().for_each(|terminal| ids.own(terminal));
            let mut launch = prepare(plan, ids, ends.handed(), groups.bound_memory())
                .map_err(RunError::setup("preparing the mounts"))?;
            launch.observed = observer.map(Observer::observed_at_once);
            copy(&launch, Speaks::Reports, groups, ends, |pid| ids.write_maps(pid)).map(only)
        }
        Provider::Landlock | Provider::Nothing => {
            let ids = Ids::new(plan.identity, number);
            ends.terminal().into_iter().for_each(|terminal| ids.own(terminal));
            let mut launch = in_place(plan, ids, ends.handed(), groups.bound_memory())
                .map_err(RunError::setup("preparing the rules"))?;
            launch.scratch_dir = private.map(Private::scratch_dir);
            launch.observed = observer.map(Observer::observed_at_once);
            copy(&launch, Speaks::WhenAsked, groups, ends, |_| Ok(())).map(only)
        }
        Provider::Container(container) => contained(plan, container, ends).map(Some),
        Provider::Added(_) => {
            let why = "only the registry that it was added to runs commands in it";
            let error = io::Error::new(io::ErrorKind::Unsupported, why);
            Err(RunError::setup("running in a backend that was added")(error))
        }
        Provider::Bwrap { .. } if !sees(plan) => Ok(None),
        Provider::Bwrap { program } => bwrap(plan, program, ends, groups, observer).map(Some),
    }
}

/// The word to go on has been given once, and nobody waits for another.
fn only((running, _): (Running, OwnedFd)) -> Option<Running> {
    Some(running)
}

/// Begins it in a copy of this thread. Returns what gives the word to go on as well.
pub(super) fn copy(
    launch: &Launch,
    speaks: Speaks,
    groups: &Groups,
    ends: Ends,
    identify: impl FnOnce(i32) -> io::Result<()>,
) -> Result<(Running, OwnedFd), RunError> {
    let (go_read, go_write) = super::pipe()?;
    let (news, reports) = super::pipe()?;
    let init = launch::start(launch, go_read.as_raw_fd(), reports.as_raw_fd())
        .map_err(|errno| RunError::setup("making namespaces")(io::Error::from_raw_os_error(errno)))?;
    drop((go_read, reports, ends));
    let ready = identify(init.pid).and_then(|()| groups.add(init.pid));
    let ready = ready.and_then(|()| Ok(rustix::io::write(&go_write, b"g").map(|_| ())?));
    if let Err(error) = ready {
        end(init.pid);
        return Err(RunError::setup("giving the sandbox its identity")(error));
    }
    Ok((Running { init: Some(init), news, speaks, _lock: None, buried_by: None }, go_write))
}

fn bwrap(
    plan: &Plan,
    program: &Path,
    ends: Ends,
    groups: &Groups,
    observer: Option<&Observer>,
) -> Result<Running, RunError> {
    let refused = |error: io::Error| match error.downcast::<Refusal>() {
        Ok(refusal) => RunError::Refused(refusal),
        Err(error) => RunError::setup("starting bubblewrap")(error),
    };
    let waiting =
        bubblewrap::start(plan, program, ends.handed(), observer.map(Observer::observed)).map_err(refused)?;
    drop(ends);
    let begun = || -> io::Result<Running> {
        groups.add(waiting.first)?;
        let init = SpawnedInit { pid: waiting.pid, pidfd: handle(waiting.pid)? };
        let news = handle(waiting.pid)?;
        let speaks = Speaks::Ends { first: waiting.first, handle: handle(waiting.first)? };
        observer.into_iter().for_each(|observer| observer.begin(vec![waiting.pid, waiting.first]));
        rustix::io::write(&waiting.go, b"g")?;
        Ok(Running { init: Some(init), news, speaks, _lock: waiting.lock, buried_by: None })
    };
    begun().map_err(|error| {
        end(waiting.pid);
        RunError::setup("bounding what bubblewrap starts")(error)
    })
}

/// Begins it in a container.
fn contained(plan: &Plan, container: &ContainerPlan, ends: Ends) -> Result<Running, RunError> {
    if ends.terminal().is_some() {
        let why = "a command in a container gets no terminal of its own";
        let fix = "leave the terminal out, or choose the native backend";
        return Err(Refusal::new(What::Command, SandboxRule::CannotEnforce(why), fix).into());
    }
    let failed = |error: io::Error| match error.downcast::<Refusal>() {
        Ok(refusal) => RunError::Refused(refusal),
        Err(error) => RunError::setup("making a container")(error),
    };
    let begun = engine::begin(plan, container, ends.handed()).map_err(failed)?;
    drop(ends);
    let watched = || -> io::Result<(OwnedFd, OwnedFd)> { Ok((handle(begun.pid)?, handle(begun.pid)?)) };
    let (pidfd, news) = watched().map_err(failed)?;
    let init = SpawnedInit { pid: begun.pid, pidfd };
    let speaks =
        Speaks::Engine(Box::new(Container::new(begun.contained, plan.limits.cpu_time.bound().is_some())));
    Ok(Running { init: Some(init), news, speaks, _lock: None, buried_by: None })
}

/// Ends a sandbox that got no further, and what it has started in its own group.
fn end(pid: i32) {
    raw::send_signal(-pid, libc::SIGKILL).ok();
    raw::send_signal(pid, libc::SIGKILL).ok();
    raw::wait_for(pid).ok();
}

impl Running {
    /// One whose processes are not on this machine, or are somebody else's.
    pub(super) const fn elsewhere(news: OwnedFd, speaks: Speaks) -> Self {
        Self { init: None, news, speaks, _lock: None, buried_by: None }
    }

    /// The number of the first process; of none, where that is not on this machine.
    pub(super) fn first(&self) -> i32 {
        self.init.as_ref().map_or(i32::MAX, |init| init.pid)
    }

    /// Ends whatever is left, and returns when it is gone. Where it is known what all others used up, they are gone already;
    /// then what takes longest is that the kernel takes the namespaces of the first process down.
    pub(super) fn end(&self, known: Option<raw::Used>) -> Result<raw::Used, RunError> {
        if let Speaks::Added(command) = &self.speaks {
            return command.end();
        }
        let Some(SpawnedInit { pid: first, .. }) = self.init else { return Ok(raw::Used::default()) };
        if let Speaks::Engine(container) = &self.speaks {
            return container.end(first);
        }
        if let (Some(used), Some(bury)) = (&known, &self.buried_by) {
            bury(first);
            return Ok(*used);
        }
        let signal = if matches!(self.speaks, Speaks::WhenAsked) { PARENT_GONE } else { libc::SIGKILL };
        if let Speaks::Ends { handle, .. } = &self.speaks {
            rustix::process::pidfd_send_signal(handle, rustix::process::Signal::KILL).ok();
        }
        raw::send_signal(first, signal).ok();
        let used = raw::wait_for(first);
        if let Speaks::Ends { handle, .. } = &self.speaks {
            super::poll::wait(&mut [rustix::event::PollFd::new(handle, rustix::event::PollFlags::IN)], None)
                .map_err(RunError::Watch)?;
        }
        let used = used.map(|used| known.unwrap_or(used));
        used.map_err(|errno| RunError::Watch(io::Error::from_raw_os_error(errno)))
    }

    /// The process of a sandbox on this machine that all others there end with.
    pub(super) fn last(&self) -> i32 {
        match &self.speaks {
            Speaks::Ends { first, .. } => *first,
            _ => self.first(),
        }
    }

    /// Lets other programs have the processor before the session of the command. Says whether that is done, or is done by
    /// the first process itself. The kernel takes a new weight only ten times a second, from all together.
    pub(super) fn weighs_less(&self) -> bool {
        let first = match &self.speaks {
            Speaks::Reports | Speaks::Engine(_) | Speaks::Added(_) => return true,
            Speaks::WhenAsked => self.first(),
            Speaks::Ends { first, .. } => *first,
        };
        let commands = super::memory::children(first);
        let weigh = |pid: &i32| std::fs::write(format!("/proc/{pid}/autogroup"), "19").is_ok();
        !commands.is_empty() && commands.iter().all(weigh)
    }

    /// Hands a signal on to the command.
    pub(super) fn signal(&self, signal: i32) {
        match &self.speaks {
            Speaks::Engine(container) => container.signal(signal),
            Speaks::Added(command) => command.signal(signal),
            Speaks::Ends { first, .. } => {
                // Each is the leader of a session of its own.
                let commands = super::memory::children(*first).into_iter();
                commands.for_each(|command| {
                    raw::send_signal(-command, signal).ok();
                });
            }
            Speaks::Reports | Speaks::WhenAsked => {
                let signal = rustix::process::Signal::from_named_raw(signal);
                if let (Some(signal), Some(init)) = (signal, &self.init) {
                    rustix::process::pidfd_send_signal(init.pidfd.as_fd(), signal).ok();
                }
            }
        }
    }
}
