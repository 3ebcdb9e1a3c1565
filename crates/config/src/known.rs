//! Agents that a configuration knows. A mistyped id is refused, since the settings for all agents may allow more than the
//! settings of the intended agent.

use std::collections::BTreeSet;

use thiserror::Error;

use crate::config::{ALL, agent_of};
use crate::layer::{ConfigLayer, Said};

/// Agent ids that programs set by themselves and users do not type: the default agent, and those of the harnesses.
pub const KNOWN_AGENTS: &[&str] = &[
    "default",
    "amp",
    "antigravity",
    "auggie",
    "claude",
    "cline",
    "codex",
    "copilot",
    "crush",
    "cursor",
    "droid",
    "gemini",
    "goose",
    "hermes",
    "kilo",
    "kimi",
    "kiro",
    "openclaw",
    "opencode",
    "pi",
    "qwen",
    "vscode",
    "windsurf",
];

/// The agents that a configuration names. If it names no agent but [`KNOWN_AGENTS`], every id is known: to approve something for
/// a harness must not refuse other agents.
#[derive(Debug, Clone, Default)]
pub(super) struct Known(BTreeSet<String>);

/// An agent that the configuration does not name, although it names others. No decision is made for it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("agent `{agent}` is not in the configuration, which names other agents")]
#[non_exhaustive]
pub struct UnknownAgent {
    /// The agent.
    pub agent: String,
    /// A similar id that the configuration names.
    pub nearest: Option<String>,
}

impl Known {
    /// Collects the ids. Those of a project count only if no other layer names an agent, so that a project cannot make a
    /// mistyped id known.
    pub(super) fn of(said: &[Said]) -> Self {
        let names = |of_project: bool| -> BTreeSet<String> {
            let layers = said.iter().filter(|one| (one.layer == ConfigLayer::Project) == of_project);
            let written = |one: &Said| -> Vec<String> {
                let of_leaves = one.leaves.iter().filter_map(|leaf| agent_of(&leaf.path));
                let names = one.agents.iter().cloned().chain(of_leaves);
                names.filter(|id| id != ALL && !KNOWN_AGENTS.contains(&id.as_str())).collect()
            };
            layers.flat_map(written).collect()
        };
        let own = names(false);
        Self(if own.is_empty() { names(true) } else { own })
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    pub(super) fn check(&self, id: &str) -> Result<(), UnknownAgent> {
        if self.0.is_empty() || self.0.contains(id) || id == ALL || KNOWN_AGENTS.contains(&id) {
            return Ok(());
        }
        let nearest = stockade_text::nearest(id, self.names()).map(str::to_owned);
        Err(UnknownAgent { agent: id.to_owned(), nearest })
    }
}

impl UnknownAgent {
    /// Returns how to fix it.
    #[must_use]
    pub fn fix(&self) -> String {
        let Self { agent, nearest } = self;
        let meant = nearest.as_ref().map(|near| format!("write `{near}`, or ")).unwrap_or_default();
        format!("{meant}add the agent to the user's configuration: `[agents.{agent}]`")
    }
}
