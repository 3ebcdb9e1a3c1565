//! Restricts `unsafe` to a short table of files.

use super::problem::Problem;
use super::tree::{File, Tree, has_word, numbered};

/// Files that may contain `unsafe`, and why. A name that ends in `/` is a directory.
const ALLOWED: &[(&str, &str)] = &[
    ("crates/exec-sandbox/src/sys.rs", "one system call a function"),
    ("crates/exec-sandbox/src/sys/", "one system call a function"),
];

/// Crates whose root cannot forbid unsafe code altogether, and the lines that it has instead.
const ROOTS: &[(&str, &[&str])] = &[("crates/exec-sandbox/src/lib.rs", &["#![deny(unsafe_code)]"])];

const FORBID: &str = "#![forbid(unsafe_code)]";

/// Returns unsafe code outside of the table, and crate roots that do not forbid it.
pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems: Vec<Problem> = tree.rust().filter(|file| !may_be_unsafe(file)).flat_map(uses).collect();
    for folder in tree.crate_folders() {
        let roots = ["lib.rs", "main.rs"].map(|root| format!("{folder}/src/{root}"));
        problems.extend(roots.iter().filter_map(|root| tree.file(root)).filter_map(open_root));
    }
    problems
}

fn may_be_unsafe(file: &File) -> bool {
    ALLOWED.iter().any(|(path, _)| file.path == *path || (path.ends_with('/') && file.path.starts_with(path)))
}

fn uses(file: &File) -> Vec<Problem> {
    let lines = numbered(&file.code).filter(|(_, line)| has_word(line, "unsafe"));
    lines
        .map(|(line, _)| {
            let message = "`unsafe` is not allowed here: a slip in it is a hole in the fence; find a safe way, or add the \
                           file to ALLOWED in xtask/src/tidy/unsafety.rs with the reason";
            Problem::new(&file.path, line, message)
        })
        .collect()
}

fn open_root(root: &File) -> Option<Problem> {
    let instead = ROOTS.iter().find(|(path, _)| root.path == *path).map_or(&[FORBID][..], |(_, lines)| lines);
    let says = |wanted: &str| root.text.lines().any(|line| line == wanted);
    if says(FORBID) {
        return None;
    }
    let missing = instead.iter().find(|&&wanted| !says(wanted))?;
    Some(Problem::new(
        &root.path,
        1,
        format!("the crate root does not forbid unsafe code; write `{missing}`"),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::problem::said;
    use super::*;

    #[test]
    fn unsafe_is_found_in_code_only() {
        let text = "//! unsafe\nfn f() { g(\"unsafe\") }\nfn h() { unsafe { i() } }\n";
        let said = said(check, &[("crates/policy/src/x.rs", text)]);
        assert_eq!(said.len(), 1);
        assert!(said[0].starts_with("crates/policy/src/x.rs:3: `unsafe` is not allowed here"));
    }

    #[test]
    fn unsafe_is_allowed_where_the_table_says() {
        let text = "unsafe fn f() {}";
        let files =
            [("crates/exec-sandbox/src/sys/mount.rs", text), ("crates/exec-sandbox/src/sys.rs", text)];
        assert!(said(check, &files).is_empty());
        assert_eq!(said(check, &[("crates/exec-sandbox/src/system.rs", text)]).len(), 1);
    }

    #[test]
    fn roots_forbid_it() {
        let manifest = ("crates/policy/Cargo.toml", "");
        assert!(
            said(check, &[manifest, ("crates/policy/src/lib.rs", "//! Docs.\n\n#![forbid(unsafe_code)]\n")])
                .is_empty()
        );
        let open = said(check, &[manifest, ("crates/policy/src/lib.rs", "//! Docs.\n")]);
        assert_eq!(
            open,
            [
                "crates/policy/src/lib.rs:1: the crate root does not forbid unsafe code; write `#![forbid(unsafe_code)]`"
            ]
        );
        let sandbox = ("crates/exec-sandbox/Cargo.toml", "");
        let denied = ("crates/exec-sandbox/src/lib.rs", "#![deny(unsafe_code)]\n");
        assert!(said(check, &[sandbox, denied]).is_empty());
        assert_eq!(said(check, &[manifest, ("crates/policy/src/lib.rs", denied.1)]).len(), 1);
        // Saying it in a comment is not enough.
        assert_eq!(
            said(check, &[manifest, ("crates/policy/src/lib.rs", "// #![forbid(unsafe_code)]\n")]).len(),
            1
        );
    }
}
