//! Compiles patterns.

use regex_automata::meta::{self, Regex};
use regex_automata::nfa::thompson::WhichCaptures;
use regex_automata::util::syntax;
use regex_syntax::hir::{Hir, Look};

use crate::dialect::dialect;
use crate::fragments;

/// Maximum memory of one compiled pattern before its lazy automaton.
pub(super) const NFA_BYTES: usize = 1 << 20;
/// Maximum memory of a pattern's lazy automaton, per direction.
const LAZY_DFA_BYTES: usize = 1 << 20;

/// Why a pattern cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PatternError {
    #[error("unknown fragment `{{{0}}}`")]
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

/// Compiles patterns into one expression that reports which of them matched.
pub(crate) fn compile_list(patterns: &[&str]) -> Result<Regex, PatternError> {
    let expanded = patterns.iter().map(|pattern| expand(pattern)).collect::<Result<Vec<_>, _>>()?;
    build(&parse(&expanded)?)
}

/// Compiles patterns into one expression that matches where any of them does, and whether that can be only at the
/// start of a line; `None` for no patterns.
pub(super) fn compile_any(patterns: &[&str]) -> Result<Option<(Regex, bool)>, PatternError> {
    let expanded = patterns.iter().map(|pattern| expand(pattern)).collect::<Result<Vec<_>, _>>()?;
    if expanded.is_empty() {
        return Ok(None);
    }
    let parsed = parse(&expanded)?;
    let begins_line = |hir: &Hir| hir.properties().look_set_prefix().contains(Look::StartLF);
    Ok(Some((build(&parsed)?, parsed.iter().all(begins_line))))
}

/// Parses one pattern without named fragments.
pub(super) fn parse_expanded(pattern: &str) -> Result<Hir, PatternError> {
    let parsed = syntax::parse_with(pattern, &dialect());
    parsed.map_err(|error| PatternError::Syntax(last_line(&error.to_string())))
}

/// Parses patterns without named fragments.
pub(super) fn parse(patterns: &[String]) -> Result<Vec<Hir>, PatternError> {
    let parsed = syntax::parse_many_with(patterns, &dialect());
    parsed.map_err(|error| PatternError::Syntax(last_line(&error.to_string())))
}

/// Compiles parsed patterns into one expression that searches quickly.
pub(super) fn build(patterns: &[Hir]) -> Result<Regex, PatternError> {
    build_within(Some(NFA_BYTES), patterns)
}

/// The same, with this limit of the memory of its automaton.
pub(super) fn build_within(limit: Option<usize>, patterns: &[Hir]) -> Result<Regex, PatternError> {
    // The prefilter has searched for literals already, and leaves only short stretches. Optimisations for long
    // searches would cost more to build than they save.
    let config = meta::Config::new()
        .auto_prefilter(false)
        .dfa(false)
        .onepass(false)
        .utf8_empty(false)
        .which_captures(WhichCaptures::Implicit)
        .nfa_size_limit(limit)
        .hybrid_cache_capacity(LAZY_DFA_BYTES);
    let built = meta::Builder::new().configure(config).build_many_from_hir(patterns);
    built.map_err(|error| unusable(error.size_limit(), &error))
}

/// Returns why a pattern cannot be compiled: because of a limit, or of another error.
pub(super) fn unusable(limit: Option<usize>, error: &dyn std::error::Error) -> PatternError {
    match limit {
        Some(_) => PatternError::TooLarge,
        None => PatternError::Syntax(last_line(&error.to_string())),
    }
}

/// Parses one pattern.
#[cfg(test)]
pub(crate) fn parse_one(pattern: &str) -> Hir {
    parse(&[expand(pattern).unwrap()]).unwrap().remove(0)
}

/// Replaces the named fragments of a pattern.
pub(crate) fn expand(pattern: &str) -> Result<String, PatternError> {
    fragments::expand(pattern).map_err(|name| PatternError::UnknownFragment(name.to_owned()))
}

/// The parser's message draws the pattern over several lines; the last one has the reason.
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
        assert_eq!(error("a{shel}"), "unknown fragment `{shel}`");
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
