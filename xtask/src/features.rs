//! `cargo xtask features [CRATE]`: each crate alone with each set of features.
//!
//! Built together, crates turn on each other's features, and development dependencies turn on more: a `use` that
//! lacks its feature compiles here and fails at a user's. So the library and programs of every crate are compiled on their own, with
//! the default features, with none and with each single one; a warning fails. `ci` lints all features together once;
//! `cargo xtask nightly` lints every set, with the tests.
//!
//! `cargo xtask test` runs the tests with all features. A smaller set runs less of the same code, so its tests would
//! find nothing new, unless some of them exist only without a feature: then they run with the default features, too.

use std::fs;
use std::path::Path;

use crate::checks::Check;
use crate::runner::run_live;
use testkit::{Crate, FeatureSet, Program, Stop, Workspace, no_more};

const GROUP: &str = "features";

/// How code is marked that replaces a missing feature.
const ABSENCE: &[&str] = &["not(feature", "not(any(feature", "not(all(feature"];

/// Runs the command.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), Stop> {
    let (name, rest) = arguments.split_first().map_or((None, arguments), |(name, rest)| (Some(name), rest));
    no_more(rest, "features [CRATE]")?;
    let chosen = workspace.chosen(name.map(String::as_str))?;
    run_live(&chosen.into_iter().flat_map(|one| checks_of(workspace, one)).collect::<Vec<_>>())
}

/// Returns the checks of continuous integration, for every crate. They may run beside the tests that come before them. Beside
/// each other they gain nothing, since cargo locks the folder that it builds in.
pub(crate) fn checks(workspace: &Workspace) -> Vec<Check> {
    let all = workspace.crates.iter().flat_map(|one| checks_of(workspace, one));
    all.map(Check::side_by_side).collect()
}

/// Returns the checks of `nightly`: clippy of the tests, too, with every set of features.
pub(crate) fn lints(workspace: &Workspace) -> Vec<Check> {
    let of = |one: &Crate| {
        let sets = one.feature_sets();
        let lint = |set: &FeatureSet| check(one, set, "clippy", lint(workspace, one, set));
        sets.iter().map(lint).collect::<Vec<_>>()
    };
    workspace.crates.iter().flat_map(of).collect()
}

fn checks_of(workspace: &Workspace, one: &Crate) -> Vec<Check> {
    let sets = one.feature_sets();
    // All features were linted together; what they lack alone, a single one lacks too.
    let alone = sets.iter().filter(|set| set.name != "all");
    let compiled = alone.map(|set| check(one, set, "compiles", compile(workspace, one, set)));
    let tested = sets.iter().filter(|set| set.name == "default" && !set.is_full);
    let tested = tested.filter(|_| has_code_for_absence(&workspace.root.join(&one.folder).join("tests")));
    let tested = tested.map(|set| check(one, set, "tests", test(workspace, one, set)));
    compiled.chain(tested).collect()
}

fn check(one: &Crate, set: &FeatureSet, what: &str, program: Program) -> Check {
    Check::program(GROUP, format!("{}, {}, {what}", one.short(), set.name), program)
}

/// Without a selection cargo checks the library and the programs, and asks for neither where a crate lacks one.
fn compile(workspace: &Workspace, one: &Crate, set: &FeatureSet) -> Program {
    let check = workspace.cargo().args(["check", "--package", &one.package]);
    check.args(&set.flags).warnings_fail()
}

/// `--tests` selects the library, the programs and the integration tests.
fn lint(workspace: &Workspace, one: &Crate, set: &FeatureSet) -> Program {
    let clippy = workspace.cargo().args(["clippy", "--locked", "--package", &one.package, "--tests"]);
    clippy.args(&set.flags).args(["--", "-D", "warnings"])
}

fn test(workspace: &Workspace, one: &Crate, set: &FeatureSet) -> Program {
    let test = workspace.cargo().args(["test", "--package", &one.package, "--tests", "--no-fail-fast"]);
    // A test that skips something prints why, and that must reach the report.
    test.args(&set.flags).args(["--", "--show-output"]).env("PROPTEST_CASES", "32")
}

/// Whether a folder has Rust code that is only there without a feature.
fn has_code_for_absence(folder: &Path) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).any(|path| {
        if path.is_dir() {
            return has_code_for_absence(&path);
        }
        let is_rust = path.extension().is_some_and(|extension| extension == "rs");
        let text = if is_rust { fs::read_to_string(&path).unwrap_or_default() } else { String::new() };
        ABSENCE.iter().any(|words| text.contains(words))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_for_the_absence_of_a_feature_is_found() {
        let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
        // This file itself names the words.
        assert!(has_code_for_absence(&xtask.join("src")));
        assert!(!has_code_for_absence(&xtask.join("src/tidy")));
        assert!(!has_code_for_absence(&xtask.join("nowhere")));
    }
}
