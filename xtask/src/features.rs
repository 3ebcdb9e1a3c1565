//! `cargo xtask features [CRATE]`: the tests of each crate with each set of features alone.
//!
//! Built together, crates turn on each other's features, and development dependencies turn on more: a `use` that
//! lacks its feature compiles here and fails at a user's. So every crate is tested on its own, with the default
//! features, with none, with each single one and with all.
//!
//! With all features the tests run in full. With any other set they show that it holds together: properties see fewer
//! cases. A warning of the compiler is a failure.

use crate::check::Check;
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

/// Returns the checks of this command, for every crate. Side by side: while one set is tested, the next is built.
pub(crate) fn checks(workspace: &Workspace) -> Vec<Check> {
    let all = workspace.crates.iter().flat_map(|one| checks_of(workspace, one));
    all.map(Check::side_by_side).collect()
}

fn checks_of(workspace: &Workspace, one: &Crate) -> Vec<Check> {
    let check = |set: FeatureSet| {
        // `--tests` stands for the library, the binaries and the integration tests.
        let test = workspace.cargo().args(["test", "--package", &one.package, "--tests", "--no-fail-fast"]);
        // A test that skips something prints why, and that must reach the report.
        let test = test.args(&set.flags).args(["--", "--show-output"]).warnings_fail();
        let test = if set.is_full { test } else { test.env("PROPTEST_CASES", "32") };
        Check::program(GROUP, format!("{}, {}", one.short(), set.name), test)
    };
    one.feature_sets().into_iter().map(check).collect()
}
