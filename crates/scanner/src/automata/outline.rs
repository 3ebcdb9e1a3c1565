//! Makes outlines: from the graph of a pattern, with a state for each set of nodes that the bytes so far can have led to.

use regex_automata::util::look::{Look, LookSet};
use regex_syntax::hir::Hir;

use super::loosen::loosened;
use super::make::{BEFORE, MOST_WORDS, Made, Source};
use super::walk::Before;
use crate::sieve::{Graph, graph_of, parse};

/// Returns the outline of a pattern whose matches may begin `anywhere`, or in some regions only.
pub(super) fn outline(pattern: &str, anywhere: bool) -> Made {
    let parsed = parse(pattern).expect("a pattern");
    let made = |pattern: &Hir| Made::of(&graph_of(pattern).expect("a small pattern"), anywhere);
    let exact = made(&parsed).filter(|made| made.size() <= MOST_WORDS);
    exact.or_else(|| made(&loosened(&parsed))).expect("a small outline")
}

impl Source for Graph {
    /// Nodes, in order, and what the last byte was.
    type State = (Vec<usize>, Before);
    /// Which nodes take a byte, and what it is to those that look at their neighbours.
    type Kind = (Vec<bool>, Before);

    fn idle(&self) -> [Self::State; 4] {
        BEFORE.map(|letter| (Vec::new(), Before::of(byte_of(letter))))
    }

    fn kind(&self, letter: Option<u8>) -> Self::Kind {
        let byte = byte_of(letter);
        ((0..self.len()).map(|node| self.node(node).bytes.contains(byte)).collect(), Before::of(byte))
    }

    fn step(
        &self,
        (nodes, before): &Self::State,
        letter: Option<u8>,
        may_begin: bool,
    ) -> Option<Self::State> {
        let byte = byte_of(letter);
        let mut to = Vec::new();
        let from = nodes.iter().copied().chain(may_begin.then_some(Self::BEFORE));
        for edge in from.flat_map(|node| &self.node(node).next) {
            if hold(edge.looks, *before, Before::of(byte)) {
                if edge.to == Self::AFTER {
                    return None;
                }
                if self.node(edge.to).bytes.contains(byte) {
                    to.push(edge.to);
                }
            }
        }
        to.sort_unstable();
        to.dedup();
        let ends = |&node: &usize| {
            self.node(node).next.iter().any(|edge| edge.to == Self::AFTER && edge.looks.is_empty())
        };
        (!to.iter().any(ends)).then(|| (to, Before::of(byte)))
    }
}

/// To a graph, a text stands between two line ends.
fn byte_of(letter: Option<u8>) -> u8 {
    letter.unwrap_or(b'\n')
}

/// Whether conditions hold between two bytes.
fn hold(looks: LookSet, left: Before, right: Before) -> bool {
    let (left_word, right_word) = (left == Before::Word, right == Before::Word);
    looks.iter().all(|look| match look {
        Look::Start | Look::StartLF => left == Before::LineEnd,
        Look::End | Look::EndLF => right == Before::LineEnd,
        Look::WordAscii => left_word != right_word,
        Look::WordAsciiNegate => left_word == right_word,
        Look::WordStartAscii => !left_word && right_word,
        Look::WordEndAscii => left_word && !right_word,
        Look::WordStartHalfAscii => !left_word,
        Look::WordEndHalfAscii => !right_word,
        _ => true,
    })
}
