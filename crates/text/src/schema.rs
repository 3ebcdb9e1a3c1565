//! Reads typed values out of a document: known keys, values of one kind, words of a list. Anything else is an error
//! with a position, a reason and a suggestion.

use std::fmt;

use crate::document::{Node, TableEntry, Value};
use crate::escape::Escaped;
use crate::nearest::nearest;
use crate::position::TextPosition;

/// A document does not match its schema.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchemaError {
    /// Position of the offending key or value.
    pub at: TextPosition,
    /// The problem at that position.
    pub problem: SchemaProblem,
}

/// A schema violation. Each message includes a fix.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaProblem {
    /// A key that is not known.
    UnknownKey {
        /// The key as written.
        key: String,
        /// The table that contains the key.
        table: &'static str,
        /// The most similar known key.
        nearest: Option<&'static str>,
        /// The known keys of the table.
        known: &'static [&'static str],
    },
    /// A required key is missing.
    MissingKey {
        /// The missing key.
        key: &'static str,
        /// The table without the key.
        table: &'static str,
        /// The expected value.
        hint: &'static str,
    },
    /// Two keys that exclude each other.
    Conflict {
        /// One of the keys.
        first: &'static str,
        /// The other key.
        second: &'static str,
        /// How to resolve the conflict.
        hint: &'static str,
    },
    /// A value of the wrong kind.
    WrongKind {
        /// The key as written.
        key: String,
        /// The expected kind.
        wanted: &'static str,
        /// The kind that was found.
        found: &'static str,
    },
    /// A word that is not one of the choices.
    UnknownWord {
        /// The word as written.
        word: String,
        /// What the word denotes, for the message.
        what: &'static str,
        /// The most similar choice.
        nearest: Option<&'static str>,
        /// The allowed words.
        known: &'static [&'static str],
    },
}

/// A table and its known keys.
#[derive(Debug, Clone, Copy)]
pub struct TableReader<'n> {
    at: TextPosition,
    name: &'static str,
    known: &'static [&'static str],
    entries: &'n [TableEntry],
}

impl<'n> TableReader<'n> {
    /// Reads the value of `key` as a table. `name` is the table's name in messages, such as `a rule`.
    ///
    /// # Errors
    /// When the value is not a table.
    pub fn new(
        node: &'n Node,
        key: &str,
        name: &'static str,
        known: &'static [&'static str],
    ) -> Result<Self, SchemaError> {
        match &node.value {
            Value::Table(entries) => Ok(Self { at: node.at, name, known, entries }),
            _ => Err(SchemaError::wrong_kind(node, key, "a table")),
        }
    }

    /// Rejects unknown keys. Separate from reading, because the value of one key may determine which others are
    /// known.
    ///
    /// # Errors
    /// When there is an unknown key; the first one is reported.
    pub fn has_known_keys_only(self) -> Result<Self, SchemaError> {
        match self.entries.iter().find(|entry| !self.known.contains(&entry.key.as_str())) {
            None => Ok(self),
            Some(entry) => Err(SchemaError {
                at: entry.at,
                problem: SchemaProblem::UnknownKey {
                    key: entry.key.clone(),
                    table: self.name,
                    nearest: nearest(&entry.key, self.known.iter().copied()),
                    known: self.known,
                },
            }),
        }
    }

    /// Returns all entries, in the order of the document.
    #[must_use]
    pub const fn entries(&self) -> &'n [TableEntry] {
        self.entries
    }

    /// Returns the entry of a key, if present.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&'n TableEntry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// Returns the entry of a required key.
    ///
    /// # Errors
    /// When the key is missing; `hint` describes the expected value.
    pub fn required(&self, key: &'static str, hint: &'static str) -> Result<&'n TableEntry, SchemaError> {
        self.get(key).ok_or_else(|| self.missing(key, hint))
    }

    /// Makes the error for a missing required key.
    #[must_use]
    pub const fn missing(&self, key: &'static str, hint: &'static str) -> SchemaError {
        SchemaError { at: self.at, problem: SchemaProblem::MissingKey { key, table: self.name, hint } }
    }
}

impl TableEntry {
    /// Reads the value as a list.
    ///
    /// # Errors
    /// When it is not a list.
    pub fn list(&self) -> Result<&[Node], SchemaError> {
        match &self.node.value {
            Value::List(nodes) => Ok(nodes),
            _ => Err(SchemaError::wrong_kind(&self.node, &self.key, "a list")),
        }
    }

    /// Reads the value as a string.
    ///
    /// # Errors
    /// When it is not a string.
    pub fn text(&self) -> Result<&str, SchemaError> {
        match &self.node.value {
            Value::Text(text) => Ok(text),
            _ => Err(SchemaError::wrong_kind(&self.node, &self.key, "a text")),
        }
    }

    /// Reads the value as a list of strings.
    ///
    /// # Errors
    /// When it is not a list, or an item is not a string.
    pub fn texts(&self) -> Result<Vec<(TextPosition, &str)>, SchemaError> {
        let text = |node| item_text(node, &self.key).map(|text| (node.at, text));
        self.list()?.iter().map(text).collect()
    }

    /// Reads the value as a boolean.
    ///
    /// # Errors
    /// When it is not a boolean.
    pub fn flag(&self) -> Result<bool, SchemaError> {
        match self.node.value {
            Value::Flag(flag) => Ok(flag),
            _ => Err(SchemaError::wrong_kind(&self.node, &self.key, "true or false")),
        }
    }

    /// Reads the value as an integer.
    ///
    /// # Errors
    /// When it is not an integer.
    pub fn integer(&self) -> Result<i64, SchemaError> {
        self.node.value.integer().ok_or_else(|| SchemaError::wrong_kind(&self.node, &self.key, "a number"))
    }

    /// Reads the value as one of several words. `known` and `choices` have the same order; case is ignored.
    ///
    /// # Errors
    /// When it is not a string, or not one of the words.
    pub fn choice<T: Copy>(
        &self,
        what: &'static str,
        known: &'static [&'static str],
        choices: &[T],
    ) -> Result<T, SchemaError> {
        choice(self.node.at, self.text()?, what, known, choices)
    }
}

/// Reads an item of a list as a string; `key` is that of the list.
///
/// # Errors
/// When it is not a string.
pub fn item_text<'n>(node: &'n Node, key: &str) -> Result<&'n str, SchemaError> {
    match &node.value {
        Value::Text(text) => Ok(text),
        _ => Err(SchemaError::wrong_kind(node, key, "a text in each place of its list")),
    }
}

/// Returns the choice that a word names. `known` and `choices` have the same order; case is ignored.
///
/// # Errors
/// When the word is not one of them.
pub fn choice<T: Copy>(
    at: TextPosition,
    word: &str,
    what: &'static str,
    known: &'static [&'static str],
    choices: &[T],
) -> Result<T, SchemaError> {
    let meant = known.iter().zip(choices).find(|(name, _)| name.eq_ignore_ascii_case(word));
    meant.map(|(_, choice)| *choice).ok_or_else(|| {
        let nearest = nearest(word, known.iter().copied());
        SchemaError {
            at,
            problem: SchemaProblem::UnknownWord { word: word.to_owned(), what, nearest, known },
        }
    })
}

impl SchemaError {
    /// Makes the error for a value that is not the `wanted` kind.
    #[must_use]
    pub fn wrong_kind(node: &Node, key: &str, wanted: &'static str) -> Self {
        let problem = SchemaProblem::WrongKind { key: key.to_owned(), wanted, found: node.value.kind() };
        Self { at: node.at, problem }
    }

    /// Makes the error for two keys that exclude each other.
    #[must_use]
    pub const fn conflict(
        at: TextPosition,
        first: &'static str,
        second: &'static str,
        hint: &'static str,
    ) -> Self {
        Self { at, problem: SchemaProblem::Conflict { first, second, hint } }
    }
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.problem)
    }
}

impl std::error::Error for SchemaError {}

impl fmt::Display for SchemaProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownKey { key, table, nearest, known } => {
                write!(f, "unknown key `{}` in {table}", Escaped(key))?;
                write_meant(f, *nearest, known)
            }
            Self::MissingKey { key, table, hint } => write!(f, "{table} has no `{key}`: {hint}"),
            Self::Conflict { first, second, hint } => {
                write!(f, "`{first}` and `{second}` cannot both be given: {hint}")
            }
            Self::WrongKind { key, wanted, found } => {
                write!(f, "`{}` must be {wanted}, not {found}", Escaped(key))?;
                // Quotes turn only scalars into a string; the advice would be wrong for a list or a table.
                let is_written_bare =
                    matches!(*found, "a number" | "a fraction" | "a date" | "true or false");
                if wanted.starts_with("a text") && is_written_bare {
                    f.write_str(": put it in quotes")
                } else {
                    Ok(())
                }
            }
            Self::UnknownWord { word, what, nearest, known } => {
                write!(f, "`{}` is no {what}", Escaped(word))?;
                write_meant(f, *nearest, known)
            }
        }
    }
}

impl std::error::Error for SchemaProblem {}

/// Writes the nearest known word, or all of them.
fn write_meant(f: &mut fmt::Formatter<'_>, nearest: Option<&str>, known: &[&str]) -> fmt::Result {
    match nearest {
        Some(nearest) => write!(f, ": did you mean `{nearest}`?"),
        None => write!(f, ": choose one of {}", known.join(", ")),
    }
}
