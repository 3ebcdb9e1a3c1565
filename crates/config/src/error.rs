//! Errors and notices of a configuration.

use std::fmt;
use std::path::Path;

use thiserror::Error;

use stockade_text::TextPosition;

/// A configuration that cannot be used. Callers that depend on it must not start.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("invalid configuration: {}", joined(problems))]
#[non_exhaustive]
pub struct ConfigError {
    /// Every problem that was found.
    pub problems: Vec<ConfigProblem>,
}

/// A problem of a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigProblem {
    /// The file with line and column, the variable or the option.
    pub place: String,
    /// What is wrong.
    pub message: String,
    /// How to fix it.
    pub fix: String,
}

/// A value that is not effective as it is written, because its layer may not set it or another key disables it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigNotice {
    /// The key.
    pub key: String,
    /// Where the value is.
    pub place: String,
    /// Why it is not effective.
    pub message: String,
}

#[derive(Debug)]
pub(super) struct Problem {
    pub(super) place: String,
    pub(super) at: Option<TextPosition>,
    pub(super) message: String,
    pub(super) fix: String,
}

impl Problem {
    pub(super) fn of_file(path: &Path, message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self::of_place(&path.display().to_string(), message, fix)
    }

    pub(super) fn of_place(place: &str, message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { place: place.to_owned(), at: None, message: message.into(), fix: fix.into() }
    }
}

impl From<Problem> for ConfigProblem {
    fn from(problem: Problem) -> Self {
        let Problem { place, at, message, fix } = problem;
        let place = at.map_or_else(|| place.clone(), |at| format!("{place}:{at}"));
        Self { place, message, fix }
    }
}

impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.place, self.message, self.fix)
    }
}

impl fmt::Display for ConfigNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: `{}` {}", self.place, self.key, self.message)
    }
}

fn joined(problems: &[ConfigProblem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
