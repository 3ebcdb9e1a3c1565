//! A pattern searcher that is cheap to build, and becomes fast once that pays off.
//!
//! The fast engine is a lazy automaton, one for each thread and direction. Building and filling it for the first
//! match takes as long as backtracking over some thousand bytes; and most patterns that occur at all occur once or
//! twice.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use regex_automata::meta::Regex;
use regex_automata::nfa::thompson::backtrack::{BoundedBacktracker, Cache};
use regex_automata::{Input, Match};
use regex_syntax::hir::Hir;

use super::pattern::{PatternError, build, build_plain, compile};

/// How many bytes are searched by backtracking. Eight times as many make a scan of many clean texts a sixth slower: a
/// frequently searched pattern has paid for the automaton after a few texts.
const PATIENCE: usize = 1 << 10;

/// A pattern, ready to search.
#[derive(Debug)]
pub(super) struct Searcher {
    slow: Option<Slow>,
    quick: OnceLock<Option<Regex>>,
}

/// Backtracking over the NFA: ready at once, but slow on long texts.
#[derive(Debug)]
struct Slow {
    /// The pattern to compile later. Its parsed form would take fifty times the memory.
    pattern: &'static str,
    backtracker: BoundedBacktracker,
    /// Remaining bytes.
    patience: AtomicUsize,
}

impl Searcher {
    /// Returns a searcher that will probably search little.
    pub(super) fn of_few(pattern: &'static str, parsed: &[Hir]) -> Result<Self, PatternError> {
        let backtracker = build_plain(parsed)?;
        let slow = Slow { pattern, backtracker, patience: AtomicUsize::new(PATIENCE) };
        Ok(Self { slow: Some(slow), quick: OnceLock::new() })
    }

    /// Returns a searcher that is fast from the start.
    pub(super) fn of_many(parsed: &[Hir]) -> Result<Self, PatternError> {
        Ok(Self { slow: None, quick: Some(build(parsed)?).into() })
    }

    /// Returns the memory use of the fast engine, before it searches.
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
                // A pattern that cannot be compiled counts as found; a test ensures that this does not happen.
                None => return Some(within),
            },
        };
        found.map(|found| found.range())
    }
}

impl Slow {
    /// Returns the first match, if the search fits into the remaining bytes.
    fn find(&self, input: &Input<'_>) -> Option<Option<Match>> {
        let (order, bytes) = (Ordering::Relaxed, input.get_range().len());
        // Relaxed: racing threads may spend a little more or less, and find the same in any case.
        self.patience.fetch_update(order, order, |patience| patience.checked_sub(bytes)).ok()?;
        with_cache(&self.backtracker, |cache| self.backtracker.try_find(cache, input.clone()).ok())
    }
}

/// Lends the scratch memory of a search. The next search, on any thread, uses it again.
fn with_cache<R>(backtracker: &BoundedBacktracker, search: impl FnOnce(&mut Cache) -> R) -> R {
    static CACHES: Mutex<Vec<Cache>> = Mutex::new(Vec::new());
    let caches = || CACHES.lock().unwrap_or_else(PoisonError::into_inner);
    // Release the lock before the search: parallel scans wait for the list only, never for each other.
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
