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
mod walk;

use std::ops::Range;

use regex_automata::util::look::{LookMatcher, LookSet};

use super::byte_set::ByteSet;
use walk::{Memory, Walk};

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

    /// Begins to look at a text, whose matches are asked for in one stretch after the other.
    pub(crate) fn over(self, text: &[u8]) -> Look<'_> {
        Look { graph: Packed::new(self.words, self.shape), text, memory: Memory::default() }
    }
}

/// A look at a text, which remembers the ways that it went.
#[derive(Debug)]
pub(crate) struct Look<'t> {
    /// Nothing where it cannot be read.
    graph: Option<Packed>,
    text: &'t [u8],
    memory: Memory,
}

impl Look<'_> {
    /// Whether the shape can match `within` this stretch of the text, if its matches begin only where `may_begin` says. To
    /// look costs steps, and when they are spent it can.
    pub(crate) fn may_match(
        &mut self,
        within: Range<usize>,
        steps: &mut usize,
        may_begin: impl FnMut(usize) -> bool,
    ) -> bool {
        let Some(graph) = self.graph else { return true };
        let (text, memory) = (self.text, &mut self.memory);
        let mut walk = Walk { graph, text, end: within.end, may_begin, steps: *steps, memory };
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
