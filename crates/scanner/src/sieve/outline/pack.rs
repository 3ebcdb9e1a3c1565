//! Writes the outlines of the built-in shapes, and holds that `outlines.bin` is what it writes.

#![expect(clippy::disallowed_methods, reason = "compares and writes a file of this crate")]

use std::{env, fs};

use regex_automata::util::look::LookSet;

use super::super::byte_set::ByteSet;
use super::super::graph::Graph;
use super::super::quarry::compile;
use super::{HEAD_WORDS, LOOK_WORDS, MOST_NODES, Outline, SET_WORDS, SHAPE_WORDS, TARGET_BITS, Words, pair};
use crate::exact::expand;
use crate::rules;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/sieve/outlines.bin");

/// What is written, but for the numbers at the beginning.
#[derive(Default)]
struct Packer {
    sets: Vec<ByteSet>,
    looks: Vec<LookSet>,
    /// Where each graph begins among the words of all.
    starts: Vec<usize>,
    graphs: Vec<u16>,
}

impl Packer {
    fn add(&mut self, graph: &Graph) {
        assert!(graph.len() <= MOST_NODES, "a pattern of {} places", graph.len());
        self.starts.push(self.graphs.len());
        let nodes: Vec<_> = (0..graph.len()).map(|node| graph.node(node)).collect();
        let looks = graph.node(Graph::BEFORE).next.iter().map(|edge| edge.looks);
        let common = looks.reduce(LookSet::intersect).expect("a beginning");
        let (pairs, common) = (numbered(&mut self.sets, pairs(graph)), numbered(&mut self.looks, common));
        let mut words = vec![nodes.len(), pairs, common];
        let mut end = 0;
        for node in &nodes {
            end += node.next.len();
            words.extend([numbered(&mut self.sets, node.bytes), end]);
        }
        for edge in nodes.iter().flat_map(|node| &node.next) {
            words.push(edge.to | numbered(&mut self.looks, edge.looks) << TARGET_BITS);
        }
        self.graphs.extend(words.into_iter().map(|word| u16::try_from(word).expect("a word")));
    }

    fn finish(self) -> Vec<u8> {
        let first_graph = HEAD_WORDS
            + SHAPE_WORDS * self.starts.len()
            + SET_WORDS * self.sets.len()
            + LOOK_WORDS * self.looks.len();
        let mut words: Vec<u16> = Vec::new();
        let counts = [self.starts.len(), self.sets.len(), self.looks.len()];
        words.extend(counts.map(|count| u16::try_from(count).expect("a word")));
        let long = |number: usize| {
            let number = u32::try_from(number).expect("a long word");
            [number as u16, (number >> 16) as u16]
        };
        words.extend(self.starts.iter().flat_map(|start| long(first_graph + start)));
        words.extend(self.sets.iter().flat_map(|set| (0..SET_WORDS).map(|word| set_word(*set, word))));
        words.extend(self.looks.iter().flat_map(|look| long(look.bits as usize)));
        assert_eq!(words.len(), first_graph);
        words.extend(self.graphs);
        words.into_iter().flat_map(u16::to_le_bytes).collect()
    }
}

/// The pairs of bytes that a match can begin with.
fn pairs(graph: &Graph) -> ByteSet {
    let mut pairs = ByteSet::default();
    for first in graph.node(Graph::BEFORE).next.iter().map(|edge| graph.node(edge.to)) {
        for second in first.next.iter().map(|edge| graph.node(edge.to)) {
            for byte in first.bytes.bytes() {
                let both = second.bytes.bytes().map(|second| pair(byte, second));
                pairs = both.fold(pairs, |pairs, pair| pairs | ByteSet::range(pair, pair));
            }
        }
    }
    pairs
}

fn set_word(set: ByteSet, word: usize) -> u16 {
    (0..16).filter(|bit| set.contains((16 * word + bit) as u8)).fold(0, |bits, bit| bits | 1 << bit)
}

fn numbered<T: PartialEq>(known: &mut Vec<T>, item: T) -> usize {
    known.iter().position(|other| *other == item).unwrap_or_else(|| {
        known.push(item);
        known.len() - 1
    })
}

fn packed(patterns: impl Iterator<Item = String>) -> Vec<u8> {
    let mut packer = Packer { looks: vec![LookSet::empty()], ..Packer::default() };
    patterns.for_each(|pattern| packer.add(&compile(&pattern).expect("a pattern")));
    packer.finish()
}

fn builtin_patterns() -> impl Iterator<Item = String> {
    rules::all().flat_map(|rule| rule.shapes).map(|shape| expand(shape.pattern).unwrap())
}

#[test]
fn outlines_are_fresh() {
    let wanted = packed(builtin_patterns());
    if env::var_os("STOCKADE_BLESS").is_some_and(|value| value == "1") {
        fs::write(PATH, &wanted).unwrap();
    }
    assert!(fs::read(PATH).unwrap() == wanted, "sieve/outlines.bin is not fresh: run `cargo xtask generate`");
}

/// A pattern in outline, for as long as the tests run.
fn outline(pattern: &str) -> Outline {
    Outline { words: Words(packed(std::iter::once(pattern.to_owned())).leak().as_chunks().0), shape: 0 }
}

fn may_match(outline: Outline, text: &str) -> bool {
    outline.over(text.as_bytes()).may_match(0..text.len(), &mut usize::MAX.clone(), |_| true)
}

#[test]
fn an_outline_tells_matches_from_what_looks_like_one() {
    let rows = [
        (r"curl[^\n]{0,20}\|\s*(?:ba|z)?sh\b", "x curl y | jq .", false),
        (r"curl[^\n]{0,20}\|\s*(?:ba|z)?sh\b", "x curl y | bash", true),
        (r"curl[^\n]{0,20}\|\s*(?:ba|z)?sh\b", "x curl y | shift", false),
        (r"curl[^\n]{0,20}\|\s*(?:ba|z)?sh\b", "curl 123456789012345678901 | sh", false),
        (r"^eval$", "eval", true),
        (r"^eval$", "x\neval\ny", true),
        (r"^eval$", "x eval", false),
        (r"(?i)\bsk\B", "SKy", true),
        (r"(?i)\bsk\B", "sk y", false),
    ];
    for (pattern, text, expected) in rows {
        assert_eq!(may_match(outline(pattern), text), expected, "{pattern} in {text:?}");
    }
}

/// `a[ab]{9}c` has been in hundreds of sets of nodes at the end of these texts.
#[test]
fn a_walk_through_more_than_it_remembers_goes_the_same_way() {
    let outline = outline("a[ab]{9}c");
    let letters: String = (0..600_u32).map(|i| if (i * i / 7) % 3 == 0 { 'a' } else { 'b' }).collect();
    let regex = regex::Regex::new("a[ab]{9}c").unwrap();
    for end in 0..letters.len() {
        let (before, after) = letters.split_at(end);
        let text = format!("{before}c{after}");
        assert_eq!(may_match(outline, &text), regex.is_match(&text), "{text}");
    }
}

#[test]
fn a_match_must_lie_within_the_stretch_but_looks_around_it() {
    let outline = outline(r"\bab\b");
    let text = b"ab ab xab";
    for (within, expected) in [(0..2, true), (1..5, true), (1..4, false), (6..9, false), (7..9, false)] {
        let steps = &mut usize::MAX.clone();
        assert_eq!(outline.over(text).may_match(within.clone(), steps, |_| true), expected, "{within:?}");
    }
}

#[test]
fn a_match_begins_only_where_it_may() {
    let outline = outline("ab");
    let may_match =
        |place| outline.over(b"ab ab ab").may_match(0..8, &mut usize::MAX.clone(), |at| at == place);
    assert!(may_match(0) && may_match(3) && may_match(6) && !may_match(1) && !may_match(5));
}

#[test]
fn what_cannot_be_told_may_match() {
    let outline = outline("abc");
    assert!(!may_match(outline, "xabxc"));
    let mut steps = 3;
    assert!(outline.over(b"aaaaaaaaaa").may_match(0..10, &mut steps, |_| true) && steps == 0);
    assert!(
        may_match(Outline { shape: 1, ..outline }, "x")
            && may_match(Outline { shape: 60_000, ..outline }, "x")
    );
    for length in 0..outline.words.0.len() {
        let words = Words(&outline.words.0[..length]);
        assert!(may_match(Outline { words, ..outline }, "abc"), "cut off at {length}");
    }
}

/// Every shape on every example of every rule: an outline may take too much, but never too little.
#[test]
fn no_outline_misses_what_its_shape_matches() {
    let texts: Vec<&str> =
        rules::all().flat_map(|rule| rule.matches.iter().chain(rule.clean).copied()).collect();
    let (mut right, mut wrong) = (0, 0);
    for (shape, pattern) in builtin_patterns().enumerate() {
        let regex = crate::exact::compile(&pattern).unwrap();
        for text in &texts {
            let (matches, may_match) = (regex.is_match(text), may_match(Outline::of_builtin(shape), text));
            assert!(may_match || !matches, "shape {shape} in {text:?}");
            *(if may_match == matches { &mut right } else { &mut wrong }) += 1;
        }
    }
    assert!(wrong * 1000 < right, "{wrong} wrong, {right} right");
}
