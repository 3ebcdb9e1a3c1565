//! `policy.add`, `policy.remove` and `policy.import`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use stockade_guard::audit::{AuditEvent, EventKind, field};
use stockade_guard::command::rules::{CommandRuleFile, CommandRuleFormat, ImportedRules};
use stockade_guard::command::{CommandRule, Layer};

use super::super::command::rule_objects;
use super::super::{AskedBy, Json, Lane, Parameters};
use super::RuleRow;
use crate::Server;
use crate::fault::Fault;
use stockade_state::saved_rules::{ChangedRules, SavedRuleChange};

/// Add rules to the server. Requests may add rules that deny; other rules only if the server was started with
/// `--requests-may-widen`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::methods) struct AddRules {
    /// A rule in words: `deny git push`, `allow npm run *`.
    rule: Option<String>,
    /// Rules as objects, as `command.evaluate` takes them.
    #[serde(default)]
    rules: Vec<Map<String, Value>>,
    /// Rules as the text of a rule file in TOML.
    rules_toml: Option<String>,
    /// Whether to return the change without making it; false by default.
    #[serde(default)]
    dry_run: bool,
}

/// Remove rules of the server by name. Requests may remove rules that allow; other rules only if the server was started with
/// `--requests-may-widen`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::methods) struct RemoveRules {
    /// The names.
    ids: Vec<String>,
    /// Whether to return the change without making it; false by default.
    #[serde(default)]
    dry_run: bool,
}

/// Import the rules of another document. Rules that may be added are added, and the others are reported.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::methods) struct ImportRules {
    /// The document.
    text: String,
    /// The format; a rule file in TOML by default.
    #[serde(default)]
    format: ImportFormat,
    /// Whether to return the change without making it; false by default.
    #[serde(default)]
    dry_run: bool,
}

/// The format of a document with rules.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ImportFormat {
    #[default]
    Toml,
    Yaml,
    Json,
    /// The settings of Claude Code, with `permissions`.
    Claude,
}

/// The rules that were added.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::methods) struct Added {
    added: Vec<RuleRow>,
    /// Rules that an existing rule covers, with its name.
    was_there: Vec<String>,
    /// The file with the rules.
    place: String,
}

/// The rules that were removed.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::methods) struct Removed {
    removed: Vec<RuleRow>,
    /// The file that contained them.
    place: String,
}

/// The result of an import.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::methods) struct Imported {
    added: Vec<RuleRow>,
    /// Rules that an existing rule covers, with its name.
    was_there: Vec<String>,
    /// Entries with another meaning than in the source.
    changed: Vec<Noted>,
    /// Entries that could not be imported.
    left_out: Vec<Noted>,
    /// The file with the rules.
    place: String,
}

/// An entry with a note.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "EntryWarning")]
struct Noted {
    entry: String,
    reason: String,
}

impl Parameters for AddRules {
    const METHOD: &'static str = "policy.add";
    const LANE: Lane = Lane::Work;
    type Answer = Added;

    fn answer(self, server: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        let mut rules = Vec::new();
        if let Some(line) = &self.rule {
            rules.push(CommandRule::from_words(line).map_err(|error| Fault::of(&error))?);
        }
        rules.extend(rule_objects(&self.rules)?);
        if let Some(toml) = &self.rules_toml {
            rules.extend(file(toml, CommandRuleFormat::Toml)?);
        }
        if rules.is_empty() {
            return Err(Fault::parameters("give a `rule`, `rules` or `rulesToml`"));
        }
        let change = SavedRuleChange::Add(rules);
        // All rules or none, because a partial change would be mistaken for the complete one.
        let tried = server.rules.change(&change, false)?;
        if let Some((_, problem)) = tried.refused.first() {
            return Err(Fault::of(problem));
        }
        let done = if self.dry_run { tried } else { changed(server, "add", &change, &tried)? };
        let (added, was_there) = rows(&done);
        Ok(Json::of(&Added { added, was_there, place: server.rules.place() }))
    }
}

impl Parameters for RemoveRules {
    const METHOD: &'static str = "policy.remove";
    const LANE: Lane = Lane::Work;
    type Answer = Removed;

    fn answer(self, server: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        let change = SavedRuleChange::Remove(self.ids);
        let tried = server.rules.change(&change, false)?;
        if let Some(id) = tried.unknown.first() {
            let now = server.rules.now()?;
            return Err(Fault::unknown("rule", id, now.rules.iter().map(|rule| rule.id.as_str())));
        }
        let done = if self.dry_run { tried } else { changed(server, "remove", &change, &tried)? };
        Ok(Json::of(&Removed { removed: rows(&done).0, place: server.rules.place() }))
    }
}

impl Parameters for ImportRules {
    const METHOD: &'static str = "policy.import";
    const LANE: Lane = Lane::Work;
    type Answer = Imported;

    fn answer(self, server: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        let mut from = match self.format {
            ImportFormat::Toml => of_file(&self.text, CommandRuleFormat::Toml)?,
            ImportFormat::Yaml => of_file(&self.text, CommandRuleFormat::Yaml)?,
            ImportFormat::Json => of_file(&self.text, CommandRuleFormat::Json)?,
            ImportFormat::Claude => {
                ImportedRules::from_claude_settings(&self.text).map_err(|error| Fault::of(&error))?
            }
        };
        let (may, may_not): (Vec<_>, Vec<_>) =
            from.rules.drain(..).partition(|rule| server.rules.may_add(rule.effect));
        let change = SavedRuleChange::Add(may);
        let tried = server.rules.change(&change, false)?;
        let done = if self.dry_run { tried } else { changed(server, "import", &change, &tried)? };
        let named = |rule: &CommandRule| format!("{} {}", rule.effect, rule.pattern);
        let widens = may_not.iter().map(|rule| Noted {
            entry: named(rule),
            reason: "a request may add rules that deny: start the server with `--requests-may-widen`"
                .to_owned(),
        });
        let refused = done.refused.iter();
        let refused =
            refused.map(|(rule, problem)| Noted { entry: named(rule), reason: problem.to_string() });
        let notes = |is_left_out: bool| {
            let notes = from.notes.iter().filter(move |note| note.is_left_out == is_left_out);
            notes.map(|note| Noted { entry: note.entry.clone(), reason: note.reason.clone() })
        };
        let left_out = notes(true).chain(refused).chain(widens).collect();
        let (added, was_there) = rows(&done);
        let place = server.rules.place();
        Ok(Json::of(&Imported { added, was_there, changed: notes(false).collect(), left_out, place }))
    }
}

/// Makes the tested change: it is recorded first, and listeners are notified afterwards.
fn changed(
    server: &Server,
    how: &'static str,
    change: &SavedRuleChange,
    tried: &ChangedRules,
) -> Result<ChangedRules, Fault> {
    let ids: Vec<String> = tried.changed.iter().map(|rule| rule.id.clone()).collect();
    if ids.is_empty() {
        return server.rules.change(change, true);
    }
    if let Some(trail) = server.trail.get(None)? {
        let event = AuditEvent::new(EventKind::PolicyChanged).with(field::CHANGE, how);
        let event = event.with(field::RULES, ids.clone()).with(field::PLACE, server.rules.place());
        trail.record(event).map(drop).map_err(|error| Fault::internal(&error))?;
    }
    let done = server.rules.change(change, true)?;
    server.tell_of_rules(&ids);
    Ok(done)
}

fn rows(done: &ChangedRules) -> (Vec<RuleRow>, Vec<String>) {
    let changed = done.changed.iter().map(|rule| RuleRow::of(Layer::Admin, rule));
    (changed.collect(), done.there.iter().map(|(_, id)| id.clone()).collect())
}

fn of_file(text: &str, format: CommandRuleFormat) -> Result<ImportedRules, Fault> {
    let mut imported = ImportedRules::default();
    imported.rules = file(text, format)?;
    Ok(imported)
}

fn file(text: &str, format: CommandRuleFormat) -> Result<Vec<CommandRule>, Fault> {
    let file = CommandRuleFile::parse(text, format, Layer::User).map_err(|error| Fault::of(&error))?;
    Ok(file.rules().to_vec())
}
