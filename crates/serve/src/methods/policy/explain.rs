//! `policy.explain`: which rules were considered for a command, and why one of them decided.

use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stockade_guard::admission::decide_on_disk;
use stockade_guard::command::{CommandContext, ConsideredRule, RuleOutcome};

use super::super::command::{Evaluated, ShellName, text};
use super::super::{AskedBy, Json, Lane, Parameters};
use crate::Server;
use crate::fault::{self, Fault};
use crate::guarded::unknown_agent;
use stockade_state::command_rules::{RuleSources, load, sources_with};

/// Decide on a command by the rules of the server or of an agent, and list the considered rules with the effect of each.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::methods) struct ExplainCommand {
    /// The command, as a shell text.
    command: Option<String>,
    /// The command as a program and its arguments.
    argv: Option<Vec<String>>,
    /// The shell that would run it; `bash` by default.
    #[serde(default)]
    shell: ShellName,
    /// The working directory, for rules about directories.
    cwd: Option<PathBuf>,
    /// The workspace, for rules about directories; `cwd` by default.
    workspace: Option<PathBuf>,
    /// The agent whose configuration decides; by default, the server's rules decide.
    agent: Option<String>,
    /// Whether to list non-matching rules of the same program as well; false by default.
    #[serde(default)]
    all: bool,
}

/// A decision, and the rules behind it.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::methods) struct Explained {
    /// The answer of `command.evaluate` for the command.
    decision: Evaluated,
    /// The rules that were considered for each of its parts, in the same order.
    considered: Vec<Vec<Considered>>,
}

/// A rule that was considered.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ConsideredRule")]
struct Considered {
    id: String,
    layer: &'static str,
    /// The effect that it has or would have.
    action: &'static str,
    /// `decides`; `overruled` if a hazard is stricter; `matches` if another rule decides; `may_match`, or `no`.
    outcome: &'static str,
    /// Why it does not match, or may not match.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

impl Parameters for ExplainCommand {
    const METHOD: &'static str = "policy.explain";
    const LANE: Lane = Lane::Work;
    type Answer = Explained;

    fn answer(self, server: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        let policy = match &self.agent {
            None => Arc::clone(&server.rules.now()?.policy),
            Some(name) => Arc::new(rules_of(name, server)?.policy),
        };
        let text = text(self.command, self.argv.as_deref())?;
        let place = CommandContext::new(self.cwd.clone(), self.workspace.or(self.cwd));
        let options = self.shell.options();
        let (decision, place) = decide_on_disk(place, |place| policy.decide(&text, &options, place));
        let of_part = |run| policy.consider(&decision, run, &options, &place);
        let is_told = |one: &ConsideredRule<'_>| self.all || !matches!(one.outcome, RuleOutcome::No(_));
        let considered = decision.parts.iter().map(|part| {
            let rules = part.run().map(of_part).unwrap_or_default();
            rules.iter().filter(|one| is_told(one)).map(Considered::of).collect()
        });
        let considered = considered.collect();
        Ok(Json::of(&Explained { decision: Evaluated::of(&decision), considered }))
    }
}

impl Considered {
    fn of(one: &ConsideredRule<'_>) -> Self {
        let (outcome, why) = (one.outcome.name(), one.outcome.why().map(str::to_owned));
        let (layer, action) = (one.layer.name(), one.rule.effect.name());
        Self { id: one.rule.id.clone(), layer, action, outcome, why }
    }
}

/// Returns the configured rules of an agent.
pub(super) fn rules_of(name: &str, server: &Server) -> Result<RuleSources, Fault> {
    let name = agent(name, server)?;
    let config = load(Some(&name)).map_err(|error| Fault::of(&error))?;
    config.agent(&name).map_err(|unknown| unknown_agent(&unknown))?;
    sources_with(&config, &name, &[]).map_err(|failure| Fault::failed(&failure))
}

/// Parses the name of an agent that the server may answer for.
fn agent(name: &str, server: &Server) -> Result<String, Fault> {
    match server.options.agent.as_deref() {
        Some(only) if only != name => {
            Err(Fault::new(fault::REFUSED, format!("this server was started for the agent `{only}` alone")))
        }
        _ => stockade_state::agents::parse_name(name)
            .map_err(|why| Fault::parameters(format!("`agent`: {why}"))),
    }
}
