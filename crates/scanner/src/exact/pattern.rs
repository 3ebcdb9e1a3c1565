//! From the text of a pattern to something that searches.

use regex_automata::meta::{self, Regex};
use regex_automata::nfa::thompson::backtrack::BoundedBacktracker;
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::util::syntax;
use regex_syntax::hir::{Hir, Look};

use crate::dialect::dialect;
use crate::fragments;

/// The most memory that one compiled pattern may take before its lazy automaton.
const NFA_BYTES: usize = 1 << 20;
/// The most memory for the lazy automaton of a pattern, each way.
const LAZY_DFA_BYTES: usize = 1 << 20;

/// Why a pattern cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PatternError {
    #[error("there is no fragment called `{{{0}}}`")]
    UnknownFragment(String),
    #[error("the pattern is not a regular expression: {0}")]
    Syntax(String),
    #[error("the pattern compiles to more than {NFA_BYTES} bytes: shorten its repetitions or classes")]
    TooLarge,
}

/// Compiles a pattern with the rules' dialect: bytes, ASCII classes, `^` and `$` at line ends.
pub(crate) fn compile(pattern: &str) -> Result<Regex, PatternError> {
    build(&parse(&[expand(pattern)?])?)
}

/// Compiles patterns into one expression that says which of them it found.
pub(crate) fn compile_list(patterns: &[&str]) -> Result<Regex, PatternError> {
    let expanded = patterns.iter().map(|pattern| expand(pattern)).collect::<Result<Vec<_>, _>>()?;
    build(&parse(&expanded)?)
}

/// Compiles patterns into one expression that matches where any of them does, and says whether that can be only where a line
/// begins; none is nothing to compile.
pub(super) fn compile_any(patterns: &[&str]) -> Result<Option<(Regex, bool)>, PatternError> {
    let expanded = patterns.iter().map(|pattern| expand(pattern)).collect::<Result<Vec<_>, _>>()?;
    if expanded.is_empty() {
        return Ok(None);
    }
    let parsed = parse(&expanded)?;
    let begins_line = |hir: &Hir| hir.properties().look_set_prefix().contains(Look::StartLF);
    Ok(Some((build(&parsed)?, parsed.iter().all(begins_line))))
}

/// Parses patterns that hold no named fragments any more.
pub(super) fn parse(patterns: &[String]) -> Result<Vec<Hir>, PatternError> {
    let parsed = syntax::parse_many_with(patterns, &dialect());
    parsed.map_err(|error| PatternError::Syntax(last_line(&error.to_string())))
}

/// Compiles parsed patterns into one expression that searches quickly.
pub(super) fn build(patterns: &[Hir]) -> Result<Regex, PatternError> {
    // The prefilter has looked for literals already, and what it leaves to search is short. Everything that only makes
    // long searches faster costs more to build than it saves.
    let config = meta::Config::new()
        .auto_prefilter(false)
        .dfa(false)
        .onepass(false)
        .utf8_empty(false)
        .which_captures(WhichCaptures::Implicit)
        .nfa_size_limit(Some(NFA_BYTES))
        .hybrid_cache_capacity(LAZY_DFA_BYTES);
    let built = meta::Builder::new().configure(config).build_many_from_hir(patterns);
    built.map_err(|error| match error.size_limit() {
        Some(_) => PatternError::TooLarge,
        None => PatternError::Syntax(last_line(&error.to_string())),
    })
}

/// Compiles parsed patterns into one that is ready in half the time, and searches slowly.
pub(super) fn build_plain(patterns: &[Hir]) -> Result<BoundedBacktracker, PatternError> {
    let config = thompson::Config::new()
        .utf8(false)
        .which_captures(WhichCaptures::Implicit)
        .shrink(false)
        .nfa_size_limit(Some(NFA_BYTES));
    let nfa = thompson::Compiler::new().configure(config).build_many_from_hir(patterns);
    // What was parsed can only be too large.
    nfa.and_then(BoundedBacktracker::new_from_nfa).map_err(|_| PatternError::TooLarge)
}

/// Replaces the named fragments of a pattern.
pub(crate) fn expand(pattern: &str) -> Result<String, PatternError> {
    fragments::expand(pattern).map_err(|name| PatternError::UnknownFragment(name.to_owned()))
}

/// The parser of patterns draws a picture over several lines and says what is wrong in the last.
fn last_line(message: &str) -> String {
    let line = message.lines().last().unwrap_or(message);
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_say_what_is_wrong() {
        let error = |pattern: &str| compile(pattern).unwrap_err().to_string();
        assert_eq!(error("a{shel}"), "there is no fragment called `{shel}`");
        assert_eq!(error("a("), "the pattern is not a regular expression: unclosed group");
        assert!(error("(?:[a-z]{1000}){1000}").contains("shorten"));
    }

    #[test]
    fn classes_are_ascii_and_case_folding_too() {
        let regex = compile(r"(?i)^\bsk\w$").unwrap();
        assert!(regex.is_match("x\nSKy\n"));
        assert!(!regex.is_match("ſky") && !regex.is_match("s\u{212a}y") && !regex.is_match("ské"));
    }
}
