//! `policy.…`: lists, explains, adds and removes the server's command rules.

mod change;
mod explain;
mod list;

pub(super) use change::{AddRules, ImportRules, RemoveRules};
pub(super) use explain::ExplainCommand;
pub(super) use list::{ExportRules, ListRules};

use schemars::JsonSchema;
use serde::Serialize;
use stockade_guard::command::{CommandRule, Layer};

/// A command rule of the server.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "CommandRule")]
#[serde(rename_all = "camelCase")]
struct RuleRow {
    id: String,
    /// The layer of the rule: `builtin`, `project`, `user` or `admin`; rules of the server are `admin`.
    layer: &'static str,
    /// `allow`, `sandbox`, `ask` or `deny`.
    decision: &'static str,
    /// Its pattern on one line; `**` matches all remaining words.
    pattern: String,
    #[serde(skip_serializing_if = "String::is_empty", default)]
    reason: String,
    /// The rule, in TOML.
    rule: String,
    /// Its position, if it is in a configuration file.
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<String>,
    /// The rule that always decides instead, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    shadowed_by: Option<String>,
}

impl RuleRow {
    fn of(layer: Layer, rule: &CommandRule) -> Self {
        Self {
            id: rule.id.clone(),
            layer: layer.name(),
            decision: rule.effect.name(),
            pattern: rule.pattern.to_string(),
            reason: rule.reason.clone(),
            rule: rule.to_toml(),
            place: None,
            shadowed_by: None,
        }
    }
}
