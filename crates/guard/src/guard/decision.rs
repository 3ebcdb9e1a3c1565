//! Decisions of all layers in one form, and their records.

use std::fmt;

use crate::egress::RefusalTexts;
use serde::{Serialize, Serializer};
use stockade_command::Effect;
use stockade_text::shown_within;

use super::GuardError;
use crate::audit::{AuditError, AuditEvent, AuditTrail, EventKind, Recorded, field, new_name};

/// Approximate number of characters of the subject that a decision shows.
const MAX_SHOWN: usize = 2000;

/// A decision on a request of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[must_use = "what was not allowed must not be done"]
#[non_exhaustive]
pub struct Decision {
    /// Its ID in the audit trail.
    pub id: String,
    /// The deciding layer.
    pub layer: DecisionLayer,
    /// The effect.
    pub effect: Effect,
    /// The subject.
    pub subject: String,
    /// The deciding rule.
    pub rule: DecisionRule,
    /// The reason, in a sentence.
    pub reason: String,
    /// The narrowest change that would allow it, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

/// The layer that made a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum DecisionLayer {
    /// The admission of skills decided.
    Skill,
    /// The tool policy of the agent.
    Tools,
    /// Steps, budgets and circuit breakers.
    Limits,
    /// The path policy of the agent.
    Paths,
    /// The command rules and hazards.
    Commands,
    /// What the sandbox can enforce.
    Sandbox,
    /// The network of sandboxed commands.
    Network,
    /// The user, who was asked.
    Person,
}

impl DecisionLayer {
    /// Returns the name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Skill => "skill",
            Self::Tools => "tools",
            Self::Limits => "limits",
            Self::Paths => "paths",
            Self::Commands => "commands",
            Self::Sandbox => "sandbox",
            Self::Network => "network",
            Self::Person => "person",
        }
    }
}

/// The deciding rule: a named one of a policy, or one of the guard.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum DecisionRule {
    /// A named rule, hazard or policy, such as `git-read`.
    Named(String),
    /// The tool policy and the active skills grant the tool.
    ToolGranted,
    /// An active skill lists the tool with other arguments.
    NotInSkill,
    /// The tool policy or an active skill removed the tool.
    ToolRemoved,
    /// No list names the tool, and the user can be asked.
    ToolUnlisted,
    /// The tool policy returned a verdict that this version does not know.
    UnknownVerdict,
    /// The task has no step left.
    Steps,
    /// A budget is exhausted.
    Budget,
    /// The circuit breaker is open: the service keeps failing.
    Breaker,
    /// The usage is unknown.
    LimitStore,
    /// The call is within its limits.
    WithinLimits,
    /// The validator found a command hidden in a substitution.
    Validator,
    /// The path policy grants the path.
    PathGranted,
    /// The user answered the question.
    Answered,
    /// The rules changed since the user was asked.
    RulesChanged,
    /// The setting `execSandbox.enabled` disables the sandbox.
    SandboxDisabled,
    /// The setting `execSandbox.mode` permits commands without a sandbox.
    FullAccess,
    /// The setting `execSandbox.excludedCommands` names the command.
    Excluded,
    /// The setting `execSandbox.onUnavailable` decides, because no sandbox is available.
    SandboxUnavailable,
    /// The command needs a sandbox, and none is available.
    NoSandbox,
    /// No backend can enforce the sandbox request.
    SandboxRefused,
    /// The command could not be started.
    CannotRun,
}

impl DecisionRule {
    /// Returns the recorded name.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Named(name) => name,
            Self::ToolGranted => "policy",
            Self::NotInSkill => "not-in-skill",
            Self::ToolRemoved => "removed",
            Self::ToolUnlisted => "unlisted",
            Self::UnknownVerdict => "unknown",
            Self::Steps => "steps",
            Self::Budget => "budget",
            Self::Breaker => "breaker",
            Self::LimitStore => "store",
            Self::WithinLimits => "limits",
            Self::Validator => "validator",
            Self::PathGranted => "paths",
            Self::Answered => "answer",
            Self::RulesChanged => "changed",
            Self::SandboxDisabled => "execSandbox.enabled",
            Self::FullAccess => "execSandbox.mode",
            Self::Excluded => "execSandbox.excludedCommands",
            Self::SandboxUnavailable => "execSandbox.onUnavailable",
            Self::NoSandbox => "no-sandbox",
            Self::SandboxRefused => "sandbox",
            Self::CannotRun => "cannot-run",
        }
    }
}

impl fmt::Display for DecisionRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for DecisionRule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Decision {
    /// Whether it is allowed without a question; a command possibly only in a sandbox.
    #[must_use]
    pub fn is_allowed(&self) -> bool {
        self.effect <= Effect::Sandbox
    }
}

/// Formats the decision, the reason and the fix on one line.
impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { layer, effect, subject, rule, reason, .. } = self;
        let subject = shown_within(subject, &(0..0), MAX_SHOWN);
        write!(f, "{effect} `{subject}`: {reason} ({} {rule})", layer.name())?;
        match &self.fix {
            Some(fix) => write!(f, "; to allow it: {fix}"),
            None => Ok(()),
        }
    }
}

/// A decision without an ID, which is not recorded yet.
#[derive(Debug)]
pub(crate) struct DecisionDraft<'d> {
    pub(crate) layer: DecisionLayer,
    pub(crate) effect: Effect,
    pub(crate) subject: &'d str,
    pub(crate) rule: DecisionRule,
    pub(crate) reason: String,
    pub(crate) fix: Option<String>,
}

impl DecisionDraft<'_> {
    /// Adds the operator's text about a refusal or a question.
    pub(crate) fn with_message(mut self, messages: &RefusalTexts) -> Self {
        if self.effect > Effect::Sandbox {
            self.reason = messages.after(self.reason, self.rule.name(), self.subject);
        }
        self
    }

    /// Assigns an ID.
    pub(crate) fn named(self) -> Result<Decision, GuardError> {
        let Self { layer, effect, subject, rule, reason, fix } = self;
        let id = new_name().map_err(GuardError::Nameless)?;
        Ok(Decision { id, layer, effect, subject: subject.to_owned(), rule, reason, fix })
    }
}

impl Decision {
    /// Returns the event that records the decision.
    pub(crate) fn event(&self) -> AuditEvent {
        let event = AuditEvent {
            decision: Some(self.effect.name().into()),
            rule: Some(self.rule.name().into()),
            ..AuditEvent::new(event_kind(self.layer, self.effect))
        };
        let event = event.with(field::ID, self.id.as_str()).with(field::SUBJECT, self.subject.as_str());
        let event = event.with(field::REASON, self.reason.as_str());
        self.fix.iter().fold(event, |event, fix| event.with(field::TO_ALLOW, fix.as_str()))
    }
}

/// Records an event. It may be lost if the trail was opened to warn only, which its owner chose.
pub(crate) fn record(trail: &AuditTrail, event: AuditEvent) -> Result<(), AuditError> {
    match trail.record(event)? {
        Recorded::Kept(_) | Recorded::Lost(_) => Ok(()),
    }
}

/// Records several events, all or none.
pub(crate) fn record_all(trail: &AuditTrail, events: Vec<AuditEvent>) -> Result<(), AuditError> {
    match trail.record_all(events)? {
        Recorded::Kept(_) | Recorded::Lost(_) => Ok(()),
    }
}

fn event_kind(layer: DecisionLayer, effect: Effect) -> EventKind {
    use DecisionLayer::{Commands, Limits, Network, Paths, Person, Sandbox, Skill, Tools};
    match (layer, effect) {
        (_, Effect::Ask) => EventKind::ApprovalAsked,
        (Tools | Skill, Effect::Deny) => EventKind::ToolDenied,
        (Tools | Skill, _) => EventKind::ToolAllowed,
        (Paths, Effect::Deny) => EventKind::PathDenied,
        (Paths, _) => EventKind::PathAllowed,
        (Limits, _) => EventKind::LimitReached,
        (Network, Effect::Deny) => EventKind::NetworkDenied,
        (Network, _) => EventKind::NetworkAllowed,
        (Commands | Sandbox | Person, Effect::Deny) => EventKind::CommandDenied,
        (Commands | Sandbox | Person, _) => EventKind::CommandAllowed,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_decision_is_found_as_one_and_nothing_else_is() {
        use DecisionLayer::{Commands, Limits, Network, Paths, Person, Sandbox, Skill, Tools};
        let layers = [Skill, Tools, Limits, Paths, Commands, Sandbox, Network, Person];
        let effects = [Effect::Allow, Effect::Sandbox, Effect::Ask, Effect::Deny];
        let kinds = layers.into_iter().flat_map(|layer| effects.map(|effect| event_kind(layer, effect)));
        let recorded: BTreeSet<_> = kinds.map(EventKind::name).collect();
        let decisions = EventKind::all().filter(|kind| kind.is_decision());
        assert_eq!(recorded, decisions.map(EventKind::name).collect());
    }
}
