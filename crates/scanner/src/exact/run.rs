//! One scan of one text: searches patterns, and collects, sorts and merges their hits.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

use super::{Compiled, CustomPattern, ExactWork, Slot};
use crate::candidates::Candidates;
use crate::changes::Changes;
use crate::context;
use crate::regions::{RegionMap, Syntax};
use crate::report::TextView;
use crate::rule::{Category, Region, Rule, Severity};

/// The patterns of a scanner, by number in table order.
#[derive(Debug)]
pub(crate) struct Exact {
    slots: Vec<Slot>,
    /// Facts about each rule, by its number.
    weights: Vec<Weight>,
}

/// Facts about a rule that its hits need.
#[derive(Debug, Clone, Copy)]
struct Weight {
    severity: Severity,
    category: Category,
    /// The id of a built-in rule; custom rules have no special treatment by name.
    id: &'static str,
}

/// How many bytes around the matches of a pattern are inspected for mentions. Later matches are not lowered.
const MAX_LOOKED_AROUND: usize = 128 << 10;

/// Reason for lowering a match that sends a setting: usually it goes to the service that issued it.
const ONE_SETTING: &str = "what is sent is one value of settings, which may be for whom it is sent to";

/// A match of a rule at one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) span: Range<usize>,
    pub(crate) rule: usize,
    pub(crate) severity: Severity,
    /// Why its severity is lower than the rule's, if it is.
    pub(crate) lowered: Option<&'static str>,
    pub(crate) view: TextView,
    /// Number of the pattern in its rule.
    pub(crate) pattern: usize,
    /// The command that completes the attack, if that is another one.
    pub(crate) then: Option<Range<usize>>,
}

/// A scan in progress.
#[derive(Debug)]
pub(crate) struct Run<'e> {
    exact: &'e Exact,
    changes: &'e Changes,
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
        let weights =
            rules.iter().map(|rule| Weight { severity: rule.severity, category: rule.category, id: rule.id });
        Self { slots, weights: weights.collect() }
    }

    /// Adds the patterns of the next rule, a custom one.
    pub(crate) fn add_rule(&mut self, severity: Severity, category: Category, patterns: Vec<Arc<Compiled>>) {
        let rule = self.weights.len();
        self.weights.push(Weight { severity, category, id: "" });
        self.slots
            .extend(patterns.into_iter().enumerate().map(|(at, pattern)| Slot::ready(rule, at, pattern)));
    }

    /// Returns the custom patterns, in order.
    pub(crate) fn custom_patterns(&self) -> impl Iterator<Item = &CustomPattern> {
        self.slots.iter().filter(|slot| slot.row.is_none()).filter_map(|slot| slot.compiled()?.as_custom())
    }

    /// Returns the number of patterns.
    pub(crate) fn patterns(&self) -> usize {
        self.slots.len()
    }

    /// Starts a scan. Nothing is allocated before the first hit.
    pub(crate) fn start<'e>(&'e self, syntax: Syntax, max_findings: usize, changes: &'e Changes) -> Run<'e> {
        Run {
            exact: self,
            changes,
            syntax,
            max_findings,
            hits: Vec::new(),
            truncated: false,
            work: ExactWork::default(),
        }
    }
}

impl Run<'_> {
    /// Searches a view of the text for some patterns. `origin` maps a span of the view to the original text.
    pub(crate) fn search(
        &mut self,
        view: &str,
        patterns: &Candidates,
        origin: impl Fn(Range<usize>) -> (Range<usize>, TextView),
    ) {
        self.search_in(RegionMap::new(view, self.syntax), patterns, origin);
    }

    /// Searches the decoded text of the encoding at `span`.
    pub(crate) fn search_decoded(&mut self, text: &str, patterns: &Candidates, span: &Range<usize>) {
        self.search_in(RegionMap::of_decoded(text), patterns, |_| (span.clone(), TextView::Decoded));
    }

    fn search_in(
        &mut self,
        mut regions: RegionMap<'_>,
        patterns: &Candidates,
        origin: impl Fn(Range<usize>) -> (Range<usize>, TextView),
    ) {
        let view = regions.text();
        for pattern in patterns.iter() {
            let Some(slot) = self.exact.slots.get(pattern) else { continue };
            let is_decoded = regions.whole() == Some(Region::Decoded);
            if slot.counts_nowhere_in(regions.whole()) || slot.counts_only_decoded() && !is_decoded {
                continue;
            }
            let change = self.changes.get(slot.rule);
            if change.is_some_and(|change| change.severity.is_none()) {
                continue;
            }
            let places = patterns.within(pattern, view.len());
            // A pattern that cannot be compiled leaves the scan incomplete: fail closed.
            let Some(compiled) = slot.compiled() else {
                self.truncated = true;
                continue;
            };
            let of_rule = self.exact.weights.get(slot.rule).copied();
            let unknown = Weight { severity: Severity::Critical, category: Category::Custom, id: "" };
            let Weight { severity, category, id } = of_rule.unwrap_or(unknown);
            let severity = change.and_then(|change| change.severity).unwrap_or(severity);
            // Each pattern has the full limit: a flood of hits of one pattern must not hide a hit of another. Lowered
            // hits have a limit of their own for the same reason.
            let mut room = self.max_findings;
            let mut room_for_lowered = self.max_findings;
            let mut looked = 0;
            for within in places.iter() {
                compiled.search(&mut regions, within, &mut self.work, |regions, span| {
                    let mut lowered = None;
                    let may_lower = category != Category::Custom && regions.whole() != Some(Region::Decoded);
                    if severity == Severity::Critical && may_lower && looked < MAX_LOOKED_AROUND {
                        let (why, bytes) =
                            context::lowered(view, &span, regions.at(span.start), (category, id));
                        (lowered, looked) = (why, looked + bytes);
                    }
                    if lowered.is_none() && severity == Severity::Critical && may_lower {
                        lowered = compiled.is_only_a_setting(regions, span.start).then_some(ONE_SETTING);
                    }
                    let severity = if lowered.is_some() { Severity::Warn } else { severity };
                    let room = if lowered.is_some() { &mut room_for_lowered } else { &mut room };
                    if *room == 0 {
                        self.truncated = true;
                        // There may be worse hits beyond the limit.
                        return lowered.is_some();
                    }
                    *room -= 1;
                    let then = compiled.completed_by(regions, span.start).map(|then| origin(then).0);
                    let (span, view) = origin(span);
                    let (rule, pattern) = (slot.rule, slot.pattern);
                    self.hits.push(Hit { span, rule, severity, lowered, view, pattern, then });
                    true
                });
            }
            self.work.excused += looked;
        }
    }

    /// Returns the cost so far.
    pub(crate) fn work(&self) -> ExactWork {
        self.work
    }

    /// Returns the hits in the order of the text, at one place in the order of the rules, and whether any were
    /// dropped. Beyond the limit the worst are kept: a flood of mild hits cannot hide the reason for a block.
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

/// Merges overlapping hits of one rule with equal severity: keeps the first, of those the longest; and a deobfuscated
/// one only where the original text has no equal hit.
fn merge(hits: &mut Vec<Hit>) {
    // Patterns ran one after the other, so their hits are grouped by pattern. Sorting by rule makes overlaps of one
    // rule neighbours.
    hits.sort_unstable_by_key(|hit| (hit.view, kind(hit), hit.span.start, Reverse(hit.span.end)));
    let mut kept: Option<(TextView, (usize, Severity), usize)> = None;
    hits.retain(|hit| {
        let overlaps =
            kept.is_some_and(|(view, of, end)| view == hit.view && of == kind(hit) && hit.span.start < end);
        if !overlaps {
            kept = Some((hit.view, kind(hit), hit.span.end));
        }
        !overlaps
    });
    // A milder hit within a worse one of the same rule is not a second finding.
    let milder = |worse: &[Hit], hit: &Hit| {
        hit.severity == Severity::Warn && overlaps_any(worse, hit, Severity::Critical)
    };
    // The raw view sorts first, so hits of the other view are at the end.
    let deobfuscated = hits.split_off(hits.partition_point(|hit| hit.view == TextView::Raw));
    let shown = |hit: &Hit| overlaps_any(hits, hit, hit.severity) || milder(hits, hit);
    let hidden: Vec<Hit> = deobfuscated.into_iter().filter(|hit| !shown(hit)).collect();
    hits.extend(hidden);
}

/// Sort key: the rule and the severity.
const fn kind(hit: &Hit) -> (usize, Severity) {
    (hit.rule, hit.severity)
}

/// Whether `hit` overlaps one of `others` of its rule with this severity. They are sorted by rule, severity and
/// position, and those equal in both do not overlap each other.
fn overlaps_any(others: &[Hit], hit: &Hit, severity: Severity) -> bool {
    // Disjoint spans are also sorted by their ends, so one binary search finds the only candidate.
    let of = (hit.rule, severity);
    let after = others.partition_point(|other| (kind(other), other.span.end) <= (of, hit.span.start));
    others.get(after).is_some_and(|other| kind(other) == of && other.span.start < hit.span.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(hits: &[(usize, Range<usize>, TextView)]) -> Vec<(usize, Range<usize>, TextView)> {
        let mut hits = hits
            .iter()
            .map(|(rule, span, view)| {
                let (span, severity) = (span.clone(), Severity::Warn);
                Hit { span, rule: *rule, severity, lowered: None, view: *view, pattern: 0, then: None }
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
