//! Errors of preparing a CLI.

/// Why a CLI cannot be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
#[non_exhaustive]
pub struct DriveError {
    /// The error.
    pub why: String,
    /// The fix.
    pub fix: String,
}

impl DriveError {
    pub(crate) fn new(why: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { why: why.into(), fix: fix.into() }
    }
}
