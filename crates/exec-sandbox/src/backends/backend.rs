//! Interface between the registry and a sandbox backend.

use std::fmt;

use crate::enforcement::Enforcement;
use crate::host::HostFacts;
use crate::outcome::Outcome;
use crate::plan::Plan;
use crate::provider::Offer;
use crate::refusal::Refusal;
use crate::run::{RunControl, RunError, Streams};
use crate::spec::SandboxSpec;

/// A sandbox backend: one of this crate, or one that an embedding program adds.
///
/// The [`Cancellation`](crate::run::Cancellation) in the control of a run ends it; the streams and the control decide where its
/// output goes. An added backend runs commands through [`run_added`](crate::run_added), which does both.
pub trait Backend: fmt::Debug + Send + Sync {
    /// Returns its name.
    fn name(&self) -> &str;

    /// Returns a short description for users.
    fn about(&self) -> &str;

    /// Returns what the backend would enforce for a request, from the facts about this machine. It starts nothing slow, because
    /// it is called for each command.
    ///
    /// # Errors
    /// If the backend cannot make such a sandbox: the reason and the fix.
    fn offer(&self, spec: &SandboxSpec, facts: &HostFacts) -> Result<Offer, Refusal>;

    /// Tests with a short run whether the backend works for a request, and returns what it enforces then.
    fn probe(&self, spec: &SandboxSpec) -> Probed;

    /// Runs the command of a plan made from its offer, and returns after the command and all processes that it started have
    /// ended.
    ///
    /// # Errors
    /// If it cannot be run.
    fn run(&self, job: BackendRun<'_>) -> Result<(Plan, Outcome), RunError>;

    /// Removes the leftovers of killed processes, and returns their number. The workspace of the request is untrusted.
    fn cleanup(&self, spec: &SandboxSpec) -> usize;
}

/// A command that a backend is to run.
#[derive(Debug)]
#[non_exhaustive]
pub struct BackendRun<'r> {
    /// The sandbox request.
    pub spec: &'r SandboxSpec,
    /// Facts about this machine.
    pub facts: HostFacts,
    /// The plan made from both.
    pub plan: Plan,
    /// The standard streams of the command.
    pub streams: Streams,
    /// What reaches into the run from outside.
    pub control: &'r RunControl,
}

/// Result of a test run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Probed {
    /// It works, and enforced this.
    Works(Enforcement),
    /// It does not work.
    Not {
        /// The reason.
        why: String,
        /// The fix, for users.
        fix: String,
    },
}

impl<'r> BackendRun<'r> {
    /// Creates a run from a request and the plan for it.
    pub fn new(
        spec: &'r SandboxSpec,
        facts: HostFacts,
        plan: Plan,
        streams: Streams,
        control: &'r RunControl,
    ) -> Self {
        Self { spec, facts, plan, streams, control }
    }
}
