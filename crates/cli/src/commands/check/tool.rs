//! `stockade check tool`: profile, then allow, then deny, then the lists of skills.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use stockade_guard::policy::tools::{ArgumentLimit, Removal};
use stockade_guard::policy::{ToolCatalog, ToolPolicy, ToolPolicyConfig, ToolVerdict};

use super::{Answer, Decision, skill};
use crate::failure::Failure;
use stockade_state::command_rules::{configuration, of_agent};

/// Say whether an agent may use tools
#[derive(Debug, clap::Args)]
pub(super) struct ToolArgs {
    /// The tools; they count as present
    #[arg(required = true, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    names: Vec<String>,

    /// The agent whose configuration holds, instead of a profile and lists that are typed
    #[arg(long, value_name = "ID", value_parser = stockade_state::agents::parse_name, conflicts_with_all = ["profile", "allow", "deny"])]
    agent: Option<String>,

    /// The baseline: minimal, coding, messaging, supervisor, full, cron-minimal, heartbeat-minimal
    #[arg(long, value_name = "PROFILE", default_value = "coding")]
    profile: String,

    /// What is added: a tool, group:NAME, or a pattern such as mcp__github__*; may be repeated
    #[arg(long, value_name = "ENTRY")]
    allow: Vec<String>,

    /// What is removed, whatever allows it; may be repeated
    #[arg(long, value_name = "ENTRY")]
    deny: Vec<String>,

    /// The SKILL.md of an active skill: only what its allowed-tools list stays; may be repeated
    #[arg(long, value_name = "FILE")]
    skill: Vec<PathBuf>,

    /// An MCP server whose tools are not named here, so that patterns for it are no slips; may be repeated
    #[arg(long, value_name = "NAME")]
    mcp_server: Vec<String>,
}

pub(super) fn check(args: &ToolArgs) -> Result<Vec<Answer>, Failure> {
    let config = match &args.agent {
        Some(agent) => of_agent(&configuration(Some(agent))?, agent)?.tools,
        None => ToolPolicyConfig {
            profile: args.profile.clone(),
            allow: args.allow.clone(),
            deny: args.deny.clone(),
        },
    };
    let catalog = ToolCatalog { tools: args.names.clone(), mcp_servers: args.mcp_server.clone() };
    let policy = ToolPolicy::compile(&config, &catalog).map_err(|slips| {
        Failure::usage(slips).with_help("an entry that names nothing would protect nothing")
    })?;
    let mut narrowed = policy;
    for file in &args.skill {
        let (name, tools) = skill::read(file)?;
        narrowed = narrowed.with_skill(&name, &tools);
    }
    Ok(args.names.iter().map(|name| answer(&narrowed, name)).collect())
}

fn answer(policy: &ToolPolicy, name: &str) -> Answer {
    let (decision, reason, rule, limits) = match policy.decide(name) {
        ToolVerdict::Removed(removal) => {
            (Decision::Deny, Some(kind(&removal)), removal.to_string(), Vec::new())
        }
        ToolVerdict::AllowedFor(limits) => {
            let rule = "the policy grants it, and the active skills list it for some arguments".to_owned();
            (Decision::Allow, None, rule, limits.iter().map(limit).collect())
        }
        _ => (Decision::Allow, None, "the policy grants it".to_owned(), Vec::new()),
    };
    let fixes = policy.fixes(name).iter().map(ToString::to_string).collect();
    Answer { name: name.to_owned(), decision, reason, rule, real_path: None, limits, fixes }
}

fn kind(removal: &Removal<'_>) -> String {
    let kind = match removal {
        Removal::NotInProfile { .. } => "not_in_profile",
        Removal::ExplicitDeny { .. } => "explicit_deny",
        Removal::NotInSkill { .. } => "not_in_skill",
        _ => "removed",
    };
    kind.to_owned()
}

fn limit(limit: &ArgumentLimit<'_>) -> String {
    let scopes: Vec<String> = limit.any_of.iter().map(|scope| format!("({scope})")).collect();
    format!("the skill `{}` lists it for {}", limit.skill, scopes.join(", "))
}
