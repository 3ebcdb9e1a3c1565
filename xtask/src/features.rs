//! `cargo xtask features [CRATE]`: the tests of each crate with each set of features alone.
//!
//! Built together, crates turn on each other's features, and development dependencies turn on more: a `use` that
//! lacks its feature compiles here and fails at a user's. So every crate is tested on its own, with the default
//! features, with none, with each single one and with all.
//!
//! The richest set is built as every other test is, so that its results are used again. The others are there to show
//! that the set holds together: their builds are not optimised, and a warning of the compiler fails them.

use crate::check::Check;
use crate::program::Program;
use crate::runner::run_live;
use crate::stop::{Stop, no_more};
use crate::workspace::{Crate, FeatureSet, Workspace};

const GROUP: &str = "features";

/// Runs the command.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), Stop> {
    let (name, rest) = arguments.split_first().map_or((None, arguments), |(name, rest)| (Some(name), rest));
    no_more(rest, "features [CRATE]")?;
    let chosen = workspace.chosen(name.map(String::as_str))?;
    run_live(&chosen.into_iter().flat_map(|one| checks_of(workspace, one)).collect::<Vec<_>>())
}

/// Returns the checks of this command, for every crate.
pub(crate) fn checks(workspace: &Workspace) -> Vec<Check> {
    workspace.crates.iter().flat_map(|one| checks_of(workspace, one)).collect()
}

fn checks_of(workspace: &Workspace, one: &Crate) -> Vec<Check> {
    let sets = one.feature_sets();
    let richest = sets.len().saturating_sub(1);
    let check = |(number, set): (usize, FeatureSet)| {
        let test = test(workspace, one).args(&set.flags);
        let test = if number == richest { test } else { quickly(test) };
        // A test that skips something prints why, and that must reach the report.
        Check::program(GROUP, format!("{}, {}", one.short(), set.name), test.args(["--", "--show-output"]))
    };
    sets.into_iter().enumerate().map(check).collect()
}

/// `--tests` stands for the library, the binaries and the integration tests.
fn test(workspace: &Workspace, one: &Crate) -> Program {
    workspace.cargo().args(["test", "--package", &one.package, "--tests", "--no-fail-fast"])
}

/// With the profile `features` of the workspace's manifest, and with fewer cases of every property.
fn quickly(test: Program) -> Program {
    test.args(["--profile", "features"]).env("RUSTFLAGS", "-D warnings").env("PROPTEST_CASES", "32")
}
