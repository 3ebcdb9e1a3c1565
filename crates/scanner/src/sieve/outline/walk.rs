//! A walk through the graph of a pattern, with all the nodes at once that the bytes so far can have led to.
//!
//! Most bytes lead back to the nodes where it is: `[^|]*` takes whatever comes. So it remembers where a byte led to, and
//! finds most of its way in a table.

use super::super::graph::Graph;
use super::{MOST_NODES, Packed, pair};

#[derive(Debug)]
pub(super) struct Walk<'w, B> {
    pub(super) graph: Packed,
    pub(super) text: &'w [u8],
    /// Where a match ends at the latest.
    pub(super) end: usize,
    /// Whether a match may begin at a place.
    pub(super) may_begin: B,
    /// How many steps it may still take.
    pub(super) steps: usize,
    pub(super) memory: &'w mut Memory,
}

/// Where a byte leads.
enum Lead {
    /// To the end of a match.
    End,
    On(State),
}

impl<B: FnMut(usize) -> bool> Walk<'_, B> {
    /// Whether some match begins at `at` or later.
    pub(super) fn comes_to_an_end(&mut self, mut at: usize) -> Option<bool> {
        let mut state = State::NOWHERE;
        loop {
            if state == State::NOWHERE {
                at = match self.next_pair(at) {
                    Some(next) => next,
                    None => return Some(false),
                };
            }
            let begins = self.begins(at);
            let byte = self.text.get(at).copied().filter(|_| at < self.end);
            state = match self.lead(state, begins, at, byte)? {
                Lead::End => return Some(true),
                Lead::On(_) if byte.is_none() => return Some(false),
                Lead::On(state) => state,
            };
            at += 1;
        }
    }

    /// Whether a match can begin at `at`.
    #[inline]
    fn begins(&mut self, at: usize) -> bool {
        at < self.end
            && self.begins_with_pair(at)
            && self.graph.holds(self.graph.begins, self.text, at)
            && (self.may_begin)(at)
    }

    #[inline]
    fn begins_with_pair(&self, at: usize) -> bool {
        let byte = |at: usize| self.text.get(at).copied().unwrap_or(b'\n');
        self.graph.pairs.contains(pair(byte(at), byte(at + 1)))
    }

    /// The next place at which a match can begin by its first bytes, which are none of most.
    fn next_pair(&self, at: usize) -> Option<usize> {
        let ahead = self.text.get(at..self.end)?;
        let begins = |bytes: &[u8]| {
            bytes.first_chunk().is_some_and(|&[first, second]| self.graph.pairs.contains(pair(first, second)))
        };
        let found = ahead.windows(2).position(begins).map(|place| at + place);
        // The byte behind the last one lies behind the stretch.
        found.or_else(|| self.end.checked_sub(1).filter(|&last| last >= at && self.begins_with_pair(last)))
    }

    /// Where the byte at `at` leads, as it did before or as the graph says.
    #[inline]
    fn lead(&mut self, from: State, begins: bool, at: usize, byte: Option<u8>) -> Option<Lead> {
        let known = byte.filter(|_| !begins).and_then(|byte| self.memory.lead(from, byte));
        let Some(known) = known else { return self.look_up(from, begins, at, byte) };
        self.steps = self.steps.checked_sub(1)?;
        Some(Lead::On(known))
    }

    fn look_up(&mut self, state: State, begins: bool, at: usize, byte: Option<u8>) -> Option<Lead> {
        let mut from = self.memory.nodes(state);
        if begins {
            from.insert(Graph::BEFORE);
        }
        let mut to = Nodes::NONE;
        let mut looked = false;
        for node in from.iter() {
            if self.step(node, at, byte, &mut to, &mut looked)? {
                return Some(Lead::End);
            }
        }
        let to = self.memory.state_of(to);
        // What the neighbouring bytes decided as well may be another way the next time.
        if let Some(byte) = byte.filter(|_| !begins && !looked) {
            self.memory.learn(state, byte, to);
        }
        Some(Lead::On(to))
    }

    /// Adds to `next` the nodes after `from` that take the byte at `at`, and says whether a match ends before it, and whether
    /// that took a look at its neighbours.
    #[inline]
    fn step(
        &mut self,
        from: usize,
        at: usize,
        byte: Option<u8>,
        next: &mut Nodes,
        looked: &mut bool,
    ) -> Option<bool> {
        let edges = self.graph.edges(from)?;
        self.steps = self.steps.checked_sub(1 + edges.len())?;
        for edge in edges {
            let (to, look) = (edge % MOST_NODES, edge / MOST_NODES);
            let leads_on = to == Graph::AFTER || byte.is_some_and(|byte| self.graph.takes(to, byte));
            *looked |= leads_on && look != 0;
            if leads_on && (look == 0 || self.graph.holds(look, self.text, at)) {
                if to == Graph::AFTER {
                    return Some(true);
                }
                next.insert(to);
            }
        }
        Some(false)
    }
}

/// The number of a set of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct State(u8);

impl State {
    /// The empty set.
    const NOWHERE: Self = Self(0);
    /// Any set for which there is no other number. It changes, and so nothing about it is remembered.
    const OTHER: Self = Self(MOST_STATES);
    const UNKNOWN: Self = Self(u8::MAX);
}

/// How many sets have a number of their own. A walk keeps them where it keeps its other variables.
const MOST_STATES: u8 = 16;

/// Where bytes led to, so far as it only depends on them.
#[derive(Debug)]
pub(super) struct Memory {
    /// The sets, by their numbers, and behind them the one without.
    sets: [Nodes; MOST_STATES as usize + 1],
    /// How many of them there are.
    known: u8,
    /// Where each byte led to from each set.
    leads: [[State; 256]; MOST_STATES as usize],
}

impl Default for Memory {
    fn default() -> Self {
        Self {
            sets: [const { Nodes::NONE }; MOST_STATES as usize + 1],
            known: 1,
            leads: [[State::UNKNOWN; 256]; MOST_STATES as usize],
        }
    }
}

impl Memory {
    fn nodes(&self, state: State) -> Nodes {
        self.sets.get(usize::from(state.0)).cloned().unwrap_or(Nodes::NONE)
    }

    fn state_of(&mut self, nodes: Nodes) -> State {
        let number = (0..self.known).zip(&self.sets).find(|(_, known)| **known == nodes);
        let number = number.map_or(self.known, |(number, _)| number);
        if number == self.known {
            self.known = (self.known + 1).min(MOST_STATES);
            if let Some(place) = self.sets.get_mut(usize::from(number)) {
                *place = nodes;
            }
        }
        State(number)
    }

    #[inline]
    fn lead(&self, from: State, byte: u8) -> Option<State> {
        let to = *self.leads.get(usize::from(from.0))?.get(usize::from(byte))?;
        (to != State::UNKNOWN).then_some(to)
    }

    fn learn(&mut self, from: State, byte: u8, to: State) {
        let leads = self.leads.get_mut(usize::from(from.0)).filter(|_| to != State::OTHER);
        if let Some(lead) = leads.and_then(|leads| leads.get_mut(usize::from(byte))) {
            *lead = to;
        }
    }
}

/// A set of nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Nodes {
    words: [u64; MOST_NODES / 64],
    /// Which of those hold any.
    used: u16,
}

impl Nodes {
    const NONE: Self = Self { words: [0; MOST_NODES / 64], used: 0 };

    #[inline]
    fn insert(&mut self, node: usize) {
        if let Some(word) = self.words.get_mut(node / 64) {
            *word |= 1 << (node % 64);
            self.used |= 1 << (node / 64);
        }
    }

    #[inline]
    fn iter(&self) -> impl Iterator<Item = usize> {
        let used = self.words.iter().enumerate().take_while(|(index, _)| self.used >> index != 0);
        used.flat_map(|(index, &word)| Ones(word).map(move |bit| index * 64 + bit))
    }
}

/// The places of the ones in a word.
struct Ones(u64);

impl Iterator for Ones {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        let place = self.0.trailing_zeros() as usize;
        self.0 &= self.0.checked_sub(1)?;
        Some(place)
    }
}
