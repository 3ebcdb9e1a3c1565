//! `policy.list` and `policy.export`.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stockade_guard::command::{CommandPolicy, Layer};

use super::super::{AskedBy, Json, Lane, Parameters};
use super::RuleRow;
use crate::Server;
use crate::fault::Fault;
use stockade_state::command_rules::RulePlaces;

/// List the effective command rules: those of the server, or the configured rules of an agent.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::methods) struct ListRules {
    /// The agent whose rules to list; the server's by default.
    agent: Option<String>,
    /// Whether to list the built-in rules as well; false by default.
    #[serde(default)]
    all: bool,
}

/// Return the rules of the server as a rule file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::methods) struct ExportRules {}

/// Command rules, in order of precedence.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::methods) struct Listed {
    rules: Vec<RuleRow>,
}

/// The rules of the server, as a rule file.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::methods) struct Exported {
    /// The file in TOML, for `rulesToml`, `policy.import` and `--rules`.
    rules_toml: String,
}

impl Parameters for ListRules {
    const METHOD: &'static str = "policy.list";
    const LANE: Lane = Lane::Work;
    type Answer = Listed;

    fn answer(self, server: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        let rules = match &self.agent {
            None => rows(server.rules.now()?.policy.all_rules(), &RulePlaces::default(), self.all),
            Some(agent) => {
                let sources = super::explain::rules_of(agent, server)?;
                rows(sources.policy.all_rules(), &sources.places, self.all)
            }
        };
        Ok(Json::of(&Listed { rules }))
    }
}

fn rows(policy: &CommandPolicy, places: &RulePlaces, all: bool) -> Vec<RuleRow> {
    let mut shadowed: HashMap<(Layer, String), String> =
        policy.shadowed().into_iter().map(|one| ((one.layer, one.id), one.by)).collect();
    let mut rules: Vec<_> = policy.rules().filter(|(layer, _)| all || *layer > Layer::BuiltIn).collect();
    rules.sort_by_key(|(layer, _)| std::cmp::Reverse(*layer));
    let row = |(layer, rule): (Layer, _)| {
        let row = RuleRow::of(layer, rule);
        RuleRow {
            place: places.find(layer, &row.id).map(str::to_owned),
            shadowed_by: shadowed.remove(&(layer, row.id.clone())),
            ..row
        }
    };
    rules.into_iter().map(row).collect()
}

impl Parameters for ExportRules {
    const METHOD: &'static str = "policy.export";
    const LANE: Lane = Lane::Here;
    type Answer = Exported;

    fn answer(self, server: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        Ok(Json::of(&Exported { rules_toml: server.rules.now()?.document().to_owned() }))
    }
}
