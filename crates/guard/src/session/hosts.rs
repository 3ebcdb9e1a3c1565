//! Whether the commands of an agent may talk to a host.

use stockade_command::Effect;

use super::{Decision, DecisionDraft, DecisionLayer, DecisionRule, GuardError, Session};
use crate::egress::{NetPolicy, NetTarget};

/// The key of the list of hosts.
pub(super) const LIST: &str = "security.permission.allowedNetHosts";

/// The key without which a list of hosts has no effect.
const HELD: &str = "security.permission.enableNodePermissions";

/// The answer about a host.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostAnswer {
    /// Whether it may be talked to.
    pub is_allowed: bool,
    /// The rule that decided.
    pub rule: String,
    /// Why, in a sentence.
    pub reason: String,
    /// The narrowest change that would allow it, if there is one.
    pub fix: Option<String>,
    /// What is worth knowing beside it.
    pub notes: Vec<String>,
    /// The entry of the list that decided, as it is written.
    pub written: Option<String>,
}

impl HostAnswer {
    /// Decides about a name or an address, perhaps with a port, or a URL. Nothing is looked up.
    #[must_use]
    pub fn of(policy: &NetPolicy, host: &str) -> Self {
        let target = match NetTarget::parse(host) {
            Ok(target) => target,
            // A host that programs parse differently is never allowed, whatever is configured.
            Err(refused) => {
                return Self {
                    is_allowed: false,
                    rule: refused.rule.to_owned(),
                    reason: refused.reason,
                    fix: refused.fix.map(|fix| format!("{fix}, and see what is said about that")),
                    notes: Vec::new(),
                    written: None,
                };
            }
        };
        let verdict = policy.decide(&target);
        let fix = match &verdict.written {
            _ if verdict.is_allowed() => None,
            // Only an entry that keeps it out has decided against it.
            Some(written) => Some(format!("take \"{written}\" out of `{LIST}`")),
            None => verdict.entry.as_ref().map(|entry| match policy {
                NetPolicy::Hosts(_) => format!("add \"{entry}\" to `{LIST}`"),
                // Where there is no network, a list that names one host opens it for that one alone.
                _ => format!("set `{HELD}` to true and add \"{entry}\" to `{LIST}`, which hold commands to the hosts of that list"),
            }),
        };
        let is_allowed = verdict.is_allowed();
        let (rule, reason) = (verdict.rule.to_owned(), verdict.reason);
        Self { is_allowed, rule, reason, fix, notes: verdict.notes, written: verdict.written }
    }
}

impl Session {
    /// Decides whether commands may talk to a host: a name or an address, perhaps with a port, or a URL. Nothing is looked up, so
    /// an answer about a name holds for the name alone.
    ///
    /// # Errors
    /// When the answer cannot be put on record.
    pub fn host(&self, host: &str) -> Result<Decision, GuardError> {
        Ok(self.host_answer(host)?.0)
    }

    /// The same, with all that is said of the host.
    pub(super) fn host_answer(&self, host: &str) -> Result<(Decision, HostAnswer), GuardError> {
        let answer = HostAnswer::of(&self.guard.config().exec.net_policy()?, host);
        let effect = if answer.is_allowed { Effect::Allow } else { Effect::Deny };
        let rule = DecisionRule::Named(answer.rule.clone());
        let (reason, fix) = (answer.reason.clone(), answer.fix.clone());
        let (layer, subject) = (DecisionLayer::Network, host);
        let decision = self.decided(DecisionDraft { layer, effect, subject, rule, reason, fix })?;
        Ok((decision, answer))
    }
}
