//! Rules for commands in a configuration. They have the format of rule files, and the same parser reads them.
//!
//! Unlike other values, the rules of all layers apply together.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value as Json;
use stockade_command::rules::CommandRuleFile;
use stockade_command::{CommandRule, Effect, Layer, RuleLayer};
use stockade_text::{Node, TextPosition, Value};

use crate::config::{ALL, agent_of};
use crate::error::{ConfigNotice, Problem};
use crate::layer::{ConfigLayer, ConfigOrigin, Leaf};

/// A rule for commands, with its origin.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ConfigRule {
    /// The rule.
    pub rule: CommandRule,
    /// Its layer in the command policy.
    pub layer: Layer,
    /// The layer and place that set it.
    pub origin: ConfigOrigin,
    /// Its source, as JSON.
    pub(super) value: Json,
}

/// The rules of each agent, in the order of the layers. Rules for all agents are listed under `*` only.
#[derive(Debug, Clone, Default)]
pub(super) struct Rules(BTreeMap<String, Vec<ConfigRule>>);

impl Rules {
    /// Extracts the rules from the values of all layers.
    pub(super) fn take(layers: &mut [Vec<Leaf>]) -> Self {
        let mut rules: BTreeMap<String, Vec<ConfigRule>> = BTreeMap::new();
        for leaf in layers.iter_mut().flat_map(|leaves| leaves.extract_if(.., |leaf| leaf.rule.is_some())) {
            let (Some(rule), Some(agent)) = (leaf.rule, agent_of(&leaf.path)) else { continue };
            let layer = owner(leaf.origin.layer);
            let value = leaf.value;
            rules.entry(agent).or_default().push(ConfigRule { rule, layer, origin: leaf.origin, value });
        }
        Self(rules)
    }

    /// Returns the rules that apply to an agent: those for all agents, then its own.
    pub(super) fn of(&self, agent: &str) -> impl Iterator<Item = &ConfigRule> {
        let own = Some(agent).filter(|agent| *agent != ALL).and_then(|agent| self.0.get(agent));
        self.0.get(ALL).into_iter().chain(own).flatten()
    }

    /// Returns the same rules grouped by layer, as a command policy takes them.
    pub(super) fn layers_of(&self, agent: &str) -> Vec<RuleLayer> {
        let layer = |layer| {
            let rules = self.of(agent).filter(|one| one.layer == layer).map(|one| one.rule.clone());
            RuleLayer { layer, rules: rules.collect(), overrides: Vec::new() }
        };
        Layer::ALL.into_iter().map(layer).filter(|layer| !layer.rules.is_empty()).collect()
    }

    /// Reports duplicate rule ids, which only show when all layers are known: a decision that names such an id would be
    /// ambiguous.
    pub(super) fn check(&self, problems: &mut Vec<Problem>) {
        let mut shared = HashMap::new();
        for (agent, rules) in self.0.iter().filter(|(agent, _)| *agent == ALL) {
            twins(agent, rules, &HashMap::new(), &mut shared, problems);
        }
        for (agent, rules) in self.0.iter().filter(|(agent, _)| *agent != ALL) {
            twins(agent, rules, &shared, &mut HashMap::new(), problems);
        }
    }

    /// Returns a notice for each rule of a project that has no effect.
    pub(super) fn notices(&self) -> impl Iterator<Item = ConfigNotice> {
        let all = self.0.iter().flat_map(|(agent, rules)| rules.iter().map(move |one| (agent, one)));
        let idle = all.filter(|(_, one)| one.layer == Layer::Project && one.rule.effect == Effect::Allow);
        idle.map(|(agent, one)| ConfigNotice {
            key: format!("agents.{agent}.commands.rules"),
            place: one.origin.place.clone().unwrap_or_default(),
            message: format!(
                "has the rule `{}`, which has no effect: a project can only add rules that make decisions stricter",
                one.rule.id
            ),
        })
    }
}

/// Returns the policy layer of a config layer. `/etc/stockade` belongs to the administrator.
const fn owner(layer: ConfigLayer) -> Layer {
    match layer {
        ConfigLayer::Default => Layer::BuiltIn,
        ConfigLayer::Project => Layer::Project,
        ConfigLayer::User | ConfigLayer::Environment | ConfigLayer::Flag => Layer::User,
        ConfigLayer::System | ConfigLayer::Managed => Layer::Admin,
    }
}

/// Rules by layer and id.
type Named<'r> = HashMap<(Layer, &'r str), &'r ConfigRule>;

/// Reports rules whose id is already used.
fn twins<'r>(
    agent: &str,
    rules: &'r [ConfigRule],
    before: &Named<'r>,
    seen: &mut Named<'r>,
    problems: &mut Vec<Problem>,
) {
    for one in rules {
        let name = (one.layer, one.rule.id.as_str());
        let Some(first) = before.get(&name).copied().or_else(|| seen.insert(name, one)) else { continue };
        let place = |one: &ConfigRule| one.origin.place.clone().unwrap_or_default();
        let (id, other) = (&one.rule.id, place(first));
        let message =
            format!("`agents.{agent}.commands.rules`: duplicate rule id `{id}`, first used in {other}");
        problems.push(Problem::of_place(&place(one), message, "change one of the ids"));
    }
}

/// A rule, with its position and its source.
pub(super) type Placed = (TextPosition, CommandRule, Json);

/// Parses a list of rules, or returns the first error with its position.
pub(super) fn read(node: &Node, layer: ConfigLayer) -> Result<Vec<Placed>, (TextPosition, String)> {
    let Value::List(nodes) = &node.value else {
        return Err((node.at, format!("it is {}, expected a list of rules", node.value.kind())));
    };
    let file = CommandRuleFile::of_list(nodes, owner(layer)).map_err(|error| {
        let at = TextPosition { line: error.line, column: error.column };
        (at, error.problem.to_string())
    })?;
    let rules = nodes.iter().zip(file.rules());
    Ok(rules.map(|(node, rule)| (node.at, rule.clone(), node.value.to_json())).collect())
}

/// Maximum number of regular expressions in the rules of a project. Each can take a tenth of a second to compile, and a
/// repository must not make its user wait for minutes.
pub(super) const MAX_OF_PROJECT: usize = 16;

/// Returns the number of regular expressions in a list of rules.
pub(super) fn expressions(node: &Node) -> usize {
    let Value::List(nodes) = &node.value else { return 0 };
    nodes.iter().filter(|node| node.value.get("regex").is_some()).count()
}
