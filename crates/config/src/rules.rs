//! Rules for commands in a configuration: written as in a file of rules, and read by the reader of such files.
//!
//! Unlike other values, those of all layers hold together.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value as Json;
use stockade_command::rules::CommandRuleFile;
use stockade_command::{CommandRule, Effect, Layer, RuleLayer};
use stockade_text::{Node, TextPosition, Value};

use crate::config::{ALL, agent_of};
use crate::error::{ConfigNotice, Problem};
use crate::layer::{ConfigLayer, ConfigOrigin, Leaf};

/// A rule for commands, and where it stands.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ConfigRule {
    /// The rule.
    pub rule: CommandRule,
    /// Whose rule it is.
    pub layer: Layer,
    /// Where it stands.
    pub origin: ConfigOrigin,
    /// As it is written.
    pub(super) value: Json,
}

/// The rules of each agent, in the order of the layers. Those for all agents stand under `*` alone.
#[derive(Debug, Clone, Default)]
pub(super) struct Rules(BTreeMap<String, Vec<ConfigRule>>);

impl Rules {
    /// Takes the rules out of what the layers say.
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

    /// Returns the rules that hold for an agent: those for all, then its own.
    pub(super) fn of(&self, agent: &str) -> impl Iterator<Item = &ConfigRule> {
        let own = Some(agent).filter(|agent| *agent != ALL).and_then(|agent| self.0.get(agent));
        self.0.get(ALL).into_iter().chain(own).flatten()
    }

    /// Returns the same by layers, as a policy takes them.
    pub(super) fn layers_of(&self, agent: &str) -> Vec<RuleLayer> {
        let layer = |layer| {
            let rules = self.of(agent).filter(|one| one.layer == layer).map(|one| one.rule.clone());
            RuleLayer { layer, rules: rules.collect(), overrides: Vec::new() }
        };
        Layer::ALL.into_iter().map(layer).filter(|layer| !layer.rules.is_empty()).collect()
    }

    /// Looks for what only shows when all layers are there: two rules of one name, of which nobody could say which decided.
    pub(super) fn check(&self, problems: &mut Vec<Problem>) {
        let mut shared = HashMap::new();
        for (agent, rules) in self.0.iter().filter(|(agent, _)| *agent == ALL) {
            twins(agent, rules, &HashMap::new(), &mut shared, problems);
        }
        for (agent, rules) in self.0.iter().filter(|(agent, _)| *agent != ALL) {
            twins(agent, rules, &shared, &mut HashMap::new(), problems);
        }
    }

    /// Says which rules of a project have no effect.
    pub(super) fn notices(&self) -> impl Iterator<Item = ConfigNotice> {
        let all = self.0.iter().flat_map(|(agent, rules)| rules.iter().map(move |one| (agent, one)));
        let idle = all.filter(|(_, one)| one.layer == Layer::Project && one.rule.effect == Effect::Allow);
        idle.map(|(agent, one)| ConfigNotice {
            key: format!("agents.{agent}.commands.rules"),
            place: one.origin.place.clone().unwrap_or_default(),
            message: format!(
                "has the rule `{}`, which permits nothing: a project may add rules, which only make decisions stricter",
                one.rule.id
            ),
        })
    }
}

/// Whose rules those of a layer are. What stands in `/etc/stockade` is said by whoever looks after the machine.
const fn owner(layer: ConfigLayer) -> Layer {
    match layer {
        ConfigLayer::Default => Layer::BuiltIn,
        ConfigLayer::Project => Layer::Project,
        ConfigLayer::User | ConfigLayer::Environment | ConfigLayer::Flag => Layer::User,
        ConfigLayer::System | ConfigLayer::Managed => Layer::Admin,
    }
}

/// Rules by their owner and their name.
type Named<'r> = HashMap<(Layer, &'r str), &'r ConfigRule>;

/// Refuses rules that have the name of one that was there before.
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
        let message = format!("`agents.{agent}.commands.rules`: there is a rule `{id}` already, in {other}");
        problems.push(Problem::of_place(&place(one), message, "give one of them another id"));
    }
}

/// A rule, with its place and as it is written.
pub(super) type Placed = (TextPosition, CommandRule, Json);

/// Reads a list of rules, each with its place and as it is written; or says what is wrong with it, and where.
pub(super) fn read(node: &Node, layer: ConfigLayer) -> Result<Vec<Placed>, (TextPosition, String)> {
    let Value::List(nodes) = &node.value else {
        return Err((node.at, format!("it is {}, and not a list of rules", node.value.kind())));
    };
    let file = CommandRuleFile::of_list(nodes, owner(layer)).map_err(|error| {
        let at = TextPosition { line: error.line, column: error.column };
        (at, error.problem.to_string())
    })?;
    let rules = nodes.iter().zip(file.rules());
    Ok(rules.map(|(node, rule)| (node.at, rule.clone(), node.value.to_json())).collect())
}

/// How many regular expressions a project may bring. Each can take a tenth of a second to compile, and nobody should wait
/// for minutes because a repository says so.
pub(super) const MAX_OF_PROJECT: usize = 16;

/// How many regular expressions there are in a list of rules.
pub(super) fn expressions(node: &Node) -> usize {
    let Value::List(nodes) = &node.value else { return 0 };
    nodes.iter().filter(|node| node.value.get("regex").is_some()).count()
}
