//! Paths that exist only on a developer's machine.

use super::problem::Problem;
use super::tree::{File, Tree, numbered};

/// Beginnings of paths that only a build machine has.
const MACHINES: &[&str] = &[
    // Where this checkout lies, as the compiler saw it.
    env!("CARGO_MANIFEST_DIR"),
    "/home/runner/",
    "/root/.cargo",
    "/root/.rustup",
    "/builds/",
];

/// Files that contain such paths on purpose.
const EXEMPT: &[&str] = &["xtask/src/tidy/paths.rs"];

/// Returns the places that name such a path.
pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let files = tree.files.iter().filter(|file| !EXEMPT.contains(&file.path.as_str()));
    files.flat_map(problems_of).collect()
}

fn problems_of(file: &File) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (line, text) in numbered(&file.text) {
        if let Some(path) = MACHINES.iter().find(|path| text.contains(*path)) {
            let message =
                format!("`{path}` only exists on one machine; write a path from the root of the repository");
            problems.push(Problem::new(&file.path, line, message));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::super::problem::said;
    use super::*;

    #[test]
    fn machines_are_found_and_examples_are_not() {
        let examples = "cat /root/.ssh/id_rsa\n/home/user/skills\n/workspace/x\n";
        assert!(said(check, &[("a.md", examples)]).is_empty());
        let here = concat!("x\nsee ", env!("CARGO_MANIFEST_DIR"), "/src\n");
        assert_eq!(said(check, &[("a.md", here)]).len(), 1);
        assert_eq!(said(check, &[("a.md", "/builds/x\n")]).len(), 1);
    }
}
