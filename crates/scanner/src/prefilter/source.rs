//! Input of the tables from patterns as they are written, for `build.rs` and tests: a custom pattern is compiled before.

use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::util::syntax;
use regex_syntax::hir::Hir;

use super::extent::MatchExtent;
use super::frequency::Frequency;
use super::gram::Effort;
use super::graph::Graph;
use super::input::{PatternId, PrefilterInput};
use crate::dialect::dialect;

impl PrefilterInput {
    /// Adds a pattern, in which named fragments must be expanded. See [`Self::add`].
    pub(super) fn add_pattern(&mut self, pattern: &str, frequency: Frequency, efforts: &[Effort]) {
        let number = self.extents.len();
        let extent = self.add(PatternId::Rule(number), pattern, frequency, efforts);
        self.extents.push(extent);
    }

    /// Adds the grams or the run of a pattern. A pattern that cannot be compiled is expected everywhere; the exact
    /// engine reports its error.
    pub(super) fn add(
        &mut self,
        id: PatternId,
        pattern: &str,
        frequency: Frequency,
        efforts: &[Effort],
    ) -> Option<MatchExtent> {
        let parsed = parse(pattern);
        let Some((parsed, graph)) = parsed.and_then(|parsed| graph_of(&parsed).map(|graph| (parsed, graph)))
        else {
            self.always.push(id);
            return None;
        };
        self.add_graph(id, &parsed, &graph, frequency, efforts)
    }
}

/// Compiles a pattern exactly as the exact engine does.
pub(super) fn compile(pattern: &str) -> Option<Graph> {
    graph_of(&parse(pattern)?)
}

/// The same for a parsed pattern.
pub(crate) fn graph_of(pattern: &Hir) -> Option<Graph> {
    let config = thompson::Config::new().which_captures(WhichCaptures::None).utf8(false);
    let nfa = thompson::Compiler::new().configure(config).build_from_hir(pattern);
    nfa.ok().map(|nfa| Graph::new(&nfa))
}

/// Parses a pattern exactly as the exact engine does.
pub(crate) fn parse(pattern: &str) -> Option<Hir> {
    syntax::parse_with(pattern, &dialect()).ok()
}
