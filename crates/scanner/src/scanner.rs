//! The scanner: a set of rules that produces reports on texts.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::{Arc, LazyLock, OnceLock};

use stockade_text::PositionCursor;

use crate::candidates::Candidates;
use crate::changes::{Changes, RuleChange};
use crate::check::{CheckedPatterns, Taken};
use crate::decoded::{Decoded, MAX_DEPTH, each_decoded};
use crate::deobfuscate::{at_beginning, deobfuscate};
use crate::error::RuleError;
use crate::exact::{Exact, Hit, Run};
use crate::lazy_prefilter::LazyPrefilter;
use crate::prefilter::Prefilter;
use crate::regions::Syntax;
use crate::report::{ChainStep, Finding, MATCHED_TEXT_CHARS, ScanReport, TextView};
use crate::rule::{Rule, RuleBuf};
#[cfg(feature = "rule-files")]
use crate::rule_file::RuleFile;
use crate::rules;
use crate::work::{Method, Work};

/// A set of rules, ready to scan. Make one and use it for many texts, from many threads; clones share their compiled
/// patterns.
#[derive(Debug, Clone)]
pub struct Scanner {
    parts: Arc<Parts>,
    changes: Changes,
}

/// The rules and their compiled parts.
#[derive(Debug)]
struct Parts {
    builtin: Vec<&'static Rule<'static>>,
    user: Vec<RuleBuf>,
    exact: Exact,
    prefilter: LazyPrefilter,
    /// Every rule in one list, made on demand.
    listed: OnceLock<Vec<RuleBuf>>,
}

/// Options of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScanOptions {
    /// How the text is parsed.
    pub syntax: Syntax,
    /// Maximum number of findings in the report, and of each pattern before merging. Beyond it the report is
    /// truncated, and the worst are kept.
    pub max_findings: usize,
    /// Whether to remove obfuscations.
    pub deobfuscate: Deobfuscate,
}

/// Whether the deobfuscated and decoded views of the text are scanned: see [`TextView`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Deobfuscate {
    /// Where the text may be obfuscated.
    #[default]
    Suspicious,
    /// Never, even where the text may be obfuscated.
    Never,
}

impl Default for ScanOptions {
    fn default() -> Self {
        Self { syntax: Syntax::default(), max_findings: 1000, deobfuscate: Deobfuscate::default() }
    }
}

impl Scanner {
    /// Returns the scanner of the built-in rules. Costs next to nothing: a pattern is compiled on first use.
    #[must_use]
    pub fn builtin() -> &'static Self {
        static BUILTIN: LazyLock<Scanner> = LazyLock::new(|| {
            let rules: Vec<_> = rules::all().collect();
            Scanner::of_parts(Parts {
                exact: Exact::of_table(&rules),
                prefilter: LazyPrefilter::of(Prefilter::builtin()),
                builtin: rules,
                user: Vec::new(),
                listed: OnceLock::new(),
            })
        });
        &BUILTIN
    }

    /// Returns a scanner with the built-in rules and the given ones, each checked like a built-in rule.
    ///
    /// # Errors
    /// The first rule that cannot be used, with the reason.
    pub fn with_rules<R>(rules: impl IntoIterator<Item = R>) -> Result<Self, RuleError>
    where
        R: Into<RuleBuf>,
    {
        Self::from_rules(rules::all().collect(), Prefilter::builtin(), rules)
    }

    /// Returns a scanner with the built-in rules and those of files, which were checked when the files were parsed.
    ///
    /// # Errors
    /// The first rule that cannot be used beside those of other files: its id is taken, or there is too little memory for it.
    #[cfg(feature = "rule-files")]
    pub fn with_rule_files<'f>(files: impl IntoIterator<Item = &'f RuleFile>) -> Result<Self, RuleError> {
        let builtin: Vec<_> = rules::all().collect();
        let mut taken = Taken::by(builtin.iter().copied());
        let rules = files.into_iter().flat_map(RuleFile::checked);
        let rules = rules.map(|(rule, checked)| {
            checked.join(rule, &mut taken)?;
            Ok((rule.clone(), checked.clone()))
        });
        Ok(Self::of_checked(builtin, Prefilter::builtin(), rules.collect::<Result<_, _>>()?))
    }

    /// Returns a scanner with only the given rules.
    ///
    /// # Errors
    /// The first rule that cannot be used, with the reason.
    pub fn only<R>(rules: impl IntoIterator<Item = R>) -> Result<Self, RuleError>
    where
        R: Into<RuleBuf>,
    {
        Self::from_rules(Vec::new(), Prefilter::without_rules(), rules)
    }

    fn from_rules<R>(
        builtin: Vec<&'static Rule<'static>>,
        prefilter: Prefilter,
        rules: impl IntoIterator<Item = R>,
    ) -> Result<Self, RuleError>
    where
        R: Into<RuleBuf>,
    {
        let mut taken = Taken::by(builtin.iter().copied());
        let rules = rules.into_iter().map(|rule| {
            let rule = rule.into();
            let checked = CheckedPatterns::of(&rule, &mut taken)?;
            Ok((rule, checked))
        });
        let rules = rules.collect::<Result<_, _>>()?;
        Ok(Self::of_checked(builtin, prefilter, rules))
    }

    fn of_checked(
        builtin: Vec<&'static Rule<'static>>,
        prefilter: Prefilter,
        rules: Vec<(RuleBuf, CheckedPatterns)>,
    ) -> Self {
        let mut exact = Exact::of_table(&builtin);
        let mut user = Vec::with_capacity(rules.len());
        for (rule, checked) in rules {
            exact.add_rule(rule.severity, rule.category, checked.patterns);
            user.push(rule);
        }
        let patterns_of = |rule: &&Rule<'_>| rule.patterns.len();
        let count = builtin.iter().map(patterns_of).sum();
        let prefilter = LazyPrefilter::of(prefilter).with(count, exact.custom_patterns());
        Self::of_parts(Parts { builtin, user, exact, prefilter, listed: OnceLock::new() })
    }

    fn of_parts(parts: Parts) -> Self {
        Self { parts: Arc::new(parts), changes: Changes::default() }
    }

    /// Returns the same scanner with exactly these changes: rules that are off, or have another severity. Changes of
    /// unknown rules have no effect.
    #[must_use]
    pub fn changed(&self, changes: &[RuleChange]) -> Self {
        let ids = self.parts.builtin.iter().map(|rule| rule.id);
        let ids = ids.chain(self.parts.user.iter().map(|rule| rule.id.as_str()));
        Self { parts: Arc::clone(&self.parts), changes: Changes::of(changes, ids) }
    }

    /// Returns the changes of its rules.
    pub fn changes(&self) -> impl Iterator<Item = &RuleChange> {
        self.changes.iter()
    }

    /// Returns those of its rules that are off.
    pub fn rules_off(&self) -> impl Iterator<Item = &RuleChange> {
        self.changes().filter(|change| change.severity.is_none())
    }

    /// Returns every rule as written, in table order: the built-in ones, then the custom ones.
    pub fn rules(&self) -> &[RuleBuf] {
        self.parts.listed.get_or_init(|| {
            let builtin = self.parts.builtin.iter().copied().map(RuleBuf::from);
            builtin.chain(self.parts.user.iter().cloned()).collect()
        })
    }

    /// Whether the built-in rules are among its rules.
    #[must_use]
    pub fn has_builtin_rules(&self) -> bool {
        !self.parts.builtin.is_empty()
    }

    /// Returns the custom rules in order.
    #[must_use]
    pub fn own_rules(&self) -> &[RuleBuf] {
        &self.parts.user
    }

    /// Scans a Markdown text with the default limits.
    pub fn scan<'t>(&'t self, text: &'t str) -> ScanReport<'t> {
        self.scan_with(text, &ScanOptions::default())
    }

    /// Scans a text.
    pub fn scan_with<'t>(&'t self, text: &'t str, options: &ScanOptions) -> ScanReport<'t> {
        self.scan_by(text, options, Method::Prefiltered).0
    }

    /// Scans a text by trying every pattern on it, in every view. Slow: the reference for [`Self::scan_with`].
    #[doc(hidden)]
    pub fn scan_exhaustively<'t>(&'t self, text: &'t str, options: &ScanOptions) -> ScanReport<'t> {
        self.scan_by(text, options, Method::Exhaustive).0
    }

    /// Scans a text by a given method and counts the cost.
    #[doc(hidden)]
    pub fn scan_by<'t>(
        &'t self,
        text: &'t str,
        options: &ScanOptions,
        method: Method,
    ) -> (ScanReport<'t>, Work) {
        let mut work = Work::default();
        let mut run = self.parts.exact.start(options.syntax, options.max_findings, &self.changes);
        let raw = self.candidates(text, method, &mut work);
        run.search(text, &raw, |span| (span, TextView::Raw));
        if options.deobfuscate == Deobfuscate::Suspicious {
            let mut decoded: Vec<Decoded> = Vec::new();
            each_decoded(text, |found| decoded.push(found));
            if let Some(deobfuscated) = deobfuscate(text, raw.obfuscations().with(at_beginning(text))) {
                let view = deobfuscated.text();
                work.deobfuscated += view.len();
                let patterns = self.candidates(view, method, &mut work);
                run.search(view, &patterns, |span| (deobfuscated.raw_span(span), TextView::Deobfuscated));
                // An encoding can itself be obfuscated; usually it is not, and was found already.
                let mut disguised = Vec::new();
                each_decoded(view, |found| {
                    disguised.push(Decoded { span: deobfuscated.raw_span(found.span), ..found });
                });
                let known: HashSet<&Decoded> = decoded.iter().collect();
                disguised.retain(|found| !known.contains(found));
                decoded.append(&mut disguised);
            }
            self.search_decoded(decoded, &mut run, method, &mut work);
        }
        work.exact = run.work();
        let (hits, truncated) = run.finish();
        let rules_off = self.rules_off().collect();
        (ScanReport { findings: self.findings(text, &hits), truncated, rules_off }, work)
    }

    /// Searches the texts encoded in a text, and those encoded in them.
    fn search_decoded(&self, mut due: Vec<Decoded>, run: &mut Run<'_>, method: Method, work: &mut Work) {
        for depth in 1..=MAX_DEPTH {
            let mut deeper = Vec::new();
            for Decoded { span, text } in due {
                work.decoded += text.len();
                let patterns = self.candidates(&text, method, work);
                run.search_decoded(&text, &patterns, &span);
                // A decoded text may be obfuscated.
                let obfuscations = patterns.obfuscations().with(at_beginning(&text));
                if let Some(deobfuscated) = deobfuscate(&text, obfuscations) {
                    let view = deobfuscated.text();
                    work.deobfuscated += view.len();
                    let patterns = self.candidates(view, method, work);
                    run.search_decoded(view, &patterns, &span);
                }
                if depth < MAX_DEPTH {
                    each_decoded(&text, |inner| deeper.push(Decoded { span: span.clone(), ..inner }));
                }
            }
            due = deeper;
        }
    }

    /// Returns the patterns that can match a view of the text, and possible obfuscations.
    fn candidates(&self, view: &str, method: Method, work: &mut Work) -> Candidates {
        if method != Method::Prefiltered {
            return Candidates::all(self.parts.exact.patterns());
        }
        let mut found = Candidates::none();
        work.prefilter += self.parts.prefilter.run(view, self.parts.exact.custom_patterns(), &mut found);
        found
    }

    /// Converts hits, which are in the order of the text, to findings.
    fn findings<'t>(&'t self, text: &'t str, hits: &[Hit]) -> Vec<Finding<'t>> {
        let mut cursor = PositionCursor::new(text);
        let finding = |hit: &Hit| {
            let facts = self.facts(hit.rule)?;
            let position = cursor.advance(hit.span.start);
            Some(Finding {
                rule_id: facts.id,
                category: facts.category,
                severity: hit.severity,
                lowered: hit.lowered,
                changed: self.changes.get(hit.rule).map(|change| change.by.as_str()),
                description: facts.summary,
                remedy: facts.remedy,
                matched_text: first_chars(text.get(hit.span.clone()).unwrap_or_default(), MATCHED_TEXT_CHARS),
                span: hit.span.clone(),
                position: cursor.chars(),
                line: position.line,
                column: position.column,
                view: hit.view,
                why: self.note(hit),
                completed_by: None,
            })
        };
        let mut findings: Vec<Finding<'t>> = hits.iter().filter_map(finding).collect();
        // In the order of the commands, since the cursor only advances.
        let mut chained: Vec<(&mut Finding<'t>, &Range<usize>)> = findings
            .iter_mut()
            .zip(hits)
            .filter_map(|(finding, hit)| Some((finding, hit.then.as_ref()?)))
            .collect();
        chained.sort_by_key(|(_, then)| then.start);
        let mut cursor = PositionCursor::new(text);
        for (finding, then) in chained {
            let position = cursor.advance(then.start);
            let command = text.get(then.clone()).unwrap_or_default();
            let command = command.lines().next().unwrap_or_default();
            finding.completed_by = Some(ChainStep {
                text: first_chars(command, MATCHED_TEXT_CHARS),
                span: then.clone(),
                line: position.line,
                column: position.column,
            });
        }
        findings
    }

    /// Returns the note of the pattern that matched.
    fn note(&self, hit: &Hit) -> &str {
        let Parts { builtin, user, .. } = &*self.parts;
        if let Some(rule) = builtin.get(hit.rule) {
            return rule.patterns.get(hit.pattern).map_or("", |pattern| pattern.note);
        }
        let pattern = user.get(hit.rule - builtin.len()).and_then(|rule| rule.patterns.get(hit.pattern));
        pattern.map_or("", |pattern| pattern.note.as_str())
    }

    /// Returns the facts about a rule that findings repeat.
    fn facts(&self, rule: usize) -> Option<Rule<'_>> {
        let Parts { builtin, user, .. } = &*self.parts;
        if let Some(rule) = builtin.get(rule) {
            return Some(**rule);
        }
        user.get(rule - builtin.len()).map(RuleBuf::facts)
    }
}

fn first_chars(text: &str, count: usize) -> &str {
    let end = text.char_indices().nth(count).map_or(text.len(), |(end, _)| end);
    text.get(..end).unwrap_or_default()
}
