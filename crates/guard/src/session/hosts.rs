//! Whether the commands of an agent may talk to a host.

use stockade_policy::Effect;

use super::{Decision, DecisionDraft, DecisionLayer, DecisionRule, GuardError, Session};
use crate::egress::{NetPolicy, NetTarget};

/// The key of the list of hosts.
const LIST: &str = "security.permission.allowedNetHosts";

impl Session {
    /// Decides whether commands may talk to a host: a name or an address, perhaps with a port, or a URL. Nothing is looked up, so
    /// an answer about a name holds for the name alone.
    ///
    /// # Errors
    /// When the answer cannot be put on record.
    pub fn host(&self, host: &str) -> Result<Decision, GuardError> {
        let policy = self.guard.config().exec.net_policy()?;
        let (effect, rule, reason, fix) = match NetTarget::parse(host) {
            Ok(target) => {
                let verdict = policy.decide(&target);
                let effect = if verdict.is_allowed() { Effect::Allow } else { Effect::Deny };
                let fix = match &policy {
                    _ if verdict.is_allowed() => None,
                    NetPolicy::Hosts(_) => verdict.entry.map(|entry| format!("add \"{entry}\" to `{LIST}`")),
                    _ => {
                        Some("set `execSandbox.network` to `open`, which opens it for every host".to_owned())
                    }
                };
                (effect, verdict.rule.to_owned(), verdict.reason, fix)
            }
            // What programs read differently is let through by nobody, whatever is configured.
            Err(refused) => (Effect::Deny, refused.rule.to_owned(), refused.reason, refused.fix),
        };
        let (layer, subject, rule) = (DecisionLayer::Network, host, DecisionRule::Named(rule));
        self.decided(DecisionDraft { layer, effect, subject, rule, reason, fix })
    }
}
