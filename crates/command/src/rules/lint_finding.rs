//! A warning about a valid rule.

/// A warning about a valid rule.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lint {
    /// The id of the rule.
    pub rule: String,
    /// The problem and the fix.
    pub message: String,
}
