//! Patterns that consist of a long run and a short tail, such as `[A-Za-z0-9+/]{80,}={0,2}`: a loop over bytes finds
//! their matches in a fraction of the time of an automaton.

use std::ops::Range;
use std::slice;

use regex_automata::meta::Regex;
use regex_automata::{Anchored, Input};
use regex_syntax::hir::{Hir, HirKind};

use super::pattern::build;
use crate::prefilter::Run;

/// A pattern of this kind.
#[derive(Debug)]
pub(super) struct LongRun {
    run: Run,
    /// The tail. It also matches the empty text, so every run is a match.
    tail: Regex,
}

impl LongRun {
    /// Returns the pattern as a run, if it is one.
    pub(super) fn of(hir: &Hir) -> Option<Self> {
        let parts = match hir.kind() {
            HirKind::Concat(parts) => parts,
            _ => slice::from_ref(hir),
        };
        let (first, tail) = parts.split_first()?;
        let HirKind::Repetition(repetition) = first.kind() else { return None };
        // With a maximum or a lazy repetition, the end of a match depends on more than the end of the run.
        let run = Run::of_repetition(repetition).filter(|_| repetition.max.is_none() && repetition.greedy)?;
        let tail = Hir::concat(tail.to_vec());
        let is_optional =
            tail.properties().minimum_len() == Some(0) && tail.properties().look_set().is_empty();
        let tail = build(slice::from_ref(&tail)).ok().filter(|_| is_optional)?;
        Some(Self { run, tail })
    }

    /// Returns the first match in this part of a text.
    pub(super) fn find(&self, text: &[u8], within: Range<usize>) -> Option<Range<usize>> {
        let run = self.run.find(text.get(..within.end)?, within.clone())?;
        let tail = self.tail.search(&Input::new(text).range(run.end..within.end).anchored(Anchored::Yes));
        Some(run.start..tail.map_or(run.end, |tail| tail.end()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::pattern::parse;
    use super::*;

    fn long_run(pattern: &str) -> Option<LongRun> {
        LongRun::of(parse(&[pattern.to_owned()]).unwrap().first().unwrap())
    }

    #[test]
    fn runs_and_little_else_are_told_from_other_patterns() {
        for pattern in ["[0-9]{32,}", "[A-Za-z0-9+/]{80,}={0,2}", "[0-9]{40,}(?:[a-f]*|,)"] {
            assert!(long_run(pattern).is_some(), "{pattern}");
        }
        for pattern in [
            "[0-9]{31,}",
            "[0-9]{40,}?x?",
            "[0-9]{40,90}",
            r"[0-9]{40,}\b",
            "[0-9]{40,},",
            "x[0-9]{40,}",
            "(?:[0-9]{40},){40,}",
            "[0-9]{40,}|x",
        ] {
            assert!(long_run(pattern).is_none(), "{pattern}");
        }
    }

    #[test]
    fn matches_are_those_of_the_regular_expression() {
        let pattern = "[0-9]{32,}(?:=|ab?)?";
        let (run, regex) =
            (long_run(pattern).unwrap(), build(&parse(&[pattern.to_owned()]).unwrap()).unwrap());
        let digits = |count| "7".repeat(count);
        let text = format!("{}a {}ab{}==x{}{}=", digits(32), digits(31), digits(40), digits(50), "é");
        for start in 0..=text.len() {
            for end in start..=text.len() {
                let expected = regex.search(&Input::new(&text).range(start..end)).map(|hit| hit.range());
                assert_eq!(run.find(text.as_bytes(), start..end), expected, "{start}..{end}");
            }
        }
    }
}
