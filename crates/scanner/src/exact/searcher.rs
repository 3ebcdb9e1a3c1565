//! The search for the pattern of a rule.

use std::ops::Range;

use regex_automata::meta::Regex;

use super::custom::CustomPattern;
use crate::expression::{Begin, Expression};

/// A pattern, ready to search.
#[derive(Debug)]
pub(super) enum Searcher {
    /// A built-in pattern, which becomes fast once that pays off.
    Builtin(Expression),
    /// A pattern of a custom rule, which searches by backtracking until that is slower.
    Custom(Box<CustomPattern>),
}

impl Searcher {
    /// Returns the custom pattern, if it is one.
    pub(super) fn as_custom(&self) -> Option<&CustomPattern> {
        match self {
            Self::Builtin(_) => None,
            Self::Custom(pattern) => Some(pattern),
        }
    }

    /// Returns the memory use of the fast engine, before it searches.
    pub(super) fn memory_usage(&self) -> usize {
        match self {
            Self::Builtin(expression) => expression.regex().map_or(0, Regex::memory_usage),
            Self::Custom(pattern) => pattern.memory_usage(),
        }
    }

    /// Returns the first match in this part of a text.
    pub(super) fn find(&self, text: &str, within: Range<usize>) -> Option<Range<usize>> {
        match self {
            Self::Builtin(expression) => {
                let found = expression.find(text.as_bytes(), within.clone(), Begin::Anywhere);
                // A pattern that cannot be compiled counts as found; a test ensures that this does not happen.
                found.unwrap_or(Some(within))
            }
            Self::Custom(pattern) => pattern.find(text, within),
        }
    }
}
