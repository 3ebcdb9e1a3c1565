//! What makes sandboxes on a machine, as one list: what comes with this crate, and what somebody adds.
//!
//! ```text
//!  what is required ──► by priority ──► probed by running something ──► holds all of it? ──► the run
//!                                          again after a run that failed
//! ```
//!
//! Nothing is taken that lacks what is required, or that keeps a command neither from files nor from processes; and nothing stands in for one
//! that failed. What is to be named is taken where it is named, and nowhere else.

#![expect(clippy::disallowed_methods, reason = "makes a folder to try sandboxes in")]

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use thiserror::Error;

use super::engine;
use super::request::{Engine, EngineLack};
use crate::choices::SandboxBackend;
use crate::enforcement::{Enforcement, Property};
use crate::limits::Limit;
use crate::outcome::Outcome;
use crate::refusal::Refusal;
use crate::run::{RunControl, RunError, Streams, plan_and_run, run_controlled};
use crate::spec::SandboxSpec;

/// What makes sandboxes: one that comes with this crate, or somebody's own.
///
/// A run is ended by the [`Cancellation`](crate::Cancellation) of its control, and streamed to where its streams and the control say.
pub trait Backend: fmt::Debug + Send + Sync {
    /// What it is called.
    fn name(&self) -> &str;

    /// Tries by running something whether it works for such a request, and says what it holds then.
    fn probe(&self, spec: &SandboxSpec) -> Probed;

    /// Says what would be done, for a person.
    ///
    /// # Errors
    /// When it would be refused.
    fn plan(&self, spec: &SandboxSpec) -> Result<String, Refusal>;

    /// Runs the command of a request, and returns when it and everything that it started are gone.
    ///
    /// # Errors
    /// When it cannot be run.
    fn run(&self, spec: &SandboxSpec, streams: Streams, control: &RunControl) -> Result<Outcome, RunError>;

    /// Removes what killed programs left, and says how much that was.
    fn cleanup(&self) -> usize;
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

/// When a backend is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Selection {
    /// Wherever it is the first that holds what is required.
    ByPriority,
    /// Only where somebody names it.
    ByNameOnly,
}

/// A backend of the list, and what is known of it.
#[derive(Debug)]
struct Row {
    backend: Box<dyn Backend>,
    priority: i32,
    selection: Selection,
    probed: Mutex<Option<Probed>>,
}

/// A backend as it is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListedBackend {
    /// What it is called.
    pub name: String,
    /// Those with a higher one are taken first.
    pub priority: i32,
    /// When it is taken.
    pub selection: Selection,
    /// What was found by running something.
    pub probed: Probed,
}

/// No backend is taken.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum NoBackend {
    /// There is none of that name.
    #[error("there is no backend called `{0}`")]
    Unknown(String),
    /// The one that was named does not work.
    #[error("`{name}` does not work here: {why}; {fix}")]
    Unavailable {
        /// Its name.
        name: String,
        /// Why.
        why: String,
        /// What mends it.
        fix: String,
    },
    /// The one that was named, or each that works, lacks something that is required.
    #[error("no backend that may be taken holds {0}")]
    Lacks(Property),
    /// Of those that may be taken without a name, none can make a sandbox.
    #[error("no backend works here")]
    None,
    /// The one that was taken could not run the command. No other one stands in for it.
    #[error("`{name}`: {error}")]
    Failed {
        /// Its name.
        name: String,
        /// Why.
        #[source]
        error: RunError,
    },
}

/// What keeps nothing apart is no sandbox, whatever else it holds.
const ISOLATION: [Property; 2] = [Property::Files, Property::Processes];

/// What makes sandboxes on this machine.
#[derive(Debug, Default)]
pub struct BackendRegistry {
    rows: Vec<Row>,
}

impl BackendRegistry {
    /// Returns those of this crate, the strongest first.
    #[must_use]
    pub fn builtin() -> Self {
        let mut registry = Self::default();
        let named = SandboxBackend::ALL.iter().copied().filter(|backend| *backend != SandboxBackend::Auto);
        for (place, backend) in (0_i32..).zip(named) {
            let selection = match Engine::of(backend) {
                Some(_) => Selection::ByNameOnly,
                None => Selection::ByPriority,
            };
            registry.register(Box::new(Builtin(backend)), 100 - 10 * place, selection);
        }
        registry
    }

    /// Adds one. Of two with the same priority, the one that came first is taken first; one of the same name takes the place of
    /// the other.
    pub fn register(&mut self, backend: Box<dyn Backend>, priority: i32, selection: Selection) {
        self.rows.retain(|row| row.backend.name() != backend.name());
        self.rows.push(Row { backend, priority, selection, probed: Mutex::new(None) });
        self.rows.sort_by_key(|row| std::cmp::Reverse(row.priority));
    }

    /// Tries every one, and returns what was found, in the order in which they are taken.
    #[must_use]
    pub fn list(&self, spec: &SandboxSpec) -> Vec<ListedBackend> {
        let listed = |row: &Row| ListedBackend {
            name: row.backend.name().to_owned(),
            priority: row.priority,
            selection: row.selection,
            probed: row.probed(spec),
        };
        self.rows.iter().map(listed).collect()
    }

    /// Returns the backend that is taken for a request: the one that is named, or the first that works and holds what is required.
    ///
    /// # Errors
    /// When there is none.
    pub fn choose(&self, spec: &SandboxSpec, named: Option<&str>) -> Result<&dyn Backend, NoBackend> {
        self.taken(spec, named).map(|row| &*row.backend)
    }

    /// Runs a command in what is taken for it. What it was found to be is forgotten when that fails, so that the next one is tried anew.
    ///
    /// # Errors
    /// When nothing is taken, or the one that was taken fails: no other one stands in for it.
    pub fn run(
        &self,
        spec: &SandboxSpec,
        named: Option<&str>,
        streams: Streams,
        control: &RunControl,
    ) -> Result<Outcome, NoBackend> {
        let row = self.taken(spec, named)?;
        row.backend.run(spec, streams, control).map_err(|error| {
            row.forget();
            NoBackend::Failed { name: row.backend.name().to_owned(), error }
        })
    }

    /// Has every one remove what killed programs left.
    pub fn cleanup(&self) -> usize {
        self.rows.iter().map(|row| row.backend.cleanup()).sum()
    }

    fn taken(&self, spec: &SandboxSpec, named: Option<&str>) -> Result<&Row, NoBackend> {
        let required = &spec.require | &spec.require_by_name;
        if let Some(name) = named {
            let row = self.rows.iter().find(|row| row.backend.name() == name);
            let row = row.ok_or_else(|| NoBackend::Unknown(name.to_owned()))?;
            return match row.probed(spec) {
                Probed::Not { why, fix } => Err(NoBackend::Unavailable { name: name.to_owned(), why, fix }),
                Probed::Works(enforcement) => match lacks(&enforcement, &required) {
                    Some(property) => Err(NoBackend::Lacks(property)),
                    None => Ok(row),
                },
            };
        }
        let mut lacking = None;
        for row in self.rows.iter().filter(|row| row.selection == Selection::ByPriority) {
            let Probed::Works(enforcement) = row.probed(spec) else { continue };
            match lacks(&enforcement, &required) {
                Some(property) => lacking = lacking.or(Some(property)),
                None => return Ok(row),
            }
        }
        Err(lacking.map_or(NoBackend::None, NoBackend::Lacks))
    }
}

/// What one lacks to be taken, if anything.
fn lacks(enforcement: &Enforcement, required: &BTreeSet<Property>) -> Option<Property> {
    ISOLATION.iter().chain(required).copied().find(|property| !enforcement.holds(*property))
}

impl Row {
    fn probed(&self, spec: &SandboxSpec) -> Probed {
        let mut known = self.probed.lock().unwrap_or_else(PoisonError::into_inner);
        known.get_or_insert_with(|| self.backend.probe(spec)).clone()
    }

    fn forget(&self) {
        *self.probed.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// One that comes with this crate.
#[derive(Debug)]
struct Builtin(SandboxBackend);

/// Whose folder it is that root tries backends in.
const NOBODY: u32 = 65534;

/// How long one may take to show that it works.
const PATIENCE: Duration = Duration::from_secs(20);

impl Builtin {
    fn request(&self, spec: &SandboxSpec) -> SandboxSpec {
        SandboxSpec { backend: self.0, ..spec.clone() }
    }

    /// Runs nothing of consequence, for what it says about itself.
    fn tried(&self, spec: &SandboxSpec) -> Result<Enforcement, Probed> {
        let not = |why: String, fix: String| Probed::Not { why, fix };
        let folder =
            std::env::temp_dir().join(format!("stockade-probe-{}-{}", std::process::id(), self.0.name()));
        let failed =
            |error: std::io::Error| not(format!("there is no folder to try it in: {error}"), String::new());
        fs::create_dir_all(&folder).map_err(failed)?;
        let workspace = fs::canonicalize(&folder).map_err(failed)?;
        let mut trial = SandboxSpec::new(workspace, ["true"]);
        trial.backend = self.0;
        trial.container = spec.container.clone();
        trial.limits.wall_time = Limit::AtMost(PATIENCE);
        (trial.spawn, trial.network) = (spec.spawn, spec.network.clone());
        // What is required is compared afterwards. What belongs to root, no backend lets a command change.
        trial.require.clear();
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&trial.workspace, Some(NOBODY), Some(NOBODY)).map_err(failed)?;
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

    fn probe(&self, spec: &SandboxSpec) -> Probed {
        self.tried(spec).map_or_else(|not| not, Probed::Works)
    }

    fn plan(&self, spec: &SandboxSpec) -> Result<String, Refusal> {
        let spec = self.request(spec);
        crate::plan::plan(&spec, &crate::probe::probe(&spec)).map(|plan| plan.to_string())
    }

    fn run(&self, spec: &SandboxSpec, streams: Streams, control: &RunControl) -> Result<Outcome, RunError> {
        let spec = self.request(spec);
        let facts = crate::probe::probe(&spec);
        let first = crate::plan::plan(&spec, &facts)?;
        run_controlled(&spec, facts, first, streams, control).map(|(_, outcome)| outcome)
    }

    fn cleanup(&self) -> usize {
        match Engine::of(self.0) {
            Some(engine) => {
                engine::probe::ask(engine).map_or(0, |host| engine::remove_leftovers(&host.client))
            }
            None => crate::state::folder(&[]).map_or(0, |state| crate::journal::recover(&state).len()),
        }
    }
}

/// Returns whether an engine answers, and which of these runtimes it has, whatever image is wanted.
///
/// # Errors
/// Why it makes no container.
pub fn engine_runtimes(engine: Engine, runtimes: &[&'static str]) -> Result<Vec<&'static str>, EngineLack> {
    let host = engine::probe::ask(engine)?;
    Ok(runtimes.iter().copied().filter(|runtime| host.has_runtime(runtime)).collect())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    use super::*;
    use crate::outcome::End;

    /// One that holds what it says, as long as it works, and counts how often it was tried and used.
    #[derive(Debug, Clone, Default)]
    struct Fake {
        name: &'static str,
        holds: Vec<Property>,
        /// How often it may run before it fails.
        lasts: usize,
        tried: Arc<AtomicUsize>,
        used: Arc<AtomicUsize>,
    }

    fn fake(name: &'static str, more: &[Property], lasts: usize) -> Fake {
        let holds = ISOLATION.iter().chain(more).copied().collect();
        Fake { name, holds, lasts, ..Fake::default() }
    }

    impl Backend for Fake {
        fn name(&self) -> &str {
            self.name
        }

        fn probe(&self, _: &SandboxSpec) -> Probed {
            self.tried.fetch_add(1, SeqCst);
            if self.used.load(SeqCst) > self.lasts {
                return Probed::Not { why: "it is gone".to_owned(), fix: "start it".to_owned() };
            }
            let mut enforcement = Enforcement::default();
            self.holds.iter().for_each(|property| enforcement.enforce(*property, "a promise"));
            Probed::Works(enforcement)
        }

        fn plan(&self, _: &SandboxSpec) -> Result<String, Refusal> {
            Ok(self.name.to_owned())
        }

        fn run(&self, _: &SandboxSpec, _: Streams, _: &RunControl) -> Result<Outcome, RunError> {
            if self.used.fetch_add(1, SeqCst) >= self.lasts {
                return Err(RunError::Watch(std::io::Error::other("it is gone")));
            }
            Ok(Outcome::of_nothing(End::Exited(0), Enforcement::default()))
        }

        fn cleanup(&self) -> usize {
            1
        }
    }

    fn request(require: &[Property]) -> SandboxSpec {
        let mut spec = SandboxSpec::new("/w", ["true"]);
        spec.require = require.iter().copied().collect();
        spec
    }

    fn registry(rows: &[(&Fake, i32, Selection)]) -> BackendRegistry {
        let mut registry = BackendRegistry::default();
        rows.iter().for_each(|(fake, priority, selection)| {
            registry.register(Box::new((*fake).clone()), *priority, *selection);
        });
        registry
    }

    use Selection::{ByNameOnly, ByPriority};

    #[test]
    fn the_first_that_holds_what_is_required_is_taken() {
        let (strong, weak) = (fake("strong", &[Property::Network], 9), fake("weak", &[], 9));
        let registry = registry(&[(&weak, 50, ByPriority), (&strong, 10, ByPriority)]);
        let taken =
            |require: &[Property]| registry.choose(&request(require), None).map(|one| one.name().to_owned());
        assert_eq!(taken(&[]).unwrap(), "weak");
        assert_eq!(taken(&[Property::Network]).unwrap(), "strong", "what cannot hold it is passed over");
        assert!(matches!(taken(&[Property::NoSpawn]), Err(NoBackend::Lacks(Property::NoSpawn))));
        assert_eq!(registry.list(&request(&[])).len(), 2);
        assert_eq!((weak.tried.load(SeqCst), strong.tried.load(SeqCst)), (1, 1), "once, until one fails");
        assert_eq!(registry.cleanup(), 2);
    }

    #[test]
    fn what_keeps_nothing_apart_is_no_sandbox_even_by_its_name() {
        let mirror = Fake { name: "mirror", holds: vec![Property::Network], lasts: 9, ..Fake::default() };
        let registry = registry(&[(&mirror, 100, ByPriority)]);
        for named in [None, Some("mirror")] {
            let taken = registry.run(&request(&[]), named, Streams::default(), &RunControl::default());
            assert!(matches!(taken, Err(NoBackend::Lacks(Property::Files))), "{taken:?}");
        }
        assert_eq!(mirror.used.load(SeqCst), 0);
    }

    #[test]
    fn what_is_to_be_named_is_taken_where_it_is_named() {
        let (named, usual) = (fake("named", &[], 9), fake("usual", &[], 9));
        let registry = registry(&[(&named, 100, ByNameOnly), (&usual, 1, ByPriority)]);
        assert_eq!(registry.choose(&request(&[]), None).unwrap().name(), "usual");
        assert_eq!(registry.choose(&request(&[]), Some("named")).unwrap().name(), "named");
        assert!(
            matches!(registry.choose(&request(&[]), Some("none")), Err(NoBackend::Unknown(name)) if name == "none")
        );
    }

    #[test]
    fn nothing_stands_in_for_one_that_failed_and_it_is_tried_anew() {
        let (first, second) = (fake("first", &[], 1), fake("second", &[], 9));
        let registry = registry(&[(&first, 100, ByPriority), (&second, 1, ByPriority)]);
        let run = || registry.run(&request(&[]), None, Streams::default(), &RunControl::default());
        assert!(run().is_ok());
        assert!(matches!(run(), Err(NoBackend::Failed { name, .. }) if name == "first"));
        assert_eq!(second.used.load(SeqCst), 0, "the run that failed was not given to another one");
        assert!(run().is_ok(), "it is found to be gone, and the next one is taken from the start");
        assert_eq!((first.tried.load(SeqCst), second.used.load(SeqCst)), (2, 1));
        let named = registry.choose(&request(&[]), Some("first"));
        assert!(matches!(named, Err(NoBackend::Unavailable { why, .. }) if why == "it is gone"));
    }

    #[test]
    fn one_of_the_same_name_takes_the_place_of_the_other() {
        let (old, new) = (fake("one", &[], 0), fake("one", &[], 9));
        let mut registry = registry(&[(&old, 1, ByPriority)]);
        assert!(registry.run(&request(&[]), None, Streams::default(), &RunControl::default()).is_err());
        registry.register(Box::new(new), 1, ByPriority);
        assert!(registry.run(&request(&[]), None, Streams::default(), &RunControl::default()).is_ok());
        assert_eq!(registry.list(&request(&[])).len(), 1);
    }

    #[test]
    fn containers_are_never_taken_by_themselves() {
        let registry = BackendRegistry::builtin();
        let names: Vec<(&str, Selection)> =
            registry.rows.iter().map(|row| (row.backend.name(), row.selection)).collect();
        let wanted = [("native", ByPriority), ("bwrap", ByPriority), ("landlock", ByPriority)];
        assert_eq!(names, [&wanted[..], &[("docker", ByNameOnly), ("podman", ByNameOnly)]].concat());
    }
}
