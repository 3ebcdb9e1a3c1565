//! What makes a match innocent after all.

use std::ops::Range;
use std::sync::OnceLock;

use regex_automata::meta::Regex;
use regex_automata::{Anchored, Input};

use super::ExactWork;
use super::pattern::{PatternError, compile_any};
use crate::automata::{self, Role};
use crate::rule::Unless;
use crate::work::Method;

/// How many bytes of its line an [`Unless`] looks at, each way.
///
/// A fixed bound keeps a flood of matches on one endless line linear.
const REACH: usize = 256;

/// The conditions of a shape. Those of a row of the table have automata, so that nothing of them is compiled.
#[derive(Debug)]
pub(super) struct Excuses {
    /// The row of the table, and its number.
    row: Option<(usize, &'static [Unless<'static>])>,
    /// Those of the user's own, and those of a row that has no automata.
    compiled: OnceLock<Option<Conditions>>,
}

/// Compiled conditions. All that look at the same stretch of text are one expression, and read it once.
#[derive(Debug)]
struct Conditions {
    of_match: Option<Condition>,
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
        Ok(Self { row: None, compiled: OnceLock::from(Some(Conditions::new(unless)?)) })
    }

    /// Returns the conditions of a shape of the table.
    pub(super) fn of_row(number: usize, row: &'static [Unless<'static>]) -> Self {
        Self { row: Some((number, row)), compiled: OnceLock::new() }
    }

    /// Whether any condition holds for a match. What looks at the match itself comes late, since it can be long.
    pub(super) fn hold(&self, text: &[u8], hit: Range<usize>, method: Method, work: &mut ExactWork) -> bool {
        let mut holds = |role, context: &[u8]| {
            work.excused += context.len();
            self.holds(role, context, method)
        };
        holds(Role::After, line_after(text, hit.end))
            || holds(Role::Match, text.get(hit.clone()).unwrap_or_default())
            || holds(Role::Before, line_before(text, hit.start))
    }

    /// Whether any condition of a kind holds. One that cannot be compiled excuses nothing: fail closed.
    fn holds(&self, role: Role, context: &[u8], method: Method) -> bool {
        let ready = self.row.filter(|_| method != Method::Exhaustive);
        if let Some(mut automata) = ready.and_then(|(number, _)| automata::of_builtin(number, role)) {
            return automata.any(|automaton| automaton.matches(context));
        }
        let row = self.row.map_or(&[][..], |(_, row)| row);
        let compiled = self.compiled.get_or_init(|| Conditions::new(row.iter().copied()).ok());
        let condition = compiled.as_ref().and_then(|conditions| conditions.of(role));
        condition.is_some_and(|condition| condition.holds(context))
    }
}

impl Conditions {
    fn new<'a>(unless: impl Iterator<Item = Unless<'a>>) -> Result<Self, PatternError> {
        let (mut of_match, mut before, mut after) = (Vec::new(), Vec::new(), Vec::new());
        for condition in unless {
            match condition {
                Unless::Match(pattern) => of_match.push(pattern),
                Unless::Before(pattern) => before.push(pattern),
                Unless::After(pattern) => after.push(pattern),
            }
        }
        let any_of = |patterns: &[&str]| {
            Ok(compile_any(patterns)?.map(|(regex, begins_line)| Condition { regex, begins_line }))
        };
        Ok(Self { of_match: any_of(&of_match)?, before: any_of(&before)?, after: any_of(&after)? })
    }

    fn of(&self, role: Role) -> Option<&Condition> {
        match role {
            Role::Outline => None,
            Role::Match => self.of_match.as_ref(),
            Role::Before => self.before.as_ref(),
            Role::After => self.after.as_ref(),
        }
    }
}

impl Condition {
    /// Whether it holds somewhere in this stretch of text. Where it can only at the beginning, a few bytes mostly tell.
    fn holds(&self, context: &[u8]) -> bool {
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
        excuses.hold(text.as_bytes(), at..at + hit.len(), Method::Sieved, &mut ExactWork::default())
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

    /// No row of the table has this number.
    const NO_ROW: usize = 60_000;

    #[test]
    fn conditions_of_a_row_without_automata_are_compiled_when_a_match_is_weighed() {
        let excuses = Excuses::of_row(NO_ROW, &[Unless::After("^no")]);
        assert!(excuses.compiled.get().is_none());
        assert!(excuses.hold(b"Xno", 0..1, Method::Sieved, &mut ExactWork::default()));
        assert!(excuses.compiled.get().is_some());
    }

    #[test]
    fn conditions_that_cannot_be_compiled_excuse_nothing() {
        let excuses = Excuses::of_row(NO_ROW, &[Unless::After("^no"), Unless::After("(")]);
        assert!(!excuses.hold(b"Xno", 0..1, Method::Sieved, &mut ExactWork::default()));
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
