//! Why a rule file is refused, and where.

use stockade_text::{Escaped, SchemaError, SchemaProblem, TextPosition};

use crate::rules::check::CommandRuleError;

/// A rule file was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {problem}")]
#[non_exhaustive]
pub struct CommandRuleFileError {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong there.
    #[source]
    pub problem: CommandRuleFileProblem,
}

impl CommandRuleFileError {
    pub(super) const fn at(at: TextPosition, problem: CommandRuleFileProblem) -> Self {
        Self { line: at.line, column: at.column, problem }
    }
}

/// What is wrong with a rule file. Each message says how to mend it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommandRuleFileProblem {
    /// The file is no text of its format.
    #[error("the file is not valid {format}: {reason}")]
    Syntax {
        /// The name of the format.
        format: &'static str,
        /// What its parser says.
        reason: String,
    },
    /// The file is longer than any file of rules.
    #[error("the file has {bytes} bytes; the maximum is {max}: split it", max = super::MAX_COMMAND_RULE_FILE_BYTES)]
    TooLarge {
        /// How long it is.
        bytes: usize,
    },
    /// The file was written for a newer version.
    #[error("the file has version {found}, and this program supports up to {known}: update stockade", known = super::VERSION)]
    Newer {
        /// Its version.
        found: i64,
    },
    /// The document is not what a file of rules is.
    #[error(transparent)]
    Schema(#[from] SchemaProblem),
    /// What is not certain would be allowed.
    #[error(
        "`unanalysable` cannot be `allow`, because such commands cannot be checked; use sandbox, ask or deny"
    )]
    AllowsUnread,
    /// A rule does not pass the checks.
    #[error(transparent)]
    Rule(#[from] CommandRuleError),
    /// A test of the file has another outcome.
    #[error("`{}` should be {expected}, but is {found}: {reason}", Escaped(command))]
    Test {
        /// The command.
        command: String,
        /// What the test expects.
        expected: &'static str,
        /// What was decided.
        found: &'static str,
        /// What decided.
        reason: String,
    },
}

impl From<SchemaError> for CommandRuleFileError {
    fn from(error: SchemaError) -> Self {
        Self::at(error.at, error.problem.into())
    }
}
