//! Commands that are held to single hosts: each of their connections is a decision, on record before it is made.

use std::sync::{Arc, Mutex, PoisonError};

use stockade_policy::Effect;

use super::{Decision, DecisionLayer, Guard, GuardError, put_on_record};
use crate::egress::{Broker, BrokerOptions, Brokered};
use crate::exec::{Network, SandboxSpec, Unavailable};

/// The most refusals that are handed back with the outcome of a command. The trail has all of them.
const MOST: usize = 64;

/// What is to be run, and what lets it out if it may reach some hosts.
pub(super) struct Wish {
    pub(super) spec: SandboxSpec,
    way_out: Option<WayOut>,
}

struct WayOut {
    broker: Broker,
    refused: Arc<Mutex<Vec<Decision>>>,
}

impl Wish {
    /// Cuts what is still connected, and returns what was refused.
    pub(super) fn end(self) -> Vec<Decision> {
        let Some(WayOut { broker, refused }) = self.way_out else { return Vec::new() };
        drop(broker);
        std::mem::take(&mut refused.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Guard {
    /// Returns what is to be run for a command of the agent.
    pub(super) fn wish(&self, command: Vec<String>, unavailable: Unavailable) -> Result<Wish, GuardError> {
        let way_out = self.way_out()?;
        let network = match &way_out {
            Some(way_out) => way_out.broker.network(),
            None if self.config.exec.network => Network::Open,
            None => Network::None,
        };
        Ok(Wish { spec: SandboxSpec { network, ..self.spec(command, unavailable) }, way_out })
    }

    fn way_out(&self) -> Result<Option<WayOut>, GuardError> {
        let Some(hosts) = &self.hosts else { return Ok(None) };
        let refused = Arc::new(Mutex::new(Vec::new()));
        let (agent, trail, kept) = (self.agent.clone(), self.trail.clone(), Arc::clone(&refused));
        let witness = move |brokered: &Brokered| {
            let effect = if brokered.is_allowed() { Effect::Allow } else { Effect::Deny };
            let (target, reason) = (&brokered.target, told(brokered));
            let fix = brokered.fix.clone();
            let layer = DecisionLayer::Network;
            let decision = put_on_record(&agent, &trail, (layer, effect, target, brokered.rule, reason, fix))
                .map_err(|error| error.to_string())?;
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            if effect == Effect::Deny && kept.len() < MOST {
                kept.push(decision);
            }
            Ok(())
        };
        let broker = Broker::start(hosts.clone(), BrokerOptions::default(), witness);
        Ok(Some(WayOut { broker: broker.map_err(GuardError::Broker)?, refused }))
    }
}

/// The reason, and where it leads if it may be reached.
fn told(brokered: &Brokered) -> String {
    match brokered.addresses.first() {
        Some(address) => format!("{}, and it leads to {}", brokered.reason, address.ip()),
        None => brokered.reason.clone(),
    }
}
