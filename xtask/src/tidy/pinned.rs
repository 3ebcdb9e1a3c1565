//! Programs are built from the dependencies that were reviewed: Cargo takes the versions of the lock file.

use super::problem::Problem;
use super::tree::{Tree, numbered};

/// Commands of Cargo that would choose other versions of dependencies than the lock file has.
const CHOOSING: &[&str] =
    &["cargo build", "cargo check", "cargo install", "cargo run", "cargo rustc", "cargo test"];

/// Files whose lines are run where programs are built or installed.
const RUN: &[&str] = &[".github/", ".ci/", "action.yml", "packages/", "README.md"];

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let is_run = |path: &str| {
        let is_prose = path.ends_with(".py") || path.starts_with("packages/python/README");
        !is_prose && RUN.iter().any(|place| path.starts_with(place))
    };
    let mut problems = Vec::new();
    for file in tree.files.iter().filter(|file| is_run(&file.path)) {
        for (number, line) in numbered(&file.text).filter(|(_, line)| !line.contains("--locked")) {
            let command = CHOOSING.iter().find(|command| line.contains(*command));
            let problem = |command| Problem::new(&file.path, number, format!("`{command}` without --locked"));
            problems.extend(command.map(problem));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_that_were_not_reviewed_are_refused() {
        let problems = |path: &str, text: &str| check(&Tree::of(&[(path, text)])).len();
        for (text, expected) in [
            ("run: cargo install --locked ripgrep\n", 0),
            ("run: cargo install ripgrep\n", 1),
            ("run: cargo build --release\n", 1),
            ("run: cargo xtask ci\n", 0),
        ] {
            assert_eq!(problems(".github/workflows/x.yml", text), expected, "{text}");
            assert_eq!(problems("crates/scanner/src/x.rs", text), 0, "{text}");
        }
    }
}
