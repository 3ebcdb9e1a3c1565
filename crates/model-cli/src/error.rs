//! Why a CLI cannot be driven, and what to do instead.

/// Why a CLI cannot be driven.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
#[non_exhaustive]
pub struct DriveError {
    /// Why not.
    pub why: String,
    /// What to do instead.
    pub fix: String,
}

impl DriveError {
    pub(crate) fn new(why: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { why: why.into(), fix: fix.into() }
    }
}
