//! Finds the nodes of a graph that are on a loop.
//!
//! Two nodes are on a common loop if each can be reached from the other (a strongly connected component). Kosaraju's
//! algorithm: walk the graph and record the order in which nodes are finished; then walk the reversed graph from the
//! last to the first. The nodes of one reverse walk that belong to no component yet form one.

use super::graph::{Edge, Graph, Node};

/// Returns for each node whether some path from it returns to it.
pub(super) fn on_loops(graph: &Graph) -> Vec<bool> {
    let mut seen = vec![false; graph.len()];
    let mut ends = Vec::new();
    for node in 0..graph.len() {
        walk(graph, node, |node| &node.next, &mut seen, &mut ends);
    }
    let mut looped = vec![false; graph.len()];
    seen.fill(false);
    for node in ends.into_iter().rev() {
        let mut together = Vec::new();
        // On reversed edges, a walk from the node that was finished last stays within its component.
        walk(graph, node, |node| &node.previous, &mut seen, &mut together);
        // A single node is a loop only if it follows itself.
        let is_loop = together.len() > 1 || graph.node(node).next.iter().any(|edge| edge.to == node);
        for node in together {
            if let Some(looped) = looped.get_mut(node) {
                *looped = is_loop;
            }
        }
    }
    looped
}

/// Appends to `ends` all nodes reachable from `start` that were not visited before, each after its successors. It
/// keeps the path on an explicit stack: a pattern can make paths longer than the thread's stack permits.
fn walk(
    graph: &Graph,
    start: usize,
    edges: impl Fn(&Node) -> &[Edge],
    seen: &mut [bool],
    ends: &mut Vec<usize>,
) {
    let mut is_new = |node: usize| seen.get_mut(node).is_some_and(|seen| !std::mem::replace(seen, true));
    let mut way = Vec::from_iter(Some((start, 0)).filter(|&(start, _)| is_new(start)));
    while let Some((node, tried)) = way.last_mut() {
        match edges(graph.node(*node)).get(*tried) {
            Some(edge) => {
                *tried += 1;
                way.extend(Some((edge.to, 0)).filter(|&(to, _)| is_new(to)));
            }
            None => {
                ends.push(*node);
                way.pop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use regex_automata::nfa::thompson::NFA;

    use super::*;

    /// The first bytes of the nodes that lie on loops.
    fn looped(pattern: &str) -> String {
        let graph = Graph::new(&NFA::new(pattern).unwrap());
        let looped = on_loops(&graph);
        let nodes = (Graph::AFTER + 1..graph.len()).filter(|&node| looped.get(node) == Some(&true));
        let mut bytes: Vec<u8> = nodes.filter_map(|node| graph.node(node).bytes.bytes().next()).collect();
        bytes.sort_unstable();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn loops_are_found_and_what_stands_between_them_is_not() {
        for (pattern, expected) in
            [("abc", ""), ("ab*c", "b"), ("a(?:bc)+d", "bc"), ("a*bc*", "ac"), ("(?:a(?:b|cd)*e)+f", "abcde")]
        {
            assert_eq!(looped(pattern), expected, "{pattern}");
        }
    }
}
