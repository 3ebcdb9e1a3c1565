//! Errors in rule files, with positions.

use stockade_text::{Escaped, SchemaError, SchemaProblem, TextPosition};

use crate::rules::check::CommandRuleError;

/// An invalid rule file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {problem}")]
#[non_exhaustive]
pub struct CommandRuleFileError {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The problem.
    #[source]
    pub problem: CommandRuleFileProblem,
}

impl CommandRuleFileError {
    pub(super) const fn at(at: TextPosition, problem: CommandRuleFileProblem) -> Self {
        Self { line: at.line, column: at.column, problem }
    }
}

/// A problem with a rule file. Each message includes the fix.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommandRuleFileProblem {
    /// The file is not valid in its format.
    #[error("the file is not valid {format}: {reason}")]
    Syntax {
        /// The name of the format.
        format: &'static str,
        /// The message of the parser.
        reason: String,
    },
    /// The file is too long.
    #[error("the file has {bytes} bytes; the maximum is {max}: split it", max = super::MAX_COMMAND_RULE_FILE_BYTES)]
    TooLarge {
        /// The size of the file.
        bytes: usize,
    },
    /// The file was written for a newer version.
    #[error("the file has version {found}, and this program supports up to {known}: update stockade", known = super::VERSION)]
    Newer {
        /// Its version.
        found: i64,
    },
    /// The document does not have the structure of a rule file.
    #[error(transparent)]
    Schema(#[from] SchemaProblem),
    /// Commands that cannot be analysed would be allowed.
    #[error(
        "`unanalysable` cannot be `allow`, because such commands cannot be checked; use sandbox, ask or deny"
    )]
    AllowsUnread,
    /// A rule is invalid.
    #[error(transparent)]
    Rule(#[from] CommandRuleError),
    /// A test of the file fails.
    #[error("`{}` should be {expected}, but is {found}: {reason}", Escaped(command))]
    Test {
        /// The command.
        command: String,
        /// The expected effect.
        expected: &'static str,
        /// The actual effect.
        found: &'static str,
        /// The reason of the decision.
        reason: String,
    },
}

impl From<SchemaError> for CommandRuleFileError {
    fn from(error: SchemaError) -> Self {
        Self::at(error.at, error.problem.into())
    }
}
