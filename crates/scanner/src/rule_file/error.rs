//! Errors of rule files, with positions.

use stockade_text::{SchemaError, SchemaProblem, TextPosition};

use crate::error::RuleError;

/// A rule file was rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {problem}")]
#[non_exhaustive]
pub struct RuleFileError {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The problem at that position.
    #[source]
    pub problem: RuleFileProblem,
}

impl RuleFileError {
    pub(super) const fn at(at: TextPosition, problem: RuleFileProblem) -> Self {
        Self { line: at.line, column: at.column, problem }
    }
}

/// A problem of a rule file. Each message includes a fix.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RuleFileProblem {
    /// The file is not valid in its format.
    #[error("the file is not valid {format}: {reason}")]
    Syntax {
        /// Name of the format.
        format: &'static str,
        /// The parser's message.
        reason: String,
    },
    /// The file exceeds the maximum size.
    #[error("the file has {bytes} bytes; the maximum is {max}: split it", max = super::MAX_RULE_FILE_BYTES)]
    TooLarge {
        /// Its size.
        bytes: usize,
    },
    /// The file has too many rules.
    #[error("the file has {count} rules; the maximum is {max}: split it", max = super::MAX_RULES)]
    TooManyRules {
        /// Number of rules.
        count: usize,
    },
    /// The document does not match the schema of rule files.
    #[error(transparent)]
    Schema(#[from] SchemaProblem),
    /// A rule does not pass the checks.
    #[error(transparent)]
    Rule(#[from] RuleError),
}

impl From<SchemaError> for RuleFileError {
    fn from(error: SchemaError) -> Self {
        Self::at(error.at, error.problem.into())
    }
}
