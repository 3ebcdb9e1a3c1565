//! Actions of hosted workflows are named by commit: a tag can be moved to another commit by its owner.

use super::problem::Problem;
use super::tree::{Tree, numbered};

/// Returns actions that are named otherwise.
pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in tree.files.iter().filter(|file| file.path.starts_with(".github/workflows/")) {
        for (line, text) in numbered(&file.text) {
            let Some((_, action)) = text.split_once("uses: ") else { continue };
            let word = action.split_whitespace().next().unwrap_or_default();
            let commit = word.split_once('@').map_or("", |(_, commit)| commit);
            let is_commit = commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
            // One of this repository is at the commit of its workflow.
            if !is_commit && !word.starts_with("./") {
                let message = format!("`{word}` is not named by commit; write `NAME@COMMIT # VERSION`");
                problems.push(Problem::new(&file.path, line, message));
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::super::problem::said;
    use super::*;

    #[test]
    fn actions_are_named_by_commit() {
        let commit = "08c6903cd8c0fde910a37f88322edcfb5dd907a8";
        let right = format!("- uses: actions/checkout@{commit} # v5.0.0\n- uses: ./packages/action\n");
        assert_eq!(said(check, &[(".github/workflows/ci.yml", &right)]), [""; 0]);
        for wrong in ["actions/checkout@v5.0.0", "actions/checkout", "actions/checkout@main", "x/y@08c6903"] {
            let text = format!("- uses: {wrong}\n");
            assert_eq!(said(check, &[(".github/workflows/ci.yml", &text)]).len(), 1, "{wrong}");
        }
        assert_eq!(said(check, &[("docs/src/x.md", "- uses: a/b@v1\n")]), [""; 0]);
    }
}
