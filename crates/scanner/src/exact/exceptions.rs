//! Exceptions, which excuse a match.

use std::ops::Range;
use std::sync::OnceLock;

use regex_automata::meta::Regex;
use regex_automata::{Anchored, Input};

use super::ExactWork;
use super::pattern::{PatternError, compile_any};
use crate::expression::{Begin, Expression};
use crate::flow::Inflows;
use crate::regions::RegionMap;
use crate::rule::Exception;

/// How many bytes of the line an [`Exception`] inspects, in each direction.
///
/// The fixed bound keeps a flood of matches on one endless line linear.
const REACH: usize = 256;

/// The exceptions of a pattern, compiled when the first match is evaluated: most patterns never match.
#[derive(Debug)]
pub(super) struct Exceptions {
    /// The row of the table; a custom exception is compiled from the start.
    row: &'static [Exception<'static>],
    /// Inflows of which the match needs at least one, if any.
    needed: Option<Inflows>,
    of_match: Lazy,
    before: Lazy,
    after: Lazy,
}

/// Exceptions about the same stretch of text. `None` without exceptions, or if they cannot be compiled.
type Lazy = OnceLock<Option<Condition>>;

/// Exceptions about the same stretch of text.
#[derive(Debug)]
enum Condition {
    /// Those of a built-in pattern, which are ready at once.
    Builtin(Vec<Expression>),
    /// Custom ones: one expression, which reads the stretch once, and whether it can match only at the start of a
    /// line.
    Custom(Box<Regex>, bool),
}

/// The stretch of text that an exception inspects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Subject {
    Match,
    Before,
    After,
}

impl Exceptions {
    /// Compiles exceptions.
    pub(super) fn new<'a>(exceptions: impl Iterator<Item = Exception<'a>>) -> Result<Self, PatternError> {
        let exceptions: Vec<_> = exceptions.collect();
        let compiled = |subject| Ok(OnceLock::from(compile(&exceptions, subject)?));
        Ok(Self {
            row: &[],
            needed: needed(&exceptions),
            of_match: compiled(Subject::Match)?,
            before: compiled(Subject::Before)?,
            after: compiled(Subject::After)?,
        })
    }

    /// Returns the exceptions of a built-in pattern.
    pub(super) const fn of_row(row: &'static [Exception<'static>]) -> Self {
        Self {
            row,
            needed: needed(row),
            of_match: OnceLock::new(),
            before: OnceLock::new(),
            after: OnceLock::new(),
        }
    }

    /// Returns the inflows that a match needs, if any.
    pub(super) const fn needed(&self) -> Option<Inflows> {
        self.needed
    }

    /// Whether any exception applies to a match. Those about the match itself come last, since it can be long.
    pub(super) fn hold(&self, regions: &mut RegionMap<'_>, hit: Range<usize>, work: &mut ExactWork) -> bool {
        let text = regions.text().as_bytes();
        let mut holds = |subject, context: &[u8]| {
            work.excused += context.len();
            self.condition(subject).is_some_and(|condition| condition.holds(context))
        };
        holds(Subject::After, line_after(text, hit.end))
            || holds(Subject::Match, text.get(hit.clone()).unwrap_or_default())
            || holds(Subject::Before, line_before(text, hit.start))
            || self.needed.is_some_and(|needed| !regions.flows_at(hit.start, needed).has_any_of(needed))
    }

    /// Returns the exceptions of a kind. Those that cannot be compiled excuse nothing: fail closed.
    fn condition(&self, subject: Subject) -> Option<&Condition> {
        let lazy = match subject {
            Subject::Match => &self.of_match,
            Subject::Before => &self.before,
            Subject::After => &self.after,
        };
        lazy.get_or_init(|| builtin(self.row, subject)).as_ref()
    }
}

/// Returns the inflows that a match needs. A `const` function, for the rows of the table.
const fn needed(exceptions: &[Exception<'_>]) -> Option<Inflows> {
    let mut rest = exceptions;
    while let [first, others @ ..] = rest {
        if let Exception::Without(flows) = first {
            return Some(*flows);
        }
        rest = others;
    }
    None
}

/// Returns the exceptions of a built-in pattern of a kind.
fn builtin(row: &'static [Exception<'static>], subject: Subject) -> Option<Condition> {
    let expressions: Vec<_> = about(row, subject).map(Expression::new).collect();
    if !expressions.is_empty() && expressions.iter().all(Expression::has_program) {
        return Some(Condition::Builtin(expressions));
    }
    compile(row, subject).unwrap_or_default()
}

/// Compiles the exceptions of a kind.
fn compile(exceptions: &[Exception<'_>], subject: Subject) -> Result<Option<Condition>, PatternError> {
    let patterns: Vec<&str> = about(exceptions, subject).collect();
    let compiled = compile_any(&patterns)?;
    Ok(compiled.map(|(regex, begins_line)| Condition::Custom(Box::new(regex), begins_line)))
}

/// The patterns of the exceptions of a kind.
fn about<'a>(exceptions: &[Exception<'a>], subject: Subject) -> impl Iterator<Item = &'a str> {
    exceptions.iter().filter_map(move |exception| match (*exception, subject) {
        (Exception::Match(pattern), Subject::Match)
        | (Exception::Before(pattern), Subject::Before)
        | (Exception::After(pattern), Subject::After) => Some(pattern),
        _ => None,
    })
}

impl Condition {
    /// Whether it matches in this stretch of text. If it can match only at the start, a few bytes usually suffice.
    fn holds(&self, context: &[u8]) -> bool {
        // `^` matches after every line end. A context of one line has none, so the first failed attempt is the last.
        let is_one_line = |begins_line| begins_line && memchr::memchr(b'\n', context).is_none();
        match self {
            Self::Builtin(expressions) => expressions.iter().any(|expression| {
                let begin = if is_one_line(expression.begins_line()) { Begin::Here } else { Begin::Anywhere };
                expression.find(context, 0..context.len(), begin).is_ok_and(|found| found.is_some())
            }),
            Self::Custom(regex, begins_line) => {
                let anchored = if is_one_line(*begins_line) { Anchored::Yes } else { Anchored::No };
                regex.is_match(Input::new(context).anchored(anchored))
            }
        }
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
    use crate::regions::Syntax;

    fn holds(exception: Exception<'_>, text: &str, hit: &str) -> bool {
        let at = text.find(hit).unwrap();
        let exceptions = Exceptions::new(std::iter::once(exception)).unwrap();
        let mut regions = RegionMap::new(text, Syntax::Markdown);
        exceptions.hold(&mut regions, at..at + hit.len(), &mut ExactWork::default())
    }

    #[test]
    fn conditions_see_their_line_only() {
        assert!(holds(Exception::Before("no$"), "a noX", "X"));
        assert!(!holds(Exception::Before("no"), "no\nX", "X"));
        assert!(holds(Exception::After("^no"), "Xno", "X"));
        assert!(!holds(Exception::After("no"), "X\nno", "X"));
        assert!(holds(Exception::Match("-"), "X-X", "X-X"));
        assert!(!holds(Exception::Match("-"), "-X-", "X"));
        assert!(holds(Exception::Match("^X"), "X\nY", "X\nY"));
        assert!(holds(Exception::Match("^Y"), "X\nY", "X\nY"));
        assert!(!holds(Exception::Match("^Y|^Z"), "XY", "XY"));
        assert!(holds(Exception::Match("^Z|Y"), "XY", "XY"));
    }

    #[test]
    fn conditions_of_a_row_are_compiled_when_a_match_is_weighed() {
        let exceptions = Exceptions::of_row(&[Exception::After("^no"), Exception::Before("^no")]);
        assert!(exceptions.after.get().is_none());
        assert!(exceptions.hold(
            &mut RegionMap::new("Xno", Syntax::Markdown),
            0..1,
            &mut ExactWork::default()
        ));
        assert!(exceptions.after.get().is_some() && exceptions.before.get().is_none());
    }

    #[test]
    fn conditions_that_cannot_be_compiled_excuse_nothing() {
        let exceptions = Exceptions::of_row(&[Exception::After("^no"), Exception::After("(")]);
        assert!(!exceptions.hold(
            &mut RegionMap::new("Xno", Syntax::Markdown),
            0..1,
            &mut ExactWork::default()
        ));
    }

    #[test]
    fn conditions_look_no_further_than_their_reach() {
        let near = format!("no{}X{0}no", " ".repeat(REACH - 2));
        let far = format!("no{}X{0}no", " ".repeat(REACH - 1));
        for exception in [Exception::Before("no"), Exception::After("no")] {
            assert!(holds(exception, &near, "X") && !holds(exception, &far, "X"));
        }
    }
}
