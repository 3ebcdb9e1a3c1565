//! What was decided, in one form for all layers, and how it is put on record.

use std::fmt;

use serde::{Serialize, Serializer};
use stockade_command::Effect;
use stockade_text::shown_within;

use super::GuardError;
use crate::audit::{AuditError, AuditEvent, AuditTrail, EventKind, Recorded, field, new_name};

/// About how many characters of its subject a decision shows to a person.
const MAX_SHOWN: usize = 2000;

/// What was decided about something that an agent wants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[must_use = "what was not allowed must not be done"]
#[non_exhaustive]
pub struct Decision {
    /// Its name in the audit trail, by which it is found again.
    pub id: String,
    /// The layer that decided.
    pub layer: DecisionLayer,
    /// What may become of it.
    pub effect: Effect,
    /// What it was about.
    pub subject: String,
    /// The rule that decided.
    pub rule: DecisionRule,
    /// Why, in a sentence.
    pub reason: String,
    /// The narrowest change that would allow it, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

/// A layer that decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum DecisionLayer {
    /// The admission of skills.
    Skill,
    /// The tools that an agent has.
    Tools,
    /// Steps, budgets and breakers.
    Limits,
    /// The paths that a tool may touch.
    Paths,
    /// What a command does.
    Commands,
    /// What a sandbox can give and enforce.
    Sandbox,
    /// What a command in a sandbox may talk to.
    Network,
    /// A person who was asked.
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

/// The rule that decided: one that a policy names, or one of the guard's own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum DecisionRule {
    /// A rule, a hazard or a policy that has a name of its own, such as `git-read`.
    Named(String),
    /// The policy for tools, and the skills that are active, grant the tool.
    ToolGranted,
    /// An active skill lists the tool for other arguments.
    NotInSkill,
    /// The policy for tools, or an active skill, took the tool away.
    ToolRemoved,
    /// The policy for tools answered with something that this version does not know.
    UnknownVerdict,
    /// The task has taken all of its steps.
    Steps,
    /// A budget is spent.
    Budget,
    /// The breaker is open: the service keeps failing.
    Breaker,
    /// It cannot be known what was used.
    LimitStore,
    /// Steps and budgets suffice for the call.
    WithinLimits,
    /// The validator found a command that is hidden in a substitution.
    Validator,
    /// The policy for paths grants the path.
    PathGranted,
    /// A person has answered.
    Answered,
    /// The rules have changed since a person was asked.
    RulesChanged,
    /// The setting `execSandbox.enabled` leaves commands without a sandbox.
    SandboxDisabled,
    /// The setting `execSandbox.mode` lets commands run without a sandbox.
    FullAccess,
    /// The setting `execSandbox.excludedCommands` names the command.
    Excluded,
    /// The setting `execSandbox.onUnavailable` decides, because no sandbox is available.
    SandboxUnavailable,
    /// There is no sandbox on this machine, and the command needs one.
    NoSandbox,
    /// What is asked of the sandbox cannot be given by any.
    SandboxRefused,
    /// The command could not be started.
    CannotRun,
}

impl DecisionRule {
    /// Returns the name, as it is written down.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Named(name) => name,
            Self::ToolGranted => "policy",
            Self::NotInSkill => "not-in-skill",
            Self::ToolRemoved => "removed",
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
    /// Whether it may be done without asking anybody; a command perhaps only in a sandbox.
    #[must_use]
    pub fn is_allowed(&self) -> bool {
        self.effect <= Effect::Sandbox
    }
}

/// What was decided, why, and what would change it, on one line.
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

/// A decision that has no name yet and is not on record.
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
    /// Gives the decision a name.
    pub(crate) fn named(self) -> Result<Decision, GuardError> {
        let Self { layer, effect, subject, rule, reason, fix } = self;
        let id = new_name().map_err(GuardError::Nameless)?;
        Ok(Decision { id, layer, effect, subject: subject.to_owned(), rule, reason, fix })
    }
}

impl Decision {
    /// Returns the event that puts the decision on record.
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

/// Puts an event on record. Where the trail was opened to warn only, it may be lost: the owner of the trail chose that.
pub(crate) fn record(trail: &AuditTrail, event: AuditEvent) -> Result<(), AuditError> {
    match trail.record(event)? {
        Recorded::Kept(_) | Recorded::Lost(_) => Ok(()),
    }
}

/// Puts several events on record, all or none of them.
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
