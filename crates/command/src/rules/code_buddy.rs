//! Imports rules from the file of Code Buddy, `execpolicy.json`.
//!
//! It has rules whose words begin a command (`prefixRules`), and rules whose pattern is that of a program's name. A rule without
//! an equivalent is left out if it allows; if it restricts, what narrows it is left out instead, so that it never restricts less.

use std::collections::HashSet;

use stockade_text::{Node, Value};

use super::check;
use super::claude::{ImportNote, ImportedRules, id_for};
use super::effect::Effect;
use super::in_words::free_id;
use super::rule::{CommandPattern, CommandRule};

/// Maximum number of rules in a file.
const MAX_RULES: usize = 1000;

/// What narrows a rule.
const CONSTRAINTS: &[&str] = &["allowedArgs", "deniedArgs", "allowedDirs", "deniedDirs"];

impl ImportedRules {
    /// Reads the rules of Code Buddy.
    ///
    /// # Errors
    /// When the document is neither a list of rules nor an object with `rules` or `prefixRules`.
    pub fn from_code_buddy(document: &Value) -> Result<Self, String> {
        let (rules, prefixes) = match document {
            Value::List(rules) => (Some(rules.as_slice()), None),
            _ => (list(document, "rules"), list(document, "prefixRules")),
        };
        if rules.is_none() && prefixes.is_none() {
            return Err("missing `rules` and `prefixRules`, or a list of rules".to_owned());
        }
        let all = rules.into_iter().chain(prefixes).flatten();
        if all.clone().count() > MAX_RULES {
            return Err(format!("the file has more than {MAX_RULES} rules"));
        }
        let (mut imported, mut ids) = (Self::default(), HashSet::new());
        for rule in all {
            let entry = name_of(&rule.value);
            match read(&rule.value) {
                Ok((rule, note)) => {
                    imported.notes.extend(note.map(|why| ImportNote::new(entry, false, why)));
                    imported.add(rule, &mut ids);
                }
                Err(why) => imported.notes.push(ImportNote::new(entry, true, &why)),
            }
        }
        Ok(imported)
    }

    fn add(&mut self, mut rule: CommandRule, ids: &mut HashSet<String>) {
        let is_there = |one: &CommandRule| one.pattern == rule.pattern && one.effect == rule.effect;
        if self.rules.iter().any(is_there) {
            return;
        }
        rule.id = free_id(&id_for(&rule), |id| ids.contains(id));
        ids.insert(rule.id.clone());
        self.rules.push(rule);
    }
}

fn list<'v>(value: &'v Value, key: &str) -> Option<&'v [Node]> {
    match &value.get(key)?.node.value {
        Value::List(nodes) => Some(nodes),
        _ => None,
    }
}

fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    as_text(&value.get(key)?.node.value)
}

fn as_text(value: &Value) -> Option<&str> {
    match value {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

fn is(value: &Value, key: &str, flag: bool) -> bool {
    value.get(key).is_some_and(|entry| entry.node.value == Value::Flag(flag))
}

/// What a note calls a rule.
fn name_of(rule: &Value) -> String {
    text(rule, "id").or_else(|| text(rule, "name")).unwrap_or("a rule without an id").to_owned()
}

/// Returns the rule, with what differs from it.
fn read(rule: &Value) -> Result<(CommandRule, Option<&'static str>), String> {
    if !matches!(rule, Value::Table(_)) {
        return Err("it is no rule".to_owned());
    }
    if is(rule, "enabled", false) {
        return Err("it is switched off there".to_owned());
    }
    let mut tags = list(rule, "tags").unwrap_or_default().iter();
    if tags.any(|tag| as_text(&tag.value) == Some("builtin")) {
        return Err("it is built in there, and there are built-in rules here".to_owned());
    }
    let effect = text(rule, "action")
        .and_then(Effect::from_name)
        .ok_or("its action is not one of `allow`, `deny`, `ask` and `sandbox`")?;
    let words: Vec<String> = match list(rule, "prefix") {
        Some(words) => {
            let words = words.iter().map(|word| as_text(&word.value).map(str::to_owned));
            words.collect::<Option<_>>().ok_or("a word of its prefix is no text")?
        }
        None => vec![program(rule, text(rule, "pattern").ok_or("it has neither `prefix` nor `pattern`")?)?],
    };
    let constraints = rule.get("constraints").map(|entry| &entry.node.value);
    let is_narrowed = constraints.is_some_and(|has| CONSTRAINTS.iter().any(|key| has.get(key).is_some()));
    if is_narrowed && effect == Effect::Allow {
        return Err(
            "it allows under constraints, for which there are conditions of rules: `stockade policy --help`"
                .to_owned(),
        );
    }
    let words = words.iter().map(|word| vec![literal(word)]).collect();
    let mut rule = CommandRule::new("imported", CommandPattern::Prefix(words), effect);
    rule.reason = "imported from the rules of Code Buddy".to_owned();
    check::rule(&rule).map_err(|problem| problem.to_string())?;
    Ok((rule, is_narrowed.then_some("its constraints are left out, so it restricts more here")))
}

/// Returns the program that a pattern names.
fn program(rule: &Value, pattern: &str) -> Result<String, String> {
    if is(rule, "isRegex", true) || pattern.contains(['*', '?']) {
        return Err(format!("`{pattern}` is a pattern of programs: write a rule for each program"));
    }
    Ok(pattern.to_owned())
}

/// A word without the signs that have a meaning in a pattern here.
fn literal(word: &str) -> String {
    let sign = |sign: char| if "*?{\\".contains(sign) { vec!['\\', sign] } else { vec![sign] };
    word.chars().flat_map(sign).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use stockade_text::{Format, parse};

    use super::*;

    fn read(document: &serde_json::Value) -> Result<ImportedRules, String> {
        let text = document.to_string();
        ImportedRules::from_code_buddy(&parse(&text, Format::Json, text.len()).unwrap().value)
    }

    #[test]
    fn rules_become_rules_and_what_narrows_a_restriction_goes() {
        let document = json!({ "version": 2, "rules": [
            { "id": "no-rm", "pattern": "rm", "action": "deny", "constraints": { "allowedDirs": ["/srv"] } },
            { "id": "make", "pattern": "make", "action": "sandbox", "enabled": true },
            { "id": "narrow", "pattern": "npm", "action": "allow", "constraints": { "allowedArgs": ["test"] } },
            { "id": "all", "pattern": "*", "action": "ask" },
            { "id": "expression", "pattern": "^rm", "isRegex": true, "action": "deny" },
            { "id": "off", "pattern": "ls", "action": "deny", "enabled": false },
            { "id": "own", "pattern": "git", "action": "ask", "tags": ["builtin"] },
            { "id": "odd", "pattern": "git", "action": "perhaps" },
            7
        ], "prefixRules": [
            { "id": "prefix-1", "prefix": ["git", "status"], "action": "allow" },
            { "id": "prefix-2", "prefix": ["git", "status"], "action": "allow" },
            { "id": "star", "prefix": ["ls", "*"], "action": "deny" }
        ] });
        let imported = read(&document).unwrap();
        let rules: Vec<_> =
            imported.rules.iter().map(|rule| format!("{} {}", rule.effect, rule.pattern)).collect();
        assert_eq!(rules, ["deny rm **", "sandbox make **", "allow git status **", "deny ls \\* **"]);
        let ids: HashSet<_> = imported.rules.iter().map(|rule| &rule.id).collect();
        assert_eq!(ids.len(), 4);
        let left: Vec<_> =
            imported.notes.iter().filter(|note| note.is_left_out).map(|note| note.entry.as_str()).collect();
        assert_eq!(left, ["narrow", "all", "expression", "off", "own", "odd", "a rule without an id"]);
        let differs: Vec<_> =
            imported.notes.iter().filter(|note| !note.is_left_out).map(|note| note.entry.as_str()).collect();
        assert_eq!(differs, ["no-rm"]);
        assert!(read(&json!({ "a": 1 })).is_err());
        assert_eq!(read(&json!([])).unwrap(), ImportedRules::default());
    }
}
