//! Errors of rules.

/// A rule was rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("rule `{rule}` cannot be used: {problem}")]
#[non_exhaustive]
pub struct RuleError {
    /// The id of the rule, as written.
    pub rule: String,
    /// The problem of the rule.
    #[source]
    pub problem: RuleProblem,
}

/// A problem of a rule. Each message includes a fix.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RuleProblem {
    /// The id does not have the form of an id.
    #[error("the id must be 3 to {max} capital letters, digits and underscores, beginning with a letter, such as `MY_RULE`", max = crate::check::MAX_ID_BYTES)]
    Id,
    /// Another rule has the id.
    #[error("another rule has the same id: choose a new one")]
    DuplicateId,
    /// A required text is missing.
    #[error("the {field} is empty: write {hint}")]
    EmptyText {
        /// Name of the field.
        field: &'static str,
        /// The expected text.
        hint: &'static str,
    },
    /// A text exceeds its maximum length.
    #[error("the {field} has {length} characters; the maximum is {max}")]
    TooLong {
        /// Name of the field.
        field: &'static str,
        /// Its length.
        length: usize,
        /// Maximum length.
        max: usize,
    },
    /// A list has too many entries.
    #[error("there are {count} {field}; the maximum is {max}: split the rule")]
    TooMany {
        /// Name of the list.
        field: &'static str,
        /// Number of entries.
        count: usize,
        /// Maximum number of entries.
        max: usize,
    },
    /// The patterns of all rules together exceed the memory limit.
    #[error(
        "with it, the compiled patterns of all rules take more than {max} bytes, the most: shorten repetitions and \
         classes, or leave rules out"
    )]
    TooHeavy {
        /// The memory limit.
        max: usize,
    },
    /// The rule has no patterns.
    #[error("it has no pattern: add at least one")]
    NoPatterns,
    /// The rule has no example that must match.
    #[error("it has no example: add at least one matching text to `matches`")]
    NoExample,
    /// A pattern is not a regular expression of our dialect.
    #[error("pattern {number} is invalid: {reason}")]
    Pattern {
        /// Number of the pattern in the rule, from 1.
        number: usize,
        /// The reason.
        reason: String,
    },
    /// A pattern matches the empty text, and so everywhere.
    #[error(
        "pattern {number} matches the empty string, and therefore everywhere: require at least one character"
    )]
    MatchesEmpty {
        /// Number of the pattern in the rule, from 1.
        number: usize,
    },
    /// Finding all matches of a pattern could take quadratic time.
    #[error(
        "pattern {number} has an unbounded match, so a hostile text can take quadratic time: limit its repetitions \
         (`[^\\n]{{0,200}}` instead of `[^\\n]*`), or split its alternatives into two patterns"
    )]
    Quadratic {
        /// Number of the pattern in the rule, from 1.
        number: usize,
    },
    /// A condition is not a regular expression of our dialect.
    #[error("the `unless` of pattern {number} is invalid: {reason}")]
    Exception {
        /// Number of the pattern in the rule, from 1.
        number: usize,
        /// The reason.
        reason: String,
    },
    /// The rule does not match an example that it must match.
    #[error("it must match example {number} of `matches` and does not: {text:?}")]
    Silent {
        /// Number of the example, from 1.
        number: usize,
        /// The start of the example.
        text: String,
    },
    /// The rule matches an example that it must not match.
    #[error("it must not match example {number} of `clean`, and matches {matched:?}")]
    Fires {
        /// Number of the example, from 1.
        number: usize,
        /// The matched text.
        matched: String,
    },
}
