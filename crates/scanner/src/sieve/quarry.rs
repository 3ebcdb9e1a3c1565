//! What the sieve looks for on behalf of patterns.

use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::util::syntax;
use regex_syntax::hir::Hir;

use super::bucket::Core;
use super::frequency::Frequency;
use super::graph::Graph;
use super::reach::Reach;
use super::run::{self, Run};
use super::sightings::{PARTS, Reaches};
use super::window::{self, Window};
use crate::exact::dialect;

/// Windows that occur more often than this in a million bytes are not worth looking for if there is a long run.
const OFTEN_PER_MILLION: u64 = 1_000;

/// What it means that something was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Goal {
    /// The shape with this number may match.
    Shape(usize),
    /// The folded view may differ from the raw one.
    Fold,
}

/// Everything that is looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Quarry {
    /// Windows, each with the part of its pattern that it stands for.
    pub(super) windows: Vec<(Goal, usize, Window)>,
    pub(super) runs: Vec<(Goal, Run)>,
    /// What could not be looked for, and so has to be expected everywhere.
    pub(super) always: Vec<Goal>,
    /// How far matches extend around each part, shape by shape.
    pub(super) reaches: Vec<Reaches>,
}

impl Quarry {
    /// Adds a shape, whose pattern must not hold named fragments any more.
    pub(super) fn add_shape(&mut self, pattern: &str, frequency: Frequency) {
        let shape = self.reaches.len();
        let reaches = self.add(Goal::Shape(shape), pattern, PARTS, frequency);
        self.reaches.push(reaches);
    }

    /// The cores of the windows.
    pub(super) fn cores(&self) -> Vec<Core> {
        self.windows.iter().map(|(_, _, window)| window.core).collect()
    }

    /// Adds what folding needs to see.
    pub(super) fn add_fold(&mut self, pattern: &str, frequency: Frequency) {
        self.add(Goal::Fold, pattern, 1, frequency);
    }

    /// A pattern that cannot be compiled is expected everywhere; whoever comes to run it says what is wrong with it.
    fn add(&mut self, goal: Goal, pattern: &str, parts: usize, frequency: Frequency) -> Reaches {
        let mut reaches = Reaches::default();
        let graph = compile(pattern);
        let cuts = graph.as_ref().map_or_else(Vec::new, |graph| window::of(graph, frequency));
        let rare = cuts.first().is_some_and(|windows| windows.per_million <= OFTEN_PER_MILLION);
        let run = if rare { None } else { parse(pattern).as_ref().and_then(run::of) };
        match (graph, run) {
            (Some(graph), Some(run)) => {
                self.runs.push((goal, run));
                reaches = [Some(Reach::around(&graph, &graph.taking(run.bytes))), None];
            }
            (Some(graph), None) if !cuts.is_empty() => {
                for (part, (cut, reach)) in cuts.into_iter().take(parts).zip(&mut reaches).enumerate() {
                    *reach = Some(Reach::around(&graph, &cut.nodes));
                    self.windows.extend(cut.windows.into_iter().map(|window| (goal, part, window)));
                }
            }
            _ => self.always.push(goal),
        }
        reaches
    }
}

/// Compiles a pattern just as the exact engine does.
pub(super) fn compile(pattern: &str) -> Option<Graph> {
    graph_of(&parse(pattern)?)
}

/// The same for a pattern that was parsed.
pub(crate) fn graph_of(pattern: &Hir) -> Option<Graph> {
    let config = thompson::Config::new().which_captures(WhichCaptures::None).utf8(false);
    let nfa = thompson::Compiler::new().configure(config).build_from_hir(pattern);
    nfa.ok().map(|nfa| Graph::new(&nfa))
}

/// Parses a pattern just as the exact engine does.
pub(crate) fn parse(pattern: &str) -> Option<Hir> {
    syntax::parse_with(pattern, &dialect()).ok()
}
