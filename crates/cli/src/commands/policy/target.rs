//! Options that select the rules to change.

use std::path::PathBuf;

use crate::failure::Failure;
use stockade_state::saved_rules::SavedRules;

/// Location of the rules.
#[derive(Debug, Default, clap::Args)]
pub(super) struct TargetArgs {
    /// Rule file in TOML, which is created if missing; admin:FILE and project:FILE set its layer
    #[arg(long, value_name = "FILE", conflicts_with = "agent")]
    rules: Option<PathBuf>,

    /// Agent in your configuration whose rules to change; '*' for all agents
    #[arg(long, value_name = "ID", value_parser = agent_or_all)]
    agent: Option<String>,

    /// Show the change without making it
    #[arg(long)]
    pub(super) dry_run: bool,
}

impl TargetArgs {
    pub(super) fn kept(&self) -> Result<SavedRules, Failure> {
        match (&self.rules, &self.agent) {
            (Some(file), _) => Ok(SavedRules::of_file(file)?),
            (None, Some(agent)) => Ok(SavedRules::of_agent(agent)?),
            (None, None) => Err(Failure::usage("missing --rules FILE or --agent ID").with_help(
                "--rules selects a rule file, --agent the rules of an agent in your configuration",
            )),
        }
    }

    /// Returns the options that select the same location.
    pub(super) fn options(&self) -> String {
        match (&self.rules, &self.agent) {
            (Some(file), _) => format!("--rules {}", file.display()),
            (None, Some(agent)) => format!("--agent '{agent}'"),
            (None, None) => String::new(),
        }
    }
}

/// Parses the id of an agent, or `*`.
pub(in crate::commands) fn agent_or_all(text: &str) -> Result<String, String> {
    if text == "*" { Ok(text.to_owned()) } else { stockade_state::agents::parse_name(text) }
}
