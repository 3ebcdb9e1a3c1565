//! Checks that finding all matches of a pattern takes linear time.
//!
//! One search is linear, but a search for *every* match starts again after each of them. A pattern such as
//! `a[^z]*z|b` reads "abababab…" to its end before it knows that no `z` follows and reports the first `b`, and then
//! does it again for the next: quadratic. The cause is visible in the pattern's automaton: after a match, it can loop
//! through non-match states in the hope of a longer match.

use std::collections::HashMap;

use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::nfa::thompson;
use regex_automata::util::alphabet::Unit;
use regex_automata::util::primitives::StateID;
use regex_automata::util::start;
use regex_automata::{Anchored, MatchKind};
use regex_syntax::hir::Hir;

use super::pattern::{PatternError, expand, parse_expanded};
use crate::dialect::dialect;

/// A pattern whose longest match is at most this long may look past a match: it cannot look far.
const SHORT_MATCH: usize = 1024;
/// Maximum memory of the automaton for the check. A pattern that needs more is rejected.
const DFA_BYTES: usize = 4 << 20;

/// Whether a search for all matches of `pattern` reads each byte a bounded number of times.
pub(crate) fn look_past_is_bounded(pattern: &str) -> Result<bool, PatternError> {
    let expanded = expand(pattern)?;
    Ok(parse_expanded(&expanded).is_ok_and(|parsed| is_short(&parsed)) || automaton_never_circles(&expanded))
}

/// Whether every match of a parsed pattern is short.
pub(super) fn is_short(parsed: &Hir) -> bool {
    parsed.properties().maximum_len().is_some_and(|longest| longest <= SHORT_MATCH)
}

/// Builds the unanchored automaton and searches for a cycle of non-match states that is reachable from a match.
fn automaton_never_circles(pattern: &str) -> bool {
    let config = dense::Config::new()
        .start_kind(StartKind::Unanchored)
        .match_kind(MatchKind::LeftmostFirst)
        .accelerate(false)
        .dfa_size_limit(Some(DFA_BYTES))
        .determinize_size_limit(Some(DFA_BYTES));
    let thompson = thompson::Config::new().utf8(false).which_captures(thompson::WhichCaptures::None);
    let built = dense::Builder::new().configure(config).thompson(thompson).syntax(dialect()).build(pattern);
    built.is_ok_and(|dfa| !has_circle_after_match(&dfa))
}

type Dfa = dense::DFA<Vec<u32>>;

/// State of a node in the walk.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    OnPath,
    Done,
}

fn has_circle_after_match(dfa: &Dfa) -> bool {
    let mut marks = HashMap::new();
    let matches = reachable(dfa).into_iter().filter(|&state| dfa.is_match_state(state));
    matches.flat_map(|state| successors(dfa, state)).any(|state| circles(dfa, state, &mut marks))
}

/// Returns every state that a search can be in.
fn reachable(dfa: &Dfa) -> Vec<StateID> {
    // A search may begin within a text, behind any byte, and `\b` or `^` give each of them a start state of its own.
    let looks = std::iter::once(None).chain((0..=u8::MAX).map(Some));
    let starts = looks.filter_map(|look| {
        dfa.start_state(&start::Config::new().anchored(Anchored::No).look_behind(look)).ok()
    });
    let mut seen = std::collections::HashSet::new();
    let mut todo: Vec<StateID> = starts.collect();
    while let Some(state) = todo.pop() {
        if seen.insert(state) {
            todo.extend(successors(dfa, state));
        }
    }
    seen.into_iter().collect()
}

/// Follows non-match states from `state`, depth first, and returns whether a state occurs twice on one path.
fn circles(dfa: &Dfa, state: StateID, marks: &mut HashMap<StateID, Mark>) -> bool {
    // An explicit stack, since a pattern can make paths longer than the thread's stack permits.
    let mut path = vec![(state, false)];
    while let Some((state, leaving)) = path.pop() {
        if leaving {
            marks.insert(state, Mark::Done);
            continue;
        }
        match marks.get(&state) {
            Some(Mark::OnPath) => return true,
            Some(Mark::Done) => continue,
            None if dfa.is_match_state(state) => continue,
            None => {}
        }
        marks.insert(state, Mark::OnPath);
        path.push((state, true));
        for next in successors(dfa, state) {
            if marks.get(&next) == Some(&Mark::OnPath) {
                return true;
            }
            path.push((next, false));
        }
    }
    false
}

/// Returns the successors of a state for every byte, without dead ends.
fn successors(dfa: &Dfa, state: StateID) -> Vec<StateID> {
    let bytes = dfa.byte_classes().representatives(0..=u8::MAX).filter_map(Unit::as_u8);
    let mut next: Vec<StateID> = bytes.map(|byte| dfa.next_state(state, byte)).collect();
    next.sort_unstable();
    next.dedup();
    // A dead state ends the search: it is not a cycle, although it leads to itself.
    next.retain(|&state| !dfa.is_dead_state(state) && !dfa.is_quit_state(state));
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_that_circle_are_told_from_those_that_do_not() {
        let cases = [
            ("abc", true),
            (r"curl[^|\n]*\|\s*sh\b", true),
            (r"[A-Z]+", true),
            (r"(?:ab)+", true),
            (r"curl[^|]{0,200}\|\s{0,8}sh|curl", true),
            (r"curl[^|]*\|\s*sh|curl", false),
            (r".*[^A-Z]|[A-Z]", false),
            (r"a[^z]*z|b", false),
            (r"x(?:[^y]*y)?", false),
            (r"x*?y", true),
        ];
        for (pattern, bounded) in cases {
            assert_eq!(look_past_is_bounded(pattern), Ok(bounded), "{pattern}");
        }
    }

    #[test]
    fn a_pattern_too_large_to_check_is_not_believed() {
        assert_eq!(look_past_is_bounded(r"(?:a[^\n]{0,300}b){0,20}|c[^\n]*d"), Ok(false));
    }
}
