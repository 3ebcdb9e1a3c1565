//! What an agent needed and was stopped at: decided again with today's rules, and the narrowest approval that answers it.
//!
//! ```text
//!  need ──► today's decision ──► allowed: nothing to do
//!                            ├─► lifted by rules alone: the change that `stockade allow` would make
//!                            └─► a floor or a denial: never proposed, with the reason
//! ```
//!
//! A proposal is only made if the rules that it adds were tried and leave nothing to ask. So a floor beside a harmless command keeps
//! both from being proposed.

use std::path::Path;

use stockade_guard::AgentCommands;
use stockade_guard::HostAnswer;
use stockade_guard::admission::decide_on_disk;
use stockade_guard::command::shell::ReadOptions;
use stockade_guard::command::{Cause, CommandDecision, Effect};
use stockade_guard::config::{AgentConfig, Config};
use stockade_guard::policy::ToolVerdict;
use stockade_guard::policy::tools::Removal;

use crate::StateError;
use crate::approvals::agent_guard;
use crate::approvals::{
    Approval, ApprovalChange, ApprovalKind, ApprovalScope, ApprovalSubject, decide_command, place_of,
};
use crate::command_rules::sources_with;
use crate::saved_rules::config_on_disk;

/// Something that an agent needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Need {
    /// To run a command.
    Command(String),
    /// A tool, a host or a path.
    Subject(ApprovalSubject),
}

impl Need {
    /// Names it: `command npm ci`, `host docs.rs:443`.
    #[must_use]
    pub fn what(&self) -> String {
        match self {
            Self::Command(text) => format!("command {text}"),
            Self::Subject(subject) => subject.what(),
        }
    }
}

/// What the rules of today answer to a need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Learned {
    /// It is allowed, possibly in a sandbox.
    Allowed,
    /// An approval would answer it.
    Proposed {
        /// The changes of the configuration.
        change: ApprovalChange,
        /// Why it is asked about or denied today.
        reason: String,
    },
    /// It is never proposed, for this reason.
    Never(String),
}

/// Answers the needs of one agent.
#[derive(Debug)]
pub struct Learner {
    agent: String,
    config: Config,
    settings: AgentConfig,
    policy: AgentCommands,
}

impl Learner {
    /// Reads the configuration of an agent.
    ///
    /// # Errors
    /// When the agent is unknown, or the configuration cannot be used.
    pub fn open(agent: &str) -> Result<Self, StateError> {
        let config = config_on_disk()?;
        crate::approvals::check_agent(&config, agent)?;
        let settings = crate::command_rules::of_agent(&config, agent)?;
        let policy = sources_with(&config, agent, &[])?.policy;
        Ok(Self { agent: agent.to_owned(), config, settings, policy })
    }

    /// Decides about a need in a workspace again, and finds the approval that would answer it. Nothing is written or recorded.
    #[must_use]
    pub fn answer(&self, need: &Need, workspace: &Path) -> Learned {
        let answered = match need {
            Need::Command(text) => self.command(text, workspace),
            Need::Subject(ApprovalSubject::Tool(name)) => self.tool(name, workspace),
            Need::Subject(ApprovalSubject::Host(host)) => self.host(host, workspace),
            Need::Subject(subject @ ApprovalSubject::Path(_)) => {
                self.subject(subject, workspace, "it is outside of what the rules allow".to_owned())
            }
        };
        answered.unwrap_or_else(|error| Learned::Never(error.to_string()))
    }

    /// Makes the approval that answers a need. It is one step of `stockade undo`.
    ///
    /// # Errors
    /// When the configuration cannot be changed, or the change would have no effect.
    pub fn apply(&self, need: &Need, workspace: &Path) -> Result<ApprovalChange, StateError> {
        self.approve(need, workspace, true)
    }

    fn approve(&self, need: &Need, workspace: &Path, writes: bool) -> Result<ApprovalChange, StateError> {
        match need {
            Need::Command(text) => {
                decide_command(&self.agent, ApprovalKind::Allow, text, &place_of(workspace), writes)
            }
            Need::Subject(subject) => {
                let (agent, subject) = (self.agent.clone(), subject.clone());
                Approval { agent, kind: ApprovalKind::Allow, subject, scope: ApprovalScope::default() }
                    .apply(workspace, writes)
            }
        }
    }

    fn command(&self, text: &str, workspace: &Path) -> Result<Learned, StateError> {
        let (policy, options) = (&self.policy, ReadOptions::default());
        let (decision, place) =
            decide_on_disk(place_of(workspace), |place| policy.decide(text, &options, place));
        if decision.effect <= Effect::Sandbox {
            return Ok(Learned::Allowed);
        }
        let reason = reason_of(&decision);
        let rules = policy.suggest(&decision, &options, &place);
        let is_lifted = rules.last().is_some_and(|last| last.then <= Effect::Sandbox);
        if is_denied(&decision) || !is_lifted {
            return Ok(Learned::Never(reason));
        }
        let change = self.approve(&Need::Command(text.to_owned()), workspace, false)?;
        Ok(Learned::Proposed { change, reason })
    }

    fn tool(&self, name: &str, workspace: &Path) -> Result<Learned, StateError> {
        let (session, _folder) = agent_guard::open(&self.config, &self.agent, workspace)?;
        match session.decide_tool(name) {
            ToolVerdict::Removed(removal @ Removal::NotInProfile { .. }) => {
                self.subject(&ApprovalSubject::Tool(name.to_owned()), workspace, removal.to_string())
            }
            ToolVerdict::Removed(removal) => Ok(Learned::Never(removal.to_string())),
            _ => Ok(Learned::Allowed),
        }
    }

    fn host(&self, host: &str, workspace: &Path) -> Result<Learned, StateError> {
        let policy = self.settings.exec.net_policy();
        let policy = policy.map_err(|error| StateError::input(&error).with_help(error.fix))?;
        let answer = HostAnswer::of(&policy, &self.agent, host);
        match (answer.is_allowed, answer.is_open) {
            (true, _) => Ok(Learned::Allowed),
            (false, true) => self.subject(&ApprovalSubject::Host(host.to_owned()), workspace, answer.reason),
            (false, false) => Ok(Learned::Never(answer.reason)),
        }
    }

    fn subject(
        &self,
        subject: &ApprovalSubject,
        workspace: &Path,
        reason: String,
    ) -> Result<Learned, StateError> {
        let change = self.approve(&Need::Subject(subject.clone()), workspace, false)?;
        Ok(match change.is_there {
            Some(_) => Learned::Allowed,
            None => Learned::Proposed { change, reason },
        })
    }
}

/// Whether a rule denies it expressly. A denial by the user is not argued with.
fn is_denied(decision: &CommandDecision<'_, '_>) -> bool {
    decision.decisive().any(|part| match &part.cause {
        Cause::Rule { rule, .. } | Cause::MayMatch { rule, .. } | Cause::Carries { rule, .. } => {
            rule.effect == Effect::Deny
        }
        _ => false,
    })
}

/// Returns why a command is stopped. A part that no rule can change is the better reason.
fn reason_of(decision: &CommandDecision<'_, '_>) -> String {
    let is_fixed = |part: &&stockade_guard::command::Part<'_, '_>| {
        !matches!(part.cause, Cause::Unmatched | Cause::Rule { .. })
    };
    let part = decision.decisive().find(is_fixed).or_else(|| decision.decisive().next());
    part.map(|part| part.cause.to_string()).unwrap_or_default()
}
