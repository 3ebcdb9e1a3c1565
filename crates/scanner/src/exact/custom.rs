//! The pattern of a custom rule.

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use regex_automata::Input;
use regex_automata::meta::Regex;
use regex_automata::nfa::thompson::backtrack::{self, BoundedBacktracker};
use regex_automata::nfa::thompson::{self, NFA, WhichCaptures};
use regex_syntax::hir::Hir;

use super::pattern::{NFA_BYTES, PatternError, build_within, unusable};

/// Memory of the backtracker, which also bounds its steps: it visits each state once for each byte.
const VISITED_BYTES: usize = 16 << 10;

/// How many bytes are searched before the pattern is compiled further.
const PATIENCE: usize = 4096;

/// A pattern of a custom rule, with one automaton for everything that is done when rules are loaded: the grams of the prefilter,
/// and searching examples by backtracking. Only a pattern that is searched for in texts, which most are not, gets an automaton
/// that reads any text quickly.
#[derive(Debug)]
pub(crate) struct CustomPattern {
    parsed: Hir,
    backtracker: BoundedBacktracker,
    /// Bytes searched so far.
    spent: AtomicUsize,
    regex: OnceLock<Option<Box<Regex>>>,
}

impl CustomPattern {
    /// Compiles a parsed pattern.
    pub(super) fn new(parsed: Hir) -> Result<Self, PatternError> {
        let config = thompson::Config::new()
            .utf8(false)
            .which_captures(WhichCaptures::Implicit)
            .nfa_size_limit(Some(NFA_BYTES));
        let nfa = thompson::Compiler::new().configure(config).build_from_hir(&parsed);
        let nfa = nfa.map_err(|error| unusable(error.size_limit(), &error))?;
        let config = backtrack::Config::new().visited_capacity(VISITED_BYTES);
        let backtracker = BoundedBacktracker::builder().configure(config).build_from_nfa(nfa);
        let backtracker = backtracker.map_err(|error| unusable(error.size_limit(), &error))?;
        Ok(Self { parsed, backtracker, spent: AtomicUsize::new(0), regex: OnceLock::new() })
    }

    pub(crate) const fn parsed(&self) -> &Hir {
        &self.parsed
    }

    pub(crate) fn automaton(&self) -> &NFA {
        self.backtracker.get_nfa()
    }

    /// Returns the memory that its automata need, before they search: there is one for each direction.
    pub(super) fn memory_usage(&self) -> usize {
        2 * self.automaton().memory_usage()
    }

    /// Returns the first match in this part of a text.
    pub(super) fn find(&self, text: &str, within: Range<usize>) -> Option<Range<usize>> {
        let input = Input::new(text).range(within.clone());
        if let Some(found) = self.find_at_once(&input) {
            return found;
        }
        // Without a limit: the automaton that was made of the pattern was small enough, and this one is as large for each
        // direction. If it could not be made, the pattern would count as found.
        let regex = self
            .regex
            .get_or_init(|| build_within(None, std::slice::from_ref(&self.parsed)).ok().map(Box::new));
        match regex {
            Some(regex) => regex.search(&input).map(|found| found.range()),
            None => Some(within),
        }
    }

    /// Searches by backtracking, as long as there is patience and the text is short.
    fn find_at_once(&self, input: &Input<'_>) -> Option<Option<Range<usize>>> {
        let length = input.get_span().len();
        // Relaxed: threads that race may be a little more or less patient, and find the same in any case.
        let is_patient = || self.spent.fetch_add(length, Ordering::Relaxed) < PATIENCE;
        if self.regex.get().is_some() || length > self.backtracker.max_haystack_len() || !is_patient() {
            return None;
        }
        let found = self.backtracker.try_find(&mut self.backtracker.create_cache(), input.clone()).ok()?;
        Some(found.map(|found| found.range()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::pattern::{build, parse_one};
    use super::*;

    fn custom(pattern: &str) -> CustomPattern {
        CustomPattern::new(parse_one(pattern)).unwrap()
    }

    #[test]
    fn it_finds_the_same_before_and_after_it_is_compiled() {
        let text = "say Build-7.corp.example, x\né corp.example\nnothing";
        for pattern in [
            r"[a-z0-9-]{1,40}[.]corp",
            r"(?i)\bbuild\b",
            "^.{0,2}corp",
            r"a|say|say B",
            "absent",
            "g$",
            r"(?-u:\xc3)",
        ] {
            let (custom, regex) = (custom(pattern), build(&[parse_one(pattern)]).unwrap());
            for _ in 0..2 {
                for start in (0..=text.len()).filter(|start| text.is_char_boundary(*start)) {
                    let expected =
                        regex.search(&Input::new(text).range(start..text.len())).map(|found| found.range());
                    assert_eq!(custom.find(text, start..text.len()), expected, "{pattern} from {start}");
                }
                custom.spent.store(PATIENCE, Ordering::Relaxed);
            }
            assert!(custom.regex.get().is_some());
        }
    }

    #[test]
    fn it_is_compiled_for_a_long_text_and_after_many_short_ones() {
        let long = custom("x+y");
        long.find(&"x".repeat(VISITED_BYTES * 8), 0..VISITED_BYTES * 8);
        assert!(long.regex.get().is_some());
        let short = custom("x+y");
        let searches = (0..).take_while(|_| {
            short.find("xxxxxxxx", 0..8);
            short.regex.get().is_none()
        });
        assert_eq!(searches.count(), PATIENCE / 8);
    }

    #[test]
    fn a_pattern_that_is_too_large_is_refused() {
        let error = CustomPattern::new(parse_one("(?:[a-z]{1000}){1000}")).unwrap_err();
        assert_eq!(error, PatternError::TooLarge);
    }
}
