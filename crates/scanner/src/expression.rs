//! Regular expressions of the crate itself, which are ready at once.
//!
//! To parse and compile an expression takes a hundred times as long as to search a few hundred bytes for it, and most
//! programs search little more. So `build.rs` translates every expression of the crate to a small
//! program, and a [machine] runs it by backtracking, with a bounded number of steps. An expression that was searched
//! for long, or met a text on which backtracking does not end soon, is compiled then. Both find the same.

#[cfg(test)]
mod assemble;
#[cfg(test)]
mod beginnings;
mod instruction;
mod machine;
mod prefix;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use regex_automata::meta::Regex;
use regex_automata::{Anchored, Input};

use crate::exact::compile;
use crate::prefilter::byte_set::ByteSet;

pub(crate) use machine::Begin;
use machine::Program;
use prefix::Prefix;

include!(concat!(env!("OUT_DIR"), "/programs.rs"));

/// How many steps are spent before an expression is compiled: about as many as compiling it is worth.
const PATIENCE: usize = 1 << 18;
/// How many of them one search may take, for each byte.
const STEPS_PER_BYTE: usize = 32;
/// How many it may take whatever the text.
const STEPS_FOR_ANY_TEXT: usize = 4096;

/// An expression of the crate. In a static, so that everything is searched with what was compiled once.
#[derive(Debug)]
pub(crate) struct Expression {
    pattern: &'static str,
    program: OnceLock<Option<Program<'static>>>,
    /// Steps spent so far.
    spent: AtomicUsize,
    regex: OnceLock<Option<Regex>>,
}

/// The expression cannot be compiled. A test ensures that this does not happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CannotBeCompiled;

impl Expression {
    /// Returns an expression, in the dialect of the rules. Costs nothing.
    pub(crate) const fn new(pattern: &'static str) -> Self {
        Self { pattern, program: OnceLock::new(), spent: AtomicUsize::new(0), regex: OnceLock::new() }
    }

    pub(crate) const fn pattern(&self) -> &'static str {
        self.pattern
    }

    fn program(&self) -> Option<&Program<'static>> {
        self.program.get_or_init(|| program_of(self.pattern)).as_ref()
    }

    /// Whether its program was made when the crate was built.
    pub(crate) fn has_program(&self) -> bool {
        self.program().is_some()
    }

    /// Whether every match begins at the start of a line; false if unknown.
    pub(crate) fn begins_line(&self) -> bool {
        self.program().is_some_and(Program::begins_line)
    }

    /// Whether it may be a long run; true if unknown.
    pub(crate) fn begins_with_run(&self) -> bool {
        self.program().is_none_or(Program::begins_with_run)
    }

    /// Whether a match can begin with this byte; true if unknown, or if a match can be empty.
    pub(crate) fn may_begin_with(&self, byte: u8) -> bool {
        let first = self.program().and_then(Program::first_bytes);
        first.is_none_or(|first| first.contains(byte))
    }

    /// The regular expression, compiled now if it was not before.
    pub(crate) fn regex(&self) -> Option<&Regex> {
        self.regex.get_or_init(|| compile(self.pattern).ok()).as_ref()
    }

    /// Returns the first match in this part of a text.
    pub(crate) fn find(
        &self,
        text: &[u8],
        within: Range<usize>,
        begin: Begin,
    ) -> Result<Option<Range<usize>>, CannotBeCompiled> {
        // Most places where a match has to begin have other bytes, which costs no steps.
        if begin == Begin::Here
            && let Some(program) = self.program()
            && !program.may_begin(text, &within)
        {
            return Ok(None);
        }
        if let Some(found) = self.find_at_once(text, within.clone(), begin) {
            return Ok(found);
        }
        let anchored = if begin == Begin::Here { Anchored::Yes } else { Anchored::No };
        let input = Input::new(text).range(within).anchored(anchored);
        let regex = self.regex().ok_or(CannotBeCompiled)?;
        Ok(regex.search(&input).map(|found| found.range()))
    }

    /// Searches by the program, as long as there is patience.
    fn find_at_once(&self, text: &[u8], within: Range<usize>, begin: Begin) -> Option<Option<Range<usize>>> {
        let program = self.program().filter(|_| self.regex.get().is_none())?;
        // Relaxed: threads that race may spend a little more or less, and find the same in any case.
        let left = PATIENCE.checked_sub(self.spent.load(Ordering::Relaxed))?;
        let most = left.min(within.len().saturating_mul(STEPS_PER_BYTE) + STEPS_FOR_ANY_TEXT);
        let mut steps = most;
        let found = program.find(text, within, begin, &mut steps);
        let spent = if found.is_ok() { most - steps } else { PATIENCE };
        self.spent.fetch_add(spent, Ordering::Relaxed);
        found.ok()
    }

    /// Whether it matches somewhere in a text; false if it cannot be compiled.
    pub(crate) fn is_match(&self, text: impl AsRef<[u8]>) -> bool {
        let text = text.as_ref();
        self.find(text, 0..text.len(), Begin::Anywhere).is_ok_and(|found| found.is_some())
    }

    /// Returns every match in a text, one behind the other; none if it cannot be compiled.
    pub(crate) fn find_iter<'r>(&'r self, text: &'r str) -> impl Iterator<Item = Range<usize>> + use<'r> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let bytes = text.as_bytes();
            let found = self.find(bytes, at.min(bytes.len())..bytes.len(), Begin::Anywhere).ok()??;
            // No expression matches the empty text, but the loop must end even if one did.
            at = found.end.max(at + 1);
            Some(found)
        })
    }

    #[cfg(test)]
    pub(crate) fn is_compiled(&self) -> bool {
        self.regex.get().is_some()
    }
}

/// Returns the program of a pattern.
fn program_of(pattern: &str) -> Option<Program<'static>> {
    let index = PROGRAMS.binary_search_by_key(&instruction::hash(pattern), |(hash, _)| *hash).ok()?;
    let (_, start) = PROGRAMS.get(index)?;
    Some(Program::new(WORDS.get(usize::try_from(*start).ok()?..)?, SETS, PREFIXES))
}
