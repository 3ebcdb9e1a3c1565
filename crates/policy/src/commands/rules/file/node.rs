//! A document of any of the formats, with the place of everything in it.

use super::error::{CommandRuleFileError, CommandRuleFileProblem};

/// A place in the file, both from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct At {
    pub(super) line: usize,
    pub(super) column: usize,
}

/// A value and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) at: At,
    pub(super) value: Value,
}

#[derive(Debug, Clone)]
pub(super) enum Value {
    Text(String),
    List(Vec<Node>),
    Table(Vec<Entry>),
    Number(i64),
    Truth(bool),
    /// A date and so on: no key of a rule holds any of those. The word is for messages.
    Other(&'static str),
}

/// A key of a table, and its value.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) at: At,
    pub(super) key: String,
    pub(super) node: Node,
}

impl At {
    pub(super) const START: Self = Self { line: 1, column: 1 };

    pub(super) fn refuse(self, problem: CommandRuleFileProblem) -> CommandRuleFileError {
        CommandRuleFileError { line: self.line, column: self.column, problem }
    }
}

impl Value {
    /// Returns what the value is, for messages.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "a text",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
            Self::Number(_) => "a number",
            Self::Truth(_) => "true or false",
            Self::Other(kind) => kind,
        }
    }
}
