//! Carries out a plan: starts the sandbox, supervises the command, and returns its outcome.

#![expect(
    clippy::disallowed_methods,
    reason = "starts processes, keeps their time and reads what they print"
)]

mod added;
mod added_run;
mod begin;
mod contained;
mod control;
mod disk;
mod memory;
mod observe;
mod poll;
mod pool;
mod preflight;
mod prepared;
mod private;
mod saved_meanwhile;
mod shared_target;
mod stdin;
mod stdio;
mod supervise;
mod sweeping;
mod terminal;
mod write_now;

use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use crate::cgroup::Groups;
use crate::enforcement::{Enforcement, Property};
use crate::explain;
use crate::host::{Exposed, ProtectionMode, Searched};
use crate::journal;
use crate::native::Ids;
use crate::outcome::{End, Outcome};
use crate::plan::Plan;
use crate::processors::Processors;
use crate::provider::Provider;
use crate::quarantined::Quarantined;
use crate::refusal::Refusal;
use crate::requirement::{cannot_enforce, in_whole};
use crate::review::OverlayRun;
use crate::spec::Explain;
pub use added::{AddedCommand, run_added};
use begin::{Running, begin};
pub use control::{Cancellation, RunControl};
use observe::Observer;
pub use pool::SandboxPool;
pub use prepared::{plan_and_run, run_controlled, run_prepared};
use private::Private;
use stdio::Relay;
use supervise::{NewNames, Started, supervise};
use sweeping::Sweeping;
pub use terminal::TerminalSize;

/// The standard streams of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Streams {
    /// Standard input.
    pub stdin: Input,
    /// Standard output.
    pub stdout: Stream,
    /// Standard error.
    pub stderr: Stream,
    /// Whether the command gets a pseudo-terminal for all three streams. Then input comes from `stdin`, output goes to `stdout`,
    /// and `stderr` is ignored.
    pub terminal: Terminal,
    /// Whether termination signals to this program are forwarded to the command.
    pub signals: Signals,
    /// The prefix, before a colon, of this program's own messages on standard error. Lines of the command with the same prefix
    /// are marked, so that they cannot pass as messages of this program. It is an ASCII word.
    pub speaks_as: Option<&'static str>,
}

/// The source of standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Input {
    /// Empty: reading it returns end of file at once.
    #[default]
    Empty,
    /// The standard input of this program, through another open file description, so that flags which the command sets do not
    /// affect this program. A terminal is read by this program, and the command gets a pipe.
    Inherit,
}

/// The destination of an output stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stream {
    /// The outcome, up to the output limit.
    #[default]
    Keep,
    /// The same stream of this program, up to the output limit. If its reader is slow, the command blocks. The command gets a
    /// pipe, whatever the stream is.
    Relay,
    /// The descriptor in [`RunControl`], up to the output limit; the outcome without one.
    Hand,
}

/// Whether a command gets a pseudo-terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Terminal {
    /// No: its streams are configured individually.
    #[default]
    None,
    /// Yes, with the settings and the current size of this program's terminal, or this size without one. Meanwhile a
    /// terminal on standard input is in raw mode.
    Own(TerminalSize),
}

/// The handling of signals to this program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Signals {
    /// They act on this program.
    #[default]
    Keep,
    /// They are forwarded while the command runs. This blocks them in the calling thread, so it is for single-threaded programs.
    Forward,
}

/// Why a command could not be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// A requirement turned out not to be satisfied.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The sandbox could not be created.
    #[error("cannot create a sandbox: {doing}: {source}")]
    Setup {
        /// The failed step.
        doing: String,
        /// Why it failed.
        source: io::Error,
    },
    /// The command could not be supervised any longer, and was ended.
    #[error("cannot supervise the command: {0}")]
    Watch(#[source] io::Error),
    /// The same, for a command that worked on an overlay of its workspace. Its changes stay pending.
    #[error("{source}; its changes until then are pending: show them with `stockade changes show {id}`")]
    ChangesPending {
        /// The identifier of the changes.
        id: String,
        /// The error.
        source: Box<RunError>,
    },
}

impl RunError {
    /// Converts an I/O error to a setup error of this step.
    pub fn setup(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let doing = doing.into();
        move |source| Self::Setup { doing, source }
    }
}

/// A gap of polling the memory of processes.
const UNCOUNTED: &str = "without a control group, data in sockets and pipes is not counted";

/// Properties that control groups enforce best. Groups are created if one of these is required.
const GROUPED: &[Property] =
    &[Property::Memory, Property::TotalMemory, Property::ProcessCount, Property::Priority];

/// Runs a planned command, and returns when all its processes are gone.
///
/// The sandbox ends with the calling thread. The first process is a fork of that thread, so a program with much memory starts
/// commands more slowly.
pub fn run(plan: &Plan, streams: Streams) -> Result<Outcome, RunError> {
    let taken = recovered(plan);
    let mut outcome = run_once(plan, streams, &RunControl::default())?;
    outcome.quarantine.splice(0..0, taken);
    Ok(outcome)
}

/// Sweeps after commands of killed supervisors.
fn recovered(plan: &Plan) -> Vec<Quarantined> {
    let state = crate::state::folder(&plan.mounts);
    state.as_deref().map(journal::recover).unwrap_or_default()
}

fn run_once(plan: &Plan, streams: Streams, control: &RunControl) -> Result<Outcome, RunError> {
    // Overlays differ in what kernels and file systems support, so the kinds are tried in order.
    let mut result = None;
    for view in OverlayRun::views(plan) {
        let viewed = OverlayRun::begin(plan, *view)?;
        match run_in(plan, streams, control, Some(&viewed)) {
            Ok(outcome) => return Ok(Outcome { review: Some(viewed.end()), ..outcome }),
            // Nothing has run yet, so the next kind of overlay is tried.
            Err(error @ RunError::Setup { .. }) => {
                viewed.abandon();
                result = Some(Err(error));
            }
            Err(RunError::Refused(refusal)) => {
                viewed.abandon();
                return Err(refusal.into());
            }
            // The command ended unsupervised, so its changes need a review.
            Err(error) => return Err(with_pending_changes(error, viewed)),
        }
    }
    result.unwrap_or_else(|| run_in(plan, streams, control, None))
}

/// Keeps the changes of a command pending, whatever the review mode is: an unsupervised command may have changed anything.
fn with_pending_changes(error: RunError, viewed: OverlayRun) -> RunError {
    match viewed.keep_pending() {
        reviewed if reviewed.changed == 0 && reviewed.failed.is_none() => error,
        reviewed => RunError::ChangesPending { id: reviewed.id, source: Box::new(error) },
    }
}

fn run_in(
    plan: &Plan,
    streams: Streams,
    control: &RunControl,
    viewed: Option<&OverlayRun>,
) -> Result<Outcome, RunError> {
    let number = sandbox_number();
    // Joining a control group waits for an RCU grace period on all processors, which takes longer than all other steps together,
    // so groups are only created where they are needed. A container engine has its own.
    let groups = if is_grouped(plan) && !plan.provider.bounds_by_itself() {
        Groups::make(&plan.limits, number)
    } else {
        Groups::default()
    };
    let private = match plan.provider {
        // Landlock has no mounts, so the private home is a real directory, which is given to the command by its
        // variables.
        Provider::Landlock => Some(
            Private::new(plan, Ids::new(plan.identity, number))
                .map_err(RunError::setup("making a private folder"))?,
        ),
        _ => None,
    };
    let moved = private.as_ref().map(|private| private.move_in(plan));
    let moved = moved.or_else(|| viewed.map(|viewed| viewed.move_in(plan)));
    let begun = moved.as_ref().unwrap_or(plan);
    // The observer judges paths by the user's home, not by the private directory that replaces it.
    let judged = Plan { environment: plan.environment.clone(), ..begun.clone() };
    let observer = observer(judged, Ids::new(plan.identity, number))?;
    let mut outcome = carried_out(plan, streams, control, &groups, observer.as_ref(), || {
        let (relay, ends) =
            Relay::new(streams, &plan.provider).map_err(RunError::setup("making pipes or a terminal"))?;
        let running = begin(begun, ends, &groups, number, private.as_ref(), observer.as_ref())?;
        if let (Some(viewed), Some(running)) = (viewed, &running)
            && let Err(error) = viewed.started(running.last())
        {
            // The command has started, so it is ended and not started again with another overlay.
            running.end(None)?;
            return Err(RunError::Watch(error));
        }
        Ok(running.map(|running| (running, relay)))
    })?;
    tell(&mut outcome, observer);
    Ok(outcome)
}

/// Adds the denials that the observer recorded.
fn tell(outcome: &mut Outcome, observer: Option<Observer>) {
    let seen = observer.map(Observer::end).unwrap_or_default();
    explain::add(&mut outcome.denials, outcome.end, seen.refused, seen.asked);
}

/// Returns the observer of system calls, where names are decided or denials are to be explained. Without a sandbox, nothing is
/// denied.
fn observer(plan: Plan, ids: Ids) -> Result<Option<Observer>, RunError> {
    let is_wanted = match plan.provider {
        // Landlock has no access right for changing modes and times of files, so the observer decides these calls.
        Provider::Landlock => true,
        Provider::Native | Provider::Bwrap { .. } => plan.explain == Explain::Asked || plan.decides_shared(),
        // A container has the engine's filter, which cannot have a listener of this program.
        Provider::Container(_) | Provider::Added(_) | Provider::Nothing => false,
    };
    let observer = is_wanted.then(|| Observer::new(plan, ids)).transpose();
    observer.map_err(RunError::setup("supervising system calls"))
}

/// Whether control groups are created, where permitted: if a required property or a part of a processor needs them, or the memory
/// limit is tight. Only groups count memory that belongs to no process.
fn is_grouped(plan: &Plan) -> bool {
    let has_part = plan.limits.processors.bound().is_some_and(Processors::has_part);
    has_part || plan.limits.is_tight() || plan.require.iter().any(|property| GROUPED.contains(property))
}

/// Returns a number that no other running sandbox has.
fn sandbox_number() -> u32 {
    static STARTED: AtomicU32 = AtomicU32::new(0);
    // 64 numbers per process ID: processes with neighbouring IDs rarely run more commands than that at the same time.
    std::process::id().wrapping_mul(64).wrapping_add(STARTED.fetch_add(1, Ordering::Relaxed))
}

/// Sweeps before and after a command, and supervises it in between.
fn carried_out(
    plan: &Plan,
    streams: Streams,
    control: &RunControl,
    groups: &Groups,
    observer: Option<&Observer>,
    begin: impl FnOnce() -> Result<Option<(Running, Relay)>, RunError>,
) -> Result<Outcome, RunError> {
    let mut enforcement = plan.enforcement.clone();
    // Before the requirements are checked: a limit that a control group enforces is stronger than a polled one.
    groups.promise(&mut enforcement);
    limits_in_force(plan, groups, &mut enforcement)?;
    preflight::check(plan)?;
    // The state before the command is recorded as late as possible, so that fewer changes of the user count as the
    // command's.
    let sweeping = Sweeping::begin(plan, &mut enforcement);
    in_whole(&plan.require_by_name, &enforcement)?;
    // After the preparations, so that the wall-clock time is that of the command.
    let started = Instant::now();
    let outcome = match begin() {
        Ok(Some((running, relay))) => {
            let new_names = observer.and_then(|observer| NewNames::of(observer, plan, running.last()));
            let command = Started { running: &running, relay, new_names };
            supervise(plan, streams.signals, control, command, groups, started)
                .and_then(|watched| watched.outcome(plan, groups, enforcement, started))
        }
        Ok(None) => Ok(Outcome::of_nothing(End::NotFound, enforcement)),
        Err(error) => Err(error),
    };
    // Also after a failed start: a part of the sandbox may have run already.
    let (quarantine, swept) = sweeping.end(plan, observer);
    let seen = swept.seen_secrets(&plan.protected);
    crate::exposed_secrets::Seen::after(plan, &seen);
    let mut outcome = outcome?;
    if swept.searched == Searched::InPart {
        let why = "some directories of the workspace could not be read afterwards";
        outcome.enforcement.gap(Property::ProtectedNames, why);
    }
    let changed = swept.changed(&plan.workspace, &plan.watched);
    Ok(Outcome {
        quarantine,
        quarantine_dropped: swept.dropped,
        changed,
        exposed: plan.exposed.iter().cloned().chain(saved_meanwhile(plan, &seen)).collect(),
        ..outcome
    })
}

/// Returns the hidden files that another program replaced while the command ran, as editors do when they save: what hides a file
/// is mounted on the old one, so the command could read the new one.
fn saved_meanwhile<'p>(plan: &'p Plan, seen: &'p [PathBuf]) -> impl Iterator<Item = Exposed> + 'p {
    let was_hidden = |path: &PathBuf| {
        plan.protected.iter().any(|entry| entry.path == *path && entry.mode == ProtectionMode::Hide)
    };
    let label = "it was saved while the command ran";
    seen.iter()
        .filter(move |path| was_hidden(path))
        .map(move |path| Exposed { path: path.clone(), label: label.to_owned() })
}

/// Returns what a plan enforces including its limits, without control groups.
pub(crate) fn limits_without_groups(plan: &Plan) -> Enforcement {
    let mut enforcement = plan.enforcement.clone();
    // Requirements are ignored here, because an unmet one would stop before the other limits.
    let plan = Plan { require: Vec::new(), ..plan.clone() };
    limits_in_force(&plan, &Groups::default(), &mut enforcement).ok();
    enforcement
}

fn pipe() -> Result<(OwnedFd, OwnedFd), RunError> {
    rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)
        .map_err(|error| RunError::setup("making pipes")(error.into()))
}

/// Records how limits without a control group are enforced: per process, or by polling. An unmet requirement refuses the command.
fn limits_in_force(plan: &Plan, groups: &Groups, enforcement: &mut Enforcement) -> Result<(), RunError> {
    let is_contained = plan.provider.bounds_by_itself();
    if plan.limits.memory.bound().is_some() && !groups.bound_memory() && !is_contained {
        enforcement.enforce(Property::Memory, "a limit per process");
        enforcement.enforce(
            Property::TotalMemory,
            "polling all processes and tmpfs mounts, at least ten times a second",
        );
        enforcement.gap(Property::TotalMemory, UNCOUNTED);
    }
    if plan.limits.processes.bound().is_some() && !enforcement.holds(Property::ProcessCount) && !is_contained
    {
        process_count(plan, enforcement);
    }
    if plan.limits.priority == crate::Priority::Idle
        && !enforcement.holds(Property::Priority)
        && !is_contained
    {
        enforcement.enforce(Property::Priority, "a lower priority");
    }
    match (plan.limits.processors.bound(), &plan.provider) {
        // The limits of an engine are in the plan already.
        (None, _) | (Some(_), Provider::Container(_) | Provider::Added(_)) => {}
        (Some(_), Provider::Nothing) => {
            enforcement
                .gap(Property::Processors, "without a sandbox, the command can change its CPU affinity");
        }
        (Some(most), _) if most.has_part() && !enforcement.holds(Property::Processors) => {
            enforcement.gap(
                Property::Processors,
                "no control group bounds a part of a CPU, so the command has a whole one",
            );
        }
        (Some(_), _) => {
            enforcement.enforce(Property::Processors, "CPU affinity that the command cannot change");
        }
    }
    if disk::is_bounded(&plan.limits) {
        enforcement.enforce(Property::Disk, "polling its file systems, ten times a second");
        enforcement.gap(Property::Disk, "writes of other programs count as well");
    }
    // Polling does not satisfy a requirement, because a command can exceed the limit in between.
    let is_in_part = |property: &Property| {
        let is_watched = *property == Property::TotalMemory && !groups.bound_memory() && !is_contained;
        *property == Property::Disk || is_watched
    };
    let missing = plan.require.iter().find(|property| !enforcement.holds(**property) || is_in_part(property));
    missing.map_or(Ok(()), |property| Err(cannot_enforce(*property).into()))
}

/// Records how the number of processes is limited without a control group.
fn process_count(plan: &Plan, enforcement: &mut Enforcement) {
    let property = Property::ProcessCount;
    match plan.provider {
        Provider::Native | Provider::Bwrap { .. } => {
            enforcement.enforce(property, "a limit of the sandbox's user namespace");
        }
        Provider::Landlock => enforcement.enforce(property, "a limit on all processes of its user"),
        Provider::Container(_) | Provider::Added(_) => {}
        Provider::Nothing if is_bound_by_no_number() => {
            enforcement.gap(property, "the kernel does not limit the number of root's processes");
        }
        Provider::Nothing => enforcement.enforce(property, "a limit on all processes of this user"),
    }
}

/// Whether the kernel ignores RLIMIT_NPROC for this program, see setrlimit(2).
fn is_bound_by_no_number() -> bool {
    let held = stockade_handoff::held_capabilities();
    let frees = ["CAP_SYS_ADMIN", "CAP_SYS_RESOURCE"].iter().any(|one| held.contains(*one));
    frees || rustix::process::geteuid().is_root()
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use tempfile::TempDir;

    use super::*;
    use crate::SandboxSpec;
    use crate::choices::ReviewMode;
    use crate::review::ReviewView;

    struct Ground {
        state: TempDir,
        _workspace: TempDir,
        plan: Plan,
    }

    impl Ground {
        /// Returns nothing where this machine cannot create a sandbox.
        fn new(command: &[&str]) -> Option<Self> {
            let (state, workspace) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            let planned = |command: &[&str], review| {
                let mut spec = SandboxSpec::new(workspace.path().canonicalize().unwrap(), command);
                spec.review = review;
                crate::plan(&spec, &crate::probe(&spec)).ok()
            };
            let tried =
                planned(&["/bin/true"], ReviewMode::Off).and_then(|plan| run(&plan, Streams::default()).ok());
            let plan = tried.and_then(|_| planned(command, ReviewMode::Undoable));
            if plan.is_none() {
                println!("skipped: no sandbox with a view can be made here");
            }
            Some(Self { state, _workspace: workspace, plan: plan? })
        }

        fn view(&self) -> (OverlayRun, PathBuf) {
            let viewed = OverlayRun::begin_in(self.state.path(), &self.plan, ReviewView::Copy).unwrap();
            let layers = std::fs::read_dir(self.state.path().join("reviews")).unwrap();
            let layer = layers.map(|entry| entry.unwrap().path()).find(|path| path.is_dir()).unwrap();
            (viewed, layer)
        }
    }

    #[test]
    fn an_overlay_run_that_cannot_be_recorded_is_ended() {
        let Some(ground) = Ground::new(&["/bin/sleep", "600"]) else { return };
        let (viewed, layer) = ground.view();
        // A directory is in the place of the file that records the running process.
        std::fs::create_dir(layer.join("process")).unwrap();
        let ended = run_in(&ground.plan, Streams::default(), &RunControl::default(), Some(&viewed));
        assert!(matches!(ended, Err(RunError::Watch(_))), "{ended:?}");
    }

    #[test]
    fn changes_of_an_unsupervised_command_stay_pending() {
        let Some(ground) = Ground::new(&["/bin/true"]) else { return };
        let gone = || RunError::Watch(io::Error::other("it is gone"));
        let (viewed, layer) = ground.view();
        std::fs::write(layer.join("copy/f"), "x").unwrap();
        let error = with_pending_changes(gone(), viewed);
        let RunError::ChangesPending { id, .. } = &error else { panic!("{error}") };
        assert_eq!(layer.file_name(), Some(id.as_ref()));
        assert!(error.to_string().contains(&format!("stockade changes show {id}")), "{error}");
        assert!(layer.exists() && !Path::new(&ground.plan.workspace).join("f").exists());
        std::fs::remove_dir_all(&layer).unwrap();
        let (viewed, layer) = ground.view();
        assert!(matches!(with_pending_changes(gone(), viewed), RunError::Watch(_)), "nothing was changed");
        assert!(!layer.exists());
    }
}
