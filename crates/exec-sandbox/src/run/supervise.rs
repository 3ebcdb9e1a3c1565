//! Supervises a sandbox until all its processes are gone.

#![expect(clippy::disallowed_methods, reason = "keeps the time of a command and reads its reports")]

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};

use super::added_run::ASKS_TO_END;
use super::begin::{ExitSource, Running};
use super::disk::{Disks, Fill, is_bounded};
use super::observe::Observer;
use super::poll::wait;
use super::saved_meanwhile::SavedMeanwhile;
use super::stdio::Relay;
use super::{Cancellation, RunControl, RunError, Signals, memory};
use crate::cgroup::Groups;
use crate::enforcement::Enforcement;
use crate::explain::{Denial, explain};
use crate::limits::{Priority, ResourceLimits};
use crate::mounts::MountKind;
use crate::native::limits::reaches_hard_cpu_limit;
use crate::outcome::{End, Outcome, ResourceUsage};
use crate::plan::Plan;
use crate::provider::Provider;
use crate::sys::footprint::Code;
use crate::sys::launch::{REPORT_END, REPORT_EXEC, REPORT_SETUP, Report, stage_in_words};
use crate::sys::raw;

/// Signals that are forwarded to the command.
const HANDED_ON: &[i32] = &[
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGTERM,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGWINCH,
    libc::SIGCONT,
];

// A pipeline's reader may hold the pipe open without reading it.
/// How long a reader may take for the remaining output after a timeout.
const GRACE: Duration = Duration::from_secs(2);

/// Maximum number of attempts to set the autogroup priority, which is missing on some kernels.
const TRIES: u32 = 20;

/// Why the supervision ended.
enum Ending {
    /// The sandbox sent a report, or ended without one.
    Report(Option<Report>),
    /// Bubblewrap, the engine's client or the backend ended.
    Itself,
    TimedOut,
    OutOfMemory,
    OutOfDisk,
    Cancelled,
}

impl Ending {
    /// Returns the usage that the first process reports for all others, which are gone then.
    fn used(&self) -> Option<raw::Used> {
        let Self::Report(Some([REPORT_END, status, used @ ..])) = *self else { return None };
        let [seconds, millionths, memory, written, ..] =
            used.map(|number| u64::try_from(number).unwrap_or_default());
        let cpu = Duration::from_secs(seconds) + Duration::from_micros(millionths);
        Some(raw::Used { status, cpu, peak_memory: memory * 1024, written: written * 1024 })
    }
}

/// Limits and events that are checked besides reports.
struct Bounds<'b> {
    end: Option<Instant>,
    /// The memory limit for all processes, unless a control group enforces it.
    memory: Option<u64>,
    /// The tmpfs mounts, which count as memory.
    folders: Vec<PathBuf>,
    /// The writable file systems, if there is a disk limit.
    disks: Option<(&'b Disks, &'b ResourceLimits)>,
    /// Whether the priority is idle.
    is_idle: bool,
    /// The caller's cancellation.
    cancellation: Option<&'b Cancellation>,
}

/// The files that other programs save while the command runs. A thread treats them, which starts with the first event: most
/// commands run without one, and a thread takes some thirty system calls.
pub(super) struct NewNames<'o> {
    observer: &'o Observer,
    saved: Option<SavedMeanwhile>,
}

impl<'o> NewNames<'o> {
    /// Watches the directories of a plan, for a command whose processes descend from `first`.
    pub(super) fn of(observer: &'o Observer, plan: &Plan, first: i32) -> Option<Self> {
        let saved = observer.watch_new_names(plan, first)?;
        let is_late = saved.is_late();
        let mut new_names = Self { observer, saved: Some(saved) };
        if is_late {
            new_names.treat();
        }
        Some(new_names)
    }

    /// Returns the descriptor to wait for; nothing once the thread runs.
    fn news(&self) -> Option<BorrowedFd<'_>> {
        self.saved.as_ref().map(SavedMeanwhile::news)
    }

    fn treat(&mut self) {
        self.saved.take().into_iter().for_each(|saved| self.observer.treat_new_names(saved));
    }
}

/// A command whose processes run already, with everything that is served until they end.
pub(super) struct Started<'s> {
    pub(super) running: &'s Running,
    pub(super) relay: Relay,
    pub(super) new_names: Option<NewNames<'s>>,
}

/// The result of the supervision.
pub(super) struct Watched {
    ending: Ending,
    used: raw::Used,
    /// How it ended according to the engine or backend.
    told: Option<End>,
    /// Whether `used` covers all processes, and not only those of bubblewrap or the client.
    is_all: bool,
    /// The growth of the writable file systems.
    grown: Fill,
    relay: Relay,
}

/// Supervises a command until all its processes are gone.
pub(super) fn supervise(
    plan: &Plan,
    signals: Signals,
    control: &RunControl,
    command: Started<'_>,
    groups: &Groups,
    started: Instant,
) -> Result<Watched, RunError> {
    let Started { running, mut relay, new_names } = command;
    relay.limit(plan.limits.output.bound().unwrap_or(u64::MAX));
    relay.hand_to([control.stdout.clone(), control.stderr.clone()]);
    let signals = SignalForwarding::new(signals).map_err(RunError::Watch)?;
    let disks = Disks::of(plan);
    let bounds = Bounds {
        end: plan.limits.wall_time.bound().and_then(|time| started.checked_add(time)),
        memory: plan
            .limits
            .memory
            .bound()
            .filter(|_| !groups.bound_memory() && !plan.provider.bounds_by_itself()),
        folders: folders_in_memory(plan),
        disks: is_bounded(&plan.limits).then_some((&disks, &plan.limits)),
        is_idle: plan.limits.priority == Priority::Idle,
        cancellation: control.cancellation.as_ref(),
    };
    let watched = watch(running, &mut relay, signals.descriptor.as_ref(), &bounds, new_names);
    // Before `end`, because the engine forgets the exit status when the container is removed.
    let told = match (&watched, &running.exit_source) {
        (Ok(Ending::Itself), ExitSource::Engine(container)) => Some(container.result()),
        (Ok(Ending::Itself), ExitSource::Added(command)) => Some(command.result()),
        _ => None,
    };
    // All processes are ended in any case, before an error is returned.
    let used = running.end(watched.as_ref().ok().and_then(Ending::used));
    let ending = watched.map_err(RunError::Watch)?;
    // The rest of the output is forwarded until the time limit, and at least for the grace period; without a limit, as long as its
    // reader takes, unless the caller cancelled the command and waits.
    let late = match (&ending, bounds.end) {
        (Ending::Cancelled, _) => Some(Instant::now() + GRACE),
        (_, end) => end.map(|end| end.max(Instant::now() + GRACE)),
    };
    drain(&mut relay, signals.descriptor.as_ref(), late).map_err(RunError::Watch)?;
    let is_all = matches!(running.exit_source, ExitSource::Reports | ExitSource::WhenAsked);
    let (used, told) = (used?, told.transpose()?);
    Ok(Watched { ending, used, told, is_all, grown: disks.grown(), relay })
}

/// Returns the tmpfs mounts of the sandbox, which only exist in a mount namespace.
fn folders_in_memory(plan: &Plan) -> Vec<PathBuf> {
    if !matches!(plan.provider, Provider::Native | Provider::Bwrap { .. }) {
        return Vec::new();
    }
    let scratch = plan.mounts.iter().filter(|mount| matches!(mount.kind, MountKind::Scratch { .. }));
    scratch.map(|mount| mount.target.clone()).chain([PathBuf::from("/dev/shm")]).collect()
}

fn watch(
    running: &Running,
    relay: &mut Relay,
    signals: Option<&OwnedFd>,
    bounds: &Bounds<'_>,
    mut new_names: Option<NewNames<'_>>,
) -> io::Result<Ending> {
    let mut tries = if !bounds.is_idle || running.weighs_less() { 0 } else { TRIES };
    // The first poll is delayed, because most commands end before it.
    let mut next_look = Instant::now() + bounds.memory.map_or(memory::INTERVAL, memory::time_to_fill);
    let mut code = None;
    let bell = bounds.cancellation.map(Cancellation::bell).transpose()?;
    loop {
        if bounds.cancellation.is_some_and(Cancellation::is_cancelled) {
            return Ok(Ending::Cancelled);
        }
        let now = Instant::now();
        let rest = bounds.end.map(|end| end.saturating_duration_since(now));
        if rest == Some(Duration::ZERO) {
            return Ok(Ending::TimedOut);
        }
        let has_looked = now >= next_look;
        if has_looked {
            if bounds.disks.is_some_and(|(disks, limits)| disks.are_too_full(limits)) {
                return Ok(Ending::OutOfDisk);
            }
            let look = |most| memory::next_look(running.first(), &bounds.folders, most);
            let Some(rest) = bounds.memory.map_or(Some(memory::INTERVAL), look) else {
                return Ok(Ending::OutOfMemory);
            };
            tries = if tries == 0 || running.weighs_less() { 0 } else { tries - 1 };
            next_look = Instant::now() + rest;
            code.get_or_insert_with(Code::find);
        }
        let looks = relay.follow()
            || bounds.memory.is_some()
            || bounds.disks.is_some()
            || tries > 0
            || code.is_none();
        let until_then = looks.then(|| next_look.saturating_duration_since(now));
        let rest = rest.into_iter().chain(until_then).min();
        let mut fds = vec![PollFd::new(&running.news, PollFlags::IN)];
        fds.extend(signals.map(|signals| PollFd::new(signals, PollFlags::IN)));
        fds.extend(bell.as_ref().map(|bell| PollFd::new(bell, PollFlags::IN)));
        let saved = new_names.as_ref().and_then(NewNames::news);
        let saved_at = saved.map(|_| fds.len());
        fds.extend(saved.map(|saved| PollFd::from_borrowed_fd(saved, PollFlags::IN)));
        let first_channel = fds.len();
        let channels: Vec<usize> = {
            let interests = relay.interests();
            let (numbers, waits): (Vec<usize>, Vec<PollFd<'_>>) = interests.into_iter().unzip();
            fds.extend(waits);
            numbers
        };
        // Code pages of the start and of polling are returned to the kernel while this process waits.
        match code.as_ref().filter(|_| has_looked) {
            Some(code) => code.give_back_and(|| wait(&mut fds, rest))?,
            None => wait(&mut fds, rest)?,
        }
        let ready: Vec<bool> = fds.iter().map(|fd| !fd.revents().is_empty()).collect();
        drop(fds);
        let is_ready = |at: usize| ready.get(at).copied().unwrap_or(false);
        // The end takes precedence: output that is still in the pipes is drained afterwards.
        if is_ready(0) {
            return match running.exit_source {
                ExitSource::Ends { .. } | ExitSource::Engine(_) | ExitSource::Added(_) => Ok(Ending::Itself),
                ExitSource::Reports | ExitSource::WhenAsked => {
                    Ok(Ending::Report(read_report(&running.news)?))
                }
            };
        }
        if let Some(signals) = signals.filter(|_| is_ready(1)) {
            forward_signals(running, relay, signals);
        }
        if saved_at.is_some_and(is_ready) {
            new_names.iter_mut().for_each(NewNames::treat);
        }
        for (at, channel) in channels.into_iter().enumerate() {
            if is_ready(first_channel + at) {
                relay.advance(channel);
            }
        }
    }
}

/// Forwards output that is still in the pipes after the end. It waits for a slow reader, like any program does; but after the
/// time limit of the command, or a termination signal to this program, the rest is dropped.
fn drain(relay: &mut Relay, signals: Option<&OwnedFd>, late: Option<Instant>) -> io::Result<()> {
    relay.begin_to_end();
    while !relay.is_done() {
        relay.read_what_is_left();
        let rest = late.map(|late| late.saturating_duration_since(Instant::now()));
        let mut fds: Vec<PollFd<'_>> =
            signals.map(|signals| PollFd::new(signals, PollFlags::IN)).into_iter().collect();
        let first_channel = fds.len();
        let (channels, waits): (Vec<usize>, Vec<PollFd<'_>>) = relay.interests().into_iter().unzip();
        fds.extend(waits);
        // Every channel was read to its end just now, so `is_done` decides.
        if channels.is_empty() {
            continue;
        }
        wait(&mut fds, rest)?;
        let ready: Vec<bool> = fds.iter().map(|fd| !fd.revents().is_empty()).collect();
        drop(fds);
        let is_asked = signals.filter(|_| ready.first() == Some(&true)).is_some_and(|signals| {
            raw::read_signal(signals.as_raw_fd()).is_ok_and(|signal| ASKS_TO_END.contains(&signal))
        });
        if is_asked || rest == Some(Duration::ZERO) {
            relay.give_up();
        }
        let ready = channels.into_iter().zip(ready.into_iter().skip(first_channel));
        ready.filter(|(_, ready)| *ready).for_each(|(channel, _)| relay.advance(channel));
    }
    Ok(())
}

/// Reads a report; nothing if the sandbox ended without one.
pub(super) fn read_report(reports: &OwnedFd) -> io::Result<Option<Report>> {
    let mut bytes = [0; size_of::<Report>()];
    let count = rustix::io::read(reports, &mut bytes)?;
    if count < bytes.len() {
        return Ok(None);
    }
    let mut report = Report::default();
    for (word, bytes) in report.iter_mut().zip(bytes.chunks_exact(4)) {
        *word = i32::from_ne_bytes(bytes.try_into().unwrap_or_default());
    }
    Ok(Some(report))
}

fn forward_signals(running: &Running, relay: &mut Relay, signals: &OwnedFd) {
    let Ok(signal) = raw::read_signal(signals.as_raw_fd()) else { return };
    match signal {
        // Changing the size of the command's terminal makes the kernel send SIGWINCH to it.
        libc::SIGWINCH if relay.follow() => {}
        libc::SIGCONT => {
            relay.resume();
            running.signal(signal);
        }
        _ => running.signal(signal),
    }
}

/// Blocks signals and reads them from a descriptor instead, until it is dropped.
struct SignalForwarding {
    descriptor: Option<OwnedFd>,
    mask: raw::SignalMask,
}

impl SignalForwarding {
    fn new(signals: Signals) -> io::Result<Self> {
        if signals == Signals::Keep {
            return Ok(Self { descriptor: None, mask: 0 });
        }
        let error = io::Error::from_raw_os_error;
        let wanted = HANDED_ON.iter().fold(0, |mask, signal| mask | 1 << (signal - 1));
        let descriptor = Some(raw::signal_descriptor(wanted).map_err(error)?);
        let mask = raw::set_signal_mask(wanted).map_err(error)?;
        Ok(Self { descriptor, mask })
    }
}

impl Drop for SignalForwarding {
    fn drop(&mut self) {
        if self.descriptor.is_some() {
            raw::set_signal_mask(self.mask).ok();
        }
    }
}

impl Watched {
    pub(super) fn outcome(
        self,
        plan: &Plan,
        groups: &Groups,
        enforcement: Enforcement,
        started: Instant,
    ) -> Result<Outcome, RunError> {
        let report = match self.ending {
            Ending::Report(report) => report,
            Ending::Itself => {
                let end = self.told.unwrap_or_else(|| ended_by_code(self.used.status, plan));
                return Ok(self.end_with(end, groups, enforcement, started).said_by(groups));
            }
            Ending::TimedOut => return Ok(self.end_with(End::TimedOut, groups, enforcement, started)),
            Ending::Cancelled => return Ok(self.end_with(End::Cancelled, groups, enforcement, started)),
            Ending::OutOfMemory => {
                return Ok(self.end_with(End::OutOfMemory, groups, enforcement, started));
            }
            Ending::OutOfDisk => return Ok(self.end_with(End::OutOfDisk, groups, enforcement, started)),
        };
        let end = match report {
            Some([REPORT_SETUP, stage, step, errno, ..]) => {
                let doing = format!("{}, step {step}", stage_in_words(stage));
                return Err(RunError::setup(doing)(io::Error::from_raw_os_error(errno)));
            }
            Some([REPORT_EXEC, libc::ENOENT | libc::ENOTDIR, ..]) => End::NotFound,
            Some([REPORT_EXEC, ..]) => End::NotExecutable,
            Some([REPORT_END, status, .., cpu_seconds, _]) => {
                ended(status, plan, u64::try_from(cpu_seconds).unwrap_or_default())
            }
            // The first process was killed from outside, or by the OOM killer.
            _ => End::Signalled(libc::SIGKILL),
        };
        let out_of_memory =
            groups.memory().is_some_and(|(killed, _)| killed) && end == End::Signalled(libc::SIGKILL);
        let end = if out_of_memory { End::OutOfMemory } else { end };
        let is_full = matches!(report, Some([REPORT_END, .., 1]));
        let mut outcome = self.end_with(end, groups, enforcement, started).said_by(groups);
        if is_full {
            outcome.too_many_processes();
        }
        Ok(outcome)
    }

    fn end_with(self, end: End, groups: &Groups, enforcement: Enforcement, started: Instant) -> Outcome {
        let known = self.is_all.then_some(self.used);
        let usage = ResourceUsage {
            wall_time: started.elapsed(),
            cpu_time: groups.cpu_time().or(known.map(|used| used.cpu)),
            peak_memory: groups.memory().and_then(|(_, peak)| peak).or(known.map(|used| used.peak_memory)),
            written: known.map(|used| used.written),
            disk: self.grown.bytes,
            files: self.grown.files,
        };
        let denials = explain(end);
        Outcome {
            end,
            usage,
            output: self.relay.output(),
            enforcement,
            denials,
            quarantine: Vec::new(),
            quarantine_dropped: Vec::new(),
            changed: Vec::new(),
            exposed: Vec::new(),
            review: None,
        }
    }
}

impl Outcome {
    /// Adds denials that the control groups report.
    fn said_by(mut self, groups: &Groups) -> Self {
        if groups.ran_out_of_processes() && self.end != End::Exited(0) {
            self.too_many_processes();
        }
        // The OOM killer ended a child, and the command went on and failed.
        let ran_out = groups.memory().is_some_and(|(killed, _)| killed) && self.end != End::Exited(0);
        if ran_out && !self.denials.contains(&Denial::Memory) {
            self.denials.insert(0, Denial::Memory);
        }
        self
    }

    fn too_many_processes(&mut self) {
        if !self.denials.contains(&Denial::Processes) {
            self.denials.insert(0, Denial::Processes);
        }
    }
}

/// Decodes bubblewrap's exit code, which represents a signal as shells do. It does not report the CPU time, so a command that
/// caught SIGXCPU and hit the hard limit is reported as killed.
fn ended_by_code(status: i32, plan: &Plan) -> End {
    match ended(status, plan, 0) {
        End::Exited(code) if code == 128 + libc::SIGXCPU && plan.limits.cpu_time.bound().is_some() => {
            End::OutOfCpuTime
        }
        end => end,
    }
}

/// Decodes a wait status, given the command's own CPU time in seconds.
fn ended(status: i32, plan: &Plan, cpu_seconds: u64) -> End {
    if libc::WIFEXITED(status) {
        return End::Exited(libc::WEXITSTATUS(status));
    }
    match libc::WTERMSIG(status) {
        libc::SIGXCPU if plan.limits.cpu_time.bound().is_some() => End::OutOfCpuTime,
        // It caught SIGXCPU and ran into the hard limit.
        libc::SIGKILL if reaches_hard_cpu_limit(&plan.limits, cpu_seconds) => End::OutOfCpuTime,
        signal => End::Signalled(signal),
    }
}
