//! One scan of one text: patterns are searched, their hits gathered, sorted and merged.

use std::cmp::Reverse;
use std::ops::Range;

use super::{Compiled, ExactWork, Slot};
use crate::candidates::Candidates;
use crate::regions::{RegionMap, Syntax};
use crate::report::TextView;
use crate::rule::{Rule, Severity};

/// The patterns of a scanner, by number in table order.
#[derive(Debug)]
pub(crate) struct Exact {
    slots: Vec<Slot>,
    /// How bad a hit of each rule is, by the number of the rule.
    severities: Vec<Severity>,
}

/// One place where one rule fires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) span: Range<usize>,
    pub(crate) rule: usize,
    pub(crate) severity: Severity,
    pub(crate) view: TextView,
}

/// A scan under way.
#[derive(Debug)]
pub(crate) struct Run<'e> {
    exact: &'e Exact,
    syntax: Syntax,
    max_findings: usize,
    hits: Vec<Hit>,
    truncated: bool,
    work: ExactWork,
}

impl Exact {
    /// Numbers the patterns of built-in rules.
    pub(crate) fn of_table(rules: &[&'static Rule<'static>]) -> Self {
        let mut slots = Vec::new();
        for (index, rule) in rules.iter().enumerate() {
            slots.extend(Slot::of_row(index, rule));
        }
        Self { slots, severities: rules.iter().map(|rule| rule.severity).collect() }
    }

    /// Adds the patterns of the next rule, one of the user's own.
    pub(crate) fn add_rule(&mut self, severity: Severity, patterns: Vec<Compiled>) {
        let rule = self.severities.len();
        self.severities.push(severity);
        self.slots.extend(patterns.into_iter().map(|pattern| Slot::ready(rule, pattern)));
    }

    /// Returns how many patterns there are.
    pub(crate) fn patterns(&self) -> usize {
        self.slots.len()
    }

    /// Begins a scan. Nothing is allocated before the first hit.
    pub(crate) fn start(&self, syntax: Syntax, max_findings: usize) -> Run<'_> {
        Run {
            exact: self,
            syntax,
            max_findings,
            hits: Vec::new(),
            truncated: false,
            work: ExactWork::default(),
        }
    }
}

impl Run<'_> {
    /// Searches a view of the text for some patterns. `origin` says where a span of the view stands in the raw text.
    pub(crate) fn search(
        &mut self,
        view: &str,
        patterns: &Candidates,
        origin: impl Fn(Range<usize>) -> (Range<usize>, TextView),
    ) {
        let mut regions = RegionMap::new(view, self.syntax);
        for pattern in patterns.iter() {
            let Some(slot) = self.exact.slots.get(pattern) else { continue };
            if slot.counts_nowhere_in(regions.whole()) {
                continue;
            }
            let places = patterns.within(pattern, view.len());
            // A pattern that cannot be looked for leaves the scan incomplete: fail closed.
            let Some(compiled) = slot.compiled() else {
                self.truncated = true;
                continue;
            };
            let severity = self.exact.severities.get(slot.rule).copied().unwrap_or(Severity::Critical);
            // Each pattern has all the room: what a flood of one keeps for itself is no reason that a hit of another goes unseen.
            let mut room = self.max_findings;
            for within in places.iter() {
                compiled.search(&mut regions, within, &mut self.work, |span| {
                    if room == 0 {
                        self.truncated = true;
                        return false;
                    }
                    room -= 1;
                    let (span, view) = origin(span);
                    self.hits.push(Hit { span, rule: slot.rule, severity, view });
                    true
                });
            }
        }
    }

    /// Returns what the scan cost so far.
    pub(crate) fn work(&self) -> ExactWork {
        self.work
    }

    /// Returns the hits in the order of the text, at one place in the order of the rules, and whether any were left out. Where there
    /// are too many the worst are kept: no flood of mild ones hides what a text is blocked for.
    pub(crate) fn finish(mut self) -> (Vec<Hit>, bool) {
        merge(&mut self.hits);
        let truncated = self.truncated || self.hits.len() > self.max_findings;
        if self.hits.len() > self.max_findings {
            self.hits.sort_unstable_by_key(|hit| (Reverse(hit.severity), hit.span.start, hit.rule));
            self.hits.truncate(self.max_findings);
        }
        self.hits.sort_unstable_by_key(|hit| (hit.span.start, hit.rule));
        (self.hits, truncated)
    }
}

/// Keeps one of several hits of one rule that overlap: the first, of those the longest; and a deobfuscated one only where the
/// text as it stands shows nothing.
fn merge(hits: &mut Vec<Hit>) {
    // Patterns ran one after the other, so their hits come by pattern. Sorted by rule first, overlaps of one rule are neighbours.
    hits.sort_unstable_by_key(|hit| (hit.view, hit.rule, hit.span.start, Reverse(hit.span.end)));
    let mut kept: Option<(TextView, usize, usize)> = None;
    hits.retain(|hit| {
        let overlaps = kept
            .is_some_and(|(view, rule, end)| view == hit.view && rule == hit.rule && hit.span.start < end);
        if !overlaps {
            kept = Some((hit.view, hit.rule, hit.span.end));
        }
        !overlaps
    });
    // The raw view sorts first, so what only the other view shows is the tail.
    let deobfuscated = hits.split_off(hits.partition_point(|hit| hit.view == TextView::Raw));
    let hidden: Vec<Hit> = deobfuscated.into_iter().filter(|hit| !overlaps_any(hits, hit)).collect();
    hits.extend(hidden);
}

/// Whether `hit` overlaps one of `others` of its rule, which stand by rule and place and do not overlap each other.
fn overlaps_any(others: &[Hit], hit: &Hit) -> bool {
    // What does not overlap is in the order of its ends as well, so one binary search finds the only one that could.
    let after = others.partition_point(|other| (other.rule, other.span.end) <= (hit.rule, hit.span.start));
    others.get(after).is_some_and(|other| other.rule == hit.rule && other.span.start < hit.span.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(hits: &[(usize, Range<usize>, TextView)]) -> Vec<(usize, Range<usize>, TextView)> {
        let mut hits = hits
            .iter()
            .map(|(rule, span, view)| {
                let (span, severity) = (span.clone(), Severity::Warn);
                Hit { span, rule: *rule, severity, view: *view }
            })
            .collect();
        merge(&mut hits);
        hits.into_iter().map(|hit| (hit.rule, hit.span, hit.view)).collect()
    }

    #[test]
    fn overlapping_hits_of_one_rule_become_one() {
        use TextView::{Deobfuscated, Raw};
        assert_eq!(
            merged(&[(1, 4..6, Raw), (1, 0..5, Raw), (1, 0..3, Raw), (1, 5..9, Raw)]),
            [(1, 0..5, Raw), (1, 5..9, Raw)]
        );
        assert_eq!(merged(&[(1, 0..5, Raw), (2, 0..5, Raw)]).len(), 2, "rules do not hide each other");
        assert_eq!(
            merged(&[(1, 0..5, Deobfuscated), (1, 4..6, Raw), (1, 7..9, Deobfuscated)]),
            [(1, 4..6, Raw), (1, 7..9, Deobfuscated)]
        );
    }
}
