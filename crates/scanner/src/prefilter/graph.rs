//! A pattern as a graph with one node for each position that consumes a byte.
//!
//! The graph is derived from the automaton that the regex engine itself compiles, so the prefilter cannot interpret a
//! pattern differently from the engine. Two more nodes represent the byte before a match and the byte after it; every
//! match is then a path from the one to the other, and the assertions `\b`, `^` and `$` are conditions on two
//! neighbouring bytes. Virtual line ends surround the text, so that those neighbours always exist.

use std::collections::BTreeMap;

use regex_automata::nfa::thompson::{NFA, State};
use regex_automata::util::look::{Look, LookSet};
use regex_automata::util::primitives::StateID;

use super::byte_set::ByteSet;

/// The graph of one pattern.
#[derive(Debug)]
pub(crate) struct Graph {
    nodes: Vec<Node>,
}

/// A position in the pattern that consumes one byte.
#[derive(Debug, Clone, Default)]
pub(crate) struct Node {
    /// The bytes that it accepts.
    pub(crate) bytes: ByteSet,
    /// Positions of the next byte.
    pub(crate) next: Vec<Edge>,
    /// Positions of the previous byte.
    pub(crate) previous: Vec<Edge>,
}

/// A step between neighbours.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edge {
    pub(crate) to: usize,
    /// Assertions between the two bytes.
    pub(crate) looks: LookSet,
}

impl Graph {
    /// The byte before a match.
    pub(crate) const BEFORE: usize = 0;
    /// The byte after a match.
    pub(crate) const AFTER: usize = 1;

    /// Derives the graph from an automaton.
    pub(super) fn new(nfa: &NFA) -> Self {
        let mut graph = Self { nodes: vec![Node { bytes: ByteSet::ANY, ..Node::default() }; 2] };
        // Several paths may reach a state. Its nodes are created once, so that the graph is no larger than the
        // automaton.
        let mut nodes_of: Vec<Option<Vec<usize>>> = vec![None; nfa.states().len()];
        let mut work = vec![(Self::BEFORE, nfa.start_anchored())];
        while let Some((from, target)) = work.pop() {
            for (state, looks) in reachable(nfa, target) {
                if matches!(nfa.state(state), State::Match { .. }) {
                    graph.connect(from, Self::AFTER, looks);
                    continue;
                }
                let Some(taking) = nodes_of.get_mut(state.as_usize()) else { continue };
                let taking = taking.get_or_insert_with(|| {
                    let transitions = transitions(nfa.state(state));
                    let nodes = transitions.into_iter().map(|(target, bytes)| (graph.add(bytes), target));
                    let nodes: Vec<(usize, StateID)> = nodes.collect();
                    work.extend(&nodes);
                    nodes.iter().map(|&(node, _)| node).collect()
                });
                for &to in taking.iter() {
                    graph.connect(from, to, looks);
                }
            }
        }
        graph
    }

    fn add(&mut self, bytes: ByteSet) -> usize {
        self.nodes.push(Node { bytes, ..Node::default() });
        self.nodes.len() - 1
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    #[expect(clippy::indexing_slicing, reason = "node numbers come from this graph alone")]
    pub(crate) fn node(&self, index: usize) -> &Node {
        &self.nodes[index]
    }

    /// Returns the nodes that accept exactly these bytes; without such nodes, those that accept some of them and no
    /// others.
    pub(super) fn taking(&self, bytes: ByteSet) -> Vec<usize> {
        let those = |takes: &dyn Fn(ByteSet) -> bool| -> Vec<usize> {
            let nodes = (0..self.len()).skip(Self::AFTER + 1);
            nodes.filter(|&node| takes(self.node(node).bytes)).collect()
        };
        let exactly = those(&|taken| taken == bytes);
        if exactly.is_empty() { those(&|taken| taken.is_subset(bytes)) } else { exactly }
    }

    fn connect(&mut self, from: usize, to: usize, looks: LookSet) {
        if let Some(node) = self.nodes.get_mut(from) {
            node.next.push(Edge { to, looks });
        }
        if let Some(node) = self.nodes.get_mut(to) {
            node.previous.push(Edge { to: from, looks });
        }
    }
}

/// Narrows two neighbouring sets of bytes by `looks`. It may keep too much, never too little.
pub(super) fn narrow(looks: LookSet, left: &mut ByteSet, right: &mut ByteSet) {
    for look in looks.iter() {
        match look {
            // Virtual line ends surround the text, so the ends of the text are treated as ends of lines.
            Look::Start | Look::StartLF => *left = *left & ByteSet::LINE_END,
            Look::End | Look::EndLF => *right = *right & ByteSet::LINE_END,
            Look::WordAscii => differ(left, right),
            Look::WordAsciiNegate => agree(left, right),
            Look::WordStartAscii => (*left, *right) = (*left & NOT_WORD, *right & ByteSet::WORD),
            Look::WordEndAscii => (*left, *right) = (*left & ByteSet::WORD, *right & NOT_WORD),
            Look::WordStartHalfAscii => *left = *left & NOT_WORD,
            Look::WordEndHalfAscii => *right = *right & NOT_WORD,
            _ => {}
        }
    }
}

const NOT_WORD: ByteSet = ByteSet::WORD.not();

/// One of two neighbours is a word byte and the other is not.
fn differ(left: &mut ByteSet, right: &mut ByteSet) {
    for (word, other) in [(ByteSet::WORD, NOT_WORD), (NOT_WORD, ByteSet::WORD)] {
        if left.is_subset(word) {
            *right = *right & other;
        } else if right.is_subset(word) {
            *left = *left & other;
        }
    }
}

/// Both neighbours are word bytes, or neither is.
fn agree(left: &mut ByteSet, right: &mut ByteSet) {
    for kind in [ByteSet::WORD, NOT_WORD] {
        if left.is_subset(kind) {
            *right = *right & kind;
        } else if right.is_subset(kind) {
            *left = *left & kind;
        }
    }
}

/// Returns the bytes that a state accepts, by the following state.
fn transitions(state: &State) -> Vec<(StateID, ByteSet)> {
    // Most states: nothing needs sorting.
    if let State::ByteRange { trans } = state {
        return vec![(trans.next, ByteSet::range(trans.start, trans.end))];
    }
    let mut by_target = BTreeMap::<StateID, ByteSet>::new();
    let mut add = |target, first, last| {
        let set = by_target.entry(target).or_default();
        *set = *set | ByteSet::range(first, last);
    };
    match state {
        State::Sparse(sparse) => sparse.transitions.iter().for_each(|t| add(t.next, t.start, t.end)),
        State::Dense(dense) => {
            for (byte, &target) in (0..=u8::MAX).zip(&dense.transitions) {
                // State zero is the dead state.
                if target != StateID::ZERO {
                    add(target, byte, byte);
                }
            }
        }
        _ => {}
    }
    by_target.into_iter().collect()
}

/// Returns the states that are reachable without consuming a byte, with the assertions that every path there
/// requires.
fn reachable(nfa: &NFA, start: StateID) -> Vec<(StateID, LookSet)> {
    // Most states are only followed by themselves.
    if !nfa.state(start).is_epsilon() {
        return vec![(start, LookSet::empty())];
    }
    let mut found = BTreeMap::new();
    let mut work = vec![(start, LookSet::empty())];
    while let Some((id, looks)) = work.pop() {
        // Where two paths meet, only the common assertions are certain.
        let common = found.get(&id).map_or(looks, |known: &LookSet| known.intersect(looks));
        if found.insert(id, common) == Some(common) {
            continue;
        }
        match nfa.state(id) {
            State::Look { look, next } => work.push((*next, common.insert(*look))),
            State::Capture { next, .. } => work.push((*next, common)),
            State::BinaryUnion { alt1, alt2 } => work.extend([(*alt1, common), (*alt2, common)]),
            State::Union { alternates } => work.extend(alternates.iter().map(|&next| (next, common))),
            _ => {}
        }
    }
    found.into_iter().collect()
}
