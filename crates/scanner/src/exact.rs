//! The exact engine: runs the real regular expressions, which define a rule.
//!
//! The prefilter only selects patterns that are worth running. A built-in pattern has a program, which is ready at
//! once, and is compiled only when it was searched for long: see [`crate::expression`].

mod custom;
mod exceptions;
mod linear;
mod long_run;
mod pattern;
mod run;
mod searcher;

use std::ops::{AddAssign, Range};
use std::sync::{Arc, OnceLock};

use crate::expression::Expression;
use crate::flow::{Inflow, Inflows};
use crate::regions::RegionMap;
use crate::rule::{Exception, Pattern, Region, Regions, Rule};

use exceptions::Exceptions;
use long_run::LongRun;
use pattern::{parse, parse_expanded};
use searcher::Searcher;

pub(crate) use custom::CustomPattern;
pub(crate) use linear::look_past_is_bounded;
#[cfg(test)]
pub(crate) use pattern::parse_one;
pub(crate) use pattern::{PatternError, compile, compile_list, expand};
pub(crate) use run::{Exact, Hit, Run};

/// One pattern of one rule, compiled on first use.
#[derive(Debug)]
pub(crate) struct Slot {
    /// Number of the rule in the scanner.
    pub(crate) rule: usize,
    /// Number of the pattern in its rule.
    pub(crate) pattern: usize,
    /// The row to compile from; a custom pattern is compiled from the start.
    row: Option<&'static Pattern<'static>>,
    /// Behind a pointer, since most slots stay empty: a scanner that finds nothing touches little memory.
    compiled: OnceLock<Option<Arc<Compiled>>>,
}

/// A compiled pattern with its conditions.
#[derive(Debug)]
pub(crate) struct Compiled {
    pattern: Searcher,
    /// Faster search, if the pattern is a long run.
    long_run: Option<LongRun>,
    regions: Regions,
    exceptions: Exceptions,
}

/// Cost of one search, in bytes. Look-past is not counted here; `linear` bounds it for every pattern.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ExactWork {
    /// Bytes that the patterns' regular expressions walked over.
    pub searched: usize,
    /// Matches that were evaluated.
    pub matches: usize,
    /// Bytes that conditions inspected.
    pub excused: usize,
}

impl AddAssign for ExactWork {
    fn add_assign(&mut self, more: Self) {
        self.searched += more.searched;
        self.matches += more.matches;
        self.excused += more.excused;
    }
}

impl Slot {
    /// Returns the slots of one row of the built-in table.
    pub(crate) fn of_row(index: usize, rule: &'static Rule<'static>) -> impl Iterator<Item = Self> {
        rule.patterns.iter().enumerate().map(move |(at, pattern)| Self {
            rule: index,
            pattern: at,
            row: Some(pattern),
            compiled: OnceLock::new(),
        })
    }

    /// Returns the slot of a compiled pattern.
    pub(crate) fn ready(rule: usize, pattern: usize, compiled: Arc<Compiled>) -> Self {
        Self { rule, pattern, row: None, compiled: OnceLock::from(Some(compiled)) }
    }

    /// Whether the pattern cannot match in a text that is all of one region.
    pub(crate) fn counts_nowhere_in(&self, whole: Option<Region>) -> bool {
        self.row.zip(whole).is_some_and(|(row, region)| !row.regions.count_in(region))
    }

    /// Whether the pattern counts only in decoded text.
    pub(crate) fn counts_only_decoded(&self) -> bool {
        self.row.is_some_and(|row| row.regions == Regions::of(&[Region::Decoded]))
    }

    /// Returns the compiled pattern. `None` means that it cannot be compiled, and so that a scan is incomplete; a
    /// test ensures that this does not happen for built-in patterns.
    pub(crate) fn compiled(&self) -> Option<&Compiled> {
        let compile = || Compiled::of_row(self.row?).ok().map(Arc::new);
        self.compiled.get_or_init(compile).as_deref()
    }
}

impl Compiled {
    /// Prepares a row of the table. Its conditions are prepared when there is a match to evaluate.
    fn of_row(row: &'static Pattern<'static>) -> Result<Self, PatternError> {
        let expression = Expression::new(row.regex);
        let long_run = match expression.begins_with_run() {
            true => parse(&[expand(row.regex)?])?.first().and_then(LongRun::of),
            false => None,
        };
        let exceptions = Exceptions::of_row(row.exceptions);
        Ok(Self { pattern: Searcher::Builtin(expression), long_run, regions: row.regions, exceptions })
    }

    /// Compiles a pattern and its conditions.
    #[cfg(test)]
    pub(crate) fn new(pattern: &Pattern<'_>) -> Result<Self, PatternError> {
        Self::from_parts(pattern.regex, pattern.regions, pattern.exceptions.iter().copied())
    }

    /// Compiles a pattern and its conditions.
    pub(crate) fn from_parts<'a>(
        pattern: &str,
        regions: Regions,
        exceptions: impl Iterator<Item = Exception<'a>>,
    ) -> Result<Self, PatternError> {
        let parsed = parse_expanded(&expand(pattern)?)?;
        let long_run = LongRun::of(&parsed);
        let exceptions = Exceptions::new(exceptions)?;
        let pattern = Searcher::Custom(Box::new(CustomPattern::new(parsed)?));
        Ok(Self { pattern, long_run, regions, exceptions })
    }

    /// Whether it matches at `offset` because of nothing worse than a setting.
    pub(crate) fn is_only_a_setting(&self, regions: &mut RegionMap<'_>, offset: usize) -> bool {
        let setting = Inflows::of(&[Inflow::Setting]);
        let needed = self.exceptions.needed().filter(|needed| needed.has_any_of(setting));
        needed.is_some_and(|needed| regions.flows_at(offset, needed).common(needed) == setting)
    }

    /// Returns the command that completes the attack at `offset`, if another one does: it runs what this one downloads.
    pub(crate) fn completed_by(&self, regions: &RegionMap<'_>, offset: usize) -> Option<Range<usize>> {
        let is_about = |needed: Inflows| needed.contains(Inflow::RunLater);
        self.exceptions.needed().filter(|needed| is_about(*needed)).and_then(|_| regions.run_of(offset))
    }

    /// Returns its pattern, if that is a custom one.
    pub(crate) fn as_custom(&self) -> Option<&CustomPattern> {
        self.pattern.as_custom()
    }

    /// Whether finding every match takes linear time.
    pub(crate) fn look_past_is_bounded(&self, pattern: &str) -> Result<bool, PatternError> {
        match self.as_custom() {
            Some(custom) if linear::is_short(custom.parsed()) => Ok(true),
            _ => look_past_is_bounded(pattern),
        }
    }

    /// Returns the memory use of its pattern.
    pub(crate) fn memory_usage(&self) -> usize {
        self.pattern.memory_usage()
    }

    /// Whether it matches the empty text.
    pub(crate) fn matches_nothing(&self) -> bool {
        self.pattern.find("", 0..0).is_some()
    }

    /// Passes every match in the right region and without an exception to `found`, on character boundaries and in
    /// order, until `found` returns false. Every match must lie `within` a stretch of the text.
    pub(crate) fn search(
        &self,
        regions: &mut RegionMap<'_>,
        within: Range<usize>,
        work: &mut ExactWork,
        mut found: impl FnMut(&mut RegionMap<'_>, Range<usize>) -> bool,
    ) {
        let text = regions.text();
        let mut at = within.start;
        while at <= within.end {
            let Some(hit) = self.find(text, at..within.end) else {
                work.searched += within.end - at;
                return;
            };
            work.searched += hit.end - at;
            work.matches += 1;
            // No pattern matches the empty text, but the loop must terminate even if one did.
            at = hit.end.max(at + 1);
            // Check the region first: it is cached, while exceptions read the text around each match again.
            let guilty = (self.regions == Regions::ANY || regions.count_at(self.regions, hit.start))
                && !self.exceptions.hold(regions, hit.clone(), work);
            if guilty && !found(regions, on_borders(text, hit)) {
                return;
            }
        }
    }

    /// Returns the first match in this part of a text.
    fn find(&self, text: &str, within: Range<usize>) -> Option<Range<usize>> {
        match &self.long_run {
            Some(run) => run.find(text.as_bytes(), within),
            None => self.pattern.find(text, within),
        }
    }
}

/// Widens a span to whole characters: a pattern over bytes may begin or end inside one.
fn on_borders(text: &str, span: Range<usize>) -> Range<usize> {
    text.floor_char_boundary(span.start)..text.ceil_char_boundary(span.end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::regions::Syntax;

    fn spans(pattern: &Pattern<'_>, text: &str) -> Vec<Range<usize>> {
        let mut spans = Vec::new();
        let mut regions = RegionMap::new(text, Syntax::Markdown);
        let compiled = Compiled::new(pattern).unwrap();
        compiled.search(&mut regions, 0..text.len(), &mut ExactWork::default(), |_, span| {
            spans.push(span);
            true
        });
        spans
    }

    const PLAIN: Pattern<'static> = Pattern { note: "", regex: "x", regions: Regions::ANY, exceptions: &[] };

    #[test]
    fn spans_end_on_character_borders() {
        let pattern = Pattern { regex: r"[^a]b[^a]", ..PLAIN };
        assert_eq!(spans(&pattern, "éb😀 éb😀"), [0..7, 8..15]);
    }
}
