//! Whose rules a command changes or shows, as it is typed.

use std::path::PathBuf;

use crate::failure::Failure;
use stockade_state::saved_rules::SavedRules;

/// Where the rules are kept.
#[derive(Debug, clap::Args)]
pub(super) struct TargetArgs {
    /// The file of rules in TOML, which is made where there is none; admin:FILE and project:FILE say whose it is
    #[arg(long, value_name = "FILE", conflicts_with = "agent")]
    rules: Option<PathBuf>,

    /// The agent in whose part of the user's configuration the rules are; '*' is all agents
    #[arg(long, value_name = "ID", value_parser = agent_or_all)]
    agent: Option<String>,

    /// Show what would be done, and change nothing
    #[arg(long)]
    pub(super) dry_run: bool,
}

impl TargetArgs {
    pub(super) fn kept(&self) -> Result<SavedRules, Failure> {
        match (&self.rules, &self.agent) {
            (Some(file), _) => Ok(SavedRules::of_file(file)?),
            (None, Some(agent)) => Ok(SavedRules::of_agent(agent)?),
            (None, None) => Err(Failure::usage("say where the rules are kept").with_help(
                "--rules FILE names a file of rules, --agent ID an agent of the user's configuration",
            )),
        }
    }

    /// The options that name the same place.
    pub(super) fn options(&self) -> String {
        match (&self.rules, &self.agent) {
            (Some(file), _) => format!("--rules {}", file.display()),
            (None, Some(agent)) => format!("--agent '{agent}'"),
            (None, None) => String::new(),
        }
    }
}

/// Reads the name of an agent, or the sign for all of them.
pub(super) fn agent_or_all(text: &str) -> Result<String, String> {
    if text == "*" { Ok(text.to_owned()) } else { stockade_state::agents::parse_name(text) }
}
