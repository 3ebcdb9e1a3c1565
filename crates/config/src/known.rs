//! Which agents there are. A name that is a slip must not get what holds for all, which may be more than the agent has that is meant.

use std::collections::BTreeSet;

use thiserror::Error;

use crate::config::{ALL, agent_of};
use crate::layer::{ConfigLayer, Said};

/// Agents that programs name by themselves, and nobody mistypes: that of whoever names none, and those of harnesses, which are called
/// as the harness is.
pub const KNOWN_AGENTS: &[&str] = &[
    "default",
    "antigravity",
    "claude",
    "cline",
    "codex",
    "copilot",
    "cursor",
    "droid",
    "gemini",
    "kiro",
    "openclaw",
    "opencode",
    "qwen",
    "windsurf",
];

/// The agents that a configuration names. Where it names none, every name is known.
#[derive(Debug, Clone, Default)]
pub(super) struct Known(BTreeSet<String>);

/// A configuration names agents, and this is none of them. Nothing is decided for it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the configuration names agents, and `{agent}` is none of them")]
#[non_exhaustive]
pub struct UnknownAgent {
    /// The agent.
    pub agent: String,
    /// The one that was probably meant.
    pub nearest: Option<String>,
}

impl Known {
    /// Gathers the names. Those of a project count where nobody else names any: it could make a slip known otherwise.
    pub(super) fn of(said: &[Said]) -> Self {
        let names = |of_project: bool| -> BTreeSet<String> {
            let layers = said.iter().filter(|one| (one.layer == ConfigLayer::Project) == of_project);
            let written = |one: &Said| -> Vec<String> {
                let of_leaves = one.leaves.iter().filter_map(|leaf| agent_of(&leaf.path));
                one.agents.iter().cloned().chain(of_leaves).filter(|id| id != ALL).collect()
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
    /// Returns what to do about it.
    #[must_use]
    pub fn fix(&self) -> String {
        let Self { agent, nearest } = self;
        let meant = nearest.as_ref().map(|near| format!("write `{near}`, or ")).unwrap_or_default();
        format!("{meant}name it in the configuration of the user: `[agents.{agent}]`")
    }
}
