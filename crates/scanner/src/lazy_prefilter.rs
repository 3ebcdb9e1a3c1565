//! The prefilter of a scanner with custom rules, whose tables grow by a pattern when a text contains what the pattern requires.

use std::sync::{Arc, PoisonError, RwLock};

use crate::candidates::Candidates;
use crate::exact::CustomPattern;
use crate::prefilter::{Prefilter, PrefilterWork};
use crate::required_literal::RequiredLiterals;

/// The built-in tables, and those of custom patterns as far as texts have needed them.
#[derive(Debug)]
pub(crate) struct LazyPrefilter {
    /// Number of built-in patterns. Custom patterns follow.
    builtin: usize,
    literals: RequiredLiterals,
    tables: RwLock<Tables>,
}

#[derive(Debug)]
struct Tables {
    prefilter: Arc<Prefilter>,
    /// Custom patterns that are not in it, in ascending order.
    missing: Vec<usize>,
    has_grown: bool,
}

impl LazyPrefilter {
    /// Returns a prefilter for built-in patterns alone.
    pub(crate) fn of(builtin: Prefilter) -> Self {
        let tables = Tables { prefilter: Arc::new(builtin), missing: Vec::new(), has_grown: false };
        Self { builtin: 0, literals: RequiredLiterals::default(), tables: RwLock::new(tables) }
    }

    /// Adds custom patterns. Those without a literal to search for are in the tables at once.
    pub(crate) fn with<'p>(self, builtin: usize, patterns: impl Iterator<Item = &'p CustomPattern>) -> Self {
        let mut literals = RequiredLiterals::default();
        let numbered = (builtin..).zip(patterns);
        let (missing, eager): (Vec<_>, Vec<_>) =
            numbered.partition(|(number, pattern)| literals.add(*number, pattern.parsed()));
        let missing = missing.into_iter().map(|(number, _)| number).collect();
        let mut tables = self.tables.into_inner().unwrap_or_else(PoisonError::into_inner);
        if !eager.is_empty() {
            tables.prefilter = Arc::new(tables.prefilter.with(eager.into_iter()));
        }
        Self { builtin, literals, tables: RwLock::new(Tables { missing, ..tables }) }
    }

    /// Adds every pattern to `found` that can match `text`, with the stretches of its matches. `patterns` are the custom ones.
    pub(crate) fn run<'p>(
        &self,
        text: &str,
        patterns: impl Iterator<Item = &'p CustomPattern>,
        found: &mut Candidates,
    ) -> PrefilterWork {
        self.for_text(text, patterns).run(text, found)
    }

    /// Returns tables with every pattern that may match a text.
    fn for_text<'p>(&self, text: &str, patterns: impl Iterator<Item = &'p CustomPattern>) -> Arc<Prefilter> {
        let tables = self.tables.read().unwrap_or_else(PoisonError::into_inner);
        let needed = self.needed(&tables.missing, text);
        if needed.is_empty() {
            return Arc::clone(&tables.prefilter);
        }
        drop(tables);
        let mut tables = self.tables.write().unwrap_or_else(PoisonError::into_inner);
        tables.grow(&needed, (self.builtin..).zip(patterns));
        Arc::clone(&tables.prefilter)
    }

    /// Returns those of the missing patterns that may match a text, in ascending order.
    fn needed(&self, missing: &[usize], text: &str) -> Vec<usize> {
        let mut needed = Vec::new();
        if missing.is_empty() {
            return needed;
        }
        self.literals.patterns_in(text.as_bytes(), |pattern| {
            if missing.binary_search(&pattern).is_ok()
                && let Err(place) = needed.binary_search(&pattern)
            {
                needed.insert(place, pattern);
            }
        });
        needed
    }
}

impl Tables {
    /// Adds patterns. The second time, all that are missing: to pack the tables takes as long as to add fifty patterns.
    fn grow<'p>(&mut self, needed: &[usize], patterns: impl Iterator<Item = (usize, &'p CustomPattern)>) {
        let has_grown = std::mem::replace(&mut self.has_grown, true);
        let is_due = |number: &usize| has_grown || needed.binary_search(number).is_ok();
        // Another thread may have added some meanwhile.
        let (due, missing): (Vec<_>, Vec<_>) = self.missing.iter().copied().partition(is_due);
        if !due.is_empty() {
            let added = patterns.filter(|(number, _)| due.binary_search(number).is_ok());
            self.prefilter = Arc::new(self.prefilter.with(added));
            self.missing = missing;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Category, PatternBuf, Regions, RuleBuf, Scanner, Severity};

    fn rule(number: usize) -> RuleBuf {
        let name = format!("corp{number}.example");
        RuleBuf {
            id: format!("TEAM_HOST_{number}"),
            severity: Severity::Warn,
            category: Category::Custom,
            summary: "Name of an internal host".to_owned(),
            remedy: "Write the public name.".to_owned(),
            patterns: vec![PatternBuf {
                note: String::new(),
                regex: format!("[a-z]{{1,40}}[.]corp{number}[.]example"),
                regions: Regions::ANY,
                exceptions: Vec::new(),
            }],
            matches: vec![format!("ssh build.{name}")],
            clean: vec![],
        }
    }

    fn found(scanner: &Scanner, text: &str) -> Vec<String> {
        scanner.scan(text).findings.iter().map(|finding| finding.rule_id.to_owned()).collect()
    }

    /// What a scanner finds does not depend on the texts before.
    #[test]
    fn patterns_are_found_whenever_they_are_first_needed() {
        let scanner = Scanner::with_rules((0..5).map(rule)).unwrap();
        for (text, expected) in [
            ("nothing", &[][..]),
            ("ssh build.corp3.example", &["TEAM_HOST_3"]),
            ("corp0.example alone", &[]),
            ("a.corp4.example and b.corp3.example", &["TEAM_HOST_4", "TEAM_HOST_3"]),
            ("a.corp1.example", &["TEAM_HOST_1"]),
        ] {
            assert_eq!(found(&scanner, text), expected, "{text}");
        }
    }
}
