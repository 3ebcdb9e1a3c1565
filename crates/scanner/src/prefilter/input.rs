//! Input of the tables: grams and runs of patterns.

use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::util::syntax;
use regex_syntax::hir::Hir;

use super::bucket::Core;
use super::extent::MatchExtent;
use super::frequency::Frequency;
use super::gram::{self, Gram, Grams};
use super::graph::Graph;
use super::run::{self, Run};
use crate::deobfuscate::Obfuscation;
use crate::dialect::dialect;

/// Grams with more occurrences per million bytes than this are not worth searching if there is a long run.
const OFTEN_PER_MILLION: u64 = 1_000;

/// Meaning of a hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PatternId {
    /// The pattern with this number may match.
    Rule(usize),
    /// The text may be obfuscated in this way.
    Trigger(Obfuscation),
}

/// Everything that the prefilter searches for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PrefilterInput {
    pub(super) grams: Vec<(PatternId, Gram)>,
    pub(super) runs: Vec<(PatternId, Run)>,
    /// Patterns that cannot be searched for, and must be expected everywhere.
    pub(super) always: Vec<PatternId>,
    /// Extent of the matches of each pattern around its hits.
    pub(super) extents: Vec<Option<MatchExtent>>,
}

impl PrefilterInput {
    /// Adds a pattern, in which named fragments must be expanded. See [`Self::add`].
    pub(super) fn add_pattern(&mut self, pattern: &str, frequency: Frequency, widths: &[usize]) {
        let number = self.extents.len();
        let extent = self.add(PatternId::Rule(number), pattern, frequency, widths);
        self.extents.push(extent);
    }

    /// The cores of the grams.
    pub(super) fn cores(&self) -> Vec<Core> {
        self.grams.iter().map(|(_, gram)| gram.core).collect()
    }

    /// Adds the grams or the run of a pattern. A pattern that cannot be compiled is expected everywhere; the exact
    /// engine reports its error.
    ///
    /// The grams are around nodes that accept at most as many bytes as one of `widths` allows, which are tried until
    /// the grams are rare.
    pub(super) fn add(
        &mut self,
        id: PatternId,
        pattern: &str,
        frequency: Frequency,
        widths: &[usize],
    ) -> Option<MatchExtent> {
        let graph = compile(pattern);
        let mut cut = None;
        for most in widths {
            cut = graph.as_ref().and_then(|graph| gram::of(graph, frequency, *most));
            if cut.as_ref().is_some_and(is_rare) {
                break;
            }
        }
        // A rare gram is best, then a run, then a frequent gram.
        let run =
            if cut.as_ref().is_some_and(is_rare) { None } else { parse(pattern).as_ref().and_then(run::of) };
        match (graph, run, cut) {
            (Some(graph), Some(run), _) => {
                self.runs.push((id, run));
                Some(MatchExtent::around(&graph, &graph.taking(run.bytes)))
            }
            (Some(graph), None, Some(cut)) => {
                self.grams.extend(cut.grams.into_iter().map(|gram| (id, gram)));
                Some(MatchExtent::around(&graph, &cut.nodes))
            }
            _ => {
                self.always.push(id);
                None
            }
        }
    }
}

/// Whether it is worth searching for these grams even if there is a long run.
const fn is_rare(grams: &Grams) -> bool {
    grams.per_million <= OFTEN_PER_MILLION
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
