//! Why a rule cannot be used.

/// A rule was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("rule `{rule}` cannot be used: {problem}")]
#[non_exhaustive]
pub struct RuleError {
    /// The id of the rule, as it was given.
    pub rule: String,
    /// What is wrong with it.
    #[source]
    pub problem: RuleProblem,
}

/// What is wrong with a rule. Each message says how to mend it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RuleProblem {
    /// The id has another form than the others.
    #[error("the id must be 3 to {max} capital letters, digits and underscores, beginning with a letter, such as `MY_RULE`", max = crate::check::MAX_ID_BYTES)]
    Id,
    /// Another rule has the id.
    #[error("another rule has the same id: choose a new one")]
    DuplicateId,
    /// A text that people read is missing.
    #[error("the {field} is empty: say {hint}")]
    EmptyText {
        /// The name of the field.
        field: &'static str,
        /// What belongs there.
        hint: &'static str,
    },
    /// A text is longer than anybody reads.
    #[error("the {field} has {length} characters, and {max} is the most")]
    TooLong {
        /// The name of the field.
        field: &'static str,
        /// How long it is.
        length: usize,
        /// How long it may be.
        max: usize,
    },
    /// A list has too many entries.
    #[error("there are {count} {field}, and {max} is the most: split the rule")]
    TooMany {
        /// The name of the list.
        field: &'static str,
        /// How many there are.
        count: usize,
        /// How many there may be.
        max: usize,
    },
    /// The patterns of all rules take more memory than is given to them.
    #[error(
        "with it, the compiled patterns of all rules take more than {max} bytes, the most: shorten repetitions and classes, or leave rules out"
    )]
    TooHeavy {
        /// How much they may take.
        max: usize,
    },
    /// There is nothing to look for.
    #[error("it has no pattern: give at least one")]
    NoPatterns,
    /// Nothing shows what the rule finds.
    #[error("it has no example: give at least one text in `matches` in which it must fire")]
    NoExample,
    /// A pattern is no regular expression of our dialect.
    #[error("pattern {number} is wrong: {reason}")]
    Pattern {
        /// Which pattern of the rule, from 1.
        number: usize,
        /// What is wrong.
        reason: String,
    },
    /// A pattern matches the empty text, and so everywhere.
    #[error("pattern {number} matches the empty text, and so everywhere: require at least one character")]
    MatchesEmpty {
        /// Which pattern of the rule, from 1.
        number: usize,
    },
    /// Finding all matches of a pattern could take quadratic time.
    #[error(
        "pattern {number} can read on without end after it has matched, so that a hostile text takes quadratic time: \
         bound its repetitions (`[^\\n]{{0,200}}` for `[^\\n]*`) or make two patterns of its alternatives"
    )]
    Quadratic {
        /// Which pattern of the rule, from 1.
        number: usize,
    },
    /// A condition is no regular expression of our dialect.
    #[error("the `unless` of pattern {number} is wrong: {reason}")]
    Exception {
        /// Which pattern of the rule, from 1.
        number: usize,
        /// What is wrong.
        reason: String,
    },
    /// The rule is silent where it must fire.
    #[error("it must fire in example {number} of `matches` and does not: {text:?}")]
    Silent {
        /// Which example, from 1.
        number: usize,
        /// The beginning of the example.
        text: String,
    },
    /// The rule fires where it must be silent.
    #[error("it must be silent in example {number} of `clean` and fires on {matched:?}")]
    Fires {
        /// Which example, from 1.
        number: usize,
        /// What matched.
        matched: String,
    },
}
