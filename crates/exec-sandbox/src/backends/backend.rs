//! What a backend is: what a registry asks of whatever makes sandboxes.

use std::fmt;

use crate::enforcement::Enforcement;
use crate::host::HostFacts;
use crate::outcome::Outcome;
use crate::plan::Plan;
use crate::provider::Offer;
use crate::refusal::Refusal;
use crate::run::{RunControl, RunError, Streams};
use crate::spec::SandboxSpec;

/// What makes sandboxes: one that comes with this crate, or somebody's own.
///
/// A run is ended by the [`Cancellation`](crate::run::Cancellation) of its control, and streamed to where its streams and the control say.
/// One that was added runs a command by [`run_added`](crate::run_added), which does all of that.
pub trait Backend: fmt::Debug + Send + Sync {
    /// What it is called.
    fn name(&self) -> &str;

    /// What it is, in a few words for a person.
    fn about(&self) -> &str;

    /// Says what would hold for such a request, from what is known of this machine. It starts nothing that takes long, for this is asked
    /// for each command.
    ///
    /// # Errors
    /// When it cannot make such a sandbox: why, and what mends it.
    fn offer(&self, spec: &SandboxSpec, facts: &HostFacts) -> Result<Offer, Refusal>;

    /// Tries by running something whether it works for such a request, and says what it holds then.
    fn probe(&self, spec: &SandboxSpec) -> Probed;

    /// Runs the command of a plan that was made of its offer, and returns when it and everything that it started are gone.
    ///
    /// # Errors
    /// When it cannot be run.
    fn run(&self, job: BackendRun<'_>) -> Result<(Plan, Outcome), RunError>;

    /// Removes what killed programs left, and says how much that was. What is in the workspace of the request is not believed.
    fn cleanup(&self, spec: &SandboxSpec) -> usize;
}

/// A command that a backend is to run.
#[derive(Debug)]
#[non_exhaustive]
pub struct BackendRun<'r> {
    /// What was asked for.
    pub spec: &'r SandboxSpec,
    /// What this machine is like.
    pub facts: HostFacts,
    /// What was planned of both.
    pub plan: Plan,
    /// What becomes of its streams.
    pub streams: Streams,
    /// What reaches into the run from outside.
    pub control: &'r RunControl,
}

/// What was found by running something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Probed {
    /// It works, and this held.
    Works(Enforcement),
    /// It does not work.
    Not {
        /// Why.
        why: String,
        /// What mends it.
        fix: String,
    },
}

impl<'r> BackendRun<'r> {
    /// What is to be run, by whoever planned it.
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
