//! Backends that are programs: `stockade-backend-NAME`, which is asked in JSON and answers in lines of JSON.
//!
//! ```text
//!  {"request":"run", …} ──► its standard input, then {"event":"stdin", …}
//!                           its standard output ──► {"event":"stdout", …} … {"event":"end", …}
//! ```
//!
//! The claims of a user's program are marked as untested; it is used only by name; and an invalid line, a missing end, or a line
//! behind the end is a run that failed. A program of a release, which lies beside `stockade`, is trusted as `stockade` is: it is asked
//! about the whole request, and its answers are reported as they are. `EXTERNAL.md` has the protocol.

mod printable;
mod program;
mod refused;
mod released;
mod sandbox_request;
mod talk;
mod wire;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub use program::{external_backends, external_program};
pub use refused::RefusedRequest;
pub use sandbox_request::{NetworkRequest, SandboxRequest};
pub use wire::{BackendLine, EndCause, NamedGap, NamedMeans, WorkspaceSeen};

use super::backend::{Backend, BackendRun, Probed};
use crate::choices::{BackendName, SandboxBackend};
use crate::enforcement::{Enforcement, Property};
use crate::explain::Denial;
use crate::host::HostFacts;
use crate::outcome::Outcome;
use crate::plan::Plan;
use crate::provider::{Offer, Provider, Sees};
use crate::refusal::{Refusal, SandboxRule, What};
use crate::run::{RunError, run_added};
use crate::spec::SandboxSpec;
use printable::printable;
use program::{Program, Trust};
use released::{RELEASED, Released, lasting};
use wire::{Answer, Claims, Request};

/// How long one may take to answer a probe.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long a program of a release may take to try a sandbox, or to remove what killed runs left: it asks servers, and some of
/// them are asked again.
const UNTIL_TRIED: Duration = Duration::from_secs(300);

/// By what means something holds that a program says of itself.
const CLAIMED: &str = "a claim of the backend";

/// Why that counts in part only.
const UNTRIED: &str = "its claims are untested";

/// Who was asked what it can, and for which options.
type Asked = (Program, BTreeMap<String, String>);

/// A backend that is a program.
#[derive(Debug)]
struct External {
    name: BackendName,
    /// Whether a release has a program for it.
    released: Option<&'static Released>,
    /// What each program said of itself for these options, as long as it is the same file.
    said: Mutex<BTreeMap<Asked, Claims>>,
}

/// Finds the program `stockade-backend-NAME`, where there is one or where a request names one.
#[must_use]
pub fn find_external(name: BackendName, spec: &SandboxSpec) -> Option<Box<dyn Backend>> {
    let is_there = program::OPTION.is_some_in(spec) || program::find(name).is_some();
    is_there.then(|| Box::new(External::new(name)) as Box<dyn Backend>)
}

/// Returns the backends whose programs come with a release, whether they are installed or not.
pub fn released_backends() -> impl Iterator<Item = Box<dyn Backend>> {
    let names = RELEASED.iter().filter_map(|row| BackendName::new(row.name));
    names.map(|name| Box::new(External::new(name)) as Box<dyn Backend>)
}

impl External {
    fn new(name: BackendName) -> Self {
        Self { name, released: Released::of(name), said: Mutex::default() }
    }

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
        let wrong =
            |why: String| (why, format!("`stockade backends test {}` shows what is wrong", self.name));
        let answer = talk::ask(program, &Request::probe(options), PATIENCE)
            .map_err(|error| wrong(error.to_string()))?;
        match answer {
            Answer::Capabilities(claims) => {
                said.insert(key, claims.clone());
                Ok(claims)
            }
            Answer::Unavailable { why, fix } => Err((why, fix)),
            other => Err(wrong(format!("unexpected answer `{}` to the probe", other.name()))),
        }
    }

    /// Asks a program of a release what holds for this request.
    fn answer(
        &self,
        program: &Program,
        spec: &SandboxSpec,
        variables: &BTreeMap<OsString, OsString>,
        tries: bool,
    ) -> Result<Claims, Refusal> {
        let refused = |why: &str, fix: String| {
            let rule = SandboxRule::CannotEnforce(lasting(&printable(why)));
            Refusal::new(What::Backend(self.backend()), rule, fix)
        };
        let sandbox = SandboxRequest::of(spec, variables).map_err(|why| {
            refused(
                "an argument or a path is not valid UTF-8, and the protocol is JSON",
                format!("use UTF-8: {why}"),
            )
        })?;
        let request = Request::probe(program::OPTION.without(spec)).about(sandbox);
        let (request, patience) =
            if tries { (request.by_trying(), UNTIL_TRIED) } else { (request, PATIENCE) };
        let broken = |why: &str| {
            let fix = format!("`stockade backends test {}` shows what is wrong", self.name);
            refused(why, fix)
        };
        match talk::ask(program, &request, patience) {
            Ok(Answer::Capabilities(claims)) => Ok(claims),
            Ok(Answer::Refused(refusal)) => Err(refusal.refusal(self.backend())),
            Ok(Answer::Unavailable { why, fix }) => Err(refused(&why, fix)),
            Ok(Answer::Failed { why, .. }) => Err(broken(&why)),
            Ok(_) => Err(broken("unexpected answer of its program to the probe")),
            Err(error) => Err(broken(&format!("its program did not answer: {error}"))),
        }
    }

    /// The request to run a command.
    fn request(&self, program: &Program, job: &BackendRun<'_>, run: &str) -> Result<Request, String> {
        let options = program::OPTION.without(job.spec);
        let request = Request::run(run, &job.plan, options, program.trust)?;
        match program.trust {
            Trust::OwnWord => Ok(request),
            Trust::Release => Ok(request.about(SandboxRequest::of(job.spec, &job.facts.environment)?)),
        }
    }

    fn offered(&self, claims: &Claims, trust: Trust) -> Offer {
        let sees = if claims.sees_itself { Sees::Itself } else { Sees::Copy };
        Offer::added(self.name, sees, claims.enforcement(trust))
    }
}

impl Claims {
    fn enforcement(&self, trust: Trust) -> Enforcement {
        match trust {
            Trust::OwnWord => self.untested(),
            Trust::Release => self.stated(),
        }
    }

    fn untested(&self) -> Enforcement {
        let mut enforcement = Enforcement::default();
        for property in Property::all().filter(|one| self.holds.iter().any(|name| name == one.name())) {
            enforcement.enforce(property, CLAIMED);
            enforcement.gap(property, UNTRIED);
        }
        enforcement
    }

    fn stated(&self) -> Enforcement {
        let named = |name: &str| Property::all().find(|property| property.name() == name);
        let mut enforcement = Enforcement::default();
        for means in &self.enforced {
            named(&means.property)
                .into_iter()
                .for_each(|one| enforcement.enforce(one, lasting(&printable(&means.by))));
        }
        for gap in &self.gaps {
            named(&gap.property)
                .into_iter()
                .for_each(|one| enforcement.gap(one, lasting(&printable(&gap.why))));
        }
        enforcement
    }
}

impl Backend for External {
    fn name(&self) -> &str {
        self.name.as_str()
    }

    fn about(&self) -> &str {
        self.released
            .map_or("External program stockade-backend-NAME; its claims are untested", |row| row.about)
    }

    fn offer(&self, spec: &SandboxSpec, facts: &HostFacts) -> Result<Offer, Refusal> {
        let program = self.program(spec)?;
        if program.trust == Trust::Release {
            let claims = self.answer(&program, spec, &facts.environment, false)?;
            return Ok(self.offered(&claims, program.trust));
        }
        let claims = self.claims(&program, spec, false).map_err(|(why, fix)| {
            let rule = SandboxRule::CannotEnforce(
                "its program cannot create sandboxes here, or did not answer the probe",
            );
            Refusal::new(What::Backend(self.backend()), rule, format!("{fix} (it reports: {why})"))
        })?;
        Ok(self.offered(&claims, program.trust))
    }

    fn probe(&self, spec: &SandboxSpec) -> Probed {
        let program = match self.program(spec) {
            Ok(program) => program,
            Err(refusal) => return Probed::Not { why: refusal.rule.to_string(), fix: refusal.fix },
        };
        if program.trust == Trust::Release {
            return match self.answer(&program, spec, &BTreeMap::new(), true) {
                Ok(claims) => Probed::Works(claims.enforcement(program.trust)),
                Err(refusal) => Probed::Not { why: refusal.rule.to_string(), fix: refusal.fix },
            };
        }
        match self.claims(&program, spec, true) {
            Ok(claims) => Probed::Works(claims.enforcement(program.trust)),
            Err((why, fix)) => Probed::Not { why, fix },
        }
    }

    fn run(&self, job: BackendRun<'_>) -> Result<(Plan, Outcome), RunError> {
        let program = self.program(job.spec)?;
        let run = talk::name_of_a_run().map_err(RunError::setup("naming a run"))?;
        let request = self.request(&program, &job, &run).map_err(|why| {
            RunError::setup("sending the command to the backend")(std::io::Error::other(why))
        })?;
        debug_assert!(
            matches!(job.plan.provider, Provider::Added(_)),
            "the plan is based on the offer of this backend"
        );
        if program.trust == Trust::Release {
            return released_run(job, program, request);
        }
        let kill = Request::kill(&run, program::OPTION.without(job.spec));
        let outcome = run_added(&job.plan, job.streams, job.control, move |command| {
            talk::run(&program, &request, &kill, command)
        })?;
        Ok((job.plan, outcome))
    }

    fn cleanup(&self, spec: &SandboxSpec) -> usize {
        let (program, request, patience) = match self.released {
            Some(_) => {
                let Ok(sandbox) = SandboxRequest::of(spec, &BTreeMap::new()) else { return 0 };
                (Program::of(self.name, spec), Request::cleanup().about(sandbox), UNTIL_TRIED)
            }
            None => {
                let checked = |path: PathBuf| Program::checked(&path, Some(&spec.workspace));
                let Some(program) = program::find(self.name).map(checked) else { return 0 };
                (program, Request::cleanup(), PATIENCE)
            }
        };
        let Ok(program) = program else { return 0 };
        match talk::ask(&program, &request, patience) {
            Ok(Answer::Cleaned { count }) => usize::try_from(count).unwrap_or(usize::MAX),
            _ => 0,
        }
    }
}

/// Runs a command by a program of a release.
fn released_run(
    job: BackendRun<'_>,
    program: Program,
    request: Request,
) -> Result<(Plan, Outcome), RunError> {
    let backend = job.spec.backend;
    let ran_out: Arc<AtomicBool> = Arc::default();
    let told = Arc::clone(&ran_out);
    let mut outcome = run_added(&job.plan, job.streams, job.control, move |command| {
        let ended = talk::run_of_release(&program, &request, command, backend)?;
        told.store(ended.ran_out_of_memory, Ordering::SeqCst);
        Ok(ended.end)
    })?;
    if ran_out.load(Ordering::SeqCst) {
        outcome.denials.push(Denial::Memory);
    }
    Ok((job.plan, outcome))
}
