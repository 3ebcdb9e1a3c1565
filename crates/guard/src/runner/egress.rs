//! The proxy through which a command reaches single hosts: each connection is a decision, on record before it is made.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use stockade_command::Effect;

use super::RunRecord;
use crate::audit::field;
use crate::egress::{
    Broker, BrokerHandle, BrokerOptions, Brokered, HostList, Observed, SecretBinding, Secrets,
};
use crate::exec::Network;
use crate::guard::{Decision, DecisionDraft, DecisionLayer, DecisionRule, GuardError, record};

/// The most refusals that are handed back with the outcome of a command. The trail has all of them.
const MAX_REFUSALS: usize = 64;

/// The hosts that a command may talk to, and the bounds of the proxy that lets it.
#[derive(Debug, Clone)]
pub struct Egress {
    /// The hosts.
    pub hosts: HostList,
    /// The bounds of the proxy, and what the list is called in what it says.
    pub options: BrokerOptions,
    /// Secrets that the command uses and does not see.
    pub secrets: Vec<SecretBinding>,
}

/// A proxy at work. When it is dropped, every connection through it is cut.
#[derive(Debug)]
pub(crate) struct EgressProxy {
    broker: Broker,
    refused: Arc<Mutex<Vec<Decision>>>,
    run: Arc<OnceLock<StartedBy>>,
    /// How many requests were let through, and how many were not.
    counts: Arc<[AtomicU64; 2]>,
}

/// Whose connections they are.
#[derive(Debug)]
pub(crate) struct StartedBy {
    run: String,
    skill: Option<String>,
}

impl EgressProxy {
    /// Begins to let a command through. A connection that cannot be put on record is not made.
    pub(crate) fn start(egress: Egress, secrets: Option<Secrets>, owner: RunRecord) -> io::Result<Self> {
        let (refused, run) = <(Arc<Mutex<Vec<Decision>>>, Arc<OnceLock<StartedBy>>)>::default();
        let (kept, named) = (Arc::clone(&refused), Arc::clone(&run));
        let counts = Arc::<[AtomicU64; 2]>::default();
        let counted = Arc::clone(&counts);
        let witness = move |brokered: &Brokered| {
            let decision = decision(brokered, &owner, named.get()).map_err(|error| error.to_string())?;
            let [allowed, denied] = &*counted;
            let count = if decision.effect == Effect::Deny { denied } else { allowed };
            count.fetch_add(1, Ordering::Relaxed);
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            let id = decision.id.clone();
            if decision.effect == Effect::Deny && kept.len() < MAX_REFUSALS {
                kept.push(decision);
            }
            Ok(id)
        };
        let broker = Broker::start_with_secrets(egress.hosts, egress.options, secrets, witness)?;
        Ok(Self { broker, refused, run, counts })
    }

    /// Returns the network of the sandbox that this is the way out of.
    pub(crate) fn network(&self) -> Network {
        Network::Proxy(self.broker.handoff())
    }

    /// Returns what clients are handed to that come by another way than a sandbox.
    pub(crate) fn handle(&self) -> BrokerHandle {
        self.broker.handle()
    }

    /// Returns how many requests were let through, and how many were not.
    pub(crate) fn counts(&self) -> [u64; 2] {
        self.counts.each_ref().map(|count| count.load(Ordering::Relaxed))
    }

    /// Names the run whose connections these are, and the skill that it is of.
    pub(crate) fn started_by(&self, run: &str, skill: Option<&str>) {
        let (run, skill) = (run.to_owned(), skill.map(str::to_owned));
        // It is named once, before anything runs.
        self.run.set(StartedBy { run, skill }).ok();
    }

    /// Cuts what is still connected, and returns what the command was not let through to, and which entries would let it through
    /// to the rest, if that was to be seen.
    pub(crate) fn end(self) -> (Vec<Decision>, Option<Observed>) {
        let observed = self.broker.observed();
        drop(self.broker);
        (std::mem::take(&mut self.refused.lock().unwrap_or_else(PoisonError::into_inner)), observed)
    }
}

/// Decides as the proxy does, and puts that on record.
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
    let mut event = decision.event();
    event.agent = owner.agent.as_deref().map(Into::into);
    event.skill = by.and_then(|by| by.skill.as_deref()).map(Into::into);
    let event = by.into_iter().fold(event, |event, by| event.with(field::STARTED_BY, by.run.as_str()));
    record(trail, event.with(field::REASON, reason(brokered)))?;
    Ok(decision)
}

/// The reason, and where it leads if it may be reached.
fn reason(brokered: &Brokered) -> String {
    match brokered.addresses.first() {
        Some(address) => format!("{}, and it leads to {}", brokered.reason, address.ip()),
        None => brokered.reason.clone(),
    }
}
