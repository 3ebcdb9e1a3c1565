//! The root of a library: it defines nothing, and shows few names.
//!
//! A reader meets `lib.rs` first. What it defines, every module imports from above, so that none can be read or moved alone; and a
//! list of a hundred names is not read at all: those that belong to one subject stand in a public module of that name.

use super::items::items;
use super::problem::Problem;
use super::tree::{File, Tree, numbered};
use super::uses::uses;

/// The most names that a library shows at its root.
const MAX_NAMES: usize = 60;

/// What carries the README for its examples to be run, in documentation tests only.
const DOCTEST: &str = "Readme";

/// Returns what is wrong with the roots of libraries.
pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let folders = tree.crate_folders();
    let roots = folders.iter().filter_map(|folder| tree.file(&format!("{folder}/src/lib.rs")));
    roots.flat_map(|root| too_many_names(root).into_iter().chain(definitions(root))).collect()
}

fn too_many_names(root: &File) -> Option<Problem> {
    let count = uses(root.code_before_tests()).iter().filter(|used| used.is_public).count();
    let message = || {
        format!(
            "{count} names at the root, more than {MAX_NAMES}: move those of one subject to a public module of that name"
        )
    };
    (count > MAX_NAMES).then(|| Problem::new(&root.path, 1, message()))
}

fn definitions(root: &File) -> Vec<Problem> {
    let message = "a root is documentation, modules and `pub use`; define this in a module";
    let declared = items(root)
        .filter(|item| item.is_outermost && item.kind != "mod" && item.name != DOCTEST)
        .map(|item| item.line);
    let code = root.code_before_tests();
    let implemented = numbered(code).filter(|(_, line)| line.starts_with("impl")).map(|(line, _)| line);
    declared.chain(implemented).map(|line| Problem::new(&root.path, line, message)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::problem::said;
    use super::*;

    const ROOT: &str = "crates/x/src/lib.rs";

    fn said_of(root: &str) -> Vec<String> {
        said(check, &[("crates/x/Cargo.toml", ""), (ROOT, root)])
    }

    #[test]
    fn a_root_as_it_should_be() {
        let root = "//! X.\n#![forbid(unsafe_code)]\nmod a;\npub mod b;\n#[cfg(feature = \"c\")]\nmod c;\n#[cfg(doctest)]\nstruct Readme;\npub use a::A;\n";
        assert_eq!(said_of(root), [""; 0]);
    }

    #[test]
    fn definitions_are_named() {
        for defined in ["pub struct A;", "fn f() {}", "impl A {}", "const N: u8 = 1;"] {
            assert_eq!(said_of(&format!("mod a;\n{defined}\n")).len(), 1, "{defined}");
        }
    }

    #[test]
    fn names_are_counted_and_those_of_the_crate_alone_are_not() {
        let names = |count: usize| (0..count).map(|n| format!("A{n}")).collect::<Vec<_>>().join(", ");
        assert_eq!(said_of(&format!("pub use a::{{{}}};\n", names(MAX_NAMES))), [""; 0]);
        assert_eq!(said_of(&format!("pub use a::{{{}}};\n", names(MAX_NAMES + 1))).len(), 1);
        assert_eq!(said_of(&format!("use a::{{{}}};\n", names(MAX_NAMES + 1))), [""; 0]);
    }
}
