//! The last look before a shape is compiled: whether its pattern, in outline, matches anything where it was seen.
//!
//! To compile a shape takes half as long as to start a program, and `curl … | jq` holds all that the sieve looks for on
//! behalf of `curl … | sh`. The graph of the pattern tells the two apart without being compiled: it is walked with all
//! the nodes at once that the bytes so far can have led to. It takes a little more than the pattern does – where two ways
//! meet, only what both ask of the neighbouring bytes is asked – and so never misses a match. A compiled shape is ten
//! times as quick, so whoever looks at many texts does better to compile it after all.
//!
//! The graphs of the built-in shapes are in `outlines.bin`, which `pack` writes: words of sixteen bits, the lower byte
//! first.
//!
//! | words | what |
//! |---|---|
//! | 3 | how many shapes, sets of bytes and conditions there are |
//! | 2 a shape | where its graph begins |
//! | 16 a set | its bytes as bits |
//! | 2 a condition | its looks as bits |
//! | 3 | of a graph: how many nodes it has, the pairs of bytes that a match can begin with (a set), and what holds there |
//! | 2 a node | its set, and where its edges end among those of the graph |
//! | 1 an edge | the node that it leads to in the lower ten bits, its condition in the upper six |

#[cfg(test)]
mod pack;

use std::ops::Range;

use regex_automata::util::look::{LookMatcher, LookSet};

use super::byte_set::ByteSet;
use super::graph::Graph;

const HEAD_WORDS: usize = 3;
const SHAPE_WORDS: usize = 2;
const SET_WORDS: usize = 16;
const LOOK_WORDS: usize = 2;
const GRAPH_WORDS: usize = 3;
const NODE_WORDS: usize = 2;

/// How many bits of an edge say where it leads.
const TARGET_BITS: u32 = 10;
const MOST_NODES: usize = 1 << TARGET_BITS;

/// The built-in patterns in outline.
static BUILTIN: Words = Words(include_bytes!("outlines.bin").as_chunks().0);

/// A pattern in outline.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outline {
    words: Words,
    shape: usize,
}

impl Outline {
    /// Returns that of a built-in shape.
    pub(crate) fn of_builtin(shape: usize) -> Self {
        // What cannot be read matches everywhere, and so does what somebody changed since it was written.
        let words = if super::tables_are_fresh() { BUILTIN } else { Words(&[]) };
        Self { words, shape }
    }

    /// Whether the shape can match `within` this stretch of a text, if its matches begin only where `may_begin` says. To
    /// look costs steps, and when they are spent it can.
    pub(crate) fn may_match(
        self,
        text: &[u8],
        within: Range<usize>,
        steps: &mut usize,
        may_begin: impl FnMut(usize) -> bool,
    ) -> bool {
        let Some(graph) = Packed::new(self.words, self.shape) else { return true };
        let mut walk = Walk { graph, text, end: within.end, may_begin, steps: *steps };
        let matches = walk.comes_to_an_end(within.start);
        *steps = if matches.is_none() { 0 } else { walk.steps };
        matches.unwrap_or(true)
    }
}

/// The file, read as words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Words(&'static [[u8; 2]]);

impl Words {
    #[inline]
    fn word(self, at: usize) -> Option<usize> {
        self.0.get(at).map(|word| u16::from_le_bytes(*word).into())
    }

    #[inline]
    fn words(self, range: Range<usize>) -> Option<impl ExactSizeIterator<Item = usize>> {
        Some(self.0.get(range)?.iter().map(|word| u16::from_le_bytes(*word).into()))
    }

    fn long(self, at: usize) -> Option<usize> {
        Some(self.word(at)? | self.word(at + 1)? << 16)
    }

    fn set(self, at: usize) -> Option<ByteSet> {
        let quarters = self.0.get(at..at + SET_WORDS)?.as_flattened().as_chunks().0;
        Some(ByteSet(quarters.first_chunk()?.map(u64::from_le_bytes)))
    }
}

/// The graph of one shape.
#[derive(Debug, Clone, Copy)]
struct Packed {
    words: Words,
    first_set: usize,
    first_look: usize,
    first_node: usize,
    first_edge: usize,
    /// The pairs of bytes that a match can begin with, by [`pair`].
    pairs: ByteSet,
    /// The condition that holds before each match.
    begins: usize,
}

impl Packed {
    fn new(words: Words, shape: usize) -> Option<Self> {
        let [shapes, sets] = [words.word(0)?, words.word(1)?];
        let first_set = HEAD_WORDS + SHAPE_WORDS * shapes;
        let first_look = first_set + SET_WORDS * sets;
        let start = words.long(HEAD_WORDS + SHAPE_WORDS * shape).filter(|_| shape < shapes)?;
        let first_node = start + GRAPH_WORDS;
        let first_edge = first_node + NODE_WORDS * words.word(start)?;
        let pairs = words.set(first_set + SET_WORDS * words.word(start + 1)?)?;
        let begins = words.word(start + 2)?;
        Some(Self { words, first_set, first_look, first_node, first_edge, pairs, begins })
    }

    /// Whether a node takes a byte. If it cannot be told, it does.
    #[inline]
    fn takes(&self, node: usize, byte: u8) -> bool {
        let set = self.words.word(self.first_node + NODE_WORDS * node);
        let bits =
            set.and_then(|set| self.words.word(self.first_set + SET_WORDS * set + usize::from(byte >> 4)));
        bits.is_none_or(|bits| bits >> (byte & 15) & 1 == 1)
    }

    /// The edges from a node.
    #[inline]
    fn edges(&self, node: usize) -> Option<impl ExactSizeIterator<Item = usize>> {
        let end_of = |node: usize| self.words.word(self.first_node + NODE_WORDS * node + 1);
        let start = node.checked_sub(1).map_or(Some(0), end_of)?;
        self.words.words(self.first_edge + start..self.first_edge + end_of(node)?)
    }

    /// Whether a condition holds between the byte before `at` and the one at it. The first asks for nothing.
    fn holds(&self, look: usize, text: &[u8], at: usize) -> bool {
        let bits = self.words.long(self.first_look + LOOK_WORDS * look);
        let look = bits.and_then(|bits| Some(LookSet { bits: u32::try_from(bits).ok()? }));
        look.is_none_or(|look| LookMatcher::new().matches_set(look, text, at))
    }
}

/// Two bytes as one: five bits of the first, which tell letters apart and not their case, and three of the second.
const fn pair(first: u8, second: u8) -> u8 {
    first << 3 | second & 7
}

/// A walk through a graph, over a text.
#[derive(Debug)]
struct Walk<'w, B> {
    graph: Packed,
    text: &'w [u8],
    /// Where a match ends at the latest.
    end: usize,
    /// Whether a match may begin at a place.
    may_begin: B,
    /// How many steps it may still take.
    steps: usize,
}

impl<B: FnMut(usize) -> bool> Walk<'_, B> {
    /// Whether some match begins at `at` or later.
    fn comes_to_an_end(&mut self, mut at: usize) -> Option<bool> {
        let (mut now, mut next) = (&mut Nodes::default(), &mut Nodes::default());
        loop {
            if now.is_empty() {
                // Most bytes begin nothing.
                at = match (at..self.end).find(|&at| self.begins_with_pair(at)) {
                    Some(next) => next,
                    None => return Some(false),
                };
            }
            if self.begins(at) {
                now.insert(Graph::BEFORE);
            }
            let byte = self.text.get(at).copied().filter(|_| at < self.end);
            for from in now.iter() {
                if self.step(from, at, byte, next)? {
                    return Some(true);
                }
            }
            if byte.is_none() {
                return Some(false);
            }
            std::mem::swap(&mut now, &mut next);
            next.clear();
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

    /// Adds to `next` the nodes after `from` that take the byte at `at`, and says whether a match ends before it.
    #[inline]
    fn step(&mut self, from: usize, at: usize, byte: Option<u8>, next: &mut Nodes) -> Option<bool> {
        let edges = self.graph.edges(from)?;
        self.steps = self.steps.checked_sub(1 + edges.len())?;
        for edge in edges {
            let (to, look) = (edge % MOST_NODES, edge / MOST_NODES);
            let leads_on = to == Graph::AFTER || byte.is_some_and(|byte| self.graph.takes(to, byte));
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

/// A set of nodes.
#[derive(Debug, Default)]
struct Nodes {
    words: [u64; MOST_NODES / 64],
    /// Which of those hold any.
    used: u16,
}

impl Nodes {
    #[inline]
    fn is_empty(&self) -> bool {
        self.used == 0
    }

    #[inline]
    fn clear(&mut self) {
        for (index, word) in self.words.iter_mut().enumerate() {
            if self.used >> index == 0 {
                break;
            }
            *word = 0;
        }
        self.used = 0;
    }

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
