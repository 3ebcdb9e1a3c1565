//! Why a rule file is refused, and where.

use stockade_text::{SchemaError, SchemaProblem, TextPosition};

use crate::error::RuleError;

/// A rule file was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {problem}")]
#[non_exhaustive]
pub struct RuleFileError {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong there.
    #[source]
    pub problem: RuleFileProblem,
}

impl RuleFileError {
    pub(super) const fn at(at: TextPosition, problem: RuleFileProblem) -> Self {
        Self { line: at.line, column: at.column, problem }
    }
}

/// What is wrong with a rule file. Each message says how to mend it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RuleFileProblem {
    /// The file is no text of its format.
    #[error("the file is not valid {format}: {reason}")]
    Syntax {
        /// The name of the format.
        format: &'static str,
        /// What its parser says.
        reason: String,
    },
    /// The file is longer than any file of rules.
    #[error("the file has {bytes} bytes, and {max} is the most: split it", max = super::MAX_RULE_FILE_BYTES)]
    TooLarge {
        /// How long it is.
        bytes: usize,
    },
    /// The file has more rules than one file may.
    #[error("the file has {count} rules, and {max} is the most: split it", max = super::MAX_RULES)]
    TooManyRules {
        /// How many there are.
        count: usize,
    },
    /// The document is not what a file of rules is.
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
