//! Why a rule file is refused, and where.

use stockade_text::{Escaped, TextPosition};

use crate::commands::rules::check::CommandRuleError;

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
    #[error("the file has {bytes} bytes, and {max} is the most: split it", max = super::MAX_COMMAND_RULE_FILE_BYTES)]
    TooLarge {
        /// How long it is.
        bytes: usize,
    },
    /// The file was written for a newer version.
    #[error("the file has version {found}, and {known} is the newest that is known here: update stockade", known = super::VERSION)]
    Newer {
        /// Its version.
        found: i64,
    },
    /// A key that nothing reads.
    #[error("unknown key `{}` in {place}{}", Escaped(key), hint(.nearest.as_deref(), .known))]
    UnknownKey {
        /// The key.
        key: String,
        /// What it stands in.
        place: &'static str,
        /// The known key that is written most like it.
        nearest: Option<String>,
        /// The known keys.
        known: &'static [&'static str],
    },
    /// A key that must be there is not.
    #[error("{place} has no `{key}`: {hint}")]
    MissingKey {
        /// The key.
        key: &'static str,
        /// What lacks it.
        place: &'static str,
        /// What belongs there.
        hint: &'static str,
    },
    /// Two keys that exclude each other.
    #[error("`{first}` and `{second}` cannot both be given: {hint}")]
    Conflict {
        /// One key.
        first: &'static str,
        /// The other.
        second: &'static str,
        /// What to do.
        hint: &'static str,
    },
    /// A value of the wrong kind.
    #[error("`{}` must be {wanted}, not {found}", Escaped(key))]
    WrongKind {
        /// The key.
        key: String,
        /// What belongs there.
        wanted: &'static str,
        /// What stands there.
        found: &'static str,
    },
    /// A word that is none of the choices.
    #[error("`{}` is no {what}{}", Escaped(word), hint(.nearest.as_deref(), .known))]
    UnknownWord {
        /// The word.
        word: String,
        /// What it should be.
        what: &'static str,
        /// The choice that is written most like it.
        nearest: Option<String>,
        /// The choices.
        known: &'static [&'static str],
    },
    /// What is not certain would be allowed.
    #[error(
        "`unanalysable` cannot be `allow`: what is not understood is not allowed; choose sandbox, ask or deny"
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

/// Names the nearest of the known words, or all of them.
fn hint(nearest: Option<&str>, known: &[&str]) -> String {
    match nearest {
        Some(nearest) => format!(": did you mean `{nearest}`?"),
        None => format!(": choose one of {}", known.join(", ")),
    }
}
