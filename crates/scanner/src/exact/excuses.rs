//! What makes a match innocent after all.

use std::ops::Range;
use std::sync::OnceLock;

use regex_automata::meta::Regex;

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
    within: Option<Regex>,
    before: Option<Regex>,
    after: Option<Regex>,
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
        Ok(Self { within: compile_any(&within)?, before: compile_any(&before)?, after: compile_any(&after)? })
    }

    fn hold(&self, text: &[u8], hit: Range<usize>, work: &mut ExactWork) -> bool {
        let mut occurs = |regex: &Regex, context: &[u8]| {
            work.excused += context.len();
            regex.is_match(context)
        };
        self.after.as_ref().is_some_and(|regex| occurs(regex, line_after(text, hit.end)))
            || self
                .within
                .as_ref()
                .is_some_and(|regex| occurs(regex, text.get(hit.clone()).unwrap_or_default()))
            || self.before.as_ref().is_some_and(|regex| occurs(regex, line_before(text, hit.start)))
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
