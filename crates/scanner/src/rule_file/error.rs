//! Why a rule file is refused, and where.

use stockade_text::TextPosition;

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
    /// A key that nothing reads.
    #[error("unknown key `{key}` in {place}{}", hint(.nearest, .known))]
    UnknownKey {
        /// The key.
        key: String,
        /// What it stands in.
        place: &'static str,
        /// The known key that is written most like it.
        nearest: Option<&'static str>,
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
    #[error("`{key}` must be {wanted}, not {found}{}", if *.found == "a text" || !.wanted.starts_with("a text") { "" } else { ": put it in quotes" })]
    WrongKind {
        /// The key.
        key: String,
        /// What belongs there.
        wanted: &'static str,
        /// What stands there.
        found: &'static str,
    },
    /// A word that is none of the choices.
    #[error("`{word}` is no {what}{}", hint(.nearest, .known))]
    UnknownWord {
        /// The word.
        word: String,
        /// What it should be.
        what: &'static str,
        /// The choice that is written most like it.
        nearest: Option<&'static str>,
        /// The choices.
        known: &'static [&'static str],
    },
    /// A rule does not pass the checks.
    #[error(transparent)]
    Rule(#[from] RuleError),
}

/// Names the nearest of the known words, or all of them.
fn hint(nearest: &Option<&'static str>, known: &[&str]) -> String {
    match nearest {
        Some(nearest) => format!(": did you mean `{nearest}`?"),
        None => format!(": choose one of {}", known.join(", ")),
    }
}
