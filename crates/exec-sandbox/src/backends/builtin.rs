//! The backends that come with this crate, as rows of a registry.

#![expect(clippy::disallowed_methods, reason = "makes a folder to try sandboxes in")]

use std::fs;
use std::time::Duration;

use stockade_files::real_path;

use super::backend::{Backend, BackendRun, Probed};
use super::engine;
use crate::choices::SandboxBackend;
use crate::container_request::Engine;
use crate::enforcement::Enforcement;
use crate::host::HostFacts;
use crate::limits::Limit;
use crate::outcome::Outcome;
use crate::plan::Plan;
use crate::provider::{Offer, offer};
use crate::refusal::Refusal;
use crate::run::{RunError, Streams, plan_and_run, run_controlled};
use crate::spec::SandboxSpec;

/// One that comes with this crate.
#[derive(Debug)]
pub(super) struct Builtin(pub(super) SandboxBackend);

/// Owner of the directory in which root tests backends.
const UNPRIVILEGED: u32 = 65534;

/// How long one may take to show that it works.
const PATIENCE: Duration = Duration::from_secs(20);

impl Builtin {
    /// Runs `true` in a sandbox of the backend, and returns what the run enforced.
    fn tried(&self, spec: &SandboxSpec) -> Result<Enforcement, Probed> {
        let not = |why: String, fix: String| Probed::Not { why, fix };
        let folder =
            std::env::temp_dir().join(format!("stockade-probe-{}-{}", std::process::id(), self.0.name()));
        let failed = |error: std::io::Error| {
            not(format!("cannot create a directory for the test: {error}"), String::new())
        };
        fs::create_dir_all(&folder).map_err(failed)?;
        let workspace = real_path(&folder).map_err(failed)?;
        let mut trial = SandboxSpec::new(workspace, ["true"]);
        trial.backend = self.0;
        trial.container = spec.container.clone();
        trial.limits.wall_time = Limit::AtMost(PATIENCE);
        (trial.spawn, trial.network) = (spec.spawn, spec.network.clone());
        // What is required is compared afterwards. What belongs to root, no backend lets a command change.
        trial.require.clear();
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&trial.workspace, Some(UNPRIVILEGED), Some(UNPRIVILEGED))
                .map_err(failed)?;
        }
        let ran = plan_and_run(&trial, Streams::default());
        fs::remove_dir(&folder).ok();
        match ran {
            Ok((_, outcome)) => Ok(outcome.enforcement),
            Err(RunError::Refused(refusal)) => {
                let why = refusal.rule.to_string();
                Err(not(why, refusal.fix))
            }
            Err(error) => Err(not(error.to_string(), "see `stockade doctor`".to_owned())),
        }
    }
}

impl Backend for Builtin {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn about(&self) -> &str {
        self.0.meaning()
    }

    fn offer(&self, spec: &SandboxSpec, facts: &HostFacts) -> Result<Offer, Refusal> {
        offer(self.0, spec, facts)
    }

    fn probe(&self, spec: &SandboxSpec) -> Probed {
        self.tried(spec).map_or_else(|not| not, Probed::Works)
    }

    fn run(&self, job: BackendRun<'_>) -> Result<(Plan, Outcome), RunError> {
        run_controlled(job.spec, job.facts, job.plan, job.streams, job.control)
    }

    fn cleanup(&self, _: &SandboxSpec) -> usize {
        match Engine::of(self.0) {
            Some(engine) => {
                engine::probe::ask(engine).map_or(0, |host| engine::remove_leftovers(&host.client))
            }
            None => crate::state::folder(&[]).map_or(0, |state| crate::journal::recover(&state).len()),
        }
    }
}
