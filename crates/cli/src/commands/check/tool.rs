//! `stockade check tool`: evaluates the profile, allowed tools, denied tools, and the tool lists of skills, in this order.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use stockade_guard::policy::tools::{ArgumentLimit, Removal};
use stockade_guard::policy::{ToolCatalog, ToolPolicy, ToolPolicyConfig, ToolVerdict};

use super::{Answer, Decision, skill};
use crate::failure::Failure;
use stockade_state::command_rules::{configuration, of_agent};

/// Check whether an agent may use tools
#[derive(Debug, clap::Args)]
pub(super) struct ToolArgs {
    /// Tools, which are assumed to exist
    #[arg(required = true, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    names: Vec<String>,

    /// Agent whose configuration to use instead of a profile and lists
    #[arg(long, value_name = "ID", value_parser = stockade_state::agents::parse_name, conflicts_with_all = ["profile", "allow", "deny"])]
    agent: Option<String>,

    /// Profile: minimal, coding, messaging, supervisor, full, cron-minimal, heartbeat-minimal
    #[arg(long, value_name = "PROFILE", default_value = "coding")]
    profile: String,

    /// Tool to add: a name, group:NAME, or a pattern such as mcp__github__*; repeatable
    #[arg(long, value_name = "ENTRY")]
    allow: Vec<String>,

    /// Tool to remove, even if another option allows it; repeatable
    #[arg(long, value_name = "ENTRY")]
    deny: Vec<String>,

    /// SKILL.md of an active skill, whose allowed-tools list restricts the tools; repeatable
    #[arg(long, value_name = "FILE")]
    skill: Vec<PathBuf>,

    /// MCP server with unlisted tools, so that patterns for it are not reported as mistakes; repeatable
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
    // An agent's tools are those that its hook knows.
    let mut catalog = match &args.agent {
        Some(_) => of_hook(&config),
        None => ToolCatalog::default(),
    };
    catalog.tools.extend(args.names.iter().cloned());
    catalog.mcp_servers.extend(args.mcp_server.iter().cloned());
    let policy = ToolPolicy::compile(&config, &catalog)
        .map_err(|slips| Failure::usage(slips).with_help("an entry that matches no tool has no effect"))?;
    let mut narrowed = policy;
    for file in &args.skill {
        let (name, tools) = skill::read(file)?;
        narrowed = narrowed.with_skill(&name, &tools);
    }
    Ok(args.names.iter().map(|name| answer(&narrowed, name)).collect())
}

#[cfg(target_os = "linux")]
fn of_hook(config: &ToolPolicyConfig) -> ToolCatalog {
    stockade_harness::judge::tool_catalog(config)
}

/// Where there are no hooks.
#[cfg(not(target_os = "linux"))]
fn of_hook(_: &ToolPolicyConfig) -> ToolCatalog {
    ToolCatalog::default()
}

fn answer(policy: &ToolPolicy, name: &str) -> Answer {
    let (decision, reason, rule, limits) = match policy.decide(name) {
        ToolVerdict::Removed(removal) => {
            (Decision::Deny, Some(kind(&removal)), removal.to_string(), Vec::new())
        }
        ToolVerdict::AllowedFor(limits) => {
            let rule = "the policy allows it, and the active skills list it for some arguments".to_owned();
            (Decision::Allow, None, rule, limits.iter().map(limit).collect())
        }
        _ => (Decision::Allow, None, "the policy allows it".to_owned(), Vec::new()),
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
