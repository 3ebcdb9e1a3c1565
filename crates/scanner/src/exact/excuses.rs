//! What makes a match innocent after all.

use std::ops::Range;
use std::sync::OnceLock;

use regex_automata::meta::Regex;
use regex_automata::{Anchored, Input};

use super::ExactWork;
use super::pattern::{PatternError, compile_any};
use crate::rule::Unless;

/// How many bytes of its line an [`Unless`] looks at, each way.
///
/// A fixed bound keeps a flood of matches on one endless line linear.
const REACH: usize = 256;

/// The conditions of a shape. Those of a row of the table are compiled when a match is first weighed.
#[derive(Debug)]
pub(super) struct Excuses {
    row: &'static [Unless<'static>],
    compiled: OnceLock<Option<Conditions>>,
}

/// Compiled conditions. All that look at the same stretch of text are one expression, and read it once.
#[derive(Debug)]
struct Conditions {
    within: Option<Condition>,
    before: Option<Condition>,
    after: Option<Condition>,
}

/// Conditions that look at the same stretch of text.
#[derive(Debug)]
struct Condition {
    regex: Regex,
    /// Whether it holds only where a line begins.
    begins_line: bool,
}

impl Excuses {
    /// Compiles conditions.
    pub(super) fn new<'a>(unless: impl Iterator<Item = Unless<'a>>) -> Result<Self, PatternError> {
        Ok(Self { row: &[], compiled: OnceLock::from(Some(Conditions::new(unless)?)) })
    }

    /// Keeps conditions for later.
    pub(super) fn of_row(row: &'static [Unless<'static>]) -> Self {
        Self { row, compiled: OnceLock::new() }
    }

    /// Whether any condition holds for a match. One that cannot be compiled excuses nothing: fail closed.
    pub(super) fn hold(&self, text: &[u8], hit: Range<usize>, work: &mut ExactWork) -> bool {
        let compile = || Conditions::new(self.row.iter().copied()).ok();
        self.compiled.get_or_init(compile).as_ref().is_some_and(|conditions| conditions.hold(text, hit, work))
    }
}

impl Conditions {
    fn new<'a>(unless: impl Iterator<Item = Unless<'a>>) -> Result<Self, PatternError> {
        let (mut within, mut before, mut after) = (Vec::new(), Vec::new(), Vec::new());
        for condition in unless {
            match condition {
                Unless::Match(pattern) => within.push(pattern),
                Unless::Before(pattern) => before.push(pattern),
                Unless::After(pattern) => after.push(pattern),
            }
        }
        let any_of = |patterns: &[&str]| {
            Ok(compile_any(patterns)?.map(|(regex, begins_line)| Condition { regex, begins_line }))
        };
        Ok(Self { within: any_of(&within)?, before: any_of(&before)?, after: any_of(&after)? })
    }

    fn hold(&self, text: &[u8], hit: Range<usize>, work: &mut ExactWork) -> bool {
        let mut holds = |condition: &Option<Condition>, context: &[u8]| {
            condition.as_ref().is_some_and(|condition| condition.holds(context, work))
        };
        holds(&self.after, line_after(text, hit.end))
            || holds(&self.within, text.get(hit.clone()).unwrap_or_default())
            || holds(&self.before, line_before(text, hit.start))
    }
}

impl Condition {
    /// Whether it holds somewhere in this stretch of text. Where it can only at the beginning, a few bytes mostly tell.
    fn holds(&self, context: &[u8], work: &mut ExactWork) -> bool {
        work.excused += context.len();
        let is_one_line = self.begins_line && memchr::memchr(b'\n', context).is_none();
        let anchored = if is_one_line { Anchored::Yes } else { Anchored::No };
        self.regex.is_match(Input::new(context).anchored(anchored))
    }
}

/// Returns the rest of the line from `at`, within reach.
fn line_after(text: &[u8], at: usize) -> &[u8] {
    let near = text.get(at..text.len().min(at + REACH)).unwrap_or_default();
    memchr::memchr(b'\n', near).and_then(|end| near.get(..end)).unwrap_or(near)
}

/// Returns the line up to `at`, within reach.
fn line_before(text: &[u8], at: usize) -> &[u8] {
    let near = text.get(at.saturating_sub(REACH)..at).unwrap_or_default();
    memchr::memrchr(b'\n', near).and_then(|end| near.get(end + 1..)).unwrap_or(near)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(unless: Unless<'_>, text: &str, hit: &str) -> bool {
        let at = text.find(hit).unwrap();
        let excuses = Excuses::new(std::iter::once(unless)).unwrap();
        excuses.hold(text.as_bytes(), at..at + hit.len(), &mut ExactWork::default())
    }

    #[test]
    fn conditions_see_their_line_only() {
        assert!(holds(Unless::Before("no$"), "a noX", "X"));
        assert!(!holds(Unless::Before("no"), "no\nX", "X"));
        assert!(holds(Unless::After("^no"), "Xno", "X"));
        assert!(!holds(Unless::After("no"), "X\nno", "X"));
        assert!(holds(Unless::Match("-"), "X-X", "X-X"));
        assert!(!holds(Unless::Match("-"), "-X-", "X"));
        assert!(holds(Unless::Match("^X"), "X\nY", "X\nY"));
        assert!(holds(Unless::Match("^Y"), "X\nY", "X\nY"));
        assert!(!holds(Unless::Match("^Y|^Z"), "XY", "XY"));
        assert!(holds(Unless::Match("^Z|Y"), "XY", "XY"));
    }

    #[test]
    fn conditions_of_a_row_are_compiled_when_a_match_is_weighed() {
        let excuses = Excuses::of_row(&[Unless::After("^no")]);
        assert!(excuses.compiled.get().is_none());
        assert!(excuses.hold(b"Xno", 0..1, &mut ExactWork::default()));
        assert!(excuses.compiled.get().is_some());
    }

    #[test]
    fn conditions_that_cannot_be_compiled_excuse_nothing() {
        let excuses = Excuses::of_row(&[Unless::After("^no"), Unless::After("(")]);
        assert!(!excuses.hold(b"Xno", 0..1, &mut ExactWork::default()));
    }

    #[test]
    fn conditions_look_no_further_than_their_reach() {
        let near = format!("no{}X{0}no", " ".repeat(REACH - 2));
        let far = format!("no{}X{0}no", " ".repeat(REACH - 1));
        for unless in [Unless::Before("no"), Unless::After("no")] {
            assert!(holds(unless, &near, "X") && !holds(unless, &far, "X"));
        }
    }
}
