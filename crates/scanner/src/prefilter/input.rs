//! Input of the tables: grams and runs of patterns.

use regex_automata::nfa::thompson::NFA;
use regex_syntax::hir::Hir;

use super::bucket::Core;
use super::extent::MatchExtent;
use super::frequency::Frequency;
use super::gram::{self, Effort, Gram, Grams};
use super::graph::Graph;
use super::run::{self, Run};
use crate::deobfuscate::Obfuscation;

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
    /// The cores of the grams.
    pub(super) fn cores(&self) -> Vec<Core> {
        self.grams.iter().map(|(_, gram)| gram.core).collect()
    }

    /// Adds a pattern that was compiled as the exact engine does. Patterns with a lower number may be missing.
    pub(super) fn add_automaton(
        &mut self,
        number: usize,
        parsed: &Hir,
        nfa: &NFA,
        frequency: Frequency,
        efforts: &[Effort],
    ) {
        let extent = self.add_graph(PatternId::Rule(number), parsed, &Graph::new(nfa), frequency, efforts);
        if self.extents.len() <= number {
            self.extents.resize(number + 1, None);
        }
        if let Some(place) = self.extents.get_mut(number) {
            *place = extent;
        }
    }

    /// Adds the grams or the run of a pattern with this graph. The efforts to find grams are made one after another, until the
    /// grams are rare.
    pub(super) fn add_graph(
        &mut self,
        id: PatternId,
        parsed: &Hir,
        graph: &Graph,
        frequency: Frequency,
        efforts: &[Effort],
    ) -> Option<MatchExtent> {
        let mut cut = None;
        for effort in efforts {
            cut = gram::of(graph, frequency, *effort);
            if cut.as_ref().is_some_and(is_rare) {
                break;
            }
        }
        // A rare gram is best, then a run, then a frequent gram.
        let run = if cut.as_ref().is_some_and(is_rare) { None } else { run::of(parsed) };
        match (run, cut) {
            (Some(run), _) => {
                self.runs.push((id, run));
                Some(MatchExtent::around(graph, &graph.taking(run.bytes)))
            }
            (None, Some(cut)) => {
                self.grams.extend(cut.grams.into_iter().map(|gram| (id, gram)));
                Some(MatchExtent::around(graph, &cut.nodes))
            }
            (None, None) => {
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
