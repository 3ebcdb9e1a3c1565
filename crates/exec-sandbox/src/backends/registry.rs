//! Registry of the sandbox backends: those of this crate, and those that an embedding program adds. Every run of a command
//! selects its backend here.
//!
//! ```text
//!  request, facts ──► by name, or by priority ──► what each offers ──► holds what is required? ──► plan ──► run
//!                                                 from facts alone          isolates?                  │ failed
//!                                                 ▲                                                     ▼
//!                                                 └──────────────── tried by running something ◄── the next time
//! ```
//!
//! A backend is not selected if it lacks a required property, or isolates a command neither from files nor from processes. No
//! other backend replaces one that failed. A by-name backend is selected only for requests that name it. The selection starts no
//! process: it compares the request with the offer of each backend, which is made from facts. Only a backend whose last run
//! failed is tested first.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard};

use stockade_text::nearest;

use super::backend::{Backend, BackendRun, Probed};
use super::builtin::Builtin;
use super::engine;
use crate::choices::{BackendName, SandboxBackend};
use crate::container_request::{Engine, EngineLack};
use crate::host::HostFacts;
use crate::outcome::Outcome;
use crate::plan::{Plan, plan_of};
use crate::provider::{AUTO_SELECTED, Offer, Provider};
use crate::refusal::{Refusal, SandboxRule, What};
use crate::run::{RunControl, RunError, Streams};
use crate::spec::SandboxSpec;

/// When a backend is selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Selection {
    /// If it is the first that enforces what is required.
    ByPriority,
    /// Only if the request names it.
    ByNameOnly,
}

/// A backend of the list, and what is known of it.
#[derive(Debug)]
struct Row {
    backend: Box<dyn Backend>,
    priority: i32,
    selection: Selection,
    probed: Mutex<Option<Probed>>,
    /// Whether its last run failed, so that it is tried before the next one.
    failed: AtomicBool,
}

/// A backend as it is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListedBackend {
    /// Its name.
    pub name: String,
    /// What it is, in a few words.
    pub about: String,
    /// Backends with a higher priority are selected first.
    pub priority: i32,
    /// When it is selected.
    pub selection: Selection,
    /// The result of a test run.
    pub probed: Probed,
}

/// Looks up a backend that is not registered yet, by the name in a request. It is called only for names that are not registered,
/// and its result is selected only by name.
pub type BackendFinder = fn(BackendName, &SandboxSpec) -> Option<Box<dyn Backend>>;

/// The sandbox backends of this machine.
#[derive(Debug, Default)]
pub struct BackendRegistry {
    rows: RwLock<Vec<Arc<Row>>>,
    finder: Option<BackendFinder>,
}

impl BackendRegistry {
    /// Returns those of this crate, the strongest first.
    #[must_use]
    pub fn builtin() -> Self {
        let registry = Self::default();
        let named = SandboxBackend::ALL.iter().copied().filter(|backend| *backend != SandboxBackend::Auto);
        for (place, backend) in (0_i32..).zip(named) {
            let selection = match AUTO_SELECTED.contains(&backend) {
                true => Selection::ByPriority,
                false => Selection::ByNameOnly,
            };
            registry.register(Box::new(Builtin(backend)), 100 - 10 * place, selection);
        }
        registry
    }

    /// Adds one. Of two with the same priority, the one that came first is taken first; one of the same name takes the place of
    /// the other.
    pub fn register(&self, backend: Box<dyn Backend>, priority: i32, selection: Selection) {
        let (probed, failed) = (Mutex::default(), AtomicBool::new(false));
        let mut rows = self.rows.write().unwrap_or_else(PoisonError::into_inner);
        rows.retain(|row| row.backend.name() != backend.name());
        rows.push(Arc::new(Row { backend, priority, selection, probed, failed }));
        rows.sort_by_key(|row| std::cmp::Reverse(row.priority));
    }

    /// Sets the function that looks up backends that are not registered.
    #[must_use]
    pub fn finding(self, finder: BackendFinder) -> Self {
        Self { finder: Some(finder), ..self }
    }

    /// Returns what each is called, in the order in which they are taken.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.rows().iter().map(|row| row.backend.name().to_owned()).collect()
    }

    fn rows(&self) -> RwLockReadGuard<'_, Vec<Arc<Row>>> {
        self.rows.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tries every one, and returns what was found, in the order in which they are taken.
    #[must_use]
    pub fn list(&self, spec: &SandboxSpec) -> Vec<ListedBackend> {
        let rows = self.rows().clone();
        let listed = |row: &Arc<Row>| ListedBackend {
            name: row.backend.name().to_owned(),
            about: row.backend.about().to_owned(),
            priority: row.priority,
            selection: row.selection,
            probed: row.probed(spec),
        };
        rows.iter().map(listed).collect()
    }

    /// Returns what will be done for a request on a machine like `facts`: by the backend that is named, or by the first that may
    /// be taken and holds what is required.
    ///
    /// # Errors
    /// If no backend qualifies, or the request itself is refused.
    pub fn plan(&self, spec: &SandboxSpec, facts: &HostFacts) -> Result<Plan, Refusal> {
        let mut wanted = self.wanted(spec);
        if let SandboxBackend::Added(name) = spec.backend
            && wanted.is_empty()
            && self.find(name, spec)
        {
            wanted = self.wanted(spec);
        }
        if wanted.is_empty() && spec.backend != SandboxBackend::Auto {
            return Err(self.unknown(spec.backend));
        }
        plan_of(spec, facts, wanted.iter().map(|row| row.offer(spec, facts)))
    }

    /// Adds what the finder finds under a name that is in no row, to be taken by that name alone. Says whether there is such a
    /// row.
    pub fn find(&self, name: BackendName, spec: &SandboxSpec) -> bool {
        if self.rows().iter().any(|row| row.backend.name() == name.as_str()) {
            return true;
        }
        let found = self.finder.and_then(|find| find(name, spec));
        let is_there = found.is_some();
        found.into_iter().for_each(|found| self.register(found, 0, Selection::ByNameOnly));
        is_there
    }

    /// The rows that may be taken, in the order in which they are.
    fn wanted(&self, spec: &SandboxSpec) -> Vec<Arc<Row>> {
        let is_wanted = |row: &&Arc<Row>| match spec.backend {
            SandboxBackend::Auto => row.selection == Selection::ByPriority,
            named => row.backend.name() == named.name(),
        };
        self.rows().iter().filter(is_wanted).cloned().collect()
    }

    /// Runs what was planned. When that fails, the backend is tried anew before it is taken again.
    ///
    /// # Errors
    /// When the one that was planned with fails: no other one stands in for it.
    pub fn run(&self, job: BackendRun<'_>) -> Result<(Plan, Outcome), RunError> {
        let Some(row) = self.row_of(&job.plan.provider) else {
            return crate::run::run_controlled(job.spec, job.facts, job.plan, job.streams, job.control);
        };
        row.backend.run(job).inspect_err(|error| {
            if !matches!(error, RunError::Refused(_)) {
                row.forget();
            }
        })
    }

    /// Looks at this machine, plans and runs.
    ///
    /// # Errors
    /// When it is refused, or fails.
    pub fn plan_and_run(
        &self,
        spec: &SandboxSpec,
        streams: Streams,
        control: &RunControl,
    ) -> Result<(Plan, Outcome), RunError> {
        let facts = crate::probe::probe(spec);
        let plan = self.plan(spec, &facts)?;
        self.run(BackendRun { spec, facts, plan, streams, control })
    }

    /// Has every one remove what killed programs left.
    pub fn cleanup(&self, spec: &SandboxSpec) -> usize {
        let rows = self.rows().clone();
        rows.iter().map(|row| row.backend.cleanup(spec)).sum()
    }

    /// Nothing makes no sandbox, and is in no row.
    fn row_of(&self, provider: &Provider) -> Option<Arc<Row>> {
        let is_it = |row: &&Arc<Row>| *provider != Provider::Nothing && row.backend.name() == provider.name();
        self.rows().iter().find(is_it).cloned()
    }

    fn unknown(&self, backend: SandboxBackend) -> Refusal {
        let names = self.names();
        let near = nearest(backend.name(), names.iter().map(String::as_str));
        let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
        let fix = format!(
            "{near}available backends: {}; to add one, put `stockade-backend-{}` into a directory of `PATH`",
            names.join(", "),
            backend.name()
        );
        Refusal::new(What::Backend(backend), SandboxRule::UnknownBackend, fix)
    }
}

impl Row {
    fn probed(&self, spec: &SandboxSpec) -> Probed {
        let mut known = self.probed.lock().unwrap_or_else(PoisonError::into_inner);
        known.get_or_insert_with(|| self.backend.probe(spec)).clone()
    }

    /// What it offers. One whose last run failed is tried first.
    fn offer(&self, spec: &SandboxSpec, facts: &HostFacts) -> Result<Offer, Refusal> {
        if self.failed.load(Ordering::SeqCst) {
            if let Probed::Not { why, fix } = self.probed(spec) {
                self.forget();
                let backend = SandboxBackend::from_name(self.backend.name()).unwrap_or_default();
                let rule = SandboxRule::CannotEnforce("its last run failed, and it does not work now");
                let fix = format!("{fix} (it reports: {why})");
                return Err(Refusal::new(What::Backend(backend), rule, fix));
            }
            self.failed.store(false, Ordering::SeqCst);
        }
        self.backend.offer(spec, facts)
    }

    fn forget(&self) {
        *self.probed.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.failed.store(true, Ordering::SeqCst);
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
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    use super::*;
    use crate::enforcement::{Enforcement, Property};
    use crate::host::Entry;
    use crate::outcome::End;
    use crate::provider::{ISOLATION, Sees};

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

    impl Fake {
        fn enforcement(&self) -> Enforcement {
            let mut enforcement = Enforcement::default();
            self.holds.iter().for_each(|property| enforcement.enforce(*property, "a promise"));
            enforcement
        }
    }

    impl Backend for Fake {
        fn name(&self) -> &str {
            self.name
        }

        fn about(&self) -> &str {
            "a fake"
        }

        fn offer(&self, _: &SandboxSpec, _: &HostFacts) -> Result<Offer, Refusal> {
            let name = BackendName::new(self.name).unwrap();
            Ok(Offer::added(name, Sees::Copy, self.enforcement()))
        }

        fn probe(&self, _: &SandboxSpec) -> Probed {
            self.tried.fetch_add(1, SeqCst);
            if self.used.load(SeqCst) > self.lasts {
                return Probed::Not { why: "it is gone".to_owned(), fix: "start it".to_owned() };
            }
            Probed::Works(self.enforcement())
        }

        fn run(&self, job: BackendRun<'_>) -> Result<(Plan, Outcome), RunError> {
            if self.used.fetch_add(1, SeqCst) >= self.lasts {
                return Err(RunError::Watch(std::io::Error::other("it is gone")));
            }
            let outcome = Outcome::of_nothing(End::Exited(0), job.plan.enforcement.clone());
            Ok((job.plan, outcome))
        }

        fn cleanup(&self, _: &SandboxSpec) -> usize {
            1
        }
    }

    fn facts() -> HostFacts {
        HostFacts {
            entries: [("/srv/w".into(), Entry::Folder)].into(),
            home: "/home/u".into(),
            user: 1000,
            ..HostFacts::default()
        }
    }

    fn request(require: &[Property]) -> SandboxSpec {
        let mut spec = SandboxSpec::new("/srv/w", ["true"]);
        spec.require = require.iter().copied().collect();
        spec
    }

    fn named(name: &str) -> SandboxSpec {
        SandboxSpec { backend: SandboxBackend::from_name(name).unwrap(), ..request(&[]) }
    }

    fn registry(rows: &[(&Fake, i32, Selection)]) -> BackendRegistry {
        let registry = BackendRegistry::default();
        rows.iter().for_each(|(fake, priority, selection)| {
            registry.register(Box::new((*fake).clone()), *priority, *selection);
        });
        registry
    }

    fn run(registry: &BackendRegistry, spec: &SandboxSpec) -> Result<String, RunError> {
        let facts = facts();
        let plan = registry.plan(spec, &facts)?;
        let control = RunControl::default();
        let job = BackendRun::new(spec, facts, plan, Streams::default(), &control);
        registry.run(job).map(|(plan, _)| plan.provider.name().to_owned())
    }

    use Selection::{ByNameOnly, ByPriority};

    #[test]
    fn the_first_sufficient_backend_is_selected_without_running_anything() {
        let (strong, weak) = (fake("strong", &[Property::Network], 9), fake("weak", &[], 9));
        let registry = registry(&[(&weak, 50, ByPriority), (&strong, 10, ByPriority)]);
        let taken = |require: &[Property]| run(&registry, &request(require));
        assert_eq!(taken(&[]).unwrap(), "weak");
        assert_eq!(taken(&[Property::Network]).unwrap(), "strong", "what cannot hold it is passed over");
        let refused = taken(&[Property::NoSpawn]).unwrap_err();
        assert!(
            matches!(&refused, RunError::Refused(Refusal { what: What::Property(Property::NoSpawn), .. })),
            "{refused}"
        );
        assert_eq!((weak.tried.load(SeqCst), strong.tried.load(SeqCst)), (0, 0));
        assert_eq!(registry.list(&request(&[])).len(), 2);
        assert_eq!(
            (weak.tried.load(SeqCst), strong.tried.load(SeqCst)),
            (1, 1),
            "to list them is to try them"
        );
        assert_eq!(registry.cleanup(&request(&[])), 2);
    }

    #[test]
    fn a_backend_without_isolation_is_refused_even_if_selected() {
        let mirror = Fake { name: "mirror", holds: vec![Property::Network], lasts: 9, ..Fake::default() };
        let registry = registry(&[(&mirror, 100, ByPriority)]);
        for spec in [request(&[]), named("mirror")] {
            let refused = run(&registry, &spec).unwrap_err();
            assert!(
                matches!(&refused, RunError::Refused(Refusal { what: What::Property(Property::Files), .. })),
                "{refused}"
            );
        }
        assert_eq!(mirror.used.load(SeqCst), 0);
    }

    #[test]
    fn a_named_backend_enforces_everything_or_refuses() {
        let registry = registry(&[(&fake("half", &[Property::Network], 9), 1, ByNameOnly)]);
        let mut spec = named("half");
        spec.require_by_name = [Property::Network].into();
        assert!(run(&registry, &spec).is_ok());
        spec.require_by_name = [Property::Memory].into();
        assert!(matches!(run(&registry, &spec), Err(RunError::Refused(_))), "a limit as well");
    }

    #[test]
    fn backends_selected_only_by_name_and_misspelled_names() {
        let (by_name, usual) = (fake("named", &[], 9), fake("usual", &[], 9));
        let registry = registry(&[(&by_name, 100, ByNameOnly), (&usual, 1, ByPriority)]);
        assert_eq!(run(&registry, &request(&[])).unwrap(), "usual");
        assert_eq!(run(&registry, &named("named")).unwrap(), "named");
        for on_unavailable in [crate::OnUnavailable::Refuse, crate::OnUnavailable::Warn] {
            let spec = SandboxSpec { on_unavailable, ..named("nmaed") };
            let Err(RunError::Refused(refusal)) = run(&registry, &spec) else { panic!("it ran") };
            assert_eq!(refusal.rule, SandboxRule::UnknownBackend);
            assert!(
                refusal.fix.starts_with("did you mean `named`? available backends: named, usual;"),
                "{}",
                refusal.fix
            );
        }
        // Without a registry as well.
        let refusal = crate::plan(&named("named"), &facts()).unwrap_err();
        assert_eq!(refusal.rule, SandboxRule::UnknownBackend);
    }

    #[test]
    fn a_finder_is_used_for_unregistered_backends() {
        fn find(name: BackendName, _: &SandboxSpec) -> Option<Box<dyn Backend>> {
            (name.as_str() == "late").then(|| Box::new(fake("late", &[], 9)) as Box<dyn Backend>)
        }
        let registry = registry(&[]).finding(find);
        assert!(run(&registry, &named("later")).is_err() && registry.names().is_empty());
        assert_eq!(run(&registry, &named("late")).unwrap(), "late");
        assert!(run(&registry, &request(&[])).is_err(), "it is never taken by itself");
    }

    #[test]
    fn a_failed_backend_is_probed_again_and_not_replaced() {
        let (first, second) = (fake("first", &[], 1), fake("second", &[], 9));
        let registry = registry(&[(&first, 100, ByPriority), (&second, 1, ByPriority)]);
        let run = || run(&registry, &request(&[]));
        assert_eq!(run().unwrap(), "first");
        assert!(matches!(run(), Err(RunError::Watch(_))));
        assert_eq!(second.used.load(SeqCst), 0, "the run that failed was not given to another one");
        assert_eq!(
            run().unwrap(),
            "second",
            "it is found to be gone, and the next one is taken from the start"
        );
        assert_eq!((first.tried.load(SeqCst), second.used.load(SeqCst)), (1, 1));
        let refusal = registry.plan(&named("first"), &facts()).unwrap_err();
        assert!(refusal.fix.contains("it is gone"), "{}", refusal.fix);
    }

    #[test]
    fn registering_a_backend_replaces_one_with_the_same_name() {
        let (old, new) = (fake("one", &[], 0), fake("one", &[], 9));
        let registry = registry(&[(&old, 1, ByPriority)]);
        assert!(run(&registry, &request(&[])).is_err());
        registry.register(Box::new(new), 1, ByPriority);
        assert!(run(&registry, &request(&[])).is_ok());
        assert_eq!(registry.list(&request(&[])).len(), 1);
    }

    #[test]
    fn containers_are_never_auto_selected() {
        let registry = BackendRegistry::builtin();
        let rows = registry.rows();
        let names: Vec<(&str, Selection)> =
            rows.iter().map(|row| (row.backend.name(), row.selection)).collect();
        let wanted = [("native", ByPriority), ("bwrap", ByPriority), ("landlock", ByPriority)];
        let named = ["docker", "podman"].map(|name| (name, ByNameOnly));
        assert_eq!(names, wanted.into_iter().chain(named).collect::<Vec<_>>());
    }

    /// A registry of what comes with this crate plans as the crate does without one.
    #[test]
    fn a_registry_of_the_builtin_plans_as_the_crate_does() {
        let registry = BackendRegistry::builtin();
        for namespaces in [true, false] {
            let mut facts = facts();
            (facts.kernel.namespaces, facts.kernel.seccomp, facts.kernel.landlock) = (namespaces, true, 6);
            for backend in SandboxBackend::ALL.iter().copied() {
                let spec = SandboxSpec { backend, ..SandboxSpec::new("/srv/w", ["true"]) };
                assert_eq!(registry.plan(&spec, &facts), crate::plan(&spec, &facts), "{backend:?}");
            }
        }
    }
}
