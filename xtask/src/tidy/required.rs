//! Files that must be there.

use super::problem::Problem;
use super::tree::{OWN_TOOLS, Tree};

/// Files that a visitor expects at the top.
const AT_THE_TOP: &[&str] = &[
    "README.md",
    "ARCHITECTURE.md",
    "SECURITY.md",
    "LEDGER.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "LICENSE-MIT",
    "LICENSE-APACHE",
    "Cargo.lock",
    "clippy.toml",
    "rustfmt.toml",
    "deny.toml",
    ".ci/run",
];

/// Files of each library crate.
const IN_A_LIBRARY: &[&str] = &["README.md", "tests/it/main.rs"];

/// Returns the files that are missing.
pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let mut wanted: Vec<String> = AT_THE_TOP.iter().map(|&path| path.to_owned()).collect();
    for folder in tree.crate_folders().into_iter().filter(|folder| !OWN_TOOLS.contains(folder)) {
        wanted.push(format!("{folder}/README.md"));
        if tree.has(&format!("{folder}/src/lib.rs")) {
            wanted.extend(IN_A_LIBRARY.iter().map(|file| format!("{folder}/{file}")));
        }
    }
    wanted.dedup();
    let missing = wanted.iter().filter(|path| !tree.has(path));
    missing.map(|path| Problem::new(path, 1, "the file is missing; write it")).collect()
}

#[cfg(test)]
mod tests {
    use super::super::problem::said;
    use super::*;

    #[test]
    fn missing_files_are_named() {
        let mut files: Vec<(&str, &str)> = AT_THE_TOP.iter().map(|&path| (path, "")).collect();
        files.extend([("crates/x/Cargo.toml", ""), ("crates/x/src/lib.rs", "")]);
        assert_eq!(
            said(check, &files),
            [
                "crates/x/README.md:1: the file is missing; write it",
                "crates/x/tests/it/main.rs:1: the file is missing; write it"
            ]
        );
        files.extend([("crates/x/README.md", ""), ("crates/x/tests/it/main.rs", "")]);
        assert!(said(check, &files).is_empty());
    }
}
