//! `tools.resolve`: which tools an agent may use.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use stockade_guard::policy::tools::{AllowedTool, ArgumentLimit, ToolProblem};
use stockade_guard::policy::{SkillTools, ToolCatalog, ToolPolicy, ToolPolicyConfig, ToolVerdict};

use super::{AskedBy, Json, Lane, Parameters};
use crate::Server;
use crate::bounds::{MAX_LISTED, MAX_TOOLS, at_most};
use crate::fault::Fault;
use crate::guarded::undecided;

/// The name of the skill of `skillAllowedTools`.
const SKILL: &str = "skill";

/// Return which tools of a list an agent may use. In the session of an agent its configuration decides, and other parameters can
/// only narrow it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Resolve {
    /// The available tools.
    tools: Vec<String>,
    /// A session of an agent.
    session: Option<String>,
    /// The operator's policy; without a session, `coding` by default.
    policy: Option<Policy>,
    /// The `allowed-tools` of the active skill, which can only narrow; an empty list allows no tool.
    skill_allowed_tools: Option<Entries>,
    /// MCP servers whose tools are not listed, so that patterns for them are not reported as mistakes.
    #[serde(default)]
    mcp_servers: Vec<String>,
}

/// An operator's tool policy.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(rename = "ToolPolicy")]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Policy {
    /// The baseline; `coding` by default.
    profile: Option<String>,
    /// Additional tools: names, `group:NAME`, patterns such as `mcp__github__*`.
    #[serde(default)]
    allow: Vec<String>,
    /// Denied tools, which take precedence.
    #[serde(default)]
    deny: Vec<String>,
}

/// A list, or a string with entries separated by spaces or commas.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "ListOrText")]
#[serde(untagged)]
enum Entries {
    Text(String),
    List(Vec<String>),
}

/// The allowed and denied tools.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Resolved {
    /// The allowed tools, in the given order.
    allowed: Vec<String>,
    /// The denied tools.
    filtered: Vec<Filtered>,
    /// Restrictions on the arguments of allowed tools: one of `anyOf` of every row must match.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    limits: Vec<Limit>,
    /// Unknown names in the policy and in the skill's list. A misspelled tool in a deny list denies nothing; a misspelled group
    /// denies everything.
    warnings: Vec<String>,
}

/// A tool that is denied.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "FilteredTool")]
struct Filtered {
    tool: String,
    /// The reason: `kind` is `not_in_profile`, `explicit_deny` or `not_in_skill`, with the deciding entry.
    reason: Value,
}

/// A skill's restriction on the arguments of a tool.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ToolArgumentLimit")]
#[serde(rename_all = "camelCase")]
struct Limit {
    tool: String,
    any_of: Vec<String>,
}

impl Parameters for Resolve {
    const METHOD: &'static str = "tools.resolve";
    const LANE: Lane = Lane::Here;
    type Answer = Resolved;

    fn answer(self, server: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        let listed = self.policy.as_ref().map_or(0, |policy| policy.allow.len().max(policy.deny.len()));
        at_most("entries of a list of `policy`", listed, MAX_LISTED, "use groups and patterns")?;
        at_most("`tools`", self.tools.len(), MAX_TOOLS, "ask about the rest in another request")?;
        let of_agent = server.session_of(self.session.as_deref())?;
        let guard = match of_agent.as_ref().and_then(|session| session.of_agent()) {
            Some(guarded) => Some(guarded.now(server)?),
            None => None,
        };
        let is_narrowed = self.policy.is_some();
        let written = self.policy.unwrap_or_default();
        let usual = ToolPolicyConfig::default();
        let config = ToolPolicyConfig {
            profile: written.profile.unwrap_or(usual.profile),
            allow: written.allow,
            deny: written.deny,
        };
        let catalog = ToolCatalog { tools: self.tools, mcp_servers: self.mcp_servers };
        let (policy, mut slips) = ToolPolicy::compile_leniently(&config, &catalog);
        let skill = match &self.skill_allowed_tools {
            None => Ok(SkillTools::Unlisted),
            Some(Entries::Text(text)) => SkillTools::parse(text),
            Some(Entries::List(list)) => SkillTools::from_list(list.iter().map(String::as_str)),
        };
        let skill = skill.map_err(|error| Fault::of(&error))?;
        slips.extend(policy.skill_problems(&skill, &catalog));
        let policy = policy.with_skill(SKILL, &skill);
        let Some(guard) = guard else {
            return Ok(Json::of(&Resolved::of(&policy, &catalog.tools, &slips)));
        };
        let tools: Vec<&str> = catalog.tools.iter().map(String::as_str).collect();
        guard.resolve_tools(&tools).map_err(|error| undecided(&error))?;
        let own = guard.tools().with_skill(SKILL, &skill);
        let mut resolved = Resolved::of(&own, &catalog.tools, &slips);
        let narrower = |tool: &str| match guard.decide_tool(tool) {
            ToolVerdict::Removed(removal) => Some(serde_json::to_value(removal).unwrap_or_default()),
            _ if is_narrowed => match policy.decide(tool) {
                ToolVerdict::Removed(removal) => Some(serde_json::to_value(removal).unwrap_or_default()),
                _ => None,
            },
            _ => None,
        };
        resolved.narrow(narrower);
        Ok(Json::of(&resolved))
    }

    fn reads_disk(server: &Server, parameters: &str) -> bool {
        server.options.agent.is_some() || parameters.contains("\"session\"")
    }
}

impl Resolved {
    fn of(policy: &ToolPolicy, tools: &[String], slips: &[ToolProblem]) -> Self {
        let resolution = policy.resolve(tools.iter().map(String::as_str));
        Self {
            allowed: resolution.allowed.iter().map(|tool| tool.tool.to_owned()).collect(),
            filtered: resolution
                .filtered
                .iter()
                .map(|one| Filtered {
                    tool: one.tool.to_owned(),
                    reason: serde_json::to_value(one.reason).unwrap_or_default(),
                })
                .collect(),
            limits: resolution.allowed.iter().flat_map(limits).collect(),
            warnings: slips.iter().map(ToString::to_string).collect(),
        }
    }

    /// Moves tools that another layer denies from the allowed to the removed ones.
    fn narrow(&mut self, removed: impl Fn(&str) -> Option<Value>) {
        let (mut left, mut gone) = (Vec::new(), Vec::new());
        for tool in std::mem::take(&mut self.allowed) {
            match removed(&tool) {
                None => left.push(tool),
                Some(reason) => gone.push(Filtered { tool, reason }),
            }
        }
        self.limits.retain(|limit| left.contains(&limit.tool));
        self.allowed = left;
        self.filtered.extend(gone);
    }
}

fn limits<'t>(tool: &'t AllowedTool<'_, '_>) -> impl Iterator<Item = Limit> + 't {
    let any_of = |limit: &ArgumentLimit<'_>| limit.any_of.iter().map(ToString::to_string).collect();
    tool.limits.iter().map(move |limit| Limit { tool: tool.tool.to_owned(), any_of: any_of(limit) })
}
