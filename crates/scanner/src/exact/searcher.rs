//! A pattern that searches: slowly at first, and quickly once that has to be paid for.
//!
//! The quick way is a lazy automaton, one for each thread and each direction. To make it and fill it for the first match
//! takes as long as to do without it for some thousand bytes; and most shapes of which anything is found at all are
//! found once or twice.

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use regex_automata::Input;
use regex_automata::meta::Regex;
use regex_syntax::hir::Hir;

use super::pattern::{PatternError, build, build_plain, compile};

/// How many bytes are searched the slow way.
const PATIENCE: usize = 8 << 10;

/// A pattern, ready to search.
#[derive(Debug)]
pub(super) struct Searcher {
    /// What to compile the quick way. Parsed, it would take fifty times the room.
    pattern: &'static str,
    slow: Regex,
    quick: OnceLock<Regex>,
    /// How many bytes may still be searched the slow way.
    patience: AtomicUsize,
}

impl Searcher {
    /// Returns a searcher that will perhaps not search much.
    pub(super) fn of_few(pattern: &'static str, parsed: &[Hir]) -> Result<Self, PatternError> {
        let slow = build_plain(parsed)?;
        Ok(Self { pattern, slow, quick: OnceLock::new(), patience: AtomicUsize::new(PATIENCE) })
    }

    /// Returns a searcher that is quick from the start.
    pub(super) fn of_many(parsed: &[Hir]) -> Result<Self, PatternError> {
        let quick = build(parsed)?;
        Ok(Self { pattern: "", slow: quick.clone(), quick: quick.into(), patience: AtomicUsize::new(0) })
    }

    /// The regular expression that it began with.
    pub(super) fn regex(&self) -> &Regex {
        &self.slow
    }

    /// Returns the first match in this part of a text.
    pub(super) fn find(&self, text: &str, within: Range<usize>) -> Option<Range<usize>> {
        let regex = self.regex_for(within.len());
        Some(regex.search(&Input::new(text).range(within))?.range())
    }

    /// The regular expression for so many bytes more.
    fn regex_for(&self, bytes: usize) -> &Regex {
        if let Some(quick) = self.quick.get() {
            return quick;
        }
        let order = Ordering::Relaxed;
        if self.patience.fetch_update(order, order, |patience| patience.checked_sub(bytes)).is_ok() {
            return &self.slow;
        }
        // What is too large for the quick way is searched for the slow one.
        self.quick.get_or_init(|| compile(self.pattern).unwrap_or_else(|_| self.slow.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::pattern::parse;
    use super::*;

    #[test]
    fn both_ways_find_the_same() {
        let pattern = r"b+\b|a";
        let parsed = parse(&[pattern.to_owned()]).unwrap();
        let (few, many) = (Searcher::of_few(pattern, &parsed).unwrap(), Searcher::of_many(&parsed).unwrap());
        let text = "bbx bb a";
        for start in 0..=text.len() {
            for end in start..=text.len() {
                assert_eq!(few.find(text, start..end), many.find(text, start..end), "{start}..{end}");
            }
        }
        assert!(few.quick.get().is_none());
        let long = "x".repeat(PATIENCE);
        assert!(few.find(&long, 0..PATIENCE).is_none() && few.quick.get().is_some());
        assert_eq!(few.find(text, 0..8), Some(4..6));
    }
}
