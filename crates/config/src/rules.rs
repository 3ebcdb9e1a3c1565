//! Rules for commands in a configuration. They have the format of rule files, and the same parser reads them.
//!
//! Unlike other values, the rules of all layers apply together, and so do the rule files that layers name.

use std::collections::{BTreeMap, HashMap};

use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};
use stockade_command::rules::{
    CommandRuleFile, CommandRuleFileError, CommandRuleFormat, MAX_COMMAND_RULE_FILE_BYTES,
};
use stockade_command::{CommandDefaults, CommandRule, Effect, Layer, RuleLayer};
use stockade_files::{TrustedFileError, Writers, read_trusted};
use stockade_text::{Format, Node, TextPosition, Value, parse};

use crate::config::{ALL, agent_of};
use crate::error::{ConfigNotice, Problem};
use crate::keys::ConfigKey;
use crate::kind::Kind;
use crate::layer::{ConfigLayer, ConfigOrigin, Leaf, untrusted_fix};

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
    /// The rule file that it comes from, unless it is written in the configuration itself.
    pub file: Option<PathBuf>,
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
            let Leaf { origin, file, value, .. } = leaf;
            rules.entry(agent).or_default().push(ConfigRule { rule, layer, origin, file, value });
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

/// Returns the paths of rule files that layers name, in their order.
pub(super) fn files<'l>(leaves: impl Iterator<Item = &'l Leaf>) -> Vec<PathBuf> {
    let named = leaves.filter(|leaf| matches!(leaf.key.kind, Kind::RuleFiles) && !leaf.only_narrows);
    let lists = named.filter_map(|leaf| leaf.value.as_array());
    lists.flatten().filter_map(Json::as_str).map(PathBuf::from).collect()
}

/// Reads the rule files that a layer names at the path of its key. Each rule has its place in its file.
pub(super) fn of_files(
    path: &str,
    list: &Json,
    origin: &ConfigOrigin,
    problems: &mut Vec<Problem>,
) -> Vec<Leaf> {
    let mut leaves = Vec::new();
    for file in list.as_array().into_iter().flatten().filter_map(Json::as_str) {
        match of_file(path, Path::new(file), origin.layer) {
            Ok(found) => leaves.extend(found),
            Err(problem) => problems.push(problem),
        }
    }
    leaves
}

fn of_file(path: &str, file: &Path, layer: ConfigLayer) -> Result<Vec<Leaf>, Problem> {
    let Some(format) = file.to_str().and_then(CommandRuleFormat::of_name) else {
        let fix = "use the extension .toml, .yaml, .yml or .json";
        return Err(Problem::of_file(file, "unknown extension of a rule file", fix));
    };
    let writers = if layer == ConfigLayer::Managed { Writers::Root } else { Writers::Owner };
    let text = read_trusted(file, writers, MAX_COMMAND_RULE_FILE_BYTES)
        .map_err(|error| Problem::of_file(file, error.to_string(), unreadable_fix(file, &error)))?;
    let rules = CommandRuleFile::parse(&text, format, owner(layer)).map_err(|error| wrong(file, &error))?;
    if rules.has_overrides() {
        let fix = "name the file with `--rules admin:FILE`, or remove `override` from it";
        return Err(Problem::of_file(file, "a rule file of a configuration cannot have `override`", fix));
    }
    let origin = |at: Option<TextPosition>| {
        let at = at.map(|at| format!(":{at}")).unwrap_or_default();
        ConfigOrigin { layer, place: Some(format!("{}{at}", file.display())) }
    };
    let table = path.rsplit_once('.').map_or(path, |(table, _)| table);
    let leaf = |name: &str, value: Json, rule: Option<CommandRule>, at: Option<TextPosition>| {
        let path = format!("{table}.{name}");
        let key = ConfigKey::of(&path)?;
        let (origin, file) = (origin(at), Some(file.to_owned()));
        // What is in force where no rule matches is never milder for a file.
        Some(Leaf { path, key, value, origin, only_narrows: rule.is_none(), rule, adds: false, file })
    };
    let sources = sources(&text, file);
    let own = rules.rules().iter().enumerate().filter_map(|(index, rule)| {
        let value = sources.get(index).cloned().unwrap_or_default();
        leaf("rules", value, Some(rule.clone()), rules.place_of(&rule.id))
    });
    let defaults = rules.defaults().into_iter().flat_map(named);
    // `allow`, which no key takes, is milder than whatever is in force.
    let defaults = defaults
        .filter_map(|(name, word)| leaf(name, json!(word), None, None))
        .filter(|leaf| leaf.key.kind.check(&leaf.value).is_ok());
    Ok(own.chain(defaults).collect())
}

/// Returns how to fix a rule file that cannot be read.
fn unreadable_fix(file: &Path, error: &TrustedFileError) -> String {
    if matches!(error, TrustedFileError::Unreadable(error) if error.kind() == io::ErrorKind::NotFound) {
        return format!("create {}, or remove it from `ruleFiles`", file.display());
    }
    untrusted_fix(error)
}

/// The defaults of a file under the names of their keys.
fn named(defaults: CommandDefaults) -> [(&'static str, &'static str); 3] {
    let CommandDefaults { unmatched, unanalysable, substitutions } = defaults;
    [
        ("unmatched", unmatched.name()),
        ("unanalysable", unanalysable.name()),
        ("substitutions", substitutions.name()),
    ]
}

/// Returns the rules of a file as they are written, for those who show them.
fn sources(text: &str, file: &Path) -> Vec<Json> {
    let parsed = Format::of_path(file).and_then(|format| parse(text, format, text.len()).ok());
    let list = parsed.as_ref().and_then(|node| node.value.get("rule"));
    match list.map(|entry| &entry.node.value) {
        Some(Value::List(nodes)) => nodes.iter().map(|node| node.value.to_json()).collect(),
        _ => Vec::new(),
    }
}

fn wrong(file: &Path, error: &CommandRuleFileError) -> Problem {
    let CommandRuleFileError { line, column, problem, .. } = error;
    let at = TextPosition { line: *line, column: *column };
    Problem { at: Some(at), ..Problem::of_file(file, problem.to_string(), "run `stockade policy --help`") }
}

/// Maximum number of regular expressions in the rules of a project. Each can take a tenth of a second to compile, and a
/// repository must not make its user wait for minutes.
pub(super) const MAX_OF_PROJECT: usize = 16;

/// Returns the number of regular expressions in a list of rules.
pub(super) fn expressions(node: &Node) -> usize {
    let Value::List(nodes) = &node.value else { return 0 };
    nodes.iter().filter(|node| node.value.get("regex").is_some()).count()
}
