//! Bounds of a match around the position of its gram, and signs that must surround it, so that the exact engine need
//! not read the whole text.

use std::ops::Range;

use super::byte_set::ByteSet;
use super::cut::{self, NEVER};
use super::frequency::frequency;
use super::graph::{Edge, Graph, Node};
use super::loops::on_loops;

/// How many bytes around a hit are searched for a required sign.
const PATIENCE: usize = 256;

/// How many bytes around a stretch are searched for one that ends the extent. Without one, only the length bounds the
/// extent. Searching for it costs less than running the exact engine over these bytes.
pub(super) const WIDE_PATIENCE: usize = 4096;

/// Maximum number of bytes in a mark, and its maximum frequency per byte of text.
const MARK_BYTES: usize = 8;
const MARK_FREQUENCY: f64 = 0.05;

/// Maximum extent of a match around a stretch of text that it contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MatchExtent {
    pub(crate) before: Side,
    pub(crate) after: Side,
}

/// Maximum extent of a match on one side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Side {
    /// Maximum number of bytes; `u32::MAX` means unbounded.
    pub(crate) most: u32,
    /// Bytes at which it ends: line ends, and bytes that it does not extend over. A match of `` `[^`]*sh `` begins at
    /// the first backtick before its `sh`.
    pub(crate) borders: ByteSet,
    /// Whether it can extend over line ends.
    pub(crate) over_line_ends: bool,
    /// Bytes after which it extends over any number of line ends, often just the backslash that continues a line.
    pub(crate) breaks: ByteSet,
    /// Maximum number of further line ends that it extends over.
    pub(crate) line_ends: u32,
    /// Signs, one of which must be among those bytes: a match of `\|\s*sh` has a bar before its `sh`. All bytes if
    /// there are no such signs.
    pub(crate) mark: ByteSet,
    /// The marks and the borders.
    pub(crate) signs: ByteSet,
}

impl MatchExtent {
    /// Returns an extent of at most these numbers of any bytes.
    #[cfg(test)]
    pub(super) const fn bytes(before: u32, after: u32) -> Self {
        Self { before: Side::bytes(before), after: Side::bytes(after) }
    }

    /// Returns the extent of a match of `graph` around any of `nodes`.
    pub(super) fn around(graph: &Graph, nodes: &[usize]) -> Self {
        let looped = on_loops(graph);
        Self {
            before: Side::new(graph, nodes, &looped, Graph::BEFORE, |node| (&node.next, &node.previous)),
            after: Side::new(graph, nodes, &looped, Graph::AFTER, |node| (&node.previous, &node.next)),
        }
    }

    /// Whether the required signs surround the byte at `place`, and how many bytes were inspected.
    pub(crate) fn is_plausible(&self, text: &[u8], place: usize) -> (bool, usize) {
        let (behind, ahead) =
            (text.get(..place).unwrap_or_default(), text.get(place + 1..).unwrap_or_default());
        let (before, steps) = self.before.is_marked(text, behind.iter().rev(), |step| place - step);
        if !before {
            return (false, steps);
        }
        let (after, more_steps) = self.after.is_marked(text, ahead.iter(), |step| place + step);
        (after, steps + more_steps)
    }

    /// Returns the part of `text` that contains every match overlapping `seen`.
    pub(crate) fn widen(&self, text: &[u8], seen: Range<usize>) -> Range<usize> {
        let behind = text.get(..seen.start).unwrap_or_default();
        let ahead = text.get(seen.end..).unwrap_or_default();
        let before = self.before.length(text, behind, Direction::Backwards, |step| seen.start - step);
        let after = self.after.length(text, ahead, Direction::Forwards, |step| seen.end + step - 1);
        seen.start - before..seen.end + after
    }
}

/// Direction in which bytes are counted, from a hit on.
#[derive(Debug, Clone, Copy)]
enum Direction {
    Backwards,
    Forwards,
}

impl Direction {
    /// Returns the number of bytes before the first of a set, within a part of these bytes.
    fn find(self, bytes: &[u8], within: Range<usize>, set: &ByteSet) -> Option<usize> {
        // Most extents end with the line.
        let is_line_end = *set == ByteSet::LINE_END;
        match self {
            Self::Forwards => {
                let part = bytes.get(within.clone())?;
                let found = match is_line_end {
                    true => memchr::memchr(b'\n', part),
                    false => part.iter().position(|byte| set.contains(*byte)),
                };
                found.map(|at| within.start + at)
            }
            Self::Backwards => {
                let part = bytes.get(bytes.len().checked_sub(within.end)?..bytes.len() - within.start)?;
                let found = match is_line_end {
                    true => memchr::memrchr(b'\n', part),
                    false => part.iter().rposition(|byte| set.contains(*byte)),
                };
                found.map(|at| within.end - 1 - at)
            }
        }
    }
}

impl Side {
    /// Returns a side of at most `most` bytes of any kind.
    #[cfg(test)]
    pub(super) const fn bytes(most: u32) -> Self {
        Self::of(most, ByteSet::ANY, ByteSet::ANY, 0, ByteSet::ANY)
    }

    /// The side from `nodes` to the end of a match; `edges` returns those away from that end and those towards it.
    /// `looped` has the nodes that are on a loop.
    fn new(
        graph: &Graph,
        nodes: &[usize],
        looped: &[bool],
        end: usize,
        edges: impl Fn(&Node) -> (&[Edge], &[Edge]),
    ) -> Self {
        let lengths = longest_walks(graph, end, &edges);
        let most = nodes.iter().filter_map(|&node| lengths.get(node)).copied().max().unwrap_or(u32::MAX);
        let mut seen = vec![false; graph.len()];
        let mut work = nodes.to_vec();
        let mut over = ByteSet::default();
        while let Some(node) = work.pop() {
            for edge in edges(graph.node(node)).1 {
                if edge.to != end && seen.get_mut(edge.to).is_some_and(|seen| !std::mem::replace(seen, true))
                {
                    let node = graph.node(edge.to);
                    // The outermost byte of a match is not passed over: the extent ends there.
                    if edges(node).1.iter().any(|further| further.to != end) {
                        over = over | node.bytes;
                    }
                    work.push(edge.to);
                }
            }
        }
        // A node that is on no loop is passed at most once.
        let passed = (0..graph.len()).filter(|&node| seen.get(node) == Some(&true));
        let line_ends = passed.filter(|&node| graph.node(node).bytes.contains(b'\n'));
        // A line end on a loop can repeat without bound; it is recognised by the byte before it instead of
        // being counted.
        let (again, once): (Vec<usize>, Vec<usize>) =
            line_ends.partition(|&node| looped.get(node) != Some(&false));
        let breaks = before(graph, &again);
        let line_ends = u32::try_from(once.len()).unwrap_or(u32::MAX);
        let mark = mark(graph, nodes, end, &edges).unwrap_or(ByteSet::ANY);
        Self::of(most, over, breaks, line_ends, mark)
    }

    /// Returns a side over these bytes.
    const fn of(most: u32, over: ByteSet, breaks: ByteSet, line_ends: u32, mark: ByteSet) -> Self {
        let borders = over.not().or(ByteSet::LINE_END);
        let over_line_ends = over.contains(b'\n');
        Self { most, borders, over_line_ends, breaks, line_ends, mark, signs: mark.or(borders) }
    }

    /// Whether no byte can end it.
    fn is_open(&self) -> bool {
        self.borders == ByteSet::LINE_END && self.over_line_ends && self.breaks == ByteSet::ANY
    }

    /// Whether it ends with the border at this position, if it may contain this many more line ends.
    fn ends_at(&self, text: &[u8], at: usize, line_ends: &mut u32) -> bool {
        // Any border except a line end ends the extent at once.
        if !holds(text, at, &ByteSet::LINE_END) {
            return true;
        }
        if at.checked_sub(1).is_some_and(|before| !holds(text, before, &self.breaks)) {
            // Not a continued line: it uses up one of the line ends that the pattern contains.
            let Some(left) = line_ends.checked_sub(1) else { return true };
            *line_ends = left;
        }
        !self.over_line_ends
    }

    /// Whether a mark is among these bytes or may be behind them, and how many were inspected. The first of them is
    /// the byte at position `at(1)` of the text.
    #[inline]
    fn is_marked<'t>(
        &self,
        text: &[u8],
        bytes: impl ExactSizeIterator<Item = &'t u8>,
        at: impl Fn(usize) -> usize,
    ) -> (bool, usize) {
        if self.mark == ByteSet::ANY || self.is_open() {
            return (true, 0);
        }
        let near = self.most(&bytes).min(PATIENCE);
        let mut bytes = bytes.take(near);
        let mut line_ends = self.line_ends;
        while let Some(&sign) = bytes.find(|&&byte| self.signs.contains(byte)) {
            let steps = near - bytes.len();
            if self.mark.contains(sign) {
                return (true, steps);
            }
            if self.ends_at(text, at(steps), &mut line_ends) {
                return (false, steps);
            }
        }
        // If the search was cut short, the mark may still follow.
        (near == PATIENCE, near)
    }

    /// Returns its length over these bytes.
    fn length(&self, text: &[u8], bytes: &[u8], direction: Direction, at: impl Fn(usize) -> usize) -> usize {
        let most = self.most(&bytes.iter());
        if self.is_open() {
            return most;
        }
        // Without a border within reach, the extent is as long as the pattern permits: too long, but never too
        // short.
        let near = most.min(WIDE_PATIENCE);
        let mut steps = 0;
        let mut line_ends = self.line_ends;
        while let Some(border) = direction.find(bytes, steps..near, &self.borders) {
            steps = border + 1;
            if self.ends_at(text, at(steps), &mut line_ends) {
                return steps;
            }
        }
        most
    }

    /// Returns its maximum length over these bytes.
    fn most<'t>(&self, bytes: &impl ExactSizeIterator<Item = &'t u8>) -> usize {
        bytes.len().min(usize::try_from(self.most).unwrap_or(usize::MAX))
    }
}

/// Whether the byte at a position of the text is in the set.
#[inline]
fn holds(text: &[u8], at: usize, bytes: &ByteSet) -> bool {
    text.get(at).is_some_and(|&byte| bytes.contains(byte))
}

/// Returns the bytes that can precede one of these nodes.
fn before(graph: &Graph, nodes: &[usize]) -> ByteSet {
    let edges = nodes.iter().flat_map(|&node| &graph.node(node).previous);
    edges.fold(ByteSet::default(), |all, edge| all | graph.node(edge.to).bytes)
}

/// Returns the rarest signs of which every path between `end` and `nodes` passes one.
fn mark(
    graph: &Graph,
    nodes: &[usize],
    end: usize,
    edges: &impl Fn(&Node) -> (&[Edge], &[Edge]),
) -> Option<ByteSet> {
    let bytes = |node: usize| graph.node(node).bytes;
    let is_sign = |set: ByteSet| set.len() <= MARK_BYTES && (set & NO_SIGNS).is_empty();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most a thousand million")]
    let price =
        |node: usize| if is_sign(bytes(node)) { (frequency(&[bytes(node)]) * 1e9) as u64 + 1 } else { NEVER };
    let prices: Vec<u64> = (0..graph.len()).map(price).collect();
    // A path ends at the first of the nodes that it reaches.
    let other_end = Graph::BEFORE + Graph::AFTER - end;
    let target = |to: usize| if nodes.contains(&to) { other_end } else { to };
    let walks = (0..graph.len()).filter(|from| !nodes.contains(from));
    let walks =
        walks.flat_map(|from| edges(graph.node(from)).0.iter().map(move |edge| (from, target(edge.to))));
    let (cut, _) = cut::cheapest(&prices, &walks.collect::<Vec<_>>(), end, other_end)?;
    let mark = cut.into_iter().fold(ByteSet::default(), |mark, node| mark | bytes(node));
    Some(mark).filter(|mark| !mark.is_empty() && frequency(&[*mark]) <= MARK_FREQUENCY)
}

/// Letters, digits and white space are everywhere, so they are no signs.
const NO_SIGNS: ByteSet = ByteSet::WORD.or(ByteSet::range(0, b' '));

/// Returns the maximum number of nodes strictly between `start` and each node; `u32::MAX` if a loop is on the way.
///
/// Nodes are processed in topological order: when all incoming edges are accounted for. Behind a loop that never
/// happens.
fn longest_walks(graph: &Graph, start: usize, edges: &impl Fn(&Node) -> (&[Edge], &[Edge])) -> Vec<u32> {
    let mut done = vec![u32::MAX; graph.len()];
    let mut longest = vec![0; graph.len()];
    let mut missing: Vec<usize> = (0..graph.len()).map(|node| edges(graph.node(node)).1.len()).collect();
    let mut ready = vec![start];
    while let Some(node) = ready.pop() {
        let length = longest.get(node).copied().unwrap_or(0);
        if let Some(done) = done.get_mut(node) {
            *done = length;
        }
        // The start is a byte beside the match and does not count.
        let further = if node == start { 0 } else { length + 1 };
        for edge in edges(graph.node(node)).0 {
            if let (Some(longest), Some(missing)) = (longest.get_mut(edge.to), missing.get_mut(edge.to)) {
                *longest = further.max(*longest);
                *missing -= 1;
                if *missing == 0 {
                    ready.push(edge.to);
                }
            }
        }
    }
    done
}

#[cfg(test)]
mod tests {
    use super::super::source::compile;
    use super::*;

    /// Returns what a match can cover around the first occurrence of a byte.
    fn reached(pattern: &str, sign: u8, text: &str) -> String {
        let graph = compile(pattern).unwrap();
        let extent = MatchExtent::around(&graph, &graph.taking(ByteSet::range(sign, sign)));
        let seen = text.bytes().position(|byte| byte == sign).unwrap();
        text.get(extent.widen(text.as_bytes(), seen..seen + 1)).unwrap().to_owned()
    }

    #[test]
    fn an_extent_ends_with_the_line_or_as_many_lines_later_as_the_pattern_has_line_ends() {
        // pattern, text, covered part around the Z
        let cases = [
            (r"[^\n]*Z[^\n]*", "a\nb Z c\nd", "\nb Z c\n"),
            (r"Z[^\n]*\n[^\n]*", "a\nb Z c\nd\ne", "Z c\nd\n"),
            (r"Z[^\n]*(?:;|\n)[^\n]*(?:;|\n)x", "Z a\nb\nc\nd", "Z a\nb\nc\n"),
            (r"Z(?:[^\\\n]|\\\n)*", "Z a\\\nb\\\nc\nd", "Z a\\\nb\\\nc\n"),
            (r"Z(?:[^\\\n]|\\\n)*\n[^\n]*", "Z a\\\nb\nc\nd", "Z a\\\nb\nc\n"),
            (r"Z[^x]*x", "Z\n\n\nx\nx", "Z\n\n\nx"),
            (r"[a-c]{3}Z[0-9]*", "abcZ0123\n", "abcZ0123\n"),
        ];
        for (pattern, text, expected) in cases {
            assert_eq!(reached(pattern, b'Z', text), expected, "{pattern} in {text:?}");
        }
    }
}
