//! Programs found by tree-sitter-bash.

use tree_sitter::{Node, Parser};

/// Returns a parser with the grammar of bash.
pub(crate) fn parser() -> Parser {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).expect("the versions of both crates fit");
    parser
}

/// Returns the names of the commands, as written, also those in substitutions. A tree with an error has no opinion.
pub(crate) fn names(text: &str, parser: &mut Parser) -> Vec<String> {
    let mut names = Vec::new();
    let Some(tree) = parser.parse(text, None).filter(|tree| !tree.root_node().has_error()) else {
        return names;
    };
    let mut waiting: Vec<Node<'_>> = vec![tree.root_node()];
    while let Some(node) = waiting.pop() {
        if node.kind() == "command_name" {
            names.extend(node.utf8_text(text.as_bytes()).map(str::to_owned));
        }
        let mut cursor = node.walk();
        waiting.extend(node.children(&mut cursor));
    }
    names
}
