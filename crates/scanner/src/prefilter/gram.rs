//! Grams: byte sequences that every match of a pattern must contain.
//!
//! Take `curl[^\n]{0,200}\|\s*(?:ba)?sh\b`. Every match is a path through the graph of the pattern, so it passes
//! every cut of that graph: the node `c`, or `u`, or `|`, or the node `s` (`ba`+`sh` and `sh` share one node `s`,
//! with three predecessors). The surroundings of each node are known: around that last `s` they are `ash`, `|sh` or a
//! blank and `sh`, and then no letter. These sequences of byte sets are the grams of the node; the price of the node
//! is their expected frequency in ordinary text; and the grams of the cheapest cut are the grams of the pattern.

use arrayvec::ArrayVec;

use super::byte_set::ByteSet;
use super::cut::{self, NEVER};
use super::frequency::Frequency;
use super::graph::{Graph, narrow};

/// Number of neighbouring bytes that the first step of the prefilter inspects.
pub(super) const WIDTH: usize = 4;

/// Number of further bytes on either side that the second step inspects.
const CONTEXT: usize = 12;

/// How much is tried to find rare grams.
#[derive(Debug, Clone, Copy)]
pub(super) struct Effort {
    /// Maximum number of bytes that a node accepts.
    bytes: usize,
    /// Maximum number of paths through a node.
    ways: usize,
    /// Positions of the node in its grams.
    offsets: &'static [usize],
}

impl Effort {
    /// Every node that can be worth cutting: one that accepts more bytes has no rare gram that its neighbours lack, and more
    /// paths cost more than they save.
    pub(super) const FULL: Self = Self { bytes: 128, ways: 64, offsets: &[0, 1, 2, 3] };

    /// Nodes of a letter in either case, or one of a few signs, on few paths: the grams around them are usually rare. A
    /// repetition of one class has as many paths as it has counts, so most of the full effort goes into its ends. Grams
    /// that begin or end at the node are enough: those around it begin at another one.
    pub(super) const LITTLE: Self = Self { bytes: 4, ways: 4, offsets: &[0, WIDTH - 1] };
}

/// A stretch of text in every match that passes one node.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Gram {
    /// The byte sets for the first step.
    pub(super) core: [ByteSet; WIDTH],
    /// The byte sets before the core, nearest first.
    pub(super) before: Vec<ByteSet>,
    /// The byte sets after the core, nearest first.
    pub(super) after: Vec<ByteSet>,
    /// Position of the node itself in the core.
    pub(super) node: usize,
}

/// The grams of a pattern.
#[derive(Debug)]
pub(super) struct Grams {
    pub(super) grams: Vec<Gram>,
    /// Expected number of their occurrences in a million bytes of text.
    pub(super) per_million: u64,
    /// The nodes of the cut.
    pub(super) nodes: Vec<usize>,
}

/// Returns grams of which every match contains one. `None` if no such grams are found with this effort; matches must then be
/// found in another way.
pub(super) fn of(graph: &Graph, frequency: Frequency, effort: Effort) -> Option<Grams> {
    let mut choices: Vec<Option<Choice>> = vec![None; graph.len()];
    for (node, choice) in choices.iter_mut().enumerate().skip(Graph::AFTER + 1) {
        // A node of many bytes has many paths, and none of their grams is rare: computing them would only cost time.
        if graph.node(node).bytes.len() <= effort.bytes {
            *choice = best_at(graph, node, frequency, effort);
        }
    }
    cheapest(graph, &choices, frequency)
}

/// Returns the grams of the cheapest cut.
fn cheapest(graph: &Graph, choices: &[Option<Choice>], frequency: Frequency) -> Option<Grams> {
    // A node without grams cannot be searched for, so no cut may use it.
    let prices = choices.iter().map(|choice| choice.as_ref().map_or(NEVER, |choice| choice.price));
    let edges: Vec<(usize, usize)> = (0..graph.len())
        .flat_map(|from| graph.node(from).next.iter().map(move |edge| (from, edge.to)))
        .collect();
    let (nodes, _) = cut::cheapest(&prices.collect::<Vec<_>>(), &edges, Graph::BEFORE, Graph::AFTER)?;
    let mut grams = Vec::new();
    for &node in &nodes {
        let choice = choices.get(node)?.as_ref()?;
        grams.extend(choice.ways.iter().map(|way| way.gram(graph, choice.offset)));
    }
    let grams = join_alike(grams);
    let expected: f64 = grams.iter().map(|gram| frequency(&gram.core)).sum();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most a million per gram")]
    Some(Grams { grams, per_million: (expected * 1e6).ceil() as u64, nodes })
}

/// The cheapest grams through one node.
#[derive(Debug, Clone)]
struct Choice {
    /// Position of the node in the grams.
    offset: usize,
    ways: Vec<Way>,
    price: u64,
}

/// A path of a few nodes, with the bytes that each can accept there. Without an allocation: a pattern has thousands of paths.
#[derive(Debug, Clone)]
struct Way {
    nodes: ArrayVec<usize, WIDTH>,
    bytes: ArrayVec<ByteSet, WIDTH>,
}

/// Finds the offset at which the grams around `node` are rarest.
fn best_at(graph: &Graph, node: usize, frequency: Frequency, effort: Effort) -> Option<Choice> {
    let choice = |offset| {
        let ways = ways_through(graph, node, offset, effort.ways)?;
        let expected: f64 = ways.iter().map(|way| frequency(&way.bytes)).sum();
        // Each gram costs a little even if it never occurs: fewer are better.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 64 ways")]
        let price = (expected * 1e9) as u64 + 20 * ways.len() as u64;
        Some(Choice { offset, ways, price })
    };
    effort.offsets.iter().copied().filter_map(choice).min_by_key(|choice| choice.price)
}

/// Returns every path of up to [`WIDTH`] nodes with `node` at `offset`. Paths end early behind a match, but may not
/// begin before the byte in front of it.
fn ways_through(graph: &Graph, node: usize, offset: usize, most: usize) -> Option<Vec<Way>> {
    // Backwards first, which moves `node` to its offset; then forwards to the full width.
    let mut ways = vec![Way::at(graph, node)];
    for _ in 0..offset {
        ways = lengthen(&ways, most, |way, longer| way.backwards(graph, longer))?;
    }
    for _ in offset + 1..WIDTH {
        ways = lengthen(&ways, most, |way, longer| way.forwards(graph, longer))?;
    }
    Some(ways)
}

/// Extends every path by one step, which appends what it finds; there must not be too many.
fn lengthen(ways: &[Way], most: usize, step: impl Fn(&Way, &mut Vec<Way>) -> Option<()>) -> Option<Vec<Way>> {
    let mut longer = Vec::with_capacity(ways.len());
    for way in ways {
        step(way, &mut longer)?;
        if longer.len() > most {
            return None;
        }
    }
    Some(longer)
}

impl Way {
    fn at(graph: &Graph, node: usize) -> Self {
        let (mut nodes, mut bytes) = (ArrayVec::new(), ArrayVec::new());
        nodes.push(node);
        bytes.push(graph.node(node).bytes);
        Self { nodes, bytes }
    }

    fn forwards(&self, graph: &Graph, longer: &mut Vec<Self>) -> Option<()> {
        let (&last, &bytes) = (self.nodes.last()?, self.bytes.last()?);
        if last == Graph::AFTER {
            longer.push(self.clone());
            return Some(());
        }
        for edge in &graph.node(last).next {
            let (mut left, mut right) = (bytes, graph.node(edge.to).bytes);
            narrow(edge.looks, &mut left, &mut right);
            if left.is_empty() || right.is_empty() {
                continue;
            }
            let mut way = self.clone();
            *way.bytes.last_mut()? = left;
            // A path is lengthened to the width of a gram and no further.
            way.nodes.try_push(edge.to).ok()?;
            way.bytes.try_push(right).ok()?;
            longer.push(way);
        }
        Some(())
    }

    fn backwards(&self, graph: &Graph, longer: &mut Vec<Self>) -> Option<()> {
        let (&first, &bytes) = (self.nodes.first()?, self.bytes.first()?);
        if first == Graph::BEFORE {
            return None;
        }
        for edge in &graph.node(first).previous {
            let (mut left, mut right) = (graph.node(edge.to).bytes, bytes);
            narrow(edge.looks, &mut left, &mut right);
            if left.is_empty() || right.is_empty() {
                continue;
            }
            let mut way = self.clone();
            *way.bytes.first_mut()? = right;
            way.nodes.try_insert(0, edge.to).ok()?;
            way.bytes.try_insert(0, left).ok()?;
            longer.push(way);
        }
        Some(())
    }

    fn gram(&self, graph: &Graph, offset: usize) -> Gram {
        let mut core = [ByteSet::ANY; WIDTH];
        for (core, &bytes) in core.iter_mut().zip(&self.bytes) {
            *core = bytes;
        }
        let (first, last) = (self.nodes.first().copied(), self.nodes.last().copied());
        Gram {
            core,
            before: first.map_or_else(Vec::new, |first| context(graph, first, Side::Before)),
            after: last.map_or_else(Vec::new, |last| context(graph, last, Side::After)),
            node: offset,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    After,
}

/// Returns what can be one, two, … bytes before or after `node`, as far as every path goes that far.
fn context(graph: &Graph, node: usize, side: Side) -> Vec<ByteSet> {
    let mut sets = Vec::new();
    let mut nodes = vec![node];
    let end = if side == Side::Before { Graph::BEFORE } else { Graph::AFTER };
    // Where a match may end, anything can follow, so longer paths add no information.
    while sets.len() < CONTEXT && !nodes.contains(&end) {
        let mut set = ByteSet::default();
        let mut further = Vec::new();
        for &node in &nodes {
            let edges =
                if side == Side::Before { &graph.node(node).previous } else { &graph.node(node).next };
            for edge in edges {
                let (mut near, mut far) = (graph.node(node).bytes, graph.node(edge.to).bytes);
                match side {
                    Side::Before => narrow(edge.looks, &mut far, &mut near),
                    Side::After => narrow(edge.looks, &mut near, &mut far),
                }
                if !near.is_empty() && !far.is_empty() {
                    set = set | far;
                    further.push(edge.to);
                }
            }
        }
        further.sort_unstable();
        further.dedup();
        sets.push(set);
        nodes = further;
    }
    // A set that accepts every byte requires nothing, but would still be looked up.
    while sets.last() == Some(&ByteSet::ANY) {
        sets.pop();
    }
    sets
}

/// Joins grams whose cores differ in one position: the joined gram accepts exactly the same.
fn join_alike(grams: Vec<Gram>) -> Vec<Gram> {
    let mut joined: Vec<Gram> = Vec::new();
    for gram in grams {
        joined.push(gram);
        // A joined gram can be joined again.
        while let Some(newest) = joined.pop() {
            match joined.iter().position(|other| can_join(other, &newest)) {
                Some(index) => {
                    let other = joined.swap_remove(index);
                    joined.push(join(&other, &newest));
                }
                None => {
                    joined.push(newest);
                    break;
                }
            }
        }
    }
    joined.sort();
    joined
}

fn can_join(one: &Gram, other: &Gram) -> bool {
    one.node == other.node && one.core.iter().zip(&other.core).filter(|(a, b)| a != b).count() <= 1
}

fn join(one: &Gram, other: &Gram) -> Gram {
    let union = |one: &[ByteSet], other: &[ByteSet]| one.iter().zip(other).map(|(&a, &b)| a | b).collect();
    let mut core = one.core;
    for (core, &other) in core.iter_mut().zip(&other.core) {
        *core = *core | other;
    }
    Gram {
        core,
        before: union(&one.before, &other.before),
        after: union(&one.after, &other.after),
        node: one.node,
    }
}
