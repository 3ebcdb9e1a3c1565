//! Rules in a request: as objects, or as the text of a rule file.
//!
//! An object is either a rule as in rule files (`decision`), or one in the format of other tools (`action`, `kind`,
//! `constraints`). Both are converted to a rule file, so that all rules are validated in one place.

use serde_json::{Map, Value, json};
use stockade_guard::command::rules::{CommandRuleFile, CommandRuleFileError, CommandRuleFormat};
use stockade_guard::command::{CommandDefaults, CommandPolicy, CommandRule, Effect, Layer};

use crate::fault::Fault;
use crate::operator_rules::Loaded;
use stockade_state::command_rules::strictest;

/// The keys of a rule in the format of other tools.
const FOREIGN: &[&str] = &[
    "action",
    "allow",
    "constraints",
    "description",
    "enabled",
    "i_know",
    "id",
    "isRegex",
    "kind",
    "name",
    "pattern",
    "prefix",
    "priority",
    "reason",
    "tags",
];

/// The keys of its constraints, and the corresponding keys of rule files.
const CONSTRAINTS: &[(&str, &str)] =
    &[("deniedArgs", "deny"), ("allowedArgs", "require"), ("allowedDirs", "cwd"), ("deniedDirs", "not_cwd")];

/// Parses the name of an action.
fn effect(name: &str) -> Result<Effect, Fault> {
    Effect::from_name(name).ok_or_else(|| Fault::unknown("action", name, Effect::NAMES.iter().copied()))
}

/// The rules of a request.
#[derive(Debug, PartialEq)]
pub(super) struct OwnRules {
    pub(super) rules: Vec<Map<String, Value>>,
    pub(super) toml: Option<String>,
    pub(super) default_action: Option<String>,
}

impl OwnRules {
    /// Returns whether the request has no rules, so that only the built-in ones apply.
    pub(super) const fn is_empty(&self) -> bool {
        self.rules.is_empty() && self.toml.is_none() && self.default_action.is_none()
    }

    /// Returns the size of the rules' text in bytes.
    pub(super) fn text_bytes(&self) -> usize {
        let parts = self.rules.iter().flatten().map(|(key, value)| key.len() + value.to_string().len());
        parts.sum::<usize>() + self.toml.as_ref().map_or(0, String::len)
    }

    /// Checks the rules, and compiles them on top of the built-in ones and below those of the server.
    pub(super) fn compile(&self, operator: &Loaded) -> Result<CommandPolicy, Fault> {
        let mut files = Vec::new();
        if let Some(toml) = &self.toml {
            files.push(CommandRuleFile::parse(toml, CommandRuleFormat::Toml, Layer::User).map_err(
                |error| {
                    let CommandRuleFileError { line, column, problem, .. } = error;
                    Fault::parameters(format!("`rulesToml`, line {line}, column {column}: {problem}"))
                },
            )?);
        }
        if !self.rules.is_empty() {
            files.push(objects(&self.rules)?);
        }
        let mut defaults = files.iter().find_map(CommandRuleFile::defaults).unwrap_or_default();
        if let Some(action) = &self.default_action {
            defaults = CommandDefaults { unmatched: effect(action)?, ..defaults };
        }
        // The rules of the server always apply, whatever the request contains.
        let defaults = operator.defaults.map_or(defaults, |of_server| strictest(of_server, defaults));
        let layers =
            files.iter().map(|file| file.layer(Layer::User)).chain(operator.layers.clone()).collect();
        CommandPolicy::compile(layers, defaults).map_err(|error| Fault::of(&error))
    }
}

/// Parses rules that are objects, for the server's rules.
pub(in crate::methods) fn rule_objects(rules: &[Map<String, Value>]) -> Result<Vec<CommandRule>, Fault> {
    if rules.is_empty() { Ok(Vec::new()) } else { Ok(objects(rules)?.rules().to_vec()) }
}

fn objects(rules: &[Map<String, Value>]) -> Result<CommandRuleFile, Fault> {
    // A rule tagged as built-in is skipped: the real built-in rules are already loaded.
    let own = rules.iter().enumerate().filter(|(_, rule)| !poses_as_builtin(rule));
    let rows = own.map(|(number, rule)| row(number, rule)).collect::<Result<Vec<_>, _>>()?;
    let file = json!({"version": 1, "rule": rows}).to_string();
    CommandRuleFile::parse(&file, CommandRuleFormat::Json, Layer::User)
        .map_err(|error| Fault::parameters(format!("`rules`: {}", error.problem)))
}

fn poses_as_builtin(rule: &Map<String, Value>) -> bool {
    rule.get("tags").and_then(Value::as_array).is_some_and(|tags| tags.iter().any(|tag| tag == "builtin"))
}

/// Returns a rule in the format of rule files.
fn row(number: usize, rule: &Map<String, Value>) -> Result<Value, Fault> {
    if rule.contains_key("decision") {
        return Ok(Value::Object(rule.clone()));
    }
    if let Some(key) = rule.keys().find(|key| !FOREIGN.contains(&key.as_str())) {
        return Err(Fault::unknown("key of a rule", key, FOREIGN.iter().copied()));
    }
    let text = |key: &str| rule.get(key).and_then(Value::as_str);
    let action = text("action").ok_or_else(|| Fault::parameters(format!("rule {number} has no `action`")))?;
    let mut row = Map::new();
    let id = text("id").or(text("name")).map_or_else(|| format!("rule-{number}"), str::to_owned);
    row.insert("id".to_owned(), id.into());
    row.insert("decision".to_owned(), effect(action)?.name().into());
    let (key, pattern) = pattern(number, rule)?;
    row.insert(key.to_owned(), pattern);
    for (from, to) in
        // Missing keys are reported with their names in rule files, so that the error can be fixed there.
        [
            ("priority", "priority"),
            ("enabled", "enabled"),
            ("i_know", "i_know"),
            ("reason", "reason"),
            ("description", "reason"),
        ]
    {
        if let Some(value) = rule.get(from) {
            row.insert(to.to_owned(), value.clone());
        }
    }
    constraints(rule, &mut row)?;
    Ok(Value::Object(row))
}

/// Returns the pattern of a rule, with its key in rule files.
fn pattern(number: usize, rule: &Map<String, Value>) -> Result<(&'static str, Value), Fault> {
    if let Some(prefix) = rule.get("prefix") {
        return Ok(("prefix", prefix.clone()));
    }
    let Some(pattern) = rule.get("pattern").and_then(Value::as_str) else {
        return Err(Fault::parameters(format!("rule {number} has neither `prefix` nor `pattern`")));
    };
    let is_regex = rule.get("isRegex").and_then(Value::as_bool).unwrap_or(false);
    Ok(match anchored(pattern) {
        // In other tools, a glob of one word or an expression like `^git$` matches only the program name.
        _ if !is_regex && !pattern.contains(char::is_whitespace) => ("prefix", json!([pattern])),
        _ if !is_regex => ("glob", pattern.into()),
        Some(word) => ("prefix", json!([word])),
        None => ("regex", pattern.into()),
    })
}

fn constraints(rule: &Map<String, Value>, row: &mut Map<String, Value>) -> Result<(), Fault> {
    let Some(constraints) = rule.get("constraints").and_then(Value::as_object) else { return Ok(()) };
    for (key, value) in constraints {
        let Some((_, to)) = CONSTRAINTS.iter().find(|(from, _)| from == key) else {
            return Err(Fault::unknown("constraint", key, CONSTRAINTS.iter().map(|(name, _)| *name)));
        };
        let words = value.as_array().map(Vec::as_slice).unwrap_or_default();
        let word = |word: &Value| match word.as_str() {
            Some(text) => Value::from(anchored(text).unwrap_or_else(|| text.to_owned())),
            None => word.clone(),
        };
        row.insert((*to).to_owned(), words.iter().map(word).collect());
    }
    Ok(())
}

/// The word that an anchored expression without special characters matches; one without an end anchor becomes a word prefix
/// with `*`.
fn anchored(pattern: &str) -> Option<String> {
    let rest = pattern.strip_prefix('^')?;
    let (word, end) = rest.strip_suffix('$').map_or((rest, "*"), |word| (word, ""));
    let is_plain = !word.is_empty() && !word.contains(|c| "\\^$.|?*+()[]{}".contains(c));
    is_plain.then(|| format!("{word}{end}"))
}
