//! Edits of lists and values in the user's config file.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use stockade_files::KeptFile;
use stockade_text::{Editor, escape, escape_path};

use crate::StateError;
use crate::saved_rules::{MAX_CONFIG_BYTES, SavedRulesError, config_with, format_of, make_folder_of};

/// An edit of one key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListEdit {
    /// The key: `agents.claude.allowedNetHosts`.
    pub key: String,
    /// What is done.
    pub operation: EditOperation,
    /// The entry of the list, or the value.
    pub value: String,
}

/// The operation of an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EditOperation {
    /// Adds an entry to a list.
    Add,
    /// Removes an entry from a list.
    Remove,
    /// Writes the value of a key that is no list.
    Set,
    /// Removes a value, so that its default applies.
    Unset,
}

impl ListEdit {
    pub(super) fn add(key: &str, value: &str) -> Self {
        Self { key: key.to_owned(), operation: EditOperation::Add, value: value.to_owned() }
    }

    pub(super) fn remove(key: &str, value: &str) -> Self {
        Self { operation: EditOperation::Remove, ..Self::add(key, value) }
    }

    pub(super) fn set(key: &str, value: &str) -> Self {
        Self { operation: EditOperation::Set, ..Self::add(key, value) }
    }

    pub(super) fn unset(key: &str, value: &str) -> Self {
        Self { operation: EditOperation::Unset, ..Self::add(key, value) }
    }

    /// Whether it adds an entry to a list.
    pub(super) fn is_added(&self) -> bool {
        self.operation == EditOperation::Add
    }

    /// Returns the edit that takes this one back.
    pub(super) fn inverse(&self) -> Self {
        let operation = match self.operation {
            EditOperation::Add => EditOperation::Remove,
            EditOperation::Remove => EditOperation::Add,
            EditOperation::Set => EditOperation::Unset,
            EditOperation::Unset => EditOperation::Set,
        };
        Self { operation, ..self.clone() }
    }

    /// Describes the edit for users.
    pub(super) fn told(&self, place: &str) -> String {
        let (key, value) = (&self.key, escape(&self.value));
        match self.operation {
            EditOperation::Add => format!("add {value} to `{key}` in {place}"),
            EditOperation::Remove => format!("remove {value} from `{key}` in {place}"),
            EditOperation::Set => format!("set `{key}` to {value} in {place}"),
            EditOperation::Unset => format!("remove `{key}` from {place}"),
        }
    }

    fn path(&self) -> Vec<&str> {
        self.key.split('.').collect()
    }

    /// Returns the text after the edit; nothing if it changes nothing.
    fn applied(&self, file: &Path, text: &str) -> Result<Option<String>, SavedRulesError> {
        let said =
            |error: &dyn std::fmt::Display| SavedRulesError::Said(format!("{}: {error}", escape_path(file)));
        let (path, value) = (self.path(), quoted(&self.value));
        let editor = Editor::new(text, format_of(file));
        let edited = match self.operation {
            EditOperation::Add => return self.added(file, text),
            EditOperation::Remove => return self.removed(file, text),
            EditOperation::Set => editor.set_value(&path, &value),
            EditOperation::Unset => editor.remove_key(&path),
        };
        let edited = edited.map_err(|error| said(&error))?;
        Ok((edited != text).then_some(edited))
    }

    fn added(&self, file: &Path, text: &str) -> Result<Option<String>, SavedRulesError> {
        let said =
            |error: &dyn std::fmt::Display| SavedRulesError::Said(format!("{}: {error}", escape_path(file)));
        let before = self.effective(file, text)?;
        if before.contains(&self.value) {
            return Ok(None);
        }
        let editor = Editor::new(text, format_of(file));
        let mut new =
            editor.append_value(&self.path(), &quoted(&self.value)).map_err(|error| said(&error))?;
        // The list of an agent replaces the one for all agents, and must then repeat its entries.
        let wanted: Vec<&String> = before.iter().chain([&self.value]).collect();
        let after = self.effective(file, &new)?;
        if wanted.iter().any(|one| !after.contains(one)) {
            let list = wanted.iter().map(|one| quoted(one)).collect::<Vec<_>>().join(", ");
            new = editor.set_value(&self.path(), &format!("[{list}]")).map_err(|error| said(&error))?;
        }
        match self.effective(file, &new)?.contains(&self.value) {
            true => Ok(Some(new)),
            false => Err(said(&format_args!("another layer of the configuration sets `{}`", self.key))),
        }
    }

    fn removed(&self, file: &Path, text: &str) -> Result<Option<String>, SavedRulesError> {
        let said =
            |error: &dyn std::fmt::Display| SavedRulesError::Said(format!("{}: {error}", escape_path(file)));
        let without = Editor::new(text, format_of(file))
            .remove_value(&self.path(), &quoted(&self.value))
            .map_err(|error| said(&error))?;
        if without == text {
            return Ok(None);
        }
        // An empty list differs from a missing one, which the list for all agents replaces.
        let pruned =
            Editor::new(&without, format_of(file)).remove_key(&self.path()).map_err(|error| said(&error))?;
        let is_same = self.effective(file, &without)?.is_empty() && self.effective(file, &pruned)?.is_empty();
        Ok(Some(if is_same { pruned } else { without }))
    }

    /// Returns the list that all layers together have, with this text in place of the user's file.
    fn effective(&self, file: &Path, text: &str) -> Result<Vec<String>, SavedRulesError> {
        let value = config_with(file, text)?.get(&self.key);
        let list = value.and_then(|value| value.value.as_array().cloned()).unwrap_or_default();
        Ok(list.iter().filter_map(Json::as_str).map(str::to_owned).collect())
    }
}

/// Applies edits to a text. Also returns those that changed something.
pub(super) fn apply(
    file: &Path,
    text: &str,
    edits: &[ListEdit],
) -> Result<(String, Vec<ListEdit>), StateError> {
    let (mut text, mut done) = (text.to_owned(), Vec::new());
    for edit in edits {
        if let Some(edited) = edit.applied(file, &text)? {
            text = edited;
            done.push(edit.clone());
        }
    }
    Ok((text, done))
}

/// Changes the user's config file in one step; with `writes` false, only tries to.
pub(super) fn change<T>(
    path: &Path,
    writes: bool,
    edit: impl FnOnce(&str) -> Result<(String, T), StateError>,
) -> Result<(String, T), StateError> {
    let file = KeptFile::new(path, MAX_CONFIG_BYTES);
    let unusable = |error| StateError::from(SavedRulesError::from(error));
    if !writes {
        let text = file.read().map_err(unusable)?;
        return edit(text.as_deref().unwrap_or_default());
    }
    make_folder_of(path)?;
    let changed = file.change(|text| {
        let (new, value) = edit(text.unwrap_or_default())?;
        // A file that is missing and stays empty is not created.
        let kept = (!new.is_empty() || text.is_some()).then(|| new.clone());
        Ok((kept, (new, value)))
    });
    changed.map_err(unusable)?
}

/// Writes a text as a TOML string.
pub(super) fn quoted(text: &str) -> String {
    // JSON strings are TOML strings, except for the escape of slashes, which is never written.
    Json::String(text.to_owned()).to_string()
}
