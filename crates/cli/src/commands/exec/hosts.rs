//! The hosts that a command may talk to: a way out of its own, for as long as it runs.

use std::sync::{Arc, Mutex, PoisonError};

use stockade_guard::audit::{AuditEvent, AuditTrail, EventKind};
use stockade_guard::egress::{Broker, BrokerOptions, Brokered, HostList};
use stockade_guard::exec::Network;

/// What the list of hosts is called in what mends a refusal.
const LIST: &str = "what it may reach with --allow-host";

/// The most refusals that are told.
const MOST: usize = 20;

/// A proxy that lets a command through to some hosts.
pub(super) struct WayOut {
    broker: Broker,
    refused: Arc<Mutex<Vec<Brokered>>>,
}

/// Where the connections of a command are put on record, and as those of which run.
pub(super) type Record = Option<(AuditTrail, Option<String>)>;

impl WayOut {
    /// Begins to let a command through to the hosts that were named; nothing, if none was. A connection that cannot be put on
    /// record is not made.
    pub(super) fn open(hosts: &[String], record: Record) -> Result<Option<Self>, String> {
        if hosts.is_empty() {
            return Ok(None);
        }
        let list =
            HostList::compile(hosts).map_err(|error| format!("--allow-host: {error}: {}", error.fix))?;
        let refused = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&refused);
        let witness = move |asked: &Brokered| {
            if let Some((trail, run)) = &record {
                trail.record(event(asked, run.clone())).map(drop).map_err(|error| error.to_string())?;
            }
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            if !asked.is_allowed() && kept.len() < MOST && !kept.contains(asked) {
                kept.push(asked.clone());
            }
            Ok(())
        };
        let options = BrokerOptions { list_name: LIST.to_owned(), ..BrokerOptions::default() };
        let broker = Broker::start(list, options, witness);
        let broker = broker.map_err(|error| format!("no way out can be made for --allow-host: {error}"))?;
        Ok(Some(Self { broker, refused }))
    }

    pub(super) fn network(&self) -> Network {
        self.broker.network()
    }

    /// Cuts what is still connected, and returns what the command was not let through to.
    pub(super) fn end(self) -> Vec<Brokered> {
        drop(self.broker);
        std::mem::take(&mut self.refused.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn event(asked: &Brokered, run: Option<String>) -> AuditEvent {
    let (kind, decision) = match asked.is_allowed() {
        true => (EventKind::NetworkAllowed, "allow"),
        false => (EventKind::NetworkDenied, "deny"),
    };
    let event = AuditEvent {
        decision: Some(decision.to_owned()),
        rule: Some(asked.rule.to_owned()),
        ..AuditEvent::new(kind)
    };
    let event = run.into_iter().fold(event, |event, run| event.with("startedBy", run));
    event.with("subject", asked.target.as_str()).with("reason", asked.reason.as_str())
}
