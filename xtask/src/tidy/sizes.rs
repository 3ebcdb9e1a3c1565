//! How large a crate may grow: lines of code, without comments, blank lines and tests.
//!
//! A crate that outgrows its limit is usually two. The limits of those that are too large already only fall.

use super::problem::Problem;
use super::tree::{File, Tree};

/// The most lines of code of a crate.
const MAX_LINES: usize = 20_000;

/// Crates with another limit: thin ones that compose others, and large ones that are still to be cut.
const OTHERWISE: &[(&str, usize)] =
    &[("crates/cli", 18_000), ("crates/exec-sandbox", 24_150), ("crates/guard", 5_000)];

/// Returns the crates that are too large.
pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let folders = tree.crate_folders().into_iter().filter(|folder| folder.starts_with("crates/"));
    folders.filter_map(|folder| too_large(tree, folder)).collect()
}

fn too_large(tree: &Tree, folder: &str) -> Option<Problem> {
    let lines = lines(tree, folder);
    let limit = OTHERWISE.iter().find(|row| row.0 == folder).map_or(MAX_LINES, |row| row.1);
    (lines > limit).then(|| {
        let message = format!(
            "{lines} lines of code, more than {limit}: which part of it is worth a crate of its own? \
             The limits are in xtask/src/tidy/sizes.rs"
        );
        Problem::new(&format!("{folder}/Cargo.toml"), 1, message)
    })
}

fn lines(tree: &Tree, folder: &str) -> usize {
    let source = format!("{folder}/src");
    tree.rust_under(&source).filter(|file| tree.is_product(file)).map(code_lines).sum()
}

fn code_lines(file: &File) -> usize {
    file.code_before_tests().lines().filter(|line| !line.trim().is_empty()).count()
}

#[cfg(test)]
mod tests {
    use super::super::problem::said;
    use super::*;

    #[test]
    fn comments_blank_lines_and_tests_do_not_count() {
        let file = "//! A.\n\n/// B.\nfn f() {\n    // C.\n    g();\n}\n\n#[cfg(test)]\nmod tests {\n    fn h() {}\n}\n";
        let tree = Tree::of(&[("crates/x/src/a.rs", file), ("crates/x/Cargo.toml", "")]);
        assert_eq!(lines(&tree, "crates/x"), 3);
    }

    #[test]
    fn a_crate_over_its_limit_is_named() {
        let of = |count: usize| "f();\n".repeat(count);
        let (fits, over) = (of(MAX_LINES), of(MAX_LINES + 1));
        let manifest = ("crates/x/Cargo.toml", "");
        assert_eq!(said(check, &[manifest, ("crates/x/src/a.rs", &fits)]), [""; 0]);
        let problems = said(check, &[manifest, ("crates/x/src/a.rs", &over)]);
        assert!(problems[0].starts_with("crates/x/Cargo.toml:1: 20001 lines of code"), "{problems:?}");
        assert_eq!(said(check, &[manifest, ("crates/x/tests/it/a.rs", &over)]), [""; 0]);
    }
}
