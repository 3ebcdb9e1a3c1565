//! Many runs, so many at a time, each once: also when requests fail, and when the client dies and another one goes on.
//!
//! ```text
//!  written down: making ──► made, held back ──► written down: starting ──► let go ──► followed ──► written down: ended ──► removed
//! ```
//!
//! A run that is held back ran nothing, so a client that finds `making` and no more may make it. One that was let go is never made again:
//! if the cluster has it, it is followed; if not, it may have run, and that is what is said.

#![expect(clippy::disallowed_methods, reason = "follows runs on threads")]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::KubernetesError;
use super::client::{ClusterClient, Kind, Suspension};
use super::journal::{FleetJournal, FleetStep};
use super::name::{FLEET, RunName};
use super::objects::RunObjects;
use super::run::Cancelled;
use super::watch::Pods;
use crate::remote::Stop;

/// The most runs at a time: each has a thread here, and two connections.
const MAX_AT_A_TIME: usize = 256;
/// How long it may take until one that has ended is gone.
const UNTIL_GONE: Duration = Duration::from_secs(60);

/// A run of a fleet, as it is told of.
#[derive(Debug)]
#[non_exhaustive]
pub enum FleetRun<'r> {
    /// Some of what it prints.
    Printed(&'r [u8]),
    /// How it ended, which is on record by now or will be.
    Over(&'r FleetStep),
}

/// Runs many commands in a cluster.
#[derive(Debug, Clone)]
pub struct Fleet {
    /// Who asks the cluster.
    pub client: ClusterClient,
    /// How many run at a time.
    pub at_a_time: usize,
    /// How often a run is tried again that certainly did not begin, because the cluster did not answer.
    pub attempts: u32,
}

/// How the runs of a fleet ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct FleetReport {
    /// Each run that is over, with those that were over before.
    pub runs: BTreeMap<RunName, FleetStep>,
    /// Whether it was cancelled before all runs were over.
    pub is_cancelled: bool,
}

impl Fleet {
    /// Runs what is not over yet by the journal, and returns when all is. `tell` hears of runs from any thread.
    ///
    /// When it is cancelled, runs that were let go are let be: another client goes on with them.
    ///
    /// # Errors
    /// When the journal cannot be written. What was let go by then goes on.
    pub fn run(
        &self,
        runs: impl Iterator<Item = RunObjects> + Send,
        journal: &FleetJournal,
        is_cancelled: impl Fn() -> bool + Send + Sync + 'static,
        tell: &(dyn Fn(&RunName, FleetRun<'_>) + Sync),
    ) -> Result<FleetReport, KubernetesError> {
        let is_cancelled: Cancelled = Arc::new(is_cancelled);
        let mut runs = runs.peekable();
        let Some(first) = runs.peek() else {
            return Ok(FleetReport { runs: journal.runs(), is_cancelled: false });
        };
        let selector = format!("{FLEET}={}", journal.fleet());
        self.sweep(first, journal, &selector);
        let pods = Pods::watch(&self.client, &first.namespace, &selector);
        let asks = Arc::clone(&is_cancelled);
        let client = self.client.until(Stop::when(move || asks()));
        let worker = Worker { fleet: self, client, journal, pods: &pods, is_cancelled: &is_cancelled, tell };
        let (runs, failed) = (Mutex::new(runs), Mutex::new(None));
        std::thread::scope(|threads| {
            for _ in 0..self.at_a_time.clamp(1, MAX_AT_A_TIME) {
                threads.spawn(|| {
                    loop {
                        let next = runs.lock().unwrap_or_else(PoisonError::into_inner).next();
                        let (Some(objects), false) = (next, is_cancelled()) else { return };
                        if let Err(error) = worker.one(objects) {
                            failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                            return;
                        }
                    }
                });
            }
        });
        match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error),
            None => Ok(FleetReport { runs: journal.runs(), is_cancelled: is_cancelled() }),
        }
    }
}

impl Fleet {
    /// Removes what is over by the journal, and was not removed because a client was killed in between.
    fn sweep(&self, one: &RunObjects, journal: &FleetJournal, selector: &str) {
        let is_over = |name: &RunName| journal.of(name).is_some_and(|record| record.is_over());
        if !journal.runs().values().any(FleetStep::is_over) {
            return;
        }
        // Should this fail, the cluster removes it in time.
        let runs = self.client.runs(&one.namespace, one.workload, selector).unwrap_or_default();
        for name in runs.iter().filter(|name| is_over(name)) {
            let kind = Kind::of(one.workload);
            self.client.remove_by_name(kind, &one.namespace, name, UNTIL_GONE).ok();
        }
    }
}

/// What each thread of a fleet has.
struct Worker<'w> {
    fleet: &'w Fleet,
    client: ClusterClient,
    journal: &'w FleetJournal,
    pods: &'w Pods,
    is_cancelled: &'w Cancelled,
    tell: &'w (dyn Fn(&RunName, FleetRun<'_>) + Sync),
}

impl Worker<'_> {
    /// Brings a run to its end. Only what concerns the journal is an error.
    fn one(&self, mut objects: RunObjects) -> Result<(), KubernetesError> {
        objects.is_of_fleet(self.journal.fleet());
        let begun = match self.journal.of(&objects.name) {
            Some(record) if record.is_over() => return Ok(()),
            Some(FleetStep::Starting) => self.found(&objects),
            _ => self.begun(&objects),
        };
        let ended = begun.and_then(|()| {
            let mut print = |bytes: &[u8]| (self.tell)(&objects.name, FleetRun::Printed(bytes));
            self.fleet.client.run(&objects).follow(self.pods, self.is_cancelled, &mut print)
        });
        // Another client goes on with what is under way.
        if (self.is_cancelled)() {
            return Ok(());
        }
        let record = match ended {
            Ok(end) => FleetStep::of(&end),
            Err(KubernetesError::Journal(why)) => return Err(KubernetesError::Journal(why)),
            Err(error) => {
                let was_let_go = self.journal.of(&objects.name) == Some(FleetStep::Starting);
                let may_have_run = was_let_go && !matches!(error, KubernetesError::NeverBegan(_));
                FleetStep::Failed { why: error.to_string(), may_have_run }
            }
        };
        (self.tell)(&objects.name, FleetRun::Over(&record));
        self.journal.write(&objects.name, record)?;
        self.pods.forget(objects.name.as_str());
        // It is over and on record: should this fail, the cluster removes it in time.
        if !matches!(self.client.remove(&objects, UNTIL_GONE), Ok(())) {
            self.fleet.client.remove(&objects, UNTIL_GONE).ok();
        }
        Ok(())
    }

    /// Makes a run and lets it go.
    fn begun(&self, objects: &RunObjects) -> Result<(), KubernetesError> {
        self.journal.write(&objects.name, FleetStep::Making)?;
        let suspension = self.patiently(|| self.client.make(objects))?;
        if suspension == Suspension::Resumed {
            // Only another client can have released it.
            return self.journal.write(&objects.name, FleetStep::Starting);
        }
        self.journal.write(&objects.name, FleetStep::Starting)?;
        self.patiently(|| self.client.let_go(objects))
    }

    /// Looks for a run that was about to be released when its client died.
    fn found(&self, objects: &RunObjects) -> Result<(), KubernetesError> {
        match self.patiently(|| self.client.suspension(objects))? {
            Some(Suspension::Resumed) => Ok(()),
            Some(Suspension::Suspended) => {
                self.patiently(|| self.client.make(objects))?;
                self.patiently(|| self.client.let_go(objects))
            }
            None => Err(KubernetesError::Lost("it was released, and no longer exists".to_owned())),
        }
    }

    /// Tries again what did not come through. All of it may be done twice.
    fn patiently<T>(&self, step: impl Fn() -> Result<T, KubernetesError>) -> Result<T, KubernetesError> {
        let mut attempt = 0;
        loop {
            match step() {
                Err(
                    KubernetesError::Away(_)
                    | KubernetesError::Conflict(_)
                    | KubernetesError::TimedOut(_)
                    | KubernetesError::TooMany
                    | KubernetesError::Unexpected(_),
                ) if attempt < self.fleet.attempts && !(self.is_cancelled)() => attempt += 1,
                done => return done,
            }
        }
    }
}
