//! Starts a command with the provider of the plan.

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

/// A command that was started.
pub(super) struct Running {
    /// The first process, if it runs on this machine.
    pub(super) init: Option<SpawnedInit>,
    /// Readable when the command has ended or there is a report.
    pub(super) news: OwnedFd,
    pub(super) exit_source: ExitSource,
    /// A lock that is held until all processes are gone.
    _lock: Option<OwnedFd>,
    /// Reaps the first process once all others are gone; without it, [`Running::end`] does.
    pub(super) buried_by: Option<Burial>,
}

/// Accepts the ID of a process that has ended or is about to, to reap it later.
pub(super) type Burial = Box<dyn Fn(i32) + Send>;

/// How the end of a command is reported.
pub(super) enum ExitSource {
    /// Reports of the init process. Killing it kills all others (PID namespace).
    Reports,
    /// Reports of the first process, which ends all others on request (no PID namespace).
    WhenAsked,
    /// The state of the container when the engine's client has ended.
    Engine(Box<Container>),
    /// The thread of a registered backend.
    Added(AddedRun),
    /// The exit status of bubblewrap.
    Ends {
        /// The first process in the sandbox.
        first: i32,
        handle: OwnedFd,
    },
}

/// Starts a command; nothing if the program is known to be missing.
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
            copy(&launch, ExitSource::Reports, groups, ends, |pid| ids.write_maps(pid)).map(only)
        }
        Provider::Landlock | Provider::Nothing => {
            let ids = Ids::new(plan.identity, number);
            ends.terminal().into_iter().for_each(|terminal| ids.own(terminal));
            let mut launch = in_place(plan, ids, ends.handed(), groups.bound_memory())
                .map_err(RunError::setup("preparing the rules"))?;
            launch.scratch_dir = private.map(Private::scratch_dir);
            launch.observed = observer.map(Observer::observed_at_once);
            copy(&launch, ExitSource::WhenAsked, groups, ends, |_| Ok(())).map(only)
        }
        Provider::Container(container) => contained(plan, container, ends).map(Some),
        Provider::Added(_) => {
            let why = "only its registry can run commands in it";
            let error = io::Error::new(io::ErrorKind::Unsupported, why);
            Err(RunError::setup("running in a registered backend")(error))
        }
        // Bubblewrap reports a missing program only as text on standard error, which a command could print as well.
        Provider::Bwrap { .. } if !sees(plan) => Ok(None),
        Provider::Bwrap { program } => bwrap(plan, program, ends, groups, observer).map(Some),
    }
}

/// Drops the pipe for further go signals, which only pooled sandboxes wait for.
fn only((running, _): (Running, OwnedFd)) -> Option<Running> {
    Some(running)
}

/// Starts the command in a fork of this thread. Returns the pipe for the go signal as well.
pub(super) fn copy(
    launch: &Launch,
    exit_source: ExitSource,
    groups: &Groups,
    ends: Ends,
    identify: impl FnOnce(i32) -> io::Result<()>,
) -> Result<(Running, OwnedFd), RunError> {
    let (go_read, go_write) = super::pipe()?;
    let (news, reports) = super::pipe()?;
    let init = launch::start(launch, go_read.as_raw_fd(), reports.as_raw_fd())
        .map_err(|errno| RunError::setup("making namespaces")(io::Error::from_raw_os_error(errno)))?;
    // With a copy of these ends here, the end of the sandbox would not be readable on the pipes.
    drop((go_read, reports, ends));
    // The process waits for the go signal, so that it runs nothing before its ID maps and control group are set.
    let ready = identify(init.pid).and_then(|()| groups.add(init.pid));
    let ready = ready.and_then(|()| Ok(rustix::io::write(&go_write, b"g").map(|_| ())?));
    if let Err(error) = ready {
        end(init.pid);
        return Err(RunError::setup("writing the user ID maps")(error));
    }
    Ok((Running { init: Some(init), news, exit_source, _lock: None, buried_by: None }, go_write))
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
        // Bubblewrap waits for the byte on `go`, so the limits apply before the command starts.
        groups.add(waiting.first)?;
        let init = SpawnedInit { pid: waiting.pid, pidfd: handle(waiting.pid)? };
        let news = handle(waiting.pid)?;
        let exit_source = ExitSource::Ends { first: waiting.first, handle: handle(waiting.first)? };
        observer.into_iter().for_each(|observer| observer.begin(vec![waiting.pid, waiting.first]));
        rustix::io::write(&waiting.go, b"g")?;
        Ok(Running { init: Some(init), news, exit_source, _lock: waiting.lock, buried_by: None })
    };
    begun().map_err(|error| {
        end(waiting.pid);
        RunError::setup("creating a control group for bubblewrap")(error)
    })
}

/// Starts the command in a container.
fn contained(plan: &Plan, container: &ContainerPlan, ends: Ends) -> Result<Running, RunError> {
    if ends.terminal().is_some() {
        let why = "a container backend cannot provide a terminal";
        let fix = "run it without a terminal, or choose the native backend";
        return Err(Refusal::new(What::Command, SandboxRule::CannotEnforce(why), fix).into());
    }
    let failed = |error: io::Error| match error.downcast::<Refusal>() {
        Ok(refusal) => RunError::Refused(refusal),
        Err(error) => RunError::setup("making a container")(error),
    };
    let begun = engine::begin(plan, container, ends.handed()).map_err(failed)?;
    drop(ends);
    // Two handles of the engine's client: one to signal it, and one to poll for its end.
    let watched = || -> io::Result<(OwnedFd, OwnedFd)> { Ok((handle(begun.pid)?, handle(begun.pid)?)) };
    let (pidfd, news) = watched().map_err(failed)?;
    let init = SpawnedInit { pid: begun.pid, pidfd };
    let exit_source =
        ExitSource::Engine(Box::new(Container::new(begun.contained, plan.limits.cpu_time.bound().is_some())));
    Ok(Running { init: Some(init), news, exit_source, _lock: None, buried_by: None })
}

/// Ends a sandbox whose setup failed, with its process group.
fn end(pid: i32) {
    // The group first: after the first process is gone, its ID could belong to another group.
    raw::send_signal(-pid, libc::SIGKILL).ok();
    raw::send_signal(pid, libc::SIGKILL).ok();
    raw::wait_for(pid).ok();
}

impl Running {
    /// Returns a command whose processes are not on this machine, or belong to a backend.
    pub(super) const fn elsewhere(news: OwnedFd, exit_source: ExitSource) -> Self {
        Self { init: None, news, exit_source, _lock: None, buried_by: None }
    }

    /// Returns the ID of the first process, or one that does not exist if it is not on this machine.
    pub(super) fn first(&self) -> i32 {
        self.init.as_ref().map_or(i32::MAX, |init| init.pid)
    }

    /// Ends all remaining processes, and returns when they are gone. If their usage is `known`, they are gone already except for
    /// the first one, whose namespaces take the kernel a while to destroy, so it is reaped later.
    pub(super) fn end(&self, known: Option<raw::Used>) -> Result<raw::Used, RunError> {
        if let ExitSource::Added(command) = &self.exit_source {
            return command.end();
        }
        let Some(SpawnedInit { pid: first, .. }) = self.init else { return Ok(raw::Used::default()) };
        if let ExitSource::Engine(container) = &self.exit_source {
            return container.end(first);
        }
        // Destroying namespaces takes the kernel milliseconds, which a pooled command does not wait for.
        if let (Some(used), Some(bury)) = (&known, &self.buried_by) {
            bury(first);
            return Ok(*used);
        }
        // Killed, the first process could not end the others without a PID namespace, so it is asked to do that.
        let signal =
            if matches!(self.exit_source, ExitSource::WhenAsked) { PARENT_GONE } else { libc::SIGKILL };
        if let ExitSource::Ends { handle, .. } = &self.exit_source {
            // By handle and not by number: bubblewrap has reaped the process if it ended, and its number may be used
            // again.
            rustix::process::pidfd_send_signal(handle, rustix::process::Signal::KILL).ok();
        }
        raw::send_signal(first, signal).ok();
        let used = raw::wait_for(first);
        if let ExitSource::Ends { handle, .. } = &self.exit_source {
            super::poll::wait(&mut [rustix::event::PollFd::new(handle, rustix::event::PollFlags::IN)], None)
                .map_err(RunError::Watch)?;
        }
        let used = used.map(|used| known.unwrap_or(used));
        used.map_err(|errno| RunError::Watch(io::Error::from_raw_os_error(errno)))
    }

    /// Returns the process whose end ends all others of the sandbox.
    pub(super) fn last(&self) -> i32 {
        match &self.exit_source {
            ExitSource::Ends { first, .. } => *first,
            _ => self.first(),
        }
    }

    /// Lowers the autogroup priority of the command's session, see sched(7). Returns whether that is done, or the first process
    /// does it itself. The caller retries, because the kernel accepts such changes of users only ten times a second.
    pub(super) fn weighs_less(&self) -> bool {
        let first = match &self.exit_source {
            ExitSource::Reports | ExitSource::Engine(_) | ExitSource::Added(_) => return true,
            ExitSource::WhenAsked => self.first(),
            ExitSource::Ends { first, .. } => *first,
        };
        let commands = super::memory::children(first);
        // With autogroups, the kernel ignores the nice value of a process towards other sessions (sched(7)).
        let weigh = |pid: &i32| std::fs::write(format!("/proc/{pid}/autogroup"), "19").is_ok();
        !commands.is_empty() && commands.iter().all(weigh)
    }

    /// Forwards a signal to the command.
    pub(super) fn signal(&self, signal: i32) {
        match &self.exit_source {
            ExitSource::Engine(container) => container.signal(signal),
            ExitSource::Added(command) => command.signal(signal),
            ExitSource::Ends { first, .. } => {
                // Each child leads its own session, so the process group gets the signal.
                let commands = super::memory::children(*first).into_iter();
                commands.for_each(|command| {
                    raw::send_signal(-command, signal).ok();
                });
            }
            ExitSource::Reports | ExitSource::WhenAsked => {
                let signal = rustix::process::Signal::from_named_raw(signal);
                if let (Some(signal), Some(init)) = (signal, &self.init) {
                    rustix::process::pidfd_send_signal(init.pidfd.as_fd(), signal).ok();
                }
            }
        }
    }
}
