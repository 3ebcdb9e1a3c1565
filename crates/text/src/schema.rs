//! Reads what is expected of a document out of it: known keys, values of one kind, words of a list. Whatever else stands there
//! is an error that says where, why, and what was probably meant.

use std::fmt;

use crate::document::{Node, TableEntry, Value};
use crate::escape::Escaped;
use crate::nearest::nearest;
use crate::position::TextPosition;

/// A document is not what is expected of it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchemaError {
    /// Where it is not.
    pub at: TextPosition,
    /// What is wrong there.
    pub problem: SchemaProblem,
}

/// What is wrong with a document that can be read. Each message says how to mend it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaProblem {
    /// A key that nothing reads.
    UnknownKey {
        /// The key as it was written.
        key: String,
        /// What the key stands in.
        table: &'static str,
        /// The known key that is written most like it.
        nearest: Option<&'static str>,
        /// The known keys of the table.
        known: &'static [&'static str],
    },
    /// A key that must be there is not.
    MissingKey {
        /// The key that is missing.
        key: &'static str,
        /// What lacks the key.
        table: &'static str,
        /// What belongs there.
        hint: &'static str,
    },
    /// Two keys that exclude each other.
    Conflict {
        /// One of both keys.
        first: &'static str,
        /// The other one.
        second: &'static str,
        /// What to do about it.
        hint: &'static str,
    },
    /// A value of the wrong kind.
    WrongKind {
        /// The key as it was written.
        key: String,
        /// What belongs there.
        wanted: &'static str,
        /// What stands there.
        found: &'static str,
    },
    /// A word that is none of the choices.
    UnknownWord {
        /// The word as it was written.
        word: String,
        /// What the word should be.
        what: &'static str,
        /// The choice that is written most like it.
        nearest: Option<&'static str>,
        /// The words to choose from.
        known: &'static [&'static str],
    },
}

/// A table, and the keys that are known in it.
#[derive(Debug, Clone, Copy)]
pub struct TableReader<'n> {
    at: TextPosition,
    name: &'static str,
    known: &'static [&'static str],
    entries: &'n [TableEntry],
}

impl<'n> TableReader<'n> {
    /// Reads a value as a table. `key` is what it stands behind, `name` what messages call it: `a rule`.
    ///
    /// # Errors
    /// When the value is no table.
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

    /// Refuses a key that nothing reads. Apart from reading, as one key may say which others are known.
    ///
    /// # Errors
    /// When there is such a key; the first of them is named.
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

    /// Returns the entry of a key, if there is one.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&'n TableEntry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// Returns the entry of a key that must be there.
    ///
    /// # Errors
    /// When it is not; `hint` says what belongs there.
    pub fn required(&self, key: &'static str, hint: &'static str) -> Result<&'n TableEntry, SchemaError> {
        self.get(key).ok_or_else(|| self.missing(key, hint))
    }

    /// Makes the error for a key that must be there and is not.
    #[must_use]
    pub const fn missing(&self, key: &'static str, hint: &'static str) -> SchemaError {
        SchemaError { at: self.at, problem: SchemaProblem::MissingKey { key, table: self.name, hint } }
    }
}

impl TableEntry {
    /// Reads the value as a list.
    ///
    /// # Errors
    /// When it is none.
    pub fn list(&self) -> Result<&[Node], SchemaError> {
        match &self.node.value {
            Value::List(nodes) => Ok(nodes),
            _ => Err(SchemaError::wrong_kind(&self.node, &self.key, "a list")),
        }
    }

    /// Reads the value as a text.
    ///
    /// # Errors
    /// When it is none.
    pub fn text(&self) -> Result<&str, SchemaError> {
        match &self.node.value {
            Value::Text(text) => Ok(text),
            _ => Err(SchemaError::wrong_kind(&self.node, &self.key, "a text")),
        }
    }

    /// Reads the value as a list of texts.
    ///
    /// # Errors
    /// When it is no list, or something else stands in it.
    pub fn texts(&self) -> Result<Vec<(TextPosition, &str)>, SchemaError> {
        let text = |node| item_text(node, &self.key).map(|text| (node.at, text));
        self.list()?.iter().map(text).collect()
    }

    /// Reads the value as true or false.
    ///
    /// # Errors
    /// When it is neither.
    pub fn flag(&self) -> Result<bool, SchemaError> {
        match self.node.value {
            Value::Flag(flag) => Ok(flag),
            _ => Err(SchemaError::wrong_kind(&self.node, &self.key, "true or false")),
        }
    }

    /// Reads the value as a whole number.
    ///
    /// # Errors
    /// When it is none.
    pub fn integer(&self) -> Result<i64, SchemaError> {
        self.node.value.integer().ok_or_else(|| SchemaError::wrong_kind(&self.node, &self.key, "a number"))
    }

    /// Reads the value as one of several words. `known` and `choices` stand in the same order; case counts for nothing.
    ///
    /// # Errors
    /// When it is no text, or none of the words.
    pub fn choice<T: Copy>(
        &self,
        what: &'static str,
        known: &'static [&'static str],
        choices: &[T],
    ) -> Result<T, SchemaError> {
        choice(self.node.at, self.text()?, what, known, choices)
    }
}

/// Reads a place of a list as a text; `key` is that of the list.
///
/// # Errors
/// When it is none.
pub fn item_text<'n>(node: &'n Node, key: &str) -> Result<&'n str, SchemaError> {
    match &node.value {
        Value::Text(text) => Ok(text),
        _ => Err(SchemaError::wrong_kind(node, key, "a text in each place of its list")),
    }
}

/// Returns the choice that a word names. `known` and `choices` stand in the same order; case counts for nothing.
///
/// # Errors
/// When the word is none of them.
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
    /// Makes the error for a value that is something else than is `wanted` behind `key`.
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
                // A text alone can be had by quotes; a list or a table in its place cannot.
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

/// Names the nearest of the known words, or all of them.
fn write_meant(f: &mut fmt::Formatter<'_>, nearest: Option<&str>, known: &[&str]) -> fmt::Result {
    match nearest {
        Some(nearest) => write!(f, ": did you mean `{nearest}`?"),
        None => write!(f, ": choose one of {}", known.join(", ")),
    }
}
