//! Backends that are programs of somebody's: `stockade-backend-NAME`, which is asked in JSON and answers in lines of JSON.
//!
//! ```text
//!  {"request":"run", …} ──► its standard input, then {"event":"stdin", …}
//!                           its standard output ──► {"event":"stdout", …} … {"event":"end", …}
//! ```
//!
//! Such a program is believed in nothing that matters: what it says that it holds is marked as its own word, which nobody tried; it is
//! taken where somebody names it, and nowhere else; and a line that cannot be understood, an end that does not come, or a word behind
//! the end is a run that failed. `EXTERNAL.md` has the protocol.

mod program;
mod talk;
mod wire;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

pub use program::{external_backends, external_program};

use super::backend::{Backend, BackendRun, Probed};
use crate::choices::{BackendName, SandboxBackend};
use crate::enforcement::{Enforcement, Property};
use crate::host::HostFacts;
use crate::outcome::Outcome;
use crate::plan::Plan;
use crate::provider::{Offer, Provider, Sees};
use crate::refusal::{Refusal, SandboxRule, What};
use crate::run::{RunError, run_added};
use crate::spec::SandboxSpec;
use program::Program;
use wire::{Answer, Claims, Request};

/// How long one may take to say what it can.
const PATIENCE: Duration = Duration::from_secs(10);

/// By what means something holds that a program says of itself.
const CLAIMED: &str = "the backend says so itself";

/// Why that counts in part only.
const UNTRIED: &str = "nobody has tried whether it does what it says";

/// Who was asked what it can, and for which options.
type Asked = (Program, BTreeMap<String, String>);

/// A backend that is a program of somebody's.
#[derive(Debug)]
struct External {
    name: BackendName,
    /// What each program said of itself for these options, as long as it is the same file.
    said: Mutex<BTreeMap<Asked, Claims>>,
}

/// Finds the program `stockade-backend-NAME`, where there is one or where a request names one.
#[must_use]
pub fn find_external(name: BackendName, spec: &SandboxSpec) -> Option<Box<dyn Backend>> {
    let is_there = program::OPTION.is_some_in(spec) || program::find(name).is_some();
    is_there.then(|| Box::new(External { name, said: Mutex::default() }) as Box<dyn Backend>)
}

impl External {
    fn backend(&self) -> SandboxBackend {
        SandboxBackend::Added(self.name)
    }

    fn program(&self, spec: &SandboxSpec) -> Result<Program, Refusal> {
        Program::of(self.name, spec).map_err(|(why, fix)| {
            Refusal::new(What::Backend(self.backend()), SandboxRule::CannotEnforce(why), fix)
        })
    }

    /// Asks the program what it can, unless it was asked before.
    fn claims(&self, program: &Program, spec: &SandboxSpec, again: bool) -> Result<Claims, (String, String)> {
        let options = program::OPTION.without(spec);
        let key = (program.clone(), options.clone());
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(claims) = said.get(&key).filter(|_| !again) {
            return Ok(claims.clone());
        }
        let wrong = |why: String| (why, format!("`stockade backends test {}` says what is wrong", self.name));
        let answer = talk::ask(program, &Request::probe(options), PATIENCE)
            .map_err(|error| wrong(error.to_string()))?;
        match answer {
            Answer::Capabilities(claims) => {
                said.insert(key, claims.clone());
                Ok(claims)
            }
            Answer::Unavailable { why, fix } => Err((why, fix)),
            other => Err(wrong(format!("it answered `{}` to the question what it can", other.name()))),
        }
    }
}

impl Claims {
    fn enforcement(&self) -> Enforcement {
        let mut enforcement = Enforcement::default();
        for property in Property::all().filter(|one| self.holds.iter().any(|name| name == one.name())) {
            enforcement.enforce(property, CLAIMED);
            enforcement.gap(property, UNTRIED);
        }
        enforcement
    }
}

impl Backend for External {
    fn name(&self) -> &str {
        self.name.as_str()
    }

    fn about(&self) -> &str {
        "A program of its own, stockade-backend-NAME; what it holds is its own word"
    }

    fn offer(&self, spec: &SandboxSpec, _: &HostFacts) -> Result<Offer, Refusal> {
        let program = self.program(spec)?;
        let claims = self.claims(&program, spec, false).map_err(|(why, fix)| {
            let rule =
                SandboxRule::CannotEnforce("the program says that it cannot, or does not say what it can");
            Refusal::new(What::Backend(self.backend()), rule, format!("{fix} (it says: {why})"))
        })?;
        let sees = if claims.sees_itself { Sees::Itself } else { Sees::Copy };
        Ok(Offer::added(self.name, sees, claims.enforcement()))
    }

    fn probe(&self, spec: &SandboxSpec) -> Probed {
        let program = match self.program(spec) {
            Ok(program) => program,
            Err(refusal) => return Probed::Not { why: refusal.rule.to_string(), fix: refusal.fix },
        };
        match self.claims(&program, spec, true) {
            Ok(claims) => Probed::Works(claims.enforcement()),
            Err((why, fix)) => Probed::Not { why, fix },
        }
    }

    fn run(&self, job: BackendRun<'_>) -> Result<(Plan, Outcome), RunError> {
        let program = self.program(job.spec)?;
        let run = talk::name_of_a_run().map_err(RunError::setup("naming a run"))?;
        let options = program::OPTION.without(job.spec);
        let request = Request::run(&run, &job.plan, options.clone()).map_err(|why| {
            RunError::setup("telling the backend of the command")(std::io::Error::other(why))
        })?;
        debug_assert!(matches!(job.plan.provider, Provider::Added(_)), "planned of its own offer");
        let outcome = run_added(&job.plan, job.streams, job.control, move |command| {
            talk::run(&program, &request, &Request::kill(&run, options), command)
        })?;
        Ok((job.plan, outcome))
    }

    fn cleanup(&self, spec: &SandboxSpec) -> usize {
        let checked = |path: PathBuf| Program::checked(&path, Some(&spec.workspace));
        let Some(Ok(program)) = program::find(self.name).map(checked) else {
            return 0;
        };
        match talk::ask(&program, &Request::cleanup(), PATIENCE) {
            Ok(Answer::Cleaned { count }) => usize::try_from(count).unwrap_or(usize::MAX),
            _ => 0,
        }
    }
}
