//! Runs what was planned, or what is planned where that turns out not to work: nothing has run by then, and what is required
//! still is.

use super::{RunControl, RunError, Streams, run_once};
use crate::choices::{OnUnavailable, SandboxBackend};
use crate::host::HostFacts;
use crate::journal;
use crate::outcome::Outcome;
use crate::plan::{Plan, plan};
use crate::provider::Provider;
use crate::quarantined::Quarantined;
use crate::refusal::{Refusal, SandboxRule, What};
use crate::spec::SandboxSpec;

/// Looks at this machine, plans, and runs. Where nobody chose what makes the sandbox, and what was tried first turns out
/// not to work on this machine, the next one is tried: nothing has run by then, and what is required still is.
pub fn plan_and_run(spec: &SandboxSpec, streams: Streams) -> Result<(Plan, Outcome), RunError> {
    let facts = crate::probe::probe(spec);
    let first = plan(spec, &facts)?;
    run_prepared(spec, facts, first, streams)
}

/// Runs what was planned from these facts, or what is planned where that turns out not to work.
///
/// # Errors
/// As [`plan_and_run`].
pub fn run_prepared(
    spec: &SandboxSpec,
    facts: HostFacts,
    first: Plan,
    streams: Streams,
) -> Result<(Plan, Outcome), RunError> {
    run_controlled(spec, facts, first, streams, &RunControl::default())
}

/// The same, where somebody reaches into the run from outside.
///
/// # Errors
/// As [`plan_and_run`].
pub fn run_controlled(
    spec: &SandboxSpec,
    facts: HostFacts,
    first: Plan,
    streams: Streams,
    control: &RunControl,
) -> Result<(Plan, Outcome), RunError> {
    let Recovered { facts, plan, taken } = Recovered::before(spec, facts, first)?;
    let (plan, mut outcome) = in_turn(spec, facts, plan, streams, control)?;
    outcome.quarantine.splice(0..0, taken);
    Ok((plan, outcome))
}

/// What is planned once everything is swept that a killed program left.
pub(super) struct Recovered {
    pub(super) facts: HostFacts,
    pub(super) plan: Plan,
    pub(super) taken: Vec<Quarantined>,
}

impl Recovered {
    /// Sweeps after programs that were killed. What that takes away cannot be mounted any more, so it is planned anew.
    pub(super) fn before(spec: &SandboxSpec, facts: HostFacts, plan: Plan) -> Result<Self, RunError> {
        let state = crate::state::folder(&plan.mounts);
        let taken = state.as_deref().map(journal::recover).unwrap_or_default();
        if taken.is_empty() {
            return Ok(Self { facts, plan, taken });
        }
        nothing_is_left(spec, &taken)?;
        let facts = crate::probe::probe(spec);
        let plan = crate::plan::plan(spec, &facts)?;
        Ok(Self { facts, plan, taken })
    }
}

/// What an earlier command left under a protected name, and nobody could move, is not to be taken for the user's.
fn nothing_is_left(spec: &SandboxSpec, taken: &[Quarantined]) -> Result<(), Refusal> {
    let folders = || std::iter::once(&spec.workspace).chain(&spec.shared);
    let is_left =
        |one: &&Quarantined| one.moved_to.is_none() && folders().any(|folder| one.path.starts_with(folder));
    let Some(left) = taken.iter().find(is_left) else { return Ok(()) };
    let why =
        "an earlier command left something there that other programs obey, and it could not be moved away";
    let fix = "look at it, and remove it";
    Err(Refusal::new(What::Write(left.path.clone()), SandboxRule::CannotEnforce(why), fix))
}

/// Tries what was planned, then the same with what is there now, then what else makes a sandbox here.
pub(super) fn in_turn(
    spec: &SandboxSpec,
    facts: HostFacts,
    first: Plan,
    streams: Streams,
    control: &RunControl,
) -> Result<(Plan, Outcome), RunError> {
    let result = run_once(&first, streams, control);
    if !matches!(result, Err(RunError::Setup { .. } | RunError::Refused(_))) {
        return Ok((first, result?));
    }
    // Something may have been moved or taken away since this machine was looked at: by a person, or after another command.
    let mut facts = HostFacts { bubblewrap: facts.bubblewrap, ..crate::probe::probe(spec) };
    let again = plan(spec, &facts)?;
    let (first, result) = if again == first {
        (first, result)
    } else {
        let result = run_once(&again, streams, control);
        (again, result)
    };
    if !matches!(result, Err(RunError::Setup { .. })) || first.provider != Provider::Native {
        return Ok((first, result?));
    }
    if spec.backend == SandboxBackend::Native && spec.on_unavailable != OnUnavailable::Warn {
        return Ok((first, result?));
    }
    facts.kernel.namespaces = false;
    facts.bubblewrap = crate::bwrap::start::find();
    // Where nothing else works either, why the first did not is worth more than that there is none.
    let Ok(second) = plan(spec, &facts) else { return Ok((first, result?)) };
    let outcome = run_once(&second, streams, control)?;
    Ok((second, outcome))
}
