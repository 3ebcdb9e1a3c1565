//! Carries a plan out: starts the sandbox, looks after it, and says how it ended.

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
mod message_prefix;
mod observe;
mod poll;
mod pool;
mod preflight;
mod prepared;
mod private;
mod shared_target;
mod stdin;
mod stdio;
mod supervise;
mod sweeping;
mod terminal;
mod write_now;

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use crate::cgroup::Groups;
use crate::enforcement::{Enforcement, Property};
use crate::explain;
use crate::host::Searched;
use crate::native::Ids;
use crate::outcome::{End, Outcome};
use crate::plan::Plan;
use crate::provider::Provider;
use crate::refusal::Refusal;
use crate::requirement::{cannot_enforce, in_whole};
use crate::review::ViewedRun;
use crate::spec::Explain;
pub use added::{AddedCommand, run_added};
use begin::{Running, begin};
pub use control::{Cancellation, RunControl};
use observe::Observer;
pub use pool::SandboxPool;
pub use prepared::{plan_and_run, run_controlled, run_prepared};
use private::Private;
use stdio::Pump;
use supervise::supervise;
use sweeping::Sweeping;
pub use terminal::TerminalSize;

/// What becomes of the streams of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Streams {
    /// Standard input.
    pub stdin: Input,
    /// Standard output.
    pub stdout: Stream,
    /// Standard error.
    pub stderr: Stream,
    /// Whether the command gets a terminal of its own. Then that is all three streams: what is typed comes from `stdin`, what
    /// is printed goes to `stdout`, and `stderr` is of no interest.
    pub terminal: Terminal,
    /// Whether signals that ask this program to end are handed on to the command.
    pub signals: Signals,
    /// How lines begin, before a colon, by which this program speaks where its standard error leads. Lines of the command that
    /// go there and begin so are marked, so that nobody takes them for those of this program. It is a word in ASCII.
    pub speaks_as: Option<&'static str>,
}

/// Where standard input comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Input {
    /// There is none: whoever reads it meets its end at once.
    #[default]
    Empty,
    /// From that of this program, by another descriptor than its own: what the command sets, it sets for itself. A terminal is
    /// read by this program, and the command sees a pipe.
    Inherit,
}

/// Where a stream goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stream {
    /// Into the outcome, up to the limit.
    #[default]
    Keep,
    /// To that of this program, up to the limit. If nobody reads there, the command waits. It sees a pipe, wherever that leads.
    Relay,
    /// To where [`RunControl`] says, up to the limit, as it comes; into the outcome where it says nothing.
    Hand,
}

/// Whether a command gets a terminal of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Terminal {
    /// It gets none; its streams are what is said of each.
    #[default]
    None,
    /// It gets one, with the size and the settings of that of this program, and follows its size; where this program has
    /// none, it has this size. While the command runs, a terminal that is standard input hands every byte on.
    Own(TerminalSize),
}

/// What becomes of signals to this program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Signals {
    /// They concern this program.
    #[default]
    Keep,
    /// They are handed on while the command runs. This blocks them in the calling thread, so it is for programs of one.
    HandOn,
}

/// A command could not be run, although nothing was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// What is required turned out not to be there.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The sandbox could not be made.
    #[error("cannot make a sandbox: {doing}: {source}")]
    Setup {
        /// What was being done.
        doing: String,
        /// Why it failed.
        source: io::Error,
    },
    /// What the command did could not be watched any longer; it was ended.
    #[error("cannot watch the command: {0}")]
    Watch(#[source] io::Error),
    /// The same, of a command that worked on a view of its workspace. Nothing of what it changed there was applied.
    #[error(
        "{source}; what it changed until then is not applied and waits as `{id}`: look at it with `stockade changes show {id}`"
    )]
    Held {
        /// What the changes are called.
        id: String,
        /// What happened.
        source: Box<RunError>,
    },
}

impl RunError {
    /// Says of an error that it kept a sandbox from being made, and what was being done.
    pub fn setup(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let doing = doing.into();
        move |source| Self::Setup { doing, source }
    }
}

/// What no look at processes finds.
const UNCOUNTED: &str = "without a control group, what is in sockets and pipes is not counted";

/// What control groups enforce better than anything else. They are made where one of these is required.
const GROUPED: &[Property] =
    &[Property::Memory, Property::TotalMemory, Property::ProcessCount, Property::Priority];

/// Runs a command as planned, and returns when it and everything that it started are gone.
///
/// The sandbox dies with the thread that called this. The command starts as a copy of that thread, so a program with very
/// much memory of its own starts it more slowly.
pub fn run(plan: &Plan, streams: Streams) -> Result<Outcome, RunError> {
    run_once(plan, streams, &RunControl::default())
}

fn run_once(plan: &Plan, streams: Streams, control: &RunControl) -> Result<Outcome, RunError> {
    let mut result = None;
    for view in ViewedRun::views(plan) {
        let viewed = ViewedRun::begin(plan, *view)?;
        match run_in(plan, streams, control, Some(&viewed)) {
            Ok(outcome) => return Ok(Outcome { review: Some(viewed.end()), ..outcome }),
            // Nothing has run. What cannot be made of this view may be made of the next one.
            Err(error @ RunError::Setup { .. }) => {
                viewed.abandon();
                result = Some(Err(error));
            }
            Err(RunError::Refused(refusal)) => {
                viewed.abandon();
                return Err(refusal.into());
            }
            // Nobody watched what came after, but it is over.
            Err(error) => return Err(held(error, viewed)),
        }
    }
    result.unwrap_or_else(|| run_in(plan, streams, control, None))
}

/// Leaves what a command changed in its view to a person, whatever was to be done with it: how it went on, nobody knows.
fn held(error: RunError, viewed: ViewedRun) -> RunError {
    match viewed.hold() {
        reviewed if reviewed.changed == 0 && reviewed.failed.is_none() => error,
        reviewed => RunError::Held { id: reviewed.id, source: Box::new(error) },
    }
}

fn run_in(
    plan: &Plan,
    streams: Streams,
    control: &RunControl,
    viewed: Option<&ViewedRun>,
) -> Result<Outcome, RunError> {
    let number = sandbox_number();
    // To join a control group makes the kernel wait for all processors, which takes longer than everything else together.
    // An engine has groups of its own.
    let groups = if is_grouped(plan) && !plan.provider.bounds_by_itself() {
        Groups::make(&plan.limits, number)
    } else {
        Groups::default()
    };
    let private = match plan.provider {
        Provider::Landlock => Some(
            Private::new(plan, Ids::new(plan.identity, number))
                .map_err(RunError::setup("making a private folder"))?,
        ),
        _ => None,
    };
    let moved = private.as_ref().map(|private| private.move_in(plan));
    let moved = moved.or_else(|| viewed.map(|viewed| viewed.move_in(plan)));
    let begun = moved.as_ref().unwrap_or(plan);
    // What is asked for is judged by the home of whoever starts the command, and not by the folder in its place.
    let judged = Plan { environment: plan.environment.clone(), ..begun.clone() };
    let observer = observer(judged, Ids::new(plan.identity, number))?;
    let mut outcome = carried_out(plan, streams, control, &groups, observer.as_ref(), || {
        let (pump, ends) =
            Pump::new(streams, &plan.provider).map_err(RunError::setup("making pipes or a terminal"))?;
        let running = begin(begun, ends, &groups, number, private.as_ref(), observer.as_ref())?;
        if let (Some(viewed), Some(running)) = (viewed, &running)
            && let Err(error) = viewed.started(running.last())
        {
            // It has begun, so it is ended, and is begun in no other view.
            running.end(None)?;
            return Err(RunError::Watch(error));
        }
        Ok(running.map(|running| (running, pump)))
    })?;
    tell(&mut outcome, observer);
    Ok(outcome)
}

/// Adds what was seen of what the command was refused.
fn tell(outcome: &mut Outcome, observer: Option<Observer>) {
    let seen = observer.map(Observer::end).unwrap_or_default();
    explain::add(&mut outcome.denials, outcome.end, seen.refused, seen.asked);
}

/// Who looks on at what the command asks for: where names are decided, or where somebody wants to know. Without a sandbox, nothing
/// is refused.
fn observer(plan: Plan, ids: Ids) -> Result<Option<Observer>, RunError> {
    let is_wanted = match plan.provider {
        // Landlock does not judge what changes modes and times of files, so this does.
        Provider::Landlock => true,
        Provider::Native | Provider::Bwrap { .. } => plan.explain == Explain::Asked || plan.decides_shared(),
        Provider::Container(_) | Provider::Added(_) | Provider::Nothing => false,
    };
    let observer = is_wanted.then(|| Observer::new(plan, ids)).transpose();
    observer.map_err(RunError::setup("looking on at what the command asks for"))
}

/// Whether control groups are made, where they may be: where somebody requires what they enforce, or named a bound on memory,
/// which nothing else holds for what no process owns.
fn is_grouped(plan: &Plan) -> bool {
    plan.limits.is_tight() || plan.require.iter().any(|property| GROUPED.contains(property))
}

/// A number that no other sandbox has which runs at the same time.
fn sandbox_number() -> u32 {
    static STARTED: AtomicU32 = AtomicU32::new(0);
    std::process::id().wrapping_mul(64).wrapping_add(STARTED.fetch_add(1, Ordering::Relaxed))
}

/// Sweeps before and after a command, and looks after it in between.
fn carried_out(
    plan: &Plan,
    streams: Streams,
    control: &RunControl,
    groups: &Groups,
    observer: Option<&Observer>,
    begin: impl FnOnce() -> Result<Option<(Running, Pump)>, RunError>,
) -> Result<Outcome, RunError> {
    let mut enforcement = plan.enforcement.clone();
    groups.promise(&mut enforcement);
    limits_in_force(plan, groups, &mut enforcement)?;
    preflight::hold(plan)?;
    let sweeping = Sweeping::begin(plan, &mut enforcement);
    in_whole(&plan.require_by_name, &enforcement)?;
    let started = Instant::now();
    let outcome = match begin() {
        Ok(Some((running, pump))) => {
            supervise(plan, streams.signals, control, &running, pump, groups, started)
                .and_then(|watched| watched.outcome(plan, groups, enforcement, started))
        }
        Ok(None) => Ok(Outcome::of_nothing(End::NotFound, enforcement)),
        Err(error) => Err(error),
    };
    let (quarantine, swept) = sweeping.end(plan, observer);
    crate::exposed_secrets::Seen::after(plan, &swept.seen_secrets(&plan.protected));
    let mut outcome = outcome?;
    if swept.searched == Searched::InPart {
        let why = "some folders in the workspace could not be looked into afterwards";
        outcome.enforcement.gap(Property::ProtectedNames, why);
    }
    let changed = swept.changed(&plan.workspace, &plan.watched);
    Ok(Outcome {
        quarantine,
        quarantine_dropped: swept.dropped,
        changed,
        exposed: plan.exposed.clone(),
        ..outcome
    })
}

/// Returns what a plan promises together with its limits, where no control group may be made.
pub(crate) fn limits_without_groups(plan: &Plan) -> Enforcement {
    let mut enforcement = plan.enforcement.clone();
    // What is required turns out later.
    let plan = Plan { require: Vec::new(), ..plan.clone() };
    limits_in_force(&plan, &Groups::default(), &mut enforcement).ok();
    enforcement
}

fn pipe() -> Result<(OwnedFd, OwnedFd), RunError> {
    rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)
        .map_err(|error| RunError::setup("making pipes")(error.into()))
}

/// Limits that no control group holds are held for each process, or looked after by this program; what is required and not held refuses.
fn limits_in_force(plan: &Plan, groups: &Groups, enforcement: &mut Enforcement) -> Result<(), RunError> {
    let is_contained = plan.provider.bounds_by_itself();
    if plan.limits.memory.bound().is_some() && !groups.bound_memory() && !is_contained {
        enforcement.enforce(Property::Memory, "a limit of each process");
        enforcement.enforce(
            Property::TotalMemory,
            "a look at all processes and folders in memory, at least ten times a second",
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
        // What an engine bounds is known from the plan.
        (None, _) | (Some(_), Provider::Container(_) | Provider::Added(_)) => {}
        (Some(_), Provider::Nothing) => {
            enforcement.gap(Property::Processors, "without a sandbox, it can leave its set of processors");
        }
        (Some(_), _) => enforcement.enforce(Property::Processors, "a set of processors that it cannot leave"),
    }
    if disk::is_bounded(&plan.limits) {
        enforcement.enforce(Property::Disk, "a look at its file systems, ten times a second");
        enforcement.gap(Property::Disk, "what other programs write there meanwhile counts as well");
    }
    // What is only looked at is not what somebody requires.
    let is_in_part = |property: &Property| {
        let is_watched = *property == Property::TotalMemory && !groups.bound_memory() && !is_contained;
        *property == Property::Disk || is_watched
    };
    let missing = plan.require.iter().find(|property| !enforcement.holds(**property) || is_in_part(property));
    missing.map_or(Ok(()), |property| Err(cannot_enforce(*property).into()))
}

/// What bounds the number of processes where no control group does.
fn process_count(plan: &Plan, enforcement: &mut Enforcement) {
    let property = Property::ProcessCount;
    match plan.provider {
        Provider::Native | Provider::Bwrap { .. } => {
            enforcement.enforce(property, "a limit of the sandbox's own user namespace");
        }
        Provider::Landlock => enforcement.enforce(property, "a limit of all processes of its user"),
        Provider::Container(_) | Provider::Added(_) => {}
        Provider::Nothing if is_bound_by_no_number() => {
            enforcement
                .gap(property, "the kernel counts the processes of root, and bounds them by no number");
        }
        Provider::Nothing => enforcement.enforce(property, "a limit of all processes of this user"),
    }
}

/// Whether the kernel lets this program start more processes than its limit says, see setrlimit(2).
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
        /// Nothing where this machine makes no sandbox.
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

        fn view(&self) -> (ViewedRun, PathBuf) {
            let viewed = ViewedRun::begin_in(self.state.path(), &self.plan, ReviewView::Copy).unwrap();
            let layers = std::fs::read_dir(self.state.path().join("reviews")).unwrap();
            let layer = layers.map(|entry| entry.unwrap().path()).find(|path| path.is_dir()).unwrap();
            (viewed, layer)
        }
    }

    #[test]
    fn what_has_begun_and_cannot_be_written_down_is_ended_and_not_begun_again() {
        let Some(ground) = Ground::new(&["/bin/sleep", "600"]) else { return };
        let (viewed, layer) = ground.view();
        // Where it is to be written down which process runs, there is a folder.
        std::fs::create_dir(layer.join("process")).unwrap();
        let ended = run_in(&ground.plan, Streams::default(), &RunControl::default(), Some(&viewed));
        assert!(matches!(ended, Err(RunError::Watch(_))), "{ended:?}");
    }

    #[test]
    fn what_a_command_changed_that_nobody_could_watch_waits_and_is_named() {
        let Some(ground) = Ground::new(&["/bin/true"]) else { return };
        let gone = || RunError::Watch(io::Error::other("it is gone"));
        let (viewed, layer) = ground.view();
        std::fs::write(layer.join("copy/f"), "x").unwrap();
        let error = held(gone(), viewed);
        let RunError::Held { id, .. } = &error else { panic!("{error}") };
        assert_eq!(layer.file_name(), Some(id.as_ref()));
        assert!(error.to_string().contains(&format!("stockade changes show {id}")), "{error}");
        assert!(layer.exists() && !Path::new(&ground.plan.workspace).join("f").exists());
        std::fs::remove_dir_all(&layer).unwrap();
        let (viewed, layer) = ground.view();
        assert!(matches!(held(gone(), viewed), RunError::Watch(_)), "nothing was changed");
        assert!(!layer.exists());
    }
}
