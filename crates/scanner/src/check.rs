//! Checks that every rule must pass before it is used: built-in rules in tests, custom rules when a scanner is made.

use std::collections::HashSet;
use std::sync::Arc;

use crate::decoded::each_decoded;
use crate::deobfuscate::{Deobfuscated, Obfuscations, deobfuscate};
use crate::error::{RuleError, RuleProblem};
use crate::exact::{Compiled, ExactWork, PatternError, compile};
use crate::regions::{RegionMap, Syntax};
use crate::rule::{ExceptionBuf, PatternBuf, Rule, RuleBuf};

/// Maximum length of an id.
pub(crate) const MAX_ID_BYTES: usize = 64;
/// Maximum length of a summary, a remedy or a note.
const MAX_PROSE_CHARS: usize = 400;
/// Maximum size of a pattern as written.
const MAX_PATTERN_BYTES: usize = 8192;
/// Maximum size of an example.
const MAX_EXAMPLE_BYTES: usize = 16384;
/// Maximum number of patterns of a rule, and of conditions of a pattern.
const MAX_PATTERNS: usize = 64;
/// Maximum number of examples of each kind.
const MAX_EXAMPLES: usize = 256;
/// Maximum memory of all compiled patterns, which also bounds the compile time.
const MAX_MEMORY: usize = 32 << 20;

/// Resources used by earlier rules.
#[derive(Debug)]
pub(crate) struct Taken {
    ids: HashSet<String>,
    /// Memory of their patterns.
    bytes: usize,
}

impl Taken {
    /// Returns the ids that these rules use.
    pub(crate) fn by<'r>(rules: impl Iterator<Item = &'r Rule<'r>>) -> Self {
        Self { ids: rules.map(|rule| rule.id.to_owned()).collect(), bytes: 0 }
    }

    fn id(&mut self, id: &str) -> Result<(), RuleProblem> {
        if self.ids.insert(id.to_owned()) { Ok(()) } else { Err(RuleProblem::DuplicateId) }
    }

    fn memory(&mut self, bytes: usize) -> Result<(), RuleProblem> {
        self.bytes += bytes;
        if self.bytes > MAX_MEMORY { Err(RuleProblem::TooHeavy { max: MAX_MEMORY }) } else { Ok(()) }
    }
}

/// What the check of a rule leaves: its patterns, ready to search.
#[derive(Debug, Clone)]
pub(crate) struct CheckedPatterns {
    pub(crate) patterns: Vec<Arc<Compiled>>,
    /// Memory of the patterns and their conditions.
    #[cfg_attr(
        not(feature = "rule-files"),
        expect(dead_code, reason = "only the rules of files are joined")
    )]
    bytes: usize,
}

impl CheckedPatterns {
    /// Checks a rule and compiles its patterns. Adds its use of resources to `taken`.
    pub(crate) fn of(rule: &RuleBuf, taken: &mut Taken) -> Result<Self, RuleError> {
        let before = taken.bytes;
        let compiled = check(rule, taken).map_err(|problem| RuleError { rule: rule.id.clone(), problem })?;
        let patterns = compiled.into_iter().map(Arc::new).collect();
        Ok(Self { patterns, bytes: taken.bytes - before })
    }

    /// Adds the use of resources of its rule to `taken`, among other rules than those that it was checked with.
    #[cfg(feature = "rule-files")]
    pub(crate) fn join(&self, rule: &RuleBuf, taken: &mut Taken) -> Result<(), RuleError> {
        let joined = taken.id(&rule.id).and_then(|()| taken.memory(self.bytes));
        joined.map_err(|problem| RuleError { rule: rule.id.clone(), problem })
    }
}

fn check(rule: &RuleBuf, taken: &mut Taken) -> Result<Vec<Compiled>, RuleProblem> {
    check_id(&rule.id)?;
    taken.id(&rule.id)?;
    check_texts(rule)?;
    let patterns = (1..).zip(&rule.patterns).map(|(number, pattern)| check_pattern(number, pattern, taken));
    let compiled = patterns.collect::<Result<Vec<_>, _>>()?;
    check_examples(rule, &compiled)?;
    Ok(compiled)
}

fn check_id(id: &str) -> Result<(), RuleProblem> {
    let fits = (3..=MAX_ID_BYTES).contains(&id.len())
        && id.starts_with(|first: char| first.is_ascii_uppercase())
        && id.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    if fits { Ok(()) } else { Err(RuleProblem::Id) }
}

fn check_texts(rule: &RuleBuf) -> Result<(), RuleProblem> {
    let proses = [
        ("summary", &rule.summary, "in one line what was found"),
        ("remedy", &rule.remedy, "in one sentence what the author of the text can do about it"),
    ];
    for (field, text, hint) in proses {
        if text.trim().is_empty() {
            return Err(RuleProblem::EmptyText { field, hint });
        }
        check_length(field, text.chars().count(), MAX_PROSE_CHARS)?;
    }
    check_count("patterns", rule.patterns.len(), MAX_PATTERNS)?;
    check_count("examples in `matches`", rule.matches.len(), MAX_EXAMPLES)?;
    check_count("examples in `clean`", rule.clean.len(), MAX_EXAMPLES)?;
    for example in rule.matches.iter().chain(&rule.clean) {
        check_length("example", example.len(), MAX_EXAMPLE_BYTES)?;
    }
    match (rule.patterns.is_empty(), rule.matches.is_empty()) {
        (true, _) => Err(RuleProblem::NoPatterns),
        (_, true) => Err(RuleProblem::NoExample),
        _ => Ok(()),
    }
}

fn check_length(field: &'static str, length: usize, max: usize) -> Result<(), RuleProblem> {
    if length > max { Err(RuleProblem::TooLong { field, length, max }) } else { Ok(()) }
}

fn check_count(field: &'static str, count: usize, max: usize) -> Result<(), RuleProblem> {
    if count > max { Err(RuleProblem::TooMany { field, count, max }) } else { Ok(()) }
}

fn check_pattern(number: usize, pattern: &PatternBuf, taken: &mut Taken) -> Result<Compiled, RuleProblem> {
    check_length("note", pattern.note.chars().count(), MAX_PROSE_CHARS)?;
    check_length("pattern", pattern.regex.len(), MAX_PATTERN_BYTES)?;
    check_count("conditions in `unless`", pattern.exceptions.len(), MAX_PATTERNS)?;
    let wrong = |error: PatternError| RuleProblem::Pattern { number, reason: error.to_string() };
    for exception in &pattern.exceptions {
        let (ExceptionBuf::Match(regex) | ExceptionBuf::Before(regex) | ExceptionBuf::After(regex)) =
            exception
        else {
            continue;
        };
        check_length("pattern", regex.len(), MAX_PATTERN_BYTES)?;
        let condition = compile(regex);
        let condition =
            condition.map_err(|error| RuleProblem::Exception { number, reason: error.to_string() })?;
        taken.memory(condition.memory_usage())?;
    }
    let exceptions = pattern.exceptions.iter().map(ExceptionBuf::as_exception);
    let compiled = Compiled::from_parts(&pattern.regex, pattern.regions, exceptions).map_err(wrong)?;
    taken.memory(compiled.memory_usage())?;
    if compiled.matches_nothing() {
        return Err(RuleProblem::MatchesEmpty { number });
    }
    match compiled.look_past_is_bounded(&pattern.regex).map_err(wrong)? {
        true => Ok(compiled),
        false => Err(RuleProblem::Quadratic { number }),
    }
}

fn check_examples(rule: &RuleBuf, patterns: &[Compiled]) -> Result<(), RuleProblem> {
    for (number, text) in (1..).zip(&rule.matches) {
        if first_match(patterns, text).is_none() {
            return Err(RuleProblem::Silent { number, text: beginning(text) });
        }
    }
    for (number, text) in (1..).zip(&rule.clean) {
        if let Some(matched) = first_match(patterns, text) {
            return Err(RuleProblem::Fires { number, matched: beginning(&matched) });
        }
    }
    Ok(())
}

/// Returns the first match of a rule in an example: as is, deobfuscated or decoded.
fn first_match(patterns: &[Compiled], text: &str) -> Option<String> {
    let deobfuscated = deobfuscate(text, Obfuscations::ALL);
    let mut decoded = Vec::new();
    each_decoded(text, |found| decoded.push(found.text));
    let read = |view| RegionMap::new(view, Syntax::Markdown);
    let views = std::iter::once(text).chain(deobfuscated.as_ref().map(Deobfuscated::text)).map(read);
    let views = views.chain(decoded.iter().map(|text| RegionMap::of_decoded(text)));
    views
        .flat_map(|mut view| patterns.iter().filter_map(move |pattern| first_span(pattern, &mut view)))
        .next()
}

fn first_span(pattern: &Compiled, regions: &mut RegionMap<'_>) -> Option<String> {
    let text = regions.text();
    let mut found = None;
    pattern.search(regions, 0..text.len(), &mut ExactWork::default(), |_, span| {
        found = text.get(span).map(str::to_owned);
        false
    });
    found
}

/// Messages quote at most one line of an example.
fn beginning(text: &str) -> String {
    const MAX_CHARS: usize = 80;
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => text.get(..end).unwrap_or_default().to_owned() + "…",
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pattern that no example of its rule needs is dead or untested.
    #[test]
    fn every_builtin_pattern_is_needed_by_an_example() {
        let mut idle = Vec::new();
        for rule in crate::rules::all() {
            for pattern in rule.patterns {
                let compiled = [Compiled::new(pattern).unwrap()];
                if !rule.matches.iter().any(|text| first_match(&compiled, text).is_some()) {
                    idle.push(format!("{}: {}", rule.id, pattern.note));
                }
            }
        }
        assert!(idle.is_empty(), "{}", idle.join("\n"));
    }

    /// All at once, whereas the check of a custom rule stops at the first.
    #[test]
    fn every_builtin_example_does_what_it_says() {
        let mut wrong = Vec::new();
        for rule in crate::rules::all() {
            let patterns: Vec<_> =
                rule.patterns.iter().map(|pattern| Compiled::new(pattern).unwrap()).collect();
            let silent = rule.matches.iter().filter(|text| first_match(&patterns, text).is_none());
            wrong.extend(silent.map(|text| format!("{} is silent in {text:?}", rule.id)));
            let fires = rule.clean.iter().filter_map(|text| Some((text, first_match(&patterns, text)?)));
            wrong
                .extend(fires.map(|(text, matched)| format!("{} fires in {text:?} on {matched:?}", rule.id)));
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
