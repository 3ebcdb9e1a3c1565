//! One mistake in a rule that can be used all the same.

/// Something about a rule that is probably not meant.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lint {
    /// The id of the rule.
    pub rule: String,
    /// What is strange about it, and what to do.
    pub message: String,
}
