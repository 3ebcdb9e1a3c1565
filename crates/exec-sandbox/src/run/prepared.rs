//! Runs a planned command, and plans again with another backend if the first one cannot be set up.

use super::{RunControl, RunError, Streams, recovered, run_once};
use crate::choices::{OnUnavailable, SandboxBackend};
use crate::host::HostFacts;
use crate::outcome::Outcome;
use crate::plan::{Plan, plan};
use crate::provider::Provider;
use crate::quarantined::Quarantined;
use crate::refusal::{Refusal, SandboxRule, What};
use crate::spec::SandboxSpec;

/// Probes this machine, plans, and runs. If the backend is auto-selected and cannot be set up on this machine, the next one is
/// tried. Nothing has run by then, and all requirements still apply.
pub fn plan_and_run(spec: &SandboxSpec, streams: Streams) -> Result<(Plan, Outcome), RunError> {
    let facts = crate::probe::probe(spec);
    let first = plan(spec, &facts)?;
    run_prepared(spec, facts, first, streams)
}

/// Runs a command that was planned from these facts, or plans again if its sandbox cannot be set up.
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

/// The same, with control from outside.
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

/// Facts and plan after sweeping for killed supervisors.
pub(super) struct Recovered {
    pub(super) facts: HostFacts,
    pub(super) plan: Plan,
    pub(super) taken: Vec<Quarantined>,
}

impl Recovered {
    /// Sweeps after commands of killed supervisors. Quarantined files cannot be mounted any more, so it probes and plans again.
    pub(super) fn before(spec: &SandboxSpec, facts: HostFacts, plan: Plan) -> Result<Self, RunError> {
        let taken = recovered(&plan);
        if taken.is_empty() {
            return Ok(Self { facts, plan, taken });
        }
        nothing_is_left(spec, &taken)?;
        let facts = crate::probe::probe(spec);
        let plan = crate::plan::plan(spec, &facts)?;
        Ok(Self { facts, plan, taken })
    }
}

/// Refuses to run if a file of an earlier command could not be quarantined: it would be treated as the user's.
fn nothing_is_left(spec: &SandboxSpec, taken: &[Quarantined]) -> Result<(), Refusal> {
    let folders = || std::iter::once(&spec.workspace).chain(&spec.shared);
    let is_left =
        |one: &&Quarantined| one.moved_to.is_none() && folders().any(|folder| one.path.starts_with(folder));
    let Some(left) = taken.iter().find(is_left) else { return Ok(()) };
    let why =
        "an earlier command left a file there that other programs obey, and it could not be quarantined";
    let fix = "inspect the file, and delete it";
    Err(Refusal::new(What::Write(left.path.clone()), SandboxRule::CannotEnforce(why), fix))
}

/// Runs the plan; if its setup fails, a new plan with current facts, and then another backend.
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
    // The user or another command may have moved or deleted a file since the machine was probed.
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
    // If no other backend works, the error of the first one is more useful.
    let Ok(second) = plan(spec, &facts) else { return Ok((first, result?)) };
    let outcome = run_once(&second, streams, control)?;
    Ok((second, outcome))
}
