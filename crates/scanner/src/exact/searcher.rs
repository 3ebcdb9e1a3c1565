//! The search for the pattern of a rule.

use std::ops::Range;

use regex_automata::Input;
use regex_automata::meta::Regex;
use regex_syntax::hir::Hir;

use super::pattern::{PatternError, build};
use crate::expression::{Begin, Expression};

/// A pattern, ready to search.
#[derive(Debug)]
pub(super) enum Searcher {
    /// A built-in pattern, which becomes fast once that pays off.
    Builtin(Expression),
    /// A custom pattern, fast from the start.
    Custom(Box<Regex>),
}

impl Searcher {
    /// Compiles a custom pattern.
    pub(super) fn custom(parsed: &[Hir]) -> Result<Self, PatternError> {
        Ok(Self::Custom(Box::new(build(parsed)?)))
    }

    /// Returns the memory use of the fast engine, before it searches.
    pub(super) fn memory_usage(&self) -> usize {
        match self {
            Self::Builtin(expression) => expression.regex().map_or(0, Regex::memory_usage),
            Self::Custom(regex) => regex.memory_usage(),
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
            Self::Custom(regex) => regex.search(&Input::new(text).range(within)).map(|found| found.range()),
        }
    }
}
