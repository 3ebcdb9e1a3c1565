//! Windows: what every match of a pattern must contain.
//!
//! Take `curl[^\n]{0,200}\|\s*(?:ba)?sh\b`. Every match walks through the graph of the pattern, so it passes every cut
//! of that graph: the node `c`, or `u`, or `|`, or the two nodes `s` (of `ba`+`sh` and of `sh` there is but one node `s`,
//! which three nodes lead to). For each node it is known what can stand around it: around that last `s` it is
//! `ash`, `|sh` or a blank and `sh`, and then no letter. These sequences of byte sets are the windows of the node; the
//! price of the node is how often they are expected in ordinary text; and the windows of the cheapest cut are the
//! windows of the pattern.

use std::collections::BTreeSet;

use super::byte_set::ByteSet;
use super::cut::{self, NEVER};
use super::frequency::Frequency;
use super::graph::{Edge, Graph, Node, narrow};
use super::loops::on_loops;

/// How many neighbouring bytes the sieve looks at in its first step.
pub(super) const WIDTH: usize = 4;

/// How many more bytes on either side its second step looks at.
const CONTEXT: usize = 12;

/// A node with more ways past it than this is no place to cut.
const MAX_WAYS: usize = 64;

/// A node that takes more bytes than this is in no rare window that its neighbours are not in as well.
const MAX_BYTES: usize = 128;

/// A second set of windows must cost less than this to be worth looking for: so often may one be expected in a million
/// bytes of text, each window counting for some more, since it makes its bucket take more.
const SECOND_PER_MILLION: u64 = 500;
const MORE_PER_WINDOW: u64 = 200;

/// A stretch of text that stands in every match that passes one node.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Window {
    /// What the first step looks for.
    pub(super) core: [ByteSet; WIDTH],
    /// What must stand before the core, nearest first.
    pub(super) before: Vec<ByteSet>,
    /// What must stand after the core, nearest first.
    pub(super) after: Vec<ByteSet>,
    /// The place of the node itself in the core.
    pub(super) node: usize,
}

/// The windows of a pattern.
#[derive(Debug)]
pub(super) struct Windows {
    pub(super) windows: Vec<Window>,
    /// How often one of them is expected in a million bytes of text.
    pub(super) per_million: u64,
    /// The nodes of the cut.
    pub(super) nodes: Vec<usize>,
}

impl Windows {
    fn are_worth_it(&self) -> bool {
        self.per_million + MORE_PER_WINDOW * self.windows.len() as u64 <= SECOND_PER_MILLION
    }
}

/// Returns up to two sets of windows, of each of which every match contains one. The second comes from another part of the
/// pattern than the first: a text with `curl` in one place and nothing like `| sh` after it needs no closer look.
///
/// If there is none, every match has to be looked for in another way.
pub(super) fn of(graph: &Graph, frequency: Frequency) -> Vec<Windows> {
    let mut choices: Vec<Option<Choice>> = vec![None; graph.len()];
    for (node, choice) in choices.iter_mut().enumerate().skip(Graph::AFTER + 1) {
        *choice = best_at(graph, node, frequency);
    }
    let Some(first) = cheapest(graph, &choices, frequency) else { return Vec::new() };
    for node in neighbours(graph, &first.nodes) {
        if let Some(choice) = choices.get_mut(node) {
            *choice = None;
        }
    }
    let second = cheapest(graph, &choices, frequency).filter(Windows::are_worth_it);
    std::iter::once(first).chain(second).collect()
}

/// The windows of the cheapest cut.
fn cheapest(graph: &Graph, choices: &[Option<Choice>], frequency: Frequency) -> Option<Windows> {
    let prices = choices.iter().map(|choice| choice.as_ref().map_or(NEVER, |choice| choice.price));
    let edges: Vec<(usize, usize)> = (0..graph.len())
        .flat_map(|from| graph.node(from).next.iter().map(move |edge| (from, edge.to)))
        .collect();
    let (nodes, _) = cut::cheapest(&prices.collect::<Vec<_>>(), &edges, Graph::BEFORE, Graph::AFTER)?;
    let mut windows = Vec::new();
    for &node in &nodes {
        let choice = choices.get(node)?.as_ref()?;
        windows.extend(choice.ways.iter().map(|way| way.window(graph, choice.offset)));
    }
    let windows = join_alike(windows);
    let expected: f64 = windows.iter().map(|window| frequency(&window.core)).sum();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at most a million per window"
    )]
    Some(Windows { windows, per_million: (expected * 1e6).ceil() as u64, nodes })
}

/// The nodes of the same words: those between which and `nodes` no loop and no wide set can stand.
fn neighbours(graph: &Graph, nodes: &[usize]) -> Vec<usize> {
    let looped = on_loops(graph);
    let crossable =
        |node: usize| graph.node(node).bytes.len() <= MAX_BYTES && looped.get(node) == Some(&false);
    let mut near = nodes.to_vec();
    for edges in [|node: &Node| node.next.clone(), |node: &Node| node.previous.clone()] {
        let around = reached(graph, nodes, edges, crossable);
        let borders: Vec<usize> = around.iter().copied().filter(|&node| !crossable(node)).collect();
        let beyond = reached(graph, &borders, edges, |_| true);
        near.extend(around.into_iter().filter(|node| !beyond.contains(node)));
    }
    near
}

/// The nodes that can be reached from `nodes`, behind which it goes on only where they can be crossed.
fn reached(
    graph: &Graph,
    nodes: &[usize],
    edges: impl Fn(&Node) -> Vec<Edge>,
    crossable: impl Fn(usize) -> bool,
) -> BTreeSet<usize> {
    let mut seen = BTreeSet::new();
    let mut work = nodes.to_vec();
    while let Some(node) = work.pop() {
        for Edge { to, .. } in edges(graph.node(node)) {
            if seen.insert(to) {
                work.extend(Some(to).filter(|&to| to > Graph::AFTER && crossable(to)));
            }
        }
    }
    seen
}

/// The cheapest windows through one node.
#[derive(Debug, Clone)]
struct Choice {
    /// The place of the node in the windows.
    offset: usize,
    ways: Vec<Way>,
    price: u64,
}

/// A walk of a few nodes, with the bytes that each can take there.
#[derive(Debug, Clone)]
struct Way {
    nodes: Vec<usize>,
    bytes: Vec<ByteSet>,
}

/// Finds the offset at which the windows around `node` are rarest.
fn best_at(graph: &Graph, node: usize, frequency: Frequency) -> Option<Choice> {
    if graph.node(node).bytes.len() > MAX_BYTES {
        return None;
    }
    let choice = |offset| {
        let ways = ways_through(graph, node, offset)?;
        let expected: f64 = ways.iter().map(|way| frequency(&way.bytes)).sum();
        // Each window costs a little even if it never occurs: fewer are better.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 64 ways")]
        let price = (expected * 1e9) as u64 + 20 * ways.len() as u64;
        Some(Choice { offset, ways, price })
    };
    (0..WIDTH).filter_map(choice).min_by_key(|choice| choice.price)
}

/// Every walk of up to [`WIDTH`] nodes with `node` at `offset`. Walks end early behind a match, but may not begin before
/// the byte in front of it.
fn ways_through(graph: &Graph, node: usize, offset: usize) -> Option<Vec<Way>> {
    let mut ways = vec![Way { nodes: vec![node], bytes: vec![graph.node(node).bytes] }];
    for _ in 0..offset {
        ways = lengthen(&ways, |way| way.backwards(graph))?;
    }
    for _ in offset + 1..WIDTH {
        ways = lengthen(&ways, |way| way.forwards(graph))?;
    }
    Some(ways)
}

/// Takes every way one step further; there must not be too many.
fn lengthen(ways: &[Way], step: impl Fn(&Way) -> Option<Vec<Way>>) -> Option<Vec<Way>> {
    let mut longer = Vec::new();
    for way in ways {
        longer.extend(step(way)?);
        if longer.len() > MAX_WAYS {
            return None;
        }
    }
    Some(longer)
}

impl Way {
    fn forwards(&self, graph: &Graph) -> Option<Vec<Self>> {
        let (&last, &bytes) = (self.nodes.last()?, self.bytes.last()?);
        if last == Graph::AFTER {
            return Some(vec![self.clone()]);
        }
        let step = |&edge: &Edge| {
            let (mut left, mut right) = (bytes, graph.node(edge.to).bytes);
            narrow(edge.looks, &mut left, &mut right);
            let mut way = self.clone();
            *way.bytes.last_mut()? = left;
            way.nodes.push(edge.to);
            way.bytes.push(right);
            Some(way).filter(Self::is_possible)
        };
        Some(graph.node(last).next.iter().filter_map(step).collect())
    }

    fn backwards(&self, graph: &Graph) -> Option<Vec<Self>> {
        let (&first, &bytes) = (self.nodes.first()?, self.bytes.first()?);
        if first == Graph::BEFORE {
            return None;
        }
        let step = |&edge: &Edge| {
            let (mut left, mut right) = (graph.node(edge.to).bytes, bytes);
            narrow(edge.looks, &mut left, &mut right);
            let mut way = self.clone();
            *way.bytes.first_mut()? = right;
            way.nodes.insert(0, edge.to);
            way.bytes.insert(0, left);
            Some(way).filter(Self::is_possible)
        };
        Some(graph.node(first).previous.iter().filter_map(step).collect())
    }

    fn is_possible(&self) -> bool {
        !self.bytes.iter().any(|bytes| bytes.is_empty())
    }

    fn window(&self, graph: &Graph, offset: usize) -> Window {
        let mut core = [ByteSet::ANY; WIDTH];
        for (core, &bytes) in core.iter_mut().zip(&self.bytes) {
            *core = bytes;
        }
        let (first, last) = (self.nodes.first().copied(), self.nodes.last().copied());
        Window {
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

/// What can stand one, two, … bytes before or after `node`, as far as every walk goes that far.
fn context(graph: &Graph, node: usize, side: Side) -> Vec<ByteSet> {
    let mut sets = Vec::new();
    let mut nodes = vec![node];
    let end = if side == Side::Before { Graph::BEFORE } else { Graph::AFTER };
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
    while sets.last() == Some(&ByteSet::ANY) {
        sets.pop();
    }
    sets
}

/// Joins windows whose cores differ in one place: looking for the joined one finds just the same.
fn join_alike(windows: Vec<Window>) -> Vec<Window> {
    let mut joined: Vec<Window> = Vec::new();
    for window in windows {
        joined.push(window);
        // A joined window can be joined again.
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

fn can_join(one: &Window, other: &Window) -> bool {
    one.node == other.node && one.core.iter().zip(&other.core).filter(|(a, b)| a != b).count() <= 1
}

fn join(one: &Window, other: &Window) -> Window {
    let union = |one: &[ByteSet], other: &[ByteSet]| one.iter().zip(other).map(|(&a, &b)| a | b).collect();
    let mut core = one.core;
    for (core, &other) in core.iter_mut().zip(&other.core) {
        *core = *core | other;
    }
    Window {
        core,
        before: union(&one.before, &other.before),
        after: union(&one.after, &other.after),
        node: one.node,
    }
}
