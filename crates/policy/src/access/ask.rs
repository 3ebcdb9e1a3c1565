//! Questions to a person, and their answers.

use std::path::PathBuf;

use super::fix::Fix;
use super::request::{Object, Operation};
use super::rule::PolicyRule;
use crate::paths::facts::PathFacts;
use stockade_names::Access;

/// A question that stands between a request and its decision.
///
/// It can only come from a guard, and holds what the question was about: the answer counts for that, whatever the
/// disk looks like by then.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a request that waits for an answer is not allowed"]
pub struct Ask {
    pub(super) tool: String,
    pub(super) agent: String,
    pub(super) operation: Operation,
    pub(super) object: Object,
    pub(super) rule: PolicyRule,
    pub(super) fix: Option<Fix>,
    pub(super) request: Asked,
}

/// The request behind a question, so that it can be judged again when the answer comes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Asked {
    Path { access: Access, path: PathBuf, facts: PathFacts },
    Command { text: String },
}

impl Ask {
    /// Returns the tool that wants access.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// Returns the agent that uses it.
    #[must_use]
    pub fn agent(&self) -> &str {
        &self.agent
    }

    /// Returns what is to be done.
    #[must_use]
    pub fn operation(&self) -> Operation {
        self.operation
    }

    /// Returns to what exactly: the real path, or the command. Its `Display` is safe to show.
    #[must_use]
    pub fn object(&self) -> &Object {
        &self.object
    }

    /// Returns the rule that wants a person to decide.
    #[must_use]
    pub fn rule(&self) -> &PolicyRule {
        &self.rule
    }

    /// Returns the narrowest change that would answer the question for good, if the configuration can.
    #[must_use]
    pub fn fix(&self) -> Option<&Fix> {
        self.fix.as_ref()
    }

    /// Returns why there is a question, in the words of the documents.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        "policy-ask"
    }
}

/// One of the four answers that a person can give.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PermissionDecision {
    /// The person allows this one request.
    Allow,
    /// The person refuses this one request.
    Deny,
    /// Yes, for this tool, operation and object, for the rest of the run.
    AllowSession,
    /// No, for this tool, operation and object, for the rest of the run.
    DenySession,
}

/// What came of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    /// A person decided, in one of four ways.
    Decision(PermissionDecision),
    /// The response is not one of the four answers. It counts as no.
    Unreadable,
    /// The run or the prompt ended before there was an answer.
    Aborted,
    /// No person can be asked.
    NoHandler,
}

impl PermissionDecision {
    /// Returns the name that the documents use, like `allow-session`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
            Self::AllowSession => "allow-session",
            Self::DenySession => "deny-session",
        }
    }

    /// Returns the decision of this exact name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Allow, Self::Deny, Self::AllowSession, Self::DenySession]
            .into_iter()
            .find(|decision| decision.name() == name)
    }
}

impl Reply {
    /// Reads an answer. Whatever is not exactly one of the four counts as no.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        PermissionDecision::from_name(text).map_or(Self::Unreadable, Self::Decision)
    }
}
