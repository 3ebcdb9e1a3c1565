//! Cycles of files: those that import each other, directly or through others, so that none can be read first.
//!
//! An arrow runs from a file to the file of the module that a `use` of it names, by `crate::`, `super::`, `self::` or the name of a
//! module inside it, outside tests. A module and its parts count, too: where parts import what their parent defines and the
//! parent imports them, the plain types belong in a part of their own. Paths that are written out in code are not followed. So a
//! cycle that is found is one, and not all are found.

use std::collections::{BTreeMap, BTreeSet};

use super::problem::Problem;
use super::tree::{File, Tree};
use super::uses::uses;

/// How many cycles a crate may have.
const MAX_CYCLES: usize = 3;

/// The files that a file imports from.
type Arrows<'t> = BTreeMap<&'t str, BTreeSet<&'t str>>;

/// The file of each module.
type Modules<'t> = BTreeMap<Vec<String>, &'t File>;

/// Returns the cycles of crates that have more than they may.
pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let folders = tree.crate_folders();
    folders.into_iter().flat_map(|folder| of_crate(tree, folder)).collect()
}

fn of_crate(tree: &Tree, folder: &str) -> Vec<Problem> {
    let cycles = cycles(&arrows(tree, folder));
    if cycles.len() <= MAX_CYCLES {
        return Vec::new();
    }
    let count = cycles.len();
    let of = cycles.into_iter().filter_map(|cycle| {
        let first = cycle.first()?;
        let message = format!(
            "these files import each other, the {count} cycles of {folder} are more than {MAX_CYCLES}: {}",
            cycle.iter().copied().collect::<Vec<_>>().join(", ")
        );
        Some(Problem::new(first, 1, message))
    });
    of.collect()
}

fn arrows<'t>(tree: &'t Tree, folder: &str) -> Arrows<'t> {
    let source = format!("{folder}/src");
    let files: Modules<'t> =
        tree.rust_under(&source).filter_map(|file| Some((module(&file.path, &source)?, file))).collect();
    let arrows = files.iter().map(|(own, file)| {
        let named = uses(file.code_before_tests());
        let targets = named.iter().filter_map(|used| target(own, &used.path, &files));
        let apart = targets.filter(|(module, _)| *module != own);
        (file.path.as_str(), apart.map(|(_, file)| file.path.as_str()).collect())
    });
    arrows.collect()
}

/// The module that a file holds: `src/a/b.rs` is `a::b`, and `lib.rs` and `main.rs` are the top.
fn module(path: &str, source: &str) -> Option<Vec<String>> {
    let inside = path.strip_prefix(source)?.strip_prefix('/')?.strip_suffix(".rs")?;
    let is_top = matches!(inside, "lib" | "main");
    Some(if is_top { Vec::new() } else { inside.split('/').map(str::to_owned).collect() })
}

/// The module that an import names, and its file.
fn target<'m, 't>(
    own: &[String],
    path: &[String],
    files: &'m Modules<'t>,
) -> Option<(&'m Vec<String>, &'t File)> {
    let mut module = match path.first()?.as_str() {
        "crate" => Vec::new(),
        "self" | "super" => own.to_vec(),
        child => {
            let inside: Vec<String> = own.iter().cloned().chain([child.to_owned()]).collect();
            if !files.contains_key(&inside) {
                return None;
            }
            own.to_vec()
        }
    };
    for word in path {
        match word.as_str() {
            "super" => drop(module.pop()),
            "crate" | "self" => {}
            _ => module.push(word.clone()),
        }
    }
    // The last words may be items within the module.
    while !module.is_empty() && !files.contains_key(&module) {
        module.pop();
    }
    files.get_key_value(&module).map(|(module, file)| (module, *file))
}

/// The largest sets of two or more files that all lead to each other.
fn cycles<'t>(arrows: &Arrows<'t>) -> Vec<BTreeSet<&'t str>> {
    let reached: Arrows<'t> = arrows.keys().map(|file| (*file, reachable(arrows, file))).collect();
    let leads = |from: &str, to: &str| reached.get(from).is_some_and(|files| files.contains(to));
    let mut cycles: Vec<BTreeSet<&str>> = Vec::new();
    for file in arrows.keys().filter(|file| leads(file, file)) {
        if !cycles.iter().any(|cycle| cycle.contains(file)) {
            cycles.push(
                arrows.keys().copied().filter(|other| leads(file, other) && leads(other, file)).collect(),
            );
        }
    }
    cycles
}

fn reachable<'t>(arrows: &Arrows<'t>, from: &str) -> BTreeSet<&'t str> {
    let mut found = BTreeSet::new();
    let mut waiting: Vec<&str> = arrows.get(from).into_iter().flatten().copied().collect();
    while let Some(file) = waiting.pop() {
        if found.insert(file) {
            waiting.extend(arrows.get(file).into_iter().flatten());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::problem::said;
    use super::*;

    fn cycles_in(files: &[(&str, &str)]) -> usize {
        let named: Vec<(String, &str)> =
            files.iter().map(|(name, text)| (format!("crates/x/src/{name}"), *text)).collect();
        let files: Vec<(&str, &str)> = named.iter().map(|(name, text)| (name.as_str(), *text)).collect();
        cycles(&arrows(&Tree::of(&files), "crates/x")).len()
    }

    #[test]
    fn files_that_import_each_other_are_a_cycle() {
        let a = ("a.rs", "use crate::b::B;\n");
        for (b, count) in [
            ("use crate::a::A;\n", 1),
            ("pub(crate) use super::a::{self, A};\n", 1),
            ("use std::fmt;\nuse crate::{\n    a::A,\n    c::C,\n};\n", 1),
            ("use crate::c::C;\n", 1),
            ("use std::a::A;\n", 0),
            ("// use crate::a::A;\n", 0),
            ("#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}\n", 0),
        ] {
            let files = [a, ("b.rs", b), ("c.rs", "use crate::a::A as Other;\n")];
            assert_eq!(cycles_in(&files), count, "{b}");
        }
    }

    #[test]
    fn a_module_and_its_parts_count() {
        let parent = ("a.rs", "mod b;\npub use b::B;\n");
        let child = |text| ("a/b.rs", text);
        assert_eq!(cycles_in(&[parent, child("use super::A;\n")]), 1);
        assert_eq!(cycles_in(&[parent, child("use crate::c::C;\n"), ("c.rs", "")]), 0);
        let siblings = [child("use super::c::C;\n"), ("a/c.rs", "use super::b::B;\n")];
        assert_eq!(cycles_in(&[parent, siblings[0], siblings[1]]), 1);
    }

    #[test]
    fn a_crate_may_have_a_few() {
        let a = ("crates/x/src/a.rs", "use crate::b::B;\n");
        let b = ("crates/x/src/b.rs", "use crate::a::A;\n");
        assert_eq!(said(check, &[a, b, ("crates/x/Cargo.toml", "")]), [""; 0]);
    }
}
