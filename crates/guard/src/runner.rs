//! Runs a command between its two records. Every entry point uses it: `stockade exec`, `stockade run`, `stockade serve` and
//! [`Session::run`](crate::Session::run).
//!
//! ```text
//!  prepare: egress proxy, probe ──► plan ──► read secrets ──► record start ──► run ──► close the proxy ──► record end
//! ```
//!
//! The first record contains the plan, the second one what was enforced. A command without a sandbox is recorded as a warning,
//! with the network that it really had.

mod egress;
mod record;
mod secrets;

use std::ffi::OsString;
use std::io;
use std::sync::Arc;

use thiserror::Error;

pub use egress::Egress;
pub(crate) use egress::{EgressProxy, decision};
pub(crate) use secrets::{OUT_OF_SIGHT, lend, unseen};

use crate::audit::{AuditError, AuditEvent, AuditId, AuditTrail, EventKind, Recorded, field};
use crate::broker::JoinedBroker;
use crate::egress::{Observed, SecretError, Secrets};
use crate::exec::backends::BackendRun;
use crate::exec::host::HostFacts;
use crate::exec::provider::Provider;
use crate::exec::run::{RunControl, Streams};
use crate::exec::{Outcome, Plan, Refusal, RunError, SandboxPool, SandboxSpec, backends, probe};
use crate::guard::{Decision, record_all};

#[cfg(doc)]
use crate::egress::BrokerOptions;

/// The trail that records a command, and its agent.
#[derive(Debug, Clone, Default)]
pub struct RunRecord {
    /// The trail; without one, nothing is recorded.
    pub trail: Option<AuditTrail>,
    /// The agent of the command, which the records of its connections contain as well.
    pub agent: Option<String>,
}

/// A command that is ready to be planned and run: its proxy is running, and this machine was probed.
#[derive(Debug)]
#[must_use = "nothing ran yet"]
pub struct PreparedRun {
    spec: SandboxSpec,
    facts: HostFacts,
    planned: Result<Plan, Refusal>,
    proxy: Option<EgressProxy>,
    /// The shared proxy of another program, if the command uses one.
    joined: Option<JoinedBroker>,
    /// Entries of the hosts of its proxy.
    hosts: Vec<String>,
    secrets: Option<Secrets>,
    record: RunRecord,
    /// Decisions that led to the run, which are not written yet.
    decisions: Vec<AuditEvent>,
    pool: Option<Arc<SandboxPool>>,
    control: RunControl,
}

/// Maximum number of refusals that are shown.
const MAX_SHOWN: usize = 20;

/// The result of a run.
#[derive(Debug)]
#[non_exhaustive]
pub struct RunReport {
    /// The final plan. Its backend differs from the first plan's if that one turned out not to work.
    pub plan: Plan,
    /// The end, the output, and what was enforced.
    pub outcome: Outcome,
    /// Refused requests to hosts, up to a limit.
    pub hosts_refused: Vec<Decision>,
    /// The entries that its host list would need, in observing mode: [`BrokerOptions::observes`].
    pub hosts_observed: Option<Observed>,
    /// Why the command lost its network, if its shared proxy ended before it.
    pub broker_lost: Option<String>,
    /// Why its end was not recorded, if so. The trail ends the run when it is opened next.
    pub unrecorded: Option<AuditError>,
}

/// Why a command did not run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum NotRun {
    /// Its start cannot be recorded.
    #[error("not run, because it cannot be recorded: {0}")]
    Unrecorded(#[source] AuditError),
    /// A secret cannot be provided.
    #[error("{0}; {fix}", fix = .0.fix)]
    Secret(#[source] SecretError),
    /// The sandbox was refused or could not be created.
    #[error("{error}")]
    Sandbox {
        /// The reason.
        error: RunError,
        /// Why that was not recorded, if so.
        unrecorded: Option<AuditError>,
    },
}

impl RunRecord {
    /// Returns the error without the values of these variables: they may be secret, and the message may contain them.
    fn hiding(self, given: &[(OsString, OsString)]) -> Self {
        let given: Vec<_> =
            given.iter().map(|(name, value)| (name.to_string_lossy(), value.to_string_lossy())).collect();
        let given = given.iter().map(|(name, value)| (&**name, &**value));
        Self { trail: self.trail.map(|trail| trail.hiding(given)), ..self }
    }
}

impl PreparedRun {
    /// Prepares a command. With `egress`, it reaches only the listed hosts, through a proxy. Secrets are not read yet: the run
    /// may still need approval, or be a dry run.
    ///
    /// # Errors
    /// When no proxy can be started, or a secret has no reachable host.
    pub fn new(mut spec: SandboxSpec, egress: Option<Egress>, record: RunRecord) -> io::Result<Self> {
        let record = record.hiding(&spec.environment.set);
        let joined = JoinedBroker::join(&mut spec, record.agent.as_deref())
            .map_err(|error| io::Error::other(format!("{error}; {}", error.fix())))?;
        let record = match joined.as_ref().map(JoinedBroker::variables) {
            Some(variables) => {
                spec.environment.set.extend(variables.clone());
                record.hiding(variables.get(1..).unwrap_or_default())
            }
            None => record,
        };
        let secrets = egress.as_ref().and_then(|egress| lend(egress).transpose()).transpose()?;
        // They get their content when the secrets are read.
        let files = secrets.iter().flat_map(Secrets::login_files);
        spec.home_files.extend(files.map(|path| (path.into(), String::new())));
        let written =
            |egress: &Egress| egress.hosts.entries().iter().map(|entry| entry.written.to_owned()).collect();
        let hosts = egress.as_ref().map(written).unwrap_or_default();
        let start = |egress| EgressProxy::start(egress, secrets.clone(), record.clone());
        let proxy = egress.map(start).transpose()?;
        if let Some(proxy) = &proxy {
            spec.network = proxy.network();
        }
        let facts = probe(&spec);
        let planned = backends().plan(&spec, &facts);
        let environment = &facts.environment;
        let handed_on = spec.environment.pass.iter().filter_map(|name| environment.get_key_value(name));
        let record = record.hiding(
            handed_on.map(|(name, value)| (name.clone(), value.clone())).collect::<Vec<_>>().as_slice(),
        );
        Ok(Self {
            facts,
            spec,
            planned,
            proxy,
            joined,
            hosts,
            secrets,
            record,
            decisions: Vec::new(),
            pool: None,
            control: RunControl::default(),
        })
    }

    /// Writes these decisions together with the start of the run, or alone if it does not start: one wait for the disk.
    pub(crate) fn behind(self, decisions: Vec<AuditEvent>) -> Self {
        Self { decisions, ..self }
    }

    /// Uses a matching sandbox of this pool that was created beforehand.
    pub fn pooled(self, pool: Option<Arc<SandboxPool>>) -> Self {
        Self { pool, ..self }
    }

    /// Sets the handle by which the caller controls the run.
    pub fn controlled(self, control: RunControl) -> Self {
        Self { control, ..self }
    }

    /// Returns the plan.
    ///
    /// # Errors
    /// When this machine cannot create such a sandbox.
    pub fn plan(&self) -> Result<&Plan, &Refusal> {
        self.planned.as_ref()
    }

    /// Checks the sources of secrets that can be checked without asking the user.
    ///
    /// # Errors
    /// When one is missing, or is not a secret.
    pub fn check_secrets(&self) -> Result<(), SecretError> {
        self.secrets.as_ref().map_or(Ok(()), Secrets::check_sources)
    }

    /// Returns the entries of the hosts that the command may connect to.
    #[must_use]
    pub fn hosts(&self) -> &[String] {
        &self.hosts
    }

    /// Returns the plan of a changed spec.
    pub(crate) fn plan_with(&self, change: impl FnOnce(&mut SandboxSpec)) -> Result<Plan, Refusal> {
        let mut spec = self.spec.clone();
        change(&mut spec);
        backends().plan(&spec, &self.facts)
    }

    /// Runs the command and waits for its end. `started` identifies the command's agent; the plan is added to it.
    ///
    /// # Errors
    /// When its start cannot be recorded, or there is no sandbox for it. Nothing ran then.
    #[expect(clippy::result_large_err, reason = "made once for a command, and passed on once")]
    pub fn run(mut self, started: AuditEvent, streams: Streams) -> Result<RunReport, NotRun> {
        let decisions = std::mem::take(&mut self.decisions);
        if let Err(not_run) = self.lend_secrets() {
            if let Some(trail) = self.record.trail.as_ref().filter(|_| !decisions.is_empty()) {
                record_all(trail, decisions).map_err(NotRun::Unrecorded)?;
            }
            return Err(not_run);
        }
        self.run_behind(decisions, started, streams)
    }

    /// Adds the variables and files with placeholders to the plan, which they change in nothing else.
    #[expect(clippy::result_large_err, reason = "made once for a command, and passed on once")]
    fn lend_secrets(&mut self) -> Result<(), NotRun> {
        let Self { spec, facts, planned, .. } = self;
        let Ok(plan) = planned else { return Ok(()) };
        // Before a secret is read: a command that may write to the trail could keep what it is given off the record.
        record::out_of_reach(self.record.trail.as_ref(), plan).map_err(NotRun::Unrecorded)?;
        if let Some(secrets) = &self.secrets {
            secrets::get(secrets, plan, spec, facts).map_err(NotRun::Secret)?;
        }
        if let Some(joined) = &self.joined {
            joined.lend(plan, spec, facts).map_err(NotRun::Secret)?;
        }
        if (self.secrets.is_some() || self.joined.is_some())
            && let Err(refusal) = plan.renew(spec, facts)
        {
            *planned = Err(refusal);
        }
        Ok(())
    }

    #[expect(clippy::result_large_err, reason = "made once for a command, and passed on once")]
    fn run_behind(
        self,
        decisions: Vec<AuditEvent>,
        started: AuditEvent,
        streams: Streams,
    ) -> Result<RunReport, NotRun> {
        let Self { spec, facts, planned, proxy, joined, record, pool, control, .. } = self;
        let owner = AuditEvent {
            agent: started.agent.clone(),
            skill: started.skill.clone(),
            ..AuditEvent::new(EventKind::SandboxError)
        };
        let started = match &planned {
            Ok(plan) => record::planned(started, plan),
            Err(_) => started,
        };
        let start = |trail: &AuditTrail| trail.start_behind(decisions, started);
        let audited = record.trail.as_ref().map(start).transpose().map_err(NotRun::Unrecorded)?;
        if let Some(run) = audited.as_ref().and_then(|audited| audited.name()) {
            let skill = owner.skill.as_ref().map(AuditId::as_str);
            proxy.iter().for_each(|proxy| proxy.started_by(run, skill));
            joined.iter().for_each(|joined| joined.started_by(run, skill));
        }

        let ran = planned.map_err(RunError::from).and_then(|plan| match &pool {
            Some(pool) if plan.provider == Provider::Native => {
                pool.run_controlled(&spec, facts, plan, streams, &control)
            }
            _ => backends().run(BackendRun::new(&spec, facts, plan, streams, &control)),
        });

        // Connections are closed before the end is recorded, so that no record of the run follows its end.
        let (mut hosts_refused, hosts_observed) = proxy.map(EgressProxy::end).unwrap_or_default();
        let broker_lost = match joined.map(JoinedBroker::end) {
            Some(Ok(refused)) => {
                hosts_refused.extend(refused);
                None
            }
            Some(Err(lost)) => Some(lost),
            None => None,
        };
        let ended = match &ran {
            Ok((plan, outcome)) => {
                let ended = record::ended(owner, plan, outcome, &hosts_refused);
                broker_lost.iter().fold(ended, |ended, lost| ended.with(field::BROKER_LOST, lost.as_str()))
            }
            Err(error) => owner.with(field::ERROR, error.to_string()),
        };
        let unrecorded = audited.and_then(|audited| match audited.end(ended) {
            Ok(Recorded::Kept(_)) => None,
            Ok(Recorded::Lost(error)) | Err(error) => Some(error),
        });
        match ran {
            Ok((plan, outcome)) => {
                Ok(RunReport { plan, outcome, hosts_refused, hosts_observed, broker_lost, unrecorded })
            }
            Err(error) => Err(NotRun::Sandbox { error, unrecorded }),
        }
    }
}

impl RunReport {
    /// Returns the refusals to show, each once, because refused programs retry.
    #[must_use]
    pub fn distinct_refusals(&self) -> Vec<&Decision> {
        let mut shown: Vec<&Decision> = Vec::new();
        for one in &self.hosts_refused {
            let is_same = |other: &&Decision| {
                (&other.subject, &other.rule, &other.reason) == (&one.subject, &one.rule, &one.reason)
            };
            if shown.len() < MAX_SHOWN && !shown.iter().any(is_same) {
                shown.push(one);
            }
        }
        shown
    }

    /// Whether the command ran without a sandbox, with all privileges of the calling user.
    #[must_use]
    pub fn is_unsandboxed(&self) -> bool {
        self.plan.provider == Provider::Nothing
    }
}

/// Returns the network that a command really had: `none`, `broker`, `observed` or `open`.
#[must_use]
pub fn network_held(plan: &Plan, outcome: &Outcome) -> &'static str {
    record::network(plan, &outcome.enforcement)
}
