//! The floors of exec-sandbox: a module names those of its own floor and below, so that it is read from the ground up.
//!
//! Every top-level module stands on one floor of [`FLOORS`]. A path such as `crate::run` in a module of a lower floor is an arrow
//! up; arrows count once for each pair of modules. Their number only falls.

use std::collections::BTreeSet;

use super::problem::Problem;
use super::tree::{File, Tree};

const SOURCE: &str = "crates/exec-sandbox/src/";

/// The modules, from the ground up.
const FLOORS: &[(&str, &[&str])] = &[
    (
        "types and tables",
        &[
            "choices",
            "container_request",
            "enforcement",
            "host",
            "limits",
            "moment",
            "outcome",
            "processors",
            "protect",
            "quarantined",
            "refusal",
            "requirement",
            "reviewed",
            "spec",
        ],
    ),
    (
        "the plan",
        &["binds", "env", "mode", "mounts", "openshell", "patch", "plan", "provider", "reach", "seatbelt"],
    ),
    (
        "this machine",
        &[
            "bwrap",
            "cgroup",
            "explain",
            "exposed_secrets",
            "native",
            "probe",
            "state",
            "sys",
            "tracked",
            "workspace",
            "worktree",
        ],
    ),
    ("protection", &["journal", "quarantine", "sweep"]),
    ("review", &["review"]),
    ("running", &["run"]),
    ("backends", &["backends", "e2b", "kubernetes", "remote", "tiers"]),
];

/// How many pairs of modules point up.
const MAX_UP: usize = 6;

/// Returns modules without a floor, and the arrows up where there are too many.
pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let files = tree.rust_under(SOURCE.trim_end_matches('/')).filter(|file| tree.is_product(file));
    let files: Vec<(&File, &str)> = files.filter_map(|file| Some((file, module(&file.path)?))).collect();
    let homeless = files.iter().filter(|(file, module)| floor(module).is_none() && is_top(&file.path));
    let homeless = homeless.map(|(file, module)| {
        let message = format!("`{module}` stands on no floor of FLOORS in xtask/src/tidy/floors.rs");
        Problem::new(&file.path, 1, message)
    });
    let up: BTreeSet<(&str, &str)> =
        files.iter().flat_map(|(file, module)| arrows_up(file, module)).collect();
    let too_many = (up.len() > MAX_UP).then(|| {
        let listed: Vec<String> = up.iter().map(|(from, to)| format!("{from} → {to}")).collect();
        let message = format!("{} arrows up, more than {MAX_UP}: {}", up.len(), listed.join(", "));
        Problem::new(&format!("{SOURCE}lib.rs"), 1, message)
    });
    homeless.chain(too_many).collect()
}

/// The top-level module that a file belongs to; nothing for the root.
fn module(path: &str) -> Option<&str> {
    let below = path.strip_prefix(SOURCE)?;
    let module = below.split(['/', '.']).next()?;
    (module != "lib").then_some(module)
}

fn is_top(path: &str) -> bool {
    path.strip_prefix(SOURCE).is_some_and(|below| !below.contains('/'))
}

fn floor(module: &str) -> Option<usize> {
    FLOORS.iter().position(|(_, modules)| modules.contains(&module))
}

fn arrows_up<'t>(file: &'t File, from: &'t str) -> impl Iterator<Item = (&'t str, &'t str)> {
    let named = file.code_before_tests().split("crate::").skip(1);
    let named = named.filter_map(|rest| rest.split(|c: char| c != '_' && !c.is_ascii_alphanumeric()).next());
    named.filter(move |to| floor(to) > floor(from)).map(move |to| (from, to))
}

#[cfg(test)]
mod tests {
    use super::super::problem::said;
    use super::*;

    #[test]
    fn only_arrows_to_higher_floors_count() {
        let tree =
            Tree::of(&[("crates/exec-sandbox/src/plan.rs", "use crate::run::A;\nuse crate::spec::B;\n")]);
        let file = &tree.files[0];
        assert_eq!(arrows_up(file, "plan").collect::<Vec<_>>(), [("plan", "run")]);
        assert_eq!(arrows_up(file, "backends").count(), 0);
    }

    #[test]
    fn a_module_without_a_floor_is_named() {
        let manifest = ("crates/exec-sandbox/Cargo.toml", "");
        let problems = said(check, &[manifest, ("crates/exec-sandbox/src/attic.rs", "")]);
        assert_eq!(problems.len(), 1);
        assert!(problems[0].contains("`attic` stands on no floor"), "{problems:?}");
        assert_eq!(said(check, &[manifest, ("crates/exec-sandbox/src/plan.rs", "")]), [""; 0]);
    }

    #[test]
    fn more_arrows_than_allowed_are_listed() {
        let uses = "use crate::run::A;\nuse crate::backends::A;\nuse crate::review::A;\nuse crate::sys::A;\n";
        let files: Vec<(String, &str)> =
            ["spec", "host"].map(|name| (format!("{SOURCE}{name}.rs"), uses)).into();
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        let problems = said(check, &files);
        assert!(problems[0].contains("8 arrows up, more than 6: host → backends"), "{problems:?}");
    }
}
