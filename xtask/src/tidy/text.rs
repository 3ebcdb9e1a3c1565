//! Blanks, line ends and lengths of files.

use super::problem::Problem;
use super::tree::{File, Tree};

/// The most lines of a source file. Longer ones are usually two rooms in one.
const MAX_LINES: usize = 600;

/// Files that may be longer: each is one table.
const TABLES: &[&str] = &["crates/scanner/src/rules/", "crates/sanitize/src/tables.rs"];

/// Directories whose text is the input or output of programs, including blanks.
const VERBATIM: &[&str] = &["/tests/", "examples/"];

/// Returns stray blanks and missing line ends.
pub(super) fn blanks(tree: &Tree) -> Vec<Problem> {
    let verbatim =
        |file: &&File| VERBATIM.iter().any(|part| file.path.contains(part)) && !file.path.ends_with(".rs");
    let files = tree.files.iter().filter(|file| !verbatim(file));
    files.flat_map(|file| stray_blanks(file).into_iter().chain(last_line(file))).collect()
}

fn stray_blanks(file: &File) -> Vec<Problem> {
    let mut problems = Vec::new();
    // Not `lines`, which would hide a carriage return.
    for (line, text) in (1..).zip(file.text.split('\n')) {
        if text.ends_with([' ', '\t', '\r']) {
            problems.push(Problem::new(&file.path, line, "the line ends in blanks; take them out"));
        }
        if text.trim_end().contains('\t') || text.starts_with('\t') {
            problems.push(Problem::new(
                &file.path,
                line,
                "a tab, which every editor shows differently; use spaces",
            ));
        }
    }
    problems
}

fn last_line(file: &File) -> Option<Problem> {
    let lines = file.text.lines().count();
    if file.text.is_empty() || (file.text.ends_with('\n') && !file.text.ends_with("\n\n")) {
        return None;
    }
    Some(Problem::new(&file.path, lines.max(1), "a file ends in exactly one line end"))
}

/// Returns source files that have grown too long. A warning.
pub(super) fn long_files(tree: &Tree) -> Vec<Problem> {
    let long = |file: &&File| {
        let is_table = TABLES.iter().any(|table| file.path.starts_with(table));
        file.path.contains("/src/") && !is_table && file.text.lines().count() > MAX_LINES
    };
    let message =
        |file: &File| format!("{} lines: is it one idea, or two rooms in one?", file.text.lines().count());
    tree.rust().filter(long).map(|file| Problem::new(&file.path, 1, message(file))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::problem::said;
    use super::*;

    #[test]
    fn blanks_are_found() {
        assert!(said(blanks, &[("a.rs", "fn f() {}\n"), ("b.md", "")]).is_empty());
        for text in ["x \n", "x\r\n", "\tx\n", "x", "x\n\n"] {
            assert_eq!(said(blanks, &[("a.md", text)]).len(), 1, "{text:?}");
        }
        assert!(said(blanks, &[("crates/cli/tests/cli/scan.md", "x \n")]).is_empty());
    }

    #[test]
    fn long_files_are_found_but_tables_may_be_long() {
        let long = "x\n".repeat(MAX_LINES + 1);
        assert_eq!(said(long_files, &[("crates/cli/src/main.rs", &long)]).len(), 1);
        assert!(said(long_files, &[("crates/scanner/src/rules/exec.rs", &long)]).is_empty());
        assert!(said(long_files, &[("crates/cli/src/main.rs", &"x\n".repeat(MAX_LINES))]).is_empty());
    }
}
