//! Imports rules from the settings of Claude Code: the entries of `permissions.allow`, `ask` and `deny` for commands.
//!
//! In these settings, `Bash(npm run test:*)` and `Bash(npm run test *)` match commands that start with these words, `Bash(npm run
//! build)` matches exactly this command, and a `*` elsewhere matches any characters including spaces. An entry without an
//! equivalent becomes a narrower rule if it allows, and a wider one if it asks or denies, with a note; or it is skipped, with the
//! reason.

use std::collections::HashSet;

use stockade_text::{Format, Node, Value, parse};

use super::check;
use super::effect::Effect;
use super::in_words::{free_id, id_of};
use super::rule::{CommandPattern, CommandRule, RegexScope};

/// Maximum size of a settings file in bytes.
const MAX_SETTINGS_BYTES: usize = 1 << 20;

/// Maximum number of entries of all lists together.
const MAX_ENTRIES: usize = 1000;

/// The lists and their effects.
const LISTS: &[(&str, Effect)] = &[("allow", Effect::Allow), ("ask", Effect::Ask), ("deny", Effect::Deny)];

/// The tool for commands.
const TOOL: &str = "Bash";

/// The imported rules, and notes about entries that differ or were skipped.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ImportedRules {
    /// The rules, in the order of the file. They are valid, and their ids are unique.
    pub rules: Vec<CommandRule>,
    /// Differences from the settings.
    pub notes: Vec<ImportNote>,
}

/// An entry that has no equivalent rule.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImportNote {
    /// The entry with its list: `allow Bash(git * main)`.
    pub entry: String,
    /// Whether it was skipped.
    pub is_left_out: bool,
    /// The reason and the fix.
    pub reason: String,
}

impl ImportNote {
    /// A note about an entry.
    #[must_use]
    pub fn new(entry: String, is_left_out: bool, reason: &str) -> Self {
        Self { entry, is_left_out, reason: reason.to_owned() }
    }
}

/// An invalid settings file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClaudeSettingsError {
    /// The file is not valid JSON.
    #[error("line {line}, column {column}: the file is not valid JSON: {reason}")]
    Syntax {
        /// The line, from 1.
        line: usize,
        /// The column in characters, from 1.
        column: usize,
        /// The message of the parser.
        reason: String,
    },
    /// The file has no permissions.
    #[error("missing `permissions` with lists `allow`, `ask` and `deny`")]
    NoPermissions,
    /// The lists have too many entries.
    #[error("the lists have more than {MAX_ENTRIES} entries")]
    TooMany,
}

impl ImportedRules {
    /// Parses the settings of Claude Code.
    ///
    /// ```
    /// use stockade_command::rules::ImportedRules;
    ///
    /// let settings = r#"{"permissions": {"allow": ["Bash(npm run test:*)", "Read(src/**)"]}}"#;
    /// let imported = ImportedRules::from_claude_settings(settings)?;
    /// assert_eq!(imported.rules[0].pattern.to_string(), "npm run test **");
    /// assert!(imported.notes[0].is_left_out);
    /// # Ok::<(), stockade_command::rules::ClaudeSettingsError>(())
    /// ```
    ///
    /// # Errors
    /// When the text is not valid JSON, or has no permissions.
    pub fn from_claude_settings(text: &str) -> Result<Self, ClaudeSettingsError> {
        let node = parse(text, Format::Json, MAX_SETTINGS_BYTES).map_err(|error| {
            ClaudeSettingsError::Syntax { line: error.at.line, column: error.at.column, reason: error.reason }
        })?;
        let permissions = node.value.get("permissions").ok_or(ClaudeSettingsError::NoPermissions)?;
        let mut imported = Self::default();
        let (mut ids, mut count) = (HashSet::new(), 0);
        for (list, effect) in LISTS {
            let Some(entry) = permissions.node.value.get(list) else { continue };
            let Value::List(nodes) = &entry.node.value else {
                return Err(ClaudeSettingsError::NoPermissions);
            };
            count += nodes.len();
            if count > MAX_ENTRIES {
                return Err(ClaudeSettingsError::TooMany);
            }
            nodes.iter().for_each(|node| imported.take(node, *effect, &mut ids));
        }
        if count == 0 && !LISTS.iter().any(|(list, _)| permissions.node.value.get(list).is_some()) {
            return Err(ClaudeSettingsError::NoPermissions);
        }
        imported.others(&permissions.node.value);
        Ok(imported)
    }

    /// Adds notes about settings that cannot be imported.
    fn others(&mut self, permissions: &Value) {
        for key in ["defaultMode", "additionalDirectories", "disableBypassPermissionsMode"] {
            if permissions.get(key).is_some() {
                let reason = "it is no rule for commands: see `stockade config explain`";
                self.note(key.to_owned(), true, reason);
            }
        }
    }

    fn take(&mut self, node: &Node, effect: Effect, ids: &mut HashSet<String>) {
        let Value::Text(text) = &node.value else {
            return self.note(effect.name().to_owned(), true, "it is no text");
        };
        let entry = format!("{effect} {text}");
        match read(text, effect) {
            Err(reason) => self.note(entry, true, &reason),
            Ok((pattern, note)) => {
                let mut rule = CommandRule::new(String::new(), pattern, effect);
                rule.id = free_id(&id_for(&rule), |id| ids.contains(id));
                rule.reason = "imported from the settings of Claude Code".to_owned();
                match check::rule(&rule) {
                    Err(problem) => self.note(entry, true, &problem.to_string()),
                    Ok(_)
                        if self
                            .rules
                            .iter()
                            .any(|one| one.pattern == rule.pattern && one.effect == effect) => {}
                    Ok(_) => {
                        ids.insert(rule.id.clone());
                        self.rules.push(rule);
                        if let Some(note) = note {
                            self.note(entry, false, note);
                        }
                    }
                }
            }
        }
    }

    fn note(&mut self, entry: String, is_left_out: bool, reason: &str) {
        self.notes.push(ImportNote::new(entry, is_left_out, reason));
    }
}

/// An id of the words of a rule.
pub(super) fn id_for(rule: &CommandRule) -> String {
    let words = match &rule.pattern {
        CommandPattern::Prefix(words) | CommandPattern::Exact(words) => words.concat(),
        CommandPattern::Regex { pattern, .. } => vec![pattern.clone()],
    };
    let words: Vec<&str> =
        std::iter::once(rule.effect.name()).chain(words.iter().map(String::as_str)).collect();
    id_of(words.get(..4).unwrap_or(&words))
}

/// The pattern of an entry with a note about differences, or the reason why it is skipped.
fn read(entry: &str, effect: Effect) -> Result<(CommandPattern, Option<&'static str>), String> {
    let Some(inner) = entry.strip_prefix(TOOL).filter(|rest| rest.is_empty() || rest.starts_with('(')) else {
        return Err("it is about another tool: see `files` and `toolPolicy` of the configuration".to_owned());
    };
    let inner = inner.strip_prefix('(').map_or(Some(""), |inner| inner.strip_suffix(')'));
    let Some(text) = inner else { return Err("its parenthesis is not closed".to_owned()) };
    let text = text.trim();
    if matches!(text, "" | "*" | ":*") {
        return Err("it is about every command: set `commands.unmatched` for what no rule matches".to_owned());
    }
    let is_open = |ending: &str| text.strip_suffix(ending).filter(|before| !before.ends_with('\\'));
    let (words, takes_more) = match is_open(":*").or_else(|| is_open(" *")) {
        Some(words) => (words, true),
        None => (text, false),
    };
    if words.contains(['\'', '"', '|', ';', '&', '<', '>', '$', '`', '(', '\\', '\n']) {
        return Err("its words are not certain: a shell reads quotes and signs in it; write a rule by hand"
            .to_owned());
    }
    Ok(pattern(words, takes_more, effect))
}

fn pattern(text: &str, takes_more: bool, effect: Effect) -> (CommandPattern, Option<&'static str>) {
    // Braces are alternatives here, and literal characters there.
    let words: Vec<Vec<String>> =
        text.split_whitespace().map(|word| vec![word.replace('{', "\\{").replace('?', "\\?")]).collect();
    let whole = if takes_more { CommandPattern::Prefix } else { CommandPattern::Exact };
    if !text.contains('*') {
        return (whole(words), None);
    }
    if effect == Effect::Allow {
        let note =
            "a `*` within the words matches characters of one word here, and several words in Claude Code";
        return (whole(words), Some(note));
    }
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let quoted: Vec<String> = text.split('*').map(escape_expression).collect();
    let end = if takes_more { "( .*)?$" } else { "$" };
    let pattern = format!("^{}{end}", quoted.join(".*"));
    let over = RegexScope::Argv;
    (CommandPattern::Regex { pattern, over }, Some("it became an expression over the words of the command"))
}

fn escape_expression(text: &str) -> String {
    let escape = |character: char| match character {
        plain if plain.is_alphanumeric() || " _-/:,=@%".contains(plain) => plain.to_string(),
        special => format!("\\{special}"),
    };
    text.chars().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::CommandContext;
    use crate::decision::policy::{CommandDefaults, CommandPolicy};
    use crate::rules::effect::Layer;
    use crate::rules::layer::RuleLayer;
    use stockade_shell::ReadOptions;

    fn effect(imported: &ImportedRules, text: &str) -> Effect {
        let user = RuleLayer { layer: Layer::User, rules: imported.rules.clone(), overrides: Vec::new() };
        let policy = CommandPolicy::compile(vec![user], CommandDefaults::default()).unwrap();
        policy.decide(text, &ReadOptions::default(), &CommandContext::default()).effect
    }

    /// An entry, a command that it matches, one that it does not match, and whether a note reports a difference.
    const TAKEN: &[(&str, &str, &str, bool)] = &[
        ("Bash(npm run test:*)", "npm run test -- --watch", "npm run testing", false),
        ("Bash(npm run test *)", "npm run test", "npm run build", false),
        ("Bash(tool build)", "tool build", "tool build x", false),
        ("Bash(tool * main)", "tool push main", "tool push dev", true),
        ("Bash(tool* x)", "tool7 x", "other x", true),
        ("Bash(tool {a,b})", "tool '{a,b}'", "tool a", false),
    ];

    #[test]
    fn entries_mean_what_they_meant() {
        for list in ["allow", "deny"] {
            for (entry, about, other, differs) in TAKEN {
                let settings = format!("{{\"permissions\": {{\"{list}\": [\"{entry}\"]}}}}");
                let imported = ImportedRules::from_claude_settings(&settings).unwrap();
                assert_eq!(imported.notes.iter().any(|note| !note.is_left_out), *differs, "{list} {entry}");
                let wanted = Effect::from_name(list).unwrap();
                assert_eq!(effect(&imported, about), wanted, "{list} {entry}: {about}");
                assert_ne!(effect(&imported, other), wanted, "{list} {entry}: {other}");
            }
        }
        let settings = r#"{"permissions": {"deny": ["Bash(git * main)"]}}"#;
        let imported = ImportedRules::from_claude_settings(settings).unwrap();
        assert_eq!(effect(&imported, "git push origin main"), Effect::Deny);
        assert_ne!(effect(&imported, "gitk x main"), Effect::Deny);
    }

    #[test]
    fn what_is_left_out_is_said() {
        let entries = [
            "Bash",
            "Bash(*)",
            "Bash(bash:*)",
            "Read(./.env)",
            "WebFetch",
            "Bash(a | b)",
            "Bash(x",
            "Bashful(x)",
        ];
        for entry in entries {
            let settings = format!("{{\"permissions\": {{\"allow\": [\"{entry}\"]}}}}");
            let imported = ImportedRules::from_claude_settings(&settings).unwrap();
            assert!(imported.rules.is_empty(), "{entry}");
            assert_eq!(imported.notes.len(), 1, "{entry}");
            assert!(imported.notes[0].is_left_out && imported.notes[0].entry.contains(entry), "{entry}");
        }
        for settings in ["{}", "[]", "{\"permissions\": {}}", "{\"permissions\": {\"allow\": 3}}", "{"] {
            assert!(ImportedRules::from_claude_settings(settings).is_err(), "{settings}");
        }
    }

    #[test]
    fn ids_differ_and_doubles_count_once() {
        let settings = r#"{"permissions": {"allow": ["Bash(a b)", "Bash(a b:*)", "Bash(a b *)"], "defaultMode": "plan"}}"#;
        let imported = ImportedRules::from_claude_settings(settings).unwrap();
        let ids: Vec<&str> = imported.rules.iter().map(|rule| rule.id.as_str()).collect();
        assert_eq!(ids, ["allow-a-b", "allow-a-b-2"]);
        assert_eq!(imported.notes[0].entry, "defaultMode");
    }
}
