//! Converts a plain expression to the input of the engine without backtracking.

use regex_syntax::hir::{self, Capture, Class, Hir, Repetition};

use super::node::{Node, Repeat};

/// Input of the engine. Only plain expressions have the same meaning there. Classes are moved, not copied.
pub(super) fn emit(node: Node, names: &[Option<String>]) -> Hir {
    let inner = |node: Node| emit(node, names);
    match node {
        Node::Empty | Node::Back(_) | Node::Look(_) => Hir::empty(),
        Node::Set(class) => Hir::class(Class::Unicode(class)),
        Node::Start => Hir::look(hir::Look::Start),
        Node::End => Hir::look(hir::Look::End),
        Node::Boundary(true) => Hir::look(hir::Look::WordAscii),
        Node::Boundary(false) => Hir::look(hir::Look::WordAsciiNegate),
        Node::Group(number, node) => Hir::capture(Capture {
            index: u32::try_from(number).unwrap_or(u32::MAX),
            name: names.get(number).and_then(|name| name.as_deref()).map(Into::into),
            sub: Box::new(inner(*node)),
        }),
        Node::All(nodes) => Hir::concat(nodes.into_iter().map(inner).collect()),
        Node::Any(nodes) => Hir::alternation(nodes.into_iter().map(inner).collect()),
        Node::Repeat(repeat) => {
            let Repeat { node, least, most, is_greedy, .. } = *repeat;
            Hir::repetition(Repetition {
                min: least,
                max: most,
                greedy: is_greedy,
                sub: Box::new(inner(node)),
            })
        }
    }
}
