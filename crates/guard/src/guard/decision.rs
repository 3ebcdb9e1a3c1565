//! What was decided, in one form for all layers.

use std::fmt;

use serde::Serialize;
use stockade_policy::Effect;

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
    pub rule: String,
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
    /// The door that skills go through.
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
        write!(f, "{effect} `{}`: {reason} ({} {rule})", subject.escape_debug(), layer.name())?;
        match &self.fix {
            Some(fix) => write!(f, "; to allow it: {fix}"),
            None => Ok(()),
        }
    }
}
