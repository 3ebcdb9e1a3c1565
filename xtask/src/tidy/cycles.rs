//! Circles of files: those that import each other, directly or through others, so that none can be read first.
//!
//! An arrow runs from a file to the file of the module that a `use` of it names, by `crate::`, `super::` or `self::`,
//! outside tests. Arrows between a module and the modules inside it are left out: a module hands on what its parts define,
//! or dispatches to them, and they share its types; whoever reads the one reads the others. Paths that are written out in
//! code are not followed either. So a circle that is found is one, and not all are found.

use std::collections::{BTreeMap, BTreeSet};

use super::problem::Problem;
use super::tree::{File, Tree};

/// How many circles a crate may have.
const MAX_CIRCLES: usize = 3;

/// Crates that may have fewer, or that have more until they are untied.
const OTHERWISE: &[(&str, usize)] = &[("crates/cli", 0)];

/// The files that a file imports from.
type Arrows<'t> = BTreeMap<&'t str, BTreeSet<&'t str>>;

/// The file of each module.
type Modules<'t> = BTreeMap<Vec<String>, &'t File>;

/// Returns the circles of crates that have more than they may.
pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let folders = tree.crate_folders();
    folders.into_iter().flat_map(|folder| of_crate(tree, folder)).collect()
}

fn of_crate(tree: &Tree, folder: &str) -> Vec<Problem> {
    let circles = circles(&arrows(tree, folder));
    let allowed = OTHERWISE.iter().find(|row| row.0 == folder).map_or(MAX_CIRCLES, |row| row.1);
    if circles.len() <= allowed {
        return Vec::new();
    }
    let count = circles.len();
    let of = circles.into_iter().filter_map(|circle| {
        let first = circle.first()?;
        let message = format!(
            "these files import each other, the {count} circles of {folder} are more than {allowed}: {}",
            circle.iter().copied().collect::<Vec<_>>().join(", ")
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
        let named = imports(file.code_before_tests());
        let targets = named.iter().filter_map(|path| target(own, path, &files));
        let apart = targets.filter(|(module, _)| !is_within(module, own) && !is_within(own, module));
        (file.path.as_str(), apart.map(|(_, file)| file.path.as_str()).collect())
    });
    arrows.collect()
}

/// Whether a module is another one, or inside it.
fn is_within(module: &[String], other: &[String]) -> bool {
    module.starts_with(other)
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
        _ => return None,
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

/// The paths that the `use` declarations of a source name, with groups written out.
fn imports(code: &str) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    let statements = code.split(';').filter_map(|statement| {
        let words = statement.rsplit('\n').scan(true, |goes_on, line| {
            let is_in = *goes_on;
            *goes_on &= !begins_use(line);
            is_in.then_some(line)
        });
        let mut lines: Vec<&str> = words.collect();
        lines.reverse();
        let first = lines.first().filter(|line| begins_use(line))?;
        let (_, path) = first.split_once("use ")?;
        Some([path, &lines.get(1..)?.concat()].concat())
    });
    for statement in statements {
        spell(&[], &statement.split_whitespace().collect::<Vec<_>>().join(" "), &mut paths);
    }
    paths
}

fn begins_use(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("use ") || (line.starts_with("pub") && line.contains(" use "))
}

/// Writes out `a::{b, c::{d, e}}` below a prefix.
fn spell(prefix: &[String], text: &str, paths: &mut Vec<Vec<String>>) {
    let text = text.trim();
    let (path, group) = text.split_once('{').map_or((text, None), |(path, group)| (path, Some(group)));
    let path = path.split(" as ").next().unwrap_or_default();
    let words = path.split("::").map(str::trim).filter(|word| !word.is_empty() && *word != "*");
    let here: Vec<String> = prefix.iter().cloned().chain(words.map(str::to_owned)).collect();
    match group {
        Some(group) => {
            let inside = group.trim_end().strip_suffix('}').unwrap_or(group);
            members(inside).into_iter().for_each(|member| spell(&here, member, paths));
        }
        None if !text.is_empty() => paths.push(here),
        None => {}
    }
}

/// The members of a group, whose own groups are kept whole.
fn members(group: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let split = group.split(|c| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    });
    split.collect()
}

/// The largest sets of two or more files that all lead to each other.
fn circles<'t>(arrows: &Arrows<'t>) -> Vec<BTreeSet<&'t str>> {
    let reached: Arrows<'t> = arrows.keys().map(|file| (*file, reachable(arrows, file))).collect();
    let leads = |from: &str, to: &str| reached.get(from).is_some_and(|files| files.contains(to));
    let mut circles: Vec<BTreeSet<&str>> = Vec::new();
    for file in arrows.keys().filter(|file| leads(file, file)) {
        if !circles.iter().any(|circle| circle.contains(file)) {
            circles.push(
                arrows.keys().copied().filter(|other| leads(file, other) && leads(other, file)).collect(),
            );
        }
    }
    circles
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

    fn circles_in(files: &[(&str, &str)]) -> usize {
        let named: Vec<(String, &str)> =
            files.iter().map(|(name, text)| (format!("crates/cli/src/{name}"), *text)).collect();
        let mut files: Vec<(&str, &str)> = named.iter().map(|(name, text)| (name.as_str(), *text)).collect();
        files.push(("crates/cli/Cargo.toml", ""));
        said(check, &files).len()
    }

    #[test]
    fn files_that_import_each_other_are_a_circle() {
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
            assert_eq!(circles_in(&files), count, "{b}");
        }
    }

    #[test]
    fn a_module_and_its_parts_are_none() {
        let parent = ("a.rs", "mod b;\npub use self::b::B;\nuse b::C;\n");
        assert_eq!(
            circles_in(&[parent, ("a/b.rs", "use super::A;\nuse crate::Top;\n"), ("main.rs", "use a::A;")]),
            0
        );
        let siblings = [("a/b.rs", "use super::c::C;\n"), ("a/c.rs", "use super::b::B;\n")];
        assert_eq!(circles_in(&[parent, siblings[0], siblings[1]]), 1);
    }

    #[test]
    fn other_crates_may_have_a_few() {
        let a = ("crates/x/src/a.rs", "use crate::b::B;\n");
        let b = ("crates/x/src/b.rs", "use crate::a::A;\n");
        assert_eq!(said(check, &[a, b, ("crates/x/Cargo.toml", "")]), [""; 0]);
    }
}
