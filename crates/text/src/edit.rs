//! Edits of one thing in a document of any format that preserve the rest: comments, order and formatting.
//!
//! TOML is edited by `toml_edit`. For YAML and JSON, an edit is made on the values of the document (`model`), and the
//! text is then changed at the first difference until it has these values (`rewrite`). After each change the text is
//! parsed again, so an edit either yields exactly the wanted values or is refused.

use std::fmt;

use crate::document::Format;

mod block;
mod emit;
mod flow;
mod model;
mod rewrite;
mod toml;

use model::Change;

/// A document could not be edited.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EditError {
    /// The reason, as a sentence fragment.
    pub reason: String,
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for EditError {}

impl EditError {
    fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }
}

/// Edits a document. New tables and values are written as TOML, whatever the format of the document is.
///
/// ```
/// use stockade_text::{Editor, Format};
///
/// let text = "# Ours.\nagents:\n  bot:\n    maxSteps: 3 # few\n";
/// let set = Editor::new(text, Format::Yaml).set_value(&["agents", "bot", "maxSteps"], "20")?;
/// assert_eq!(set, "# Ours.\nagents:\n  bot:\n    maxSteps: 20 # few\n");
/// let added = Editor::new(&set, Format::Yaml).append_value(&["agents", "bot", "hosts"], "\"docs.rs\"")?;
/// assert_eq!(added, "# Ours.\nagents:\n  bot:\n    maxSteps: 20 # few\n    hosts: [docs.rs]\n");
/// # Ok::<(), stockade_text::EditError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Editor<'t> {
    text: &'t str,
    format: Format,
}

impl<'t> Editor<'t> {
    /// Creates an editor of a document. An empty text is a document without keys, in every format.
    #[must_use]
    pub const fn new(text: &'t str, format: Format) -> Self {
        Self { text, format }
    }

    /// Appends tables to the list at `path`, creating missing parents. Each of `tables` is a TOML document with the
    /// values of a new table.
    ///
    /// # Errors
    /// When the document or one of the tables is invalid, or another value exists at `path`.
    pub fn push_tables<T: AsRef<str>>(&self, path: &[&str], tables: &[T]) -> Result<String, EditError> {
        if self.format == Format::Toml {
            return toml::push_tables(self.text, path, tables);
        }
        let tables = tables.iter().map(|table| model::table_of(table.as_ref()));
        self.change(path, &Change::Push(tables.collect::<Result<_, _>>()?))
    }

    /// Removes the table at `index` from the list at `path`, with the comments above it. A list that is empty then is
    /// removed.
    ///
    /// # Errors
    /// When the document is invalid, or the table does not exist.
    pub fn remove_table(&self, path: &[&str], index: usize) -> Result<String, EditError> {
        if self.format == Format::Toml {
            return toml::remove_table(self.text, path, index);
        }
        self.change(path, &Change::RemoveAt(index))
    }

    /// Sets the key at `path` to a value, creating missing parents. An existing value is replaced.
    ///
    /// # Errors
    /// When the document or the value is invalid, or a table exists at `path`.
    pub fn set_value(&self, path: &[&str], value: &str) -> Result<String, EditError> {
        if self.format == Format::Toml {
            return toml::set_value(self.text, path, value);
        }
        self.change(path, &Change::Set(model::value_of(value)?))
    }

    /// Appends a value to the list at `path`, unless the list contains it.
    ///
    /// # Errors
    /// When the document or the value is invalid, or something other than a list exists at `path`.
    pub fn append_value(&self, path: &[&str], value: &str) -> Result<String, EditError> {
        if self.format == Format::Toml {
            return toml::append_value(self.text, path, value);
        }
        self.change(path, &Change::Append(model::value_of(value)?))
    }

    /// Removes a value from the list at `path`. A document without it is returned unchanged.
    ///
    /// # Errors
    /// When the document or the value is invalid, or something other than a list exists at `path`.
    pub fn remove_value(&self, path: &[&str], value: &str) -> Result<String, EditError> {
        if self.format == Format::Toml {
            return toml::remove_value(self.text, path, value);
        }
        self.change(path, &Change::Remove(model::value_of(value)?))
    }

    /// Removes the key at `path`, and tables above it that are empty then. Tables with a comment stay.
    ///
    /// # Errors
    /// When the document is invalid.
    pub fn remove_key(&self, path: &[&str]) -> Result<String, EditError> {
        if self.format == Format::Toml {
            return toml::remove_key(self.text, path);
        }
        self.change(path, &Change::RemoveKey)
    }

    fn change(&self, path: &[&str], change: &Change) -> Result<String, EditError> {
        let before = rewrite::read(self.text, self.format)?;
        let after = |prunes| {
            let wanted = model::changed(&before.value, path, change, prunes)?;
            rewrite::rewrite(self.text, self.format, &wanted)
        };
        let kept = after(false)?;
        if !matches!(change, Change::RemoveAt(_) | Change::RemoveKey) {
            return Ok(kept);
        }
        // Tables that are empty now are removed, unless that would remove a comment.
        let comments = |text: &str| text.matches('#').count();
        Ok(after(true).ok().filter(|pruned| comments(pruned) == comments(&kept)).unwrap_or(kept))
    }
}
