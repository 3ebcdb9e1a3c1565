//! `cargo xtask features [CRATE]`: the tests of each crate with each set of features alone.
//!
//! Built together, crates turn on each other's features, and development dependencies turn on more: a `use` that
//! lacks its feature compiles here and fails at a user's. So every crate is linted and tested on its own, with the
//! default features, with none, with each single one and with all.

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

/// Returns the checks of this command, for every crate.
pub(crate) fn checks(workspace: &Workspace) -> Vec<Check> {
    workspace.crates.iter().flat_map(|one| checks_of(workspace, one)).collect()
}

/// `--tests` stands for the library, the binaries and the integration tests. What users build is linted with each set;
/// the tests are linted with the sets of `lint`.
fn checks_of(workspace: &Workspace, one: &Crate) -> Vec<Check> {
    let check = |set: FeatureSet| {
        let clippy = workspace.cargo().args(["clippy", "--no-deps", "--package", &one.package]);
        let clippy = clippy.args(&set.flags).args(["--", "-D", "warnings"]);
        let test = workspace.cargo().args(["test", "--package", &one.package, "--tests", "--no-fail-fast"]);
        let name = format!("{}, {}", one.short(), set.name);
        // A test that skips something prints why, and that must reach the report.
        let test = test.args(&set.flags).args(["--", "--show-output"]);
        Check::programs(GROUP, name, [clippy, test])
    };
    one.feature_sets().into_iter().map(check).collect()
}
