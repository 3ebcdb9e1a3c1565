//! What is wrong with a manifest.

use std::fmt;

use serde::Serialize;

use stockade_text::TextPosition;

/// The most problems that are listed.
const MAX_PROBLEMS: usize = 100;

/// Something that is wrong with a manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ManifestProblem {
    /// The field, such as `sandbox.memoryMb` or `files[2].path`; empty for the whole.
    pub path: String,
    /// What is wrong, and what was expected.
    pub message: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// How to mend it.
    pub fix: String,
}

/// A text is no manifest: everything that is wrong with it, at most a hundred things.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ManifestErrors {
    /// What is wrong, in the order of the text.
    pub problems: Vec<ManifestProblem>,
}

impl fmt::Display for ManifestErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("invalid manifest")?;
        self.problems.iter().try_for_each(|problem| write!(f, "; {problem}"))
    }
}

impl std::error::Error for ManifestErrors {}

impl fmt::Display for ManifestProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}: {}", self.line, self.column, self.message, self.fix)
    }
}

/// What was found so far.
#[derive(Debug, Default)]
pub(super) struct Problems(Vec<ManifestProblem>);

impl Problems {
    pub(super) fn push(&mut self, path: &str, at: TextPosition, message: String, fix: impl Into<String>) {
        if self.0.len() < MAX_PROBLEMS {
            let (path, fix) = (path.to_owned(), fix.into());
            self.0.push(ManifestProblem { path, message, line: at.line, column: at.column, fix });
        }
    }

    /// Returns what was read, if nothing was wrong.
    pub(super) fn end<T>(mut self, read: Option<T>) -> Result<T, ManifestErrors> {
        self.0.sort_by_key(|problem| (problem.line, problem.column));
        match read {
            Some(read) if self.0.is_empty() => Ok(read),
            _ => Err(ManifestErrors { problems: self.0 }),
        }
    }
}
