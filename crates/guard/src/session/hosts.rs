//! Decisions on hosts that commands may connect to.

use stockade_command::Effect;
use stockade_command::shell::quote_argv;

use super::{Decision, DecisionDraft, DecisionLayer, DecisionRule, GuardError, Session};
use crate::egress::{NetPolicy, NetTarget};

/// The key of the host list of all agents.
pub(super) const LIST: &str = "security.permission.allowedNetHosts";

/// Returns the key of an agent's own hosts.
pub(super) fn own_list(agent: &str) -> String {
    format!("agents.{agent}.allowedNetHosts")
}

/// The decision on a host.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostAnswer {
    /// Whether connections are allowed.
    pub is_allowed: bool,
    /// Whether no entry decides about it, and one could allow it.
    pub is_open: bool,
    /// The deciding rule.
    pub rule: String,
    /// Why, in a sentence.
    pub reason: String,
    /// The narrowest change that would allow it, if any.
    pub fix: Option<String>,
    /// Additional notes.
    pub notes: Vec<String>,
    /// The deciding entry of the list, as written.
    pub written: Option<String>,
}

impl HostAnswer {
    /// Decides on a host name, an address or a URL, with an optional port, for an agent. No name is resolved.
    #[must_use]
    pub fn of(policy: &NetPolicy, agent: &str, host: &str) -> Self {
        let target = match NetTarget::parse(host) {
            Ok(target) => target,
            // A host that programs parse differently is never allowed, regardless of the configuration.
            Err(refused) => {
                return Self {
                    is_allowed: false,
                    is_open: false,
                    rule: refused.rule.to_owned(),
                    reason: refused.reason,
                    fix: refused.fix.map(|fix| format!("{fix}, and check again")),
                    notes: Vec::new(),
                    written: None,
                };
            }
        };
        let verdict = policy.decide(&target);
        let fix = match &verdict.written {
            _ if verdict.is_allowed() => None,
            // Only a deny entry has decided against it.
            Some(written) => Some(format!("remove \"{written}\" from `{}` or `{LIST}`", own_list(agent))),
            None => verdict.entry.as_ref().map(|entry| quote_argv(["stockade", "allow", agent, entry])),
        };
        let is_allowed = verdict.is_allowed();
        let is_open = !is_allowed && verdict.written.is_none() && verdict.entry.is_some();
        let (rule, reason) = (verdict.rule.to_owned(), verdict.reason);
        Self { is_allowed, is_open, rule, reason, fix, notes: verdict.notes, written: verdict.written }
    }
}

impl Session {
    /// Decides whether commands may connect to a host: a name, an address or a URL, with an optional port. No name is resolved,
    /// so an answer about a name does not cover its addresses.
    ///
    /// # Errors
    /// When the decision cannot be recorded.
    pub fn host(&self, host: &str) -> Result<Decision, GuardError> {
        Ok(self.host_answer(host)?.0)
    }

    /// Decides like [`Session::host`], for a caller that can ask the user: a host that no entry names is a question. One that an
    /// entry denies, and one that no entry could allow, are denied.
    ///
    /// # Errors
    /// As [`Session::host`].
    pub fn host_or_question(&self, host: &str) -> Result<Decision, GuardError> {
        Ok(self.host_decided(host, |answer| if answer.is_open { Effect::Ask } else { Effect::Deny })?.0)
    }

    /// Decides like [`Session::host`], and returns all details.
    pub(super) fn host_answer(&self, host: &str) -> Result<(Decision, HostAnswer), GuardError> {
        self.host_decided(host, |_| Effect::Deny)
    }

    fn host_decided(
        &self,
        host: &str,
        not_allowed: impl FnOnce(&HostAnswer) -> Effect,
    ) -> Result<(Decision, HostAnswer), GuardError> {
        let answer = HostAnswer::of(&self.guard.config().exec.net_policy()?, self.guard.agent(), host);
        let effect = if answer.is_allowed { Effect::Allow } else { not_allowed(&answer) };
        let rule = DecisionRule::Named(answer.rule.clone());
        let (reason, fix) = (answer.reason.clone(), answer.fix.clone());
        let (layer, subject) = (DecisionLayer::Network, host);
        let decision = self.decided(DecisionDraft { layer, effect, subject, rule, reason, fix })?;
        Ok((decision, answer))
    }
}
