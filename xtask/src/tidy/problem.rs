//! Something that is not as it should be.

use std::fmt;

/// A problem with its position, reason and fix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    path: String,
    line: usize,
    message: String,
}

impl Problem {
    /// A problem in a line of a file. The message contains the problem, the reason and the fix.
    pub(crate) fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

/// Runs a check on synthetic files, and returns its messages.
#[cfg(test)]
pub(crate) fn said(check: super::CheckTree, files: &[(&str, &str)]) -> Vec<String> {
    check(&super::tree::Tree::of(files)).iter().map(ToString::to_string).collect()
}
