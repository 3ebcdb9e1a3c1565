//! Minimum node cut: the cheapest set of nodes that every path through a graph must pass.
//!
//! By Menger and Ford–Fulkerson, the cost of the minimum cut equals the maximum flow, and the cut consists of the
//! nodes that this flow saturates. Dinic's algorithm finds the flow: shortest paths first, all those of one length at
//! a time.

use std::collections::VecDeque;

/// A price that no cut may include.
pub(super) const NEVER: u64 = u64::MAX / 4;

/// Returns the nodes of the minimum cut between `source` and `sink` and its price, or `None` if every cut includes a
/// [`NEVER`]. `prices` has one entry per node; `edges` lists the successors of each node.
pub(super) fn cheapest(
    prices: &[u64],
    edges: &[(usize, usize)],
    source: usize,
    sink: usize,
) -> Option<(Vec<usize>, u64)> {
    // Split each node into an entry and an exit, joined by a pipe with the capacity of its price.
    let nodes = prices.iter().enumerate().map(|(node, &price)| (entry(node), exit(node), price));
    let edges = edges.iter().map(|&(from, to)| (exit(from), entry(to), NEVER));
    let mut network = Network::new(prices.len() * 2, nodes.chain(edges));
    let mut flow = 0;
    while let Some(levels) = network.levels(exit(source), entry(sink)) {
        flow += network.fill(&levels, exit(source), entry(sink));
        // Some path has no node that could be cut: for any choice, a match could bypass it.
        if flow >= NEVER {
            return None;
        }
    }
    let wet = network.wet(exit(source));
    let is_wet = |place: usize| wet.get(place).is_some_and(Option::is_some);
    let cut = (0..prices.len()).filter(|&node| is_wet(entry(node)) && !is_wet(exit(node)));
    Some((cut.collect(), flow))
}

const fn entry(node: usize) -> usize {
    node * 2
}

const fn exit(node: usize) -> usize {
    node * 2 + 1
}

/// Pipes between vertices; pipe `i ^ 1` is the reverse of pipe `i`.
#[derive(Debug)]
struct Network {
    pipes: Vec<Pipe>,
    /// The pipes that leave each vertex, one vertex after another.
    leaving: Vec<usize>,
    /// Where those of each vertex start; one more than there are vertices.
    starts: Vec<usize>,
}

#[derive(Debug, Clone, Copy)]
struct Pipe {
    to: usize,
    room: u64,
}

#[expect(clippy::indexing_slicing, reason = "places and pipes are numbered by this network alone")]
impl Network {
    /// Makes a network of pipes: from where, to where and how much fits. Its lists are three allocations, however many vertices
    /// there are: each own pattern of a user makes a few networks.
    fn new(places: usize, all: impl Iterator<Item = (usize, usize, u64)>) -> Self {
        let mut pipes = Vec::with_capacity(2 * all.size_hint().0);
        let mut starts = vec![0; places + 1];
        for (from, to, room) in all {
            // The residual graph: flow can be undone in the reverse direction, so that a later path can correct an
            // earlier one.
            pipes.extend([Pipe { to, room }, Pipe { to: from, room: 0 }]);
            starts[from + 1] += 1;
            starts[to + 1] += 1;
        }
        for place in 0..places {
            starts[place + 1] += starts[place];
        }
        let mut free = starts.clone();
        let mut leaving = vec![0; pipes.len()];
        for pipe in 0..pipes.len() {
            let from = pipes[pipe ^ 1].to;
            leaving[free[from]] = pipe;
            free[from] += 1;
        }
        Self { pipes, leaving, starts }
    }

    fn places(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns the pipes that leave a vertex.
    fn leaving(&self, place: usize) -> &[usize] {
        &self.leaving[self.starts[place]..self.starts[place + 1]]
    }

    /// Returns the distance of each vertex from `source` in the residual graph, if it is reachable.
    fn wet(&self, source: usize) -> Vec<Option<u32>> {
        let mut levels = vec![None; self.places()];
        levels[source] = Some(0);
        let mut queue = VecDeque::from([(source, 0)]);
        while let Some((place, level)) = queue.pop_front() {
            for pipe in self.leaving(place).iter().map(|&pipe| self.pipes[pipe]) {
                if pipe.room > 0 && levels[pipe.to].is_none() {
                    levels[pipe.to] = Some(level + 1);
                    queue.push_back((pipe.to, level + 1));
                }
            }
        }
        levels
    }

    /// The same, as long as the sink is reachable.
    fn levels(&self, source: usize, sink: usize) -> Option<Vec<Option<u32>>> {
        let levels = self.wet(source);
        levels[sink].is_some().then_some(levels)
    }

    /// Saturates all shortest paths, and returns the added flow. It keeps the path on an explicit stack, since a
    /// pattern can make paths longer than the thread's stack permits.
    fn fill(&mut self, levels: &[Option<u32>], source: usize, sink: usize) -> u64 {
        let mut tried = vec![0; self.places()];
        let mut way: Vec<usize> = Vec::new();
        let mut total = 0;
        loop {
            let place = way.last().map_or(source, |&pipe| self.pipes[pipe].to);
            if place == sink {
                total += self.send(&mut way);
                if total >= NEVER {
                    return total;
                }
            } else if let Some(&pipe) = self.leaving(place).get(tried[place]) {
                let Pipe { to, room } = self.pipes[pipe];
                if room > 0 && levels[to] == levels[place].map(|level| level + 1) {
                    way.push(pipe);
                } else {
                    tried[place] += 1;
                }
            } else if let Some(pipe) = way.pop() {
                // A dead end: the previous vertex need not try this pipe again.
                let before = self.pipes[pipe ^ 1].to;
                tried[before] += 1;
            } else {
                return total;
            }
        }
    }

    /// Adds as much flow as fits along a path, and shortens the path to before its first full pipe.
    fn send(&mut self, way: &mut Vec<usize>) -> u64 {
        let amount = way.iter().map(|&pipe| self.pipes[pipe].room).min().unwrap_or(0);
        for &pipe in way.iter() {
            self.pipes[pipe].room -= amount;
            self.pipes[pipe ^ 1].room = self.pipes[pipe ^ 1].room.saturating_add(amount);
        }
        let full = way.iter().position(|&pipe| self.pipes[pipe].room == 0).unwrap_or(0);
        way.truncate(full);
        amount
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENDS: [u64; 2] = [NEVER; 2];

    fn cut(inner: &[u64], edges: &[(usize, usize)]) -> Option<(Vec<usize>, u64)> {
        cheapest(&[&ENDS, inner].concat(), edges, 0, 1)
    }

    #[test]
    fn a_chain_is_cut_at_its_cheapest_node() {
        let chain = [(0, 2), (2, 3), (3, 4), (4, 1)];
        assert_eq!(cut(&[5, 3, 4], &chain), Some((vec![3], 3)));
    }

    #[test]
    fn branches_are_cut_each_or_where_they_meet() {
        let fork = [(0, 2), (0, 3), (2, 4), (3, 4), (4, 1)];
        assert_eq!(cut(&[1, 2, 4], &fork), Some((vec![2, 3], 3)));
        assert_eq!(cut(&[1, 2, 2], &fork), Some((vec![4], 2)));
    }

    #[test]
    fn loops_do_not_matter() {
        let looped = [(0, 2), (2, 2), (2, 3), (3, 2), (3, 1)];
        assert_eq!(cut(&[7, 2], &looped), Some((vec![3], 2)));
    }

    #[test]
    fn a_way_round_everything_cannot_be_cut() {
        assert_eq!(cut(&[1], &[(0, 2), (2, 1), (0, 1)]), None);
        assert_eq!(cut(&[NEVER], &[(0, 2), (2, 1)]), None);
    }
}
