//! Where, and until when, an approval or denial holds. One that does not hold everywhere and always is a table `[[scoped]]` of the
//! user's config file.
#![expect(clippy::disallowed_methods, reason = "reads the clock")]

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use stockade_guard::audit::Timestamp;
use stockade_text::{EditError, Editor, Format, Node, Value, escape, escape_path, parse};

use super::edits::{ListEdit, quoted};
use crate::StateError;

/// The list of these tables.
const SCOPED: [&str; 1] = ["scoped"];

/// Where, and until when, an approval or denial holds. The default is everywhere and always.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalScope {
    /// The directory that the agent works in.
    pub directory: Option<PathBuf>,
    /// The session of the agent's harness.
    #[serde(default)]
    pub session: Option<String>,
    /// The end, in UTC.
    pub until: Option<String>,
}

/// A session that lasts longer loses its approvals, so that their tables do not stay for ever.
const MAX_SESSION: Duration = Duration::from_secs(24 * 3600);

impl ApprovalScope {
    /// Creates the scope of a directory and a duration.
    #[must_use]
    pub fn new(directory: Option<&Path>, time: Option<Duration>) -> Self {
        let until = |time| {
            let point = Timestamp::from(SystemTime::now().checked_add(time).unwrap_or(SystemTime::now()));
            // To the second: `2026-11-29T18:00:00Z`.
            format!("{}Z", point.to_string().get(..19).unwrap_or_default())
        };
        Self { directory: directory.map(Path::to_owned), session: None, until: time.map(until) }
    }

    /// Returns the scope for one session of a harness, at most a day.
    #[must_use]
    pub fn of_session(directory: Option<&Path>, session: &str) -> Self {
        Self { session: Some(session.to_owned()), ..Self::new(directory, Some(MAX_SESSION)) }
    }

    /// Whether it holds everywhere and always.
    #[must_use]
    pub const fn is_unlimited(&self) -> bool {
        self.directory.is_none() && self.session.is_none() && self.until.is_none()
    }

    /// Describes it for users.
    pub(super) fn told(&self) -> String {
        let directory = match &self.directory {
            Some(directory) => format!("in {}", escape_path(directory)),
            None => "in all projects".to_owned(),
        };
        match (&self.session, &self.until) {
            (Some(session), _) => format!("{directory}, in the session {} alone", escape(session)),
            (None, Some(until)) => format!("{directory}, until {until}"),
            (None, None) => directory,
        }
    }

    /// Returns the text of a table that adds these entries.
    pub(super) fn table_of(&self, edits: &[ListEdit]) -> Result<String, StateError> {
        let mut table = self.conditions()?;
        for edit in edits.iter().filter(|edit| edit.is_added()) {
            let key: Vec<String> = edit.key.split('.').map(quoted).collect();
            table.push_str(&format!("{} = [{}]\n", key.join("."), quoted(&edit.value)));
        }
        Ok(table)
    }

    /// Returns the text of a table with these rules of an agent, each as the values of a rule.
    pub(super) fn table_of_rules(&self, agent: &str, rules: &[String]) -> Result<String, StateError> {
        let list = format!("{}agents.{}.commands.rules = []\n", self.conditions()?, quoted(agent));
        Editor::new(&list, Format::Toml)
            .push_tables(&["agents", agent, "commands", "rules"], rules)
            .map_err(|error| StateError::input(error.to_string()))
    }

    fn conditions(&self) -> Result<String, StateError> {
        let mut text = String::new();
        if let Some(directory) = &self.directory {
            let path = directory.to_str().ok_or_else(|| {
                StateError::input(format_args!("{} is not valid UTF-8", escape_path(directory)))
            })?;
            text.push_str(&format!("directory = {}\n", quoted(path)));
        }
        if let Some(session) = &self.session {
            text.push_str(&format!("session = {}\n", quoted(session)));
        }
        if let Some(until) = &self.until {
            text.push_str(&format!("until = {}\n", quoted(until)));
        }
        Ok(text)
    }
}

/// Adds a table to a config file, and removes those that have ended.
pub(super) fn add_table(text: &str, format: Format, table: &str) -> Result<String, StateError> {
    let now = Timestamp::from(SystemTime::now()).to_string();
    let now = now.get(..19).unwrap_or_default();
    let has_ended = |node: &Node| {
        let until = node.value.get("until").map(|entry| &entry.node.value);
        matches!(until, Some(Value::Text(until) | Value::Date(until)) if until.get(..19).is_some_and(|until| until <= now))
    };
    let mut text = text.to_owned();
    for (index, node) in tables(&text, format).iter().enumerate().rev() {
        if has_ended(node) {
            text = Editor::new(&text, format).remove_table(&SCOPED, index).map_err(|error| edited(&error))?;
        }
    }
    Editor::new(&text, format).push_tables(&SCOPED, &[table]).map_err(|error| edited(&error))
}

/// Removes a table from a config file. Returns nothing if it is not there any more.
pub(super) fn remove(text: &str, format: Format, table: &str) -> Result<Option<String>, StateError> {
    let Ok(gone) = parse(table, Format::Toml, table.len()) else { return Ok(None) };
    let gone = gone.value.to_json();
    let index = tables(text, format).iter().position(|node| node.value.to_json() == gone);
    index
        .map(|index| Editor::new(text, format).remove_table(&SCOPED, index).map_err(|error| edited(&error)))
        .transpose()
}

fn tables(text: &str, format: Format) -> Vec<Node> {
    let Ok(document) = parse(text, format, text.len().max(1)) else { return Vec::new() };
    match document.value.get("scoped").map(|entry| entry.node.value.clone()) {
        Some(Value::List(tables)) => tables,
        _ => Vec::new(),
    }
}

fn edited(error: &EditError) -> StateError {
    StateError::input(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::saved_rules::ids_of;

    #[test]
    fn a_table_is_added_and_removed() {
        let scope = ApprovalScope { directory: Some("/p/\"x\"".into()), ..ApprovalScope::default() };
        let table = scope.table_of(&[ListEdit::add("agents.*.allowedNetHosts", "docs.rs")]).unwrap();
        let before = "# Ours.\n[agents.bot]\nmaxSteps = 5\n";
        let with = add_table(before, Format::Toml, &table).unwrap();
        assert!(with.contains("[[scoped]]\ndirectory = \"/p/\\\"x\\\"\"\n"), "{with}");
        assert_eq!(remove(&with, Format::Toml, &table).unwrap().as_deref(), Some(before));
        assert_eq!(remove(before, Format::Toml, &table).unwrap(), None);
    }

    #[test]
    fn ended_tables_make_room() {
        let ended = ApprovalScope { until: Some("2001-01-01T00:00:00Z".into()), ..ApprovalScope::default() };
        let edits = [ListEdit::add("agents.claude.allowedNetHosts", "docs.rs")];
        let text = add_table("", Format::Toml, &ended.table_of(&edits).unwrap()).unwrap();
        let lasting = ApprovalScope::new(Some(Path::new("/p")), Some(Duration::from_secs(60)));
        let text = add_table(&text, Format::Toml, &lasting.table_of(&edits).unwrap()).unwrap();
        assert_eq!(text.matches("[[scoped]]").count(), 1);
        assert!(!text.contains("2001"), "{text}");
    }

    #[test]
    fn rules_of_a_table_have_ids() {
        let scope = ApprovalScope::new(Some(Path::new("/p")), None);
        let rules = ["id = \"a\"\nexact = [\"x\"]\ndecision = \"allow\"\n".to_owned()];
        let table = scope.table_of_rules("claude", &rules).unwrap();
        let ids = ids_of(&add_table("", Format::Toml, &table).unwrap(), Format::Toml);
        assert_eq!(ids.into_iter().collect::<Vec<_>>(), ["a"]);
    }
}
