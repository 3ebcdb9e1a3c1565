//! Rules with a regular expression. They can only make a decision stricter, because a command can always be written differently.
//!
//! All expressions of a scope are compiled to one multi-pattern automaton (regex-automata), so matching takes linear time.
//! Lookaround and backreferences need backtracking and are refused.

use regex_automata::meta::Regex;
use regex_automata::{Input, PatternSet};

use super::rule::{CommandPattern, CommandRule, RegexScope};

/// Maximum memory of the compiled expressions of one scope, in bytes.
const MAX_PROGRAM_BYTES: usize = 8 << 20;

/// The expressions of a policy, by scope.
#[derive(Debug, Clone, Default)]
pub(crate) struct Expressions {
    places: Vec<(RegexScope, Regex, Vec<usize>)>,
}

impl Expressions {
    /// Compiles the expressions of `rules`, which are identified by their index.
    pub(crate) fn compile(rules: &[&CommandRule]) -> Result<Self, String> {
        let mut places = Vec::new();
        for over in RegexScope::ALL {
            let (numbers, patterns): (Vec<usize>, Vec<&str>) = rules
                .iter()
                .enumerate()
                .filter_map(|(number, rule)| match &rule.pattern {
                    CommandPattern::Regex { pattern, over: place } if *place == over && rule.enabled => {
                        Some((number, pattern.as_str()))
                    }
                    _ => None,
                })
                .unzip();
            if !patterns.is_empty() {
                places.push((over, build(&patterns)?, numbers));
            }
        }
        Ok(Self { places })
    }

    /// Returns whether any expression has this scope.
    pub(crate) fn look_at(&self, over: RegexScope) -> bool {
        self.places.iter().any(|(place, ..)| *place == over)
    }

    /// Returns the indices of the rules whose expression matches in `text`.
    pub(crate) fn find(&self, over: RegexScope, text: &str) -> Vec<usize> {
        let Some((_, regex, numbers)) = self.places.iter().find(|(place, ..)| *place == over) else {
            return Vec::new();
        };
        if !regex.is_match(text) {
            return Vec::new();
        }
        let mut found = PatternSet::new(regex.pattern_len());
        regex.which_overlapping_matches(&Input::new(text), &mut found);
        found.iter().filter_map(|pattern| numbers.get(pattern.as_usize()).copied()).collect()
    }
}

/// Compiles expressions, or returns the error message.
pub(crate) fn build(patterns: &[&str]) -> Result<Regex, String> {
    // Whether the engine can build full DFAs depends on features that other crates enable. The memory limit of rules must not
    // depend on them.
    let config = Regex::config().nfa_size_limit(Some(MAX_PROGRAM_BYTES)).onepass(false).dfa(false);
    let built = Regex::builder().configure(config).build_many(patterns);
    built.map_err(|error| error.syntax_error().map_or_else(|| error.to_string(), ToString::to_string))
}
