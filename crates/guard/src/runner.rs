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
use crate::guard::Decision;

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
    secrets: Option<Secrets>,
    record: RunRecord,
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
    #[error("nothing runs that cannot be put on record: {0}")]
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
            secrets,
            record,
            pool: None,
            control: RunControl::default(),
        })
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
    pub fn run(self, started: AuditEvent, streams: Streams) -> Result<RunReport, NotRun> {
        let Self { mut spec, facts, mut planned, proxy, joined, secrets, record, pool, control } = self;
        // Secrets and placeholders only add variables to the plan.
        let renewed =
            |mut plan: Plan, spec: &SandboxSpec| plan.renew_environment(spec, &facts).map(|()| plan);
        if let (Some(secrets), Ok(plan)) = (&secrets, &planned) {
            record::out_of_reach(record.trail.as_ref(), plan).map_err(NotRun::Unrecorded)?;
            secrets::get(secrets, plan, &mut spec, &facts).map_err(NotRun::Secret)?;
            planned = planned.and_then(|plan| renewed(plan, &spec));
        }
        if let (Some(joined), Ok(plan)) = (&joined, &planned) {
            joined.lend(plan, &mut spec, &facts).map_err(NotRun::Secret)?;
            planned = planned.and_then(|plan| renewed(plan, &spec));
        }
        let owner = AuditEvent {
            agent: started.agent.clone(),
            skill: started.skill.clone(),
            ..AuditEvent::new(EventKind::SandboxError)
        };
        let started = match &planned {
            Ok(plan) => {
                record::out_of_reach(record.trail.as_ref(), plan).map_err(NotRun::Unrecorded)?;
                record::planned(started, plan)
            }
            Err(_) => started,
        };
        let start = |trail: &AuditTrail| trail.start(started);
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
