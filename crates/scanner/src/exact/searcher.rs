//! A pattern that searches: slowly at first, and quickly once that has to be paid for.
//!
//! The quick way is a lazy automaton, one for each thread and each direction. To make it and fill it for the first match
//! takes as long as to try one way after the other for some thousand bytes; and most patterns of which anything is found at
//! all are found once or twice.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use regex_automata::meta::Regex;
use regex_automata::nfa::thompson::backtrack::{BoundedBacktracker, Cache};
use regex_automata::{Input, Match};
use regex_syntax::hir::Hir;

use super::pattern::{PatternError, build, build_plain, compile};

/// How many bytes are searched the slow way. Eight times as many make a scan of many clean texts a sixth dearer:
/// a pattern that is looked for again and again has paid for the quick way after a few texts.
const PATIENCE: usize = 1 << 10;

/// A pattern, ready to search.
#[derive(Debug)]
pub(super) struct Searcher {
    slow: Option<Slow>,
    quick: OnceLock<Option<Regex>>,
}

/// Backtracking over the NFA, which is ready at once and slow on long texts.
#[derive(Debug)]
struct Slow {
    /// What to compile the quick way. Parsed, it would take fifty times the room.
    pattern: &'static str,
    backtracker: BoundedBacktracker,
    /// How many bytes may still be searched.
    patience: AtomicUsize,
}

impl Searcher {
    /// Returns a searcher that will perhaps not search much.
    pub(super) fn of_few(pattern: &'static str, parsed: &[Hir]) -> Result<Self, PatternError> {
        let backtracker = build_plain(parsed)?;
        let slow = Slow { pattern, backtracker, patience: AtomicUsize::new(PATIENCE) };
        Ok(Self { slow: Some(slow), quick: OnceLock::new() })
    }

    /// Returns a searcher that is quick from the start.
    pub(super) fn of_many(parsed: &[Hir]) -> Result<Self, PatternError> {
        Ok(Self { slow: None, quick: Some(build(parsed)?).into() })
    }

    /// How much memory the quick way takes, before it searches.
    pub(super) fn memory_usage(&self) -> usize {
        self.quick().map_or(0, Regex::memory_usage)
    }

    fn quick(&self) -> Option<&Regex> {
        let pattern = self.slow.as_ref().map_or("", |slow| slow.pattern);
        self.quick.get_or_init(|| compile(pattern).ok()).as_ref()
    }

    /// Returns the first match in this part of a text.
    pub(super) fn find(&self, text: &str, within: Range<usize>) -> Option<Range<usize>> {
        let input = Input::new(text).range(within.clone());
        let slow = self.slow.as_ref().filter(|_| self.quick.get().is_none());
        let found = match slow.and_then(|slow| slow.find(&input)) {
            Some(found) => found,
            None => match self.quick() {
                Some(quick) => quick.search(&input),
                // What cannot be searched for counts as found; a test holds that no pattern is like that.
                None => return Some(within),
            },
        };
        found.map(|found| found.range())
    }
}

impl Slow {
    /// Returns the first match, if to look for it takes no more than is left.
    fn find(&self, input: &Input<'_>) -> Option<Option<Match>> {
        let (order, bytes) = (Ordering::Relaxed, input.get_range().len());
        // Relaxed: threads that race here spend a little more or less patience, and find the same either way.
        self.patience.fetch_update(order, order, |patience| patience.checked_sub(bytes)).ok()?;
        with_cache(&self.backtracker, |cache| self.backtracker.try_find(cache, input.clone()).ok())
    }
}

/// Lends what a search needs for itself. Whoever searches next, on whichever thread, gets it again.
fn with_cache<R>(backtracker: &BoundedBacktracker, search: impl FnOnce(&mut Cache) -> R) -> R {
    static CACHES: Mutex<Vec<Cache>> = Mutex::new(Vec::new());
    let caches = || CACHES.lock().unwrap_or_else(PoisonError::into_inner);
    // Out of the lock before the search: threads that scan side by side wait for the list only, never for each other.
    let known = caches().pop();
    let mut cache = known.unwrap_or_else(|| backtracker.create_cache());
    backtracker.reset_cache(&mut cache);
    let result = search(&mut cache);
    caches().push(cache);
    result
}

#[cfg(test)]
mod tests {
    use super::super::expand;
    use super::super::pattern::parse;
    use super::*;
    use crate::rules;

    const PATTERN: &str = r"b+\b|a";

    fn few() -> Searcher {
        Searcher::of_few(PATTERN, &parse(&[PATTERN.to_owned()]).unwrap()).unwrap()
    }

    #[test]
    fn both_ways_find_the_same() {
        let (few, many) = (few(), Searcher::of_many(&parse(&[PATTERN.to_owned()]).unwrap()).unwrap());
        let text = "bbx bb a";
        for start in 0..=text.len() {
            for end in start..=text.len() {
                assert_eq!(few.find(text, start..end), many.find(text, start..end), "{start}..{end}");
            }
        }
        assert!(few.quick.get().is_none());
    }

    #[test]
    fn much_is_searched_quickly() {
        for text in ["x".repeat(PATIENCE + 1), "x".repeat(PATIENCE / 4 + 1)] {
            let searcher = few();
            (0..4).for_each(|_| assert_eq!(searcher.find(&text, 0..text.len()), None));
            assert!(searcher.quick.get().is_some());
            assert_eq!(searcher.find("bbx bb a", 0..8), Some(4..6));
        }
    }

    #[test]
    fn every_builtin_pattern_compiles_both_ways() {
        for pattern in rules::all().flat_map(|rule| rule.patterns) {
            let parsed = parse(&[expand(pattern.regex).unwrap()]).unwrap();
            let searcher = Searcher::of_few(pattern.regex, &parsed).unwrap();
            assert!(searcher.quick().is_some(), "{}", pattern.note);
        }
    }
}
