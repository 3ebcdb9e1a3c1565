//! The egress proxy of a command: each decision is recorded before anything is sent, and how a request ended afterwards.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use stockade_command::Effect;

use super::RunRecord;
use crate::audit::{AuditEvent, EventKind, field};
use crate::egress::{
    Broker, BrokerHandle, BrokerOptions, Brokered, BrokeredEnd, BrokeredRequest, HostList, Observed,
    SecretBinding, Secrets, Witness,
};
use crate::exec::Network;
use crate::guard::{Decision, DecisionDraft, DecisionLayer, DecisionRule, GuardError, record, record_all};

/// Maximum number of refusals in the outcome of a command. The trail has all of them.
const MAX_REFUSALS: usize = 64;

/// Maximum number of ends that are recorded by one write.
const MAX_AT_ONCE: usize = 256;

/// The host list of a command, and the limits of its proxy.
#[derive(Debug, Clone)]
pub struct Egress {
    /// The hosts.
    pub hosts: HostList,
    /// The limits of the proxy, and the name of the list in messages.
    pub options: BrokerOptions,
    /// Secrets that the command can use but not read.
    pub secrets: Vec<SecretBinding>,
}

/// A running proxy. Dropping it closes every connection through it.
#[derive(Debug)]
pub(crate) struct EgressProxy {
    broker: Broker,
    refused: Arc<Mutex<Vec<Decision>>>,
    run: Arc<OnceLock<StartedBy>>,
    /// Numbers of allowed and of refused requests.
    counts: Arc<[AtomicU64; 2]>,
}

/// The run and skill that connections belong to.
#[derive(Debug)]
pub(crate) struct StartedBy {
    run: String,
    skill: Option<String>,
}

impl EgressProxy {
    /// Starts the proxy. A connection that cannot be recorded is not made.
    pub(crate) fn start(egress: Egress, secrets: Option<Secrets>, owner: RunRecord) -> io::Result<Self> {
        let (refused, run) = <(Arc<Mutex<Vec<Decision>>>, Arc<OnceLock<StartedBy>>)>::default();
        let (kept, named) = (Arc::clone(&refused), Arc::clone(&run));
        let counts = Arc::<[AtomicU64; 2]>::default();
        let counted = Arc::clone(&counts);
        let witness = Recorder { owner, run: named, refused: kept, counts: counted };
        let broker = Broker::start_with_secrets(egress.hosts, egress.options, secrets, witness)?;
        Ok(Self { broker, refused, run, counts })
    }

    /// Returns the network of the sandbox that uses this proxy.
    pub(crate) fn network(&self) -> Network {
        Network::Proxy(self.broker.handoff())
    }

    /// Returns the entry for clients outside of a sandbox.
    pub(crate) fn handle(&self) -> BrokerHandle {
        self.broker.handle()
    }

    /// Returns the numbers of allowed and of refused requests.
    pub(crate) fn counts(&self) -> [u64; 2] {
        self.counts.each_ref().map(|count| count.load(Ordering::Relaxed))
    }

    /// Sets the run and the skill of the connections.
    pub(crate) fn started_by(&self, run: &str, skill: Option<&str>) {
        let (run, skill) = (run.to_owned(), skill.map(str::to_owned));
        // Set once, before anything runs.
        self.run.set(StartedBy { run, skill }).ok();
    }

    /// Closes all connections. Returns the refused requests, and in observing mode the entries that would allow what was
    /// requested.
    pub(crate) fn end(self) -> (Vec<Decision>, Option<Observed>) {
        let observed = self.broker.observed();
        drop(self.broker);
        (std::mem::take(&mut self.refused.lock().unwrap_or_else(PoisonError::into_inner)), observed)
    }
}

/// Records what a proxy decides, and how it ended.
struct Recorder {
    owner: RunRecord,
    run: Arc<OnceLock<StartedBy>>,
    refused: Arc<Mutex<Vec<Decision>>>,
    counts: Arc<[AtomicU64; 2]>,
}

impl Witness for Recorder {
    fn decided(&self, brokered: &Brokered) -> Result<String, String> {
        let decision = decision(brokered, &self.owner, self.run.get()).map_err(|error| error.to_string())?;
        let [allowed, denied] = &*self.counts;
        let count = if decision.effect == Effect::Deny { denied } else { allowed };
        count.fetch_add(1, Ordering::Relaxed);
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        let id = decision.id.clone();
        if decision.effect == Effect::Deny && refused.len() < MAX_REFUSALS {
            refused.push(decision);
        }
        Ok(id)
    }

    fn ended(&self, ends: &[BrokeredEnd]) {
        let Some(trail) = &self.owner.trail else { return };
        for some in ends.chunks(MAX_AT_ONCE) {
            // The decisions are recorded already, so a full disk changes nothing that is allowed.
            record_all(trail, some.iter().map(|end| self.event_of(end)).collect()).ok();
        }
    }
}

impl Recorder {
    fn event_of(&self, end: &BrokeredEnd) -> AuditEvent {
        let number = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
        let event = AuditEvent { duration: Some(end.took), ..AuditEvent::new(EventKind::NetworkCompleted) };
        let event = event.with(field::ID, end.id.as_str()).with(field::SUBJECT, end.target.as_str());
        let event = event.with(field::SENT, number(end.sent)).with(field::RECEIVED, number(end.received));
        let event =
            end.status.iter().fold(event, |event, status| event.with(field::STATUS, i64::from(*status)));
        let event = end.error.iter().fold(event, |event, error| event.with(field::ERROR, error.as_str()));
        of_run(with_request(event, end.request.as_ref()), &self.owner, self.run.get())
    }
}

/// Adds a request to its event.
fn with_request(event: AuditEvent, request: Option<&BrokeredRequest>) -> AuditEvent {
    let Some(BrokeredRequest { method, path, secrets, operations, .. }) = request else { return event };
    let mut event = event.with(field::METHOD, method.as_str()).with(field::URL_PATH, path.as_str());
    if !secrets.is_empty() {
        event = event.with(field::SECRETS, secrets.clone());
    }
    if !operations.is_empty() {
        event = event.with(field::OPERATIONS, operations.clone());
    }
    event
}

/// Adds the agent, the run and the skill that a connection belongs to.
fn of_run(mut event: AuditEvent, owner: &RunRecord, by: Option<&StartedBy>) -> AuditEvent {
    event.agent = owner.agent.as_deref().map(Into::into);
    event.skill = by.and_then(|by| by.skill.as_deref()).map(Into::into);
    by.into_iter().fold(event, |event, by| event.with(field::STARTED_BY, by.run.as_str()))
}

/// Decides as the proxy does, and records the decision.
pub(crate) fn decision(
    brokered: &Brokered,
    owner: &RunRecord,
    by: Option<&StartedBy>,
) -> Result<Decision, GuardError> {
    let draft = DecisionDraft {
        layer: DecisionLayer::Network,
        effect: if brokered.is_allowed() { Effect::Allow } else { Effect::Deny },
        subject: &brokered.target,
        rule: DecisionRule::Named(brokered.rule.to_owned()),
        reason: brokered.reason.clone(),
        fix: brokered.fix.clone(),
    };
    let decision = draft.named()?;
    let Some(trail) = &owner.trail else { return Ok(decision) };
    let event = with_request(decision.event(), brokered.request.as_ref());
    record(trail, of_run(event, owner, by).with(field::REASON, reason(brokered)))?;
    Ok(decision)
}

/// Returns the reason, and the resolved address if it is allowed.
fn reason(brokered: &Brokered) -> String {
    if let Some(proxy) = &brokered.upstream {
        return format!("{}, through the upstream proxy {proxy}", brokered.reason);
    }
    match brokered.addresses.first() {
        Some(address) => format!("{}, and it resolves to {}", brokered.reason, address.ip()),
        None => brokered.reason.clone(),
    }
}
