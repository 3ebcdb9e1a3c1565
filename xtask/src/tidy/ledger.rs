//! The ledger, `LEDGER.md`, and the invariants of `ARCHITECTURE.md`: a promise needs a test.

use std::collections::{BTreeMap, BTreeSet};

use super::problem::Problem;
use super::tree::{File, Tree, numbered};

/// The documents whose tables name tests.
const DOCUMENTS: &[&str] = &["ARCHITECTURE.md", "LEDGER.md"];

/// Returns the tests that the tables name, as `` `crate: test` ``, and that are not there.
pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    DOCUMENTS.iter().filter_map(|path| tree.file(path)).flat_map(|document| missing(tree, document)).collect()
}

fn missing(tree: &Tree, document: &File) -> Vec<Problem> {
    let rows = numbered(&document.text).filter(|(_, text)| text.starts_with('|'));
    let named = rows.flat_map(|(line, text)| tests(text).map(move |test| (line, test)));
    let mut declared = BTreeMap::new();
    let missing = named.filter(|&(_, (crate_name, test))| !exists(tree, &mut declared, crate_name, test));
    missing
        .map(|(line, (crate_name, test))| {
            Problem::new(&document.path, line, format!("there is no test `{test}` in `crates/{crate_name}`"))
        })
        .collect()
}

/// The tests that a line names: code spans of two words with a colon between them.
fn tests(line: &str) -> impl Iterator<Item = (&str, &str)> {
    let is_name =
        |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c));
    let spans = line.split('`').skip(1).step_by(2);
    spans
        .filter_map(|span| span.split_once(": "))
        .filter(move |(krate, test)| is_name(krate) && is_name(test))
}

/// Whether a crate has a test of this name, or a file of tests. The words of a crate are collected once: the tables name hundreds of tests.
fn exists<'t>(
    tree: &'t Tree,
    declared: &mut BTreeMap<String, BTreeSet<&'t str>>,
    crate_name: &str,
    test: &str,
) -> bool {
    let folder = format!("crates/{crate_name}");
    if test.ends_with(".rs") {
        return tree.has(&format!("{folder}/tests/it/{test}"));
    }
    declared.entry(folder).or_insert_with_key(|folder| words_beside_fn(tree, folder)).contains(test)
}

/// The words of the lines that declare functions.
fn words_beside_fn<'t>(tree: &'t Tree, folder: &str) -> BTreeSet<&'t str> {
    let lines = tree.rust_under(folder).flat_map(|file| file.code.lines());
    lines
        .filter(|line| line.contains("fn "))
        .flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_'))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::problem::said;
    use super::*;

    #[test]
    fn tests_that_are_named_must_exist() {
        let ledger = (
            "LEDGER.md",
            "| a | b | `x: links_end`, `x: gone`, `x: race.rs`, `x: lost.rs` |\n`crate: name` in prose\n",
        );
        let test = ("crates/x/tests/it/race.rs", "#[test]\nfn links_end() {} // fn gone()\n");
        let want = ["no test `gone` in `crates/x`", "no test `lost.rs` in `crates/x`"];
        let said = said(check, &[ledger, test]);
        assert_eq!(said, want.map(|what| format!("LEDGER.md:1: there is {what}")));
    }
}
