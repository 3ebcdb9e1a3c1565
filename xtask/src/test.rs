//! `cargo xtask test [CRATE [NAME…]]`: the tests and doc tests with all features, the everyday command; of a crate perhaps only
//! the tests whose names hold one of these words.

use crate::checks::Check;
use crate::runner::run_live;
use testkit::{Program, Stop, Workspace};

const GROUP: &str = "test";

/// Runs the command.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), Stop> {
    let test = workspace.cargo().args(["test", "--all-features", "--no-fail-fast"]);
    let Some((name, words)) = arguments.split_first() else {
        return run_live(&[Check::program(GROUP, "every crate", test.arg("--workspace"))]);
    };
    let test = test.args(["--package", workspace.find(name)?.package.as_str()]);
    // Documentation has no names to choose by, and takes as long to build as all else.
    let test = if words.is_empty() { test } else { test.args(["--tests", "--"]).args(words) };
    run_live(&[Check::program(GROUP, name, test)])
}

/// Returns the checks of what `cargo build` makes, and of the examples in the documentation.
pub(crate) fn builds(workspace: &Workspace) -> Vec<Check> {
    vec![
        Check::program(GROUP, "examples build", workspace.build_examples()),
        Check::program(GROUP, "documentation", all(workspace).arg("--doc")),
    ]
}

/// Returns the check of the tests of all crates together. They often wait for a sandbox or a clock, so other checks run beside them.
pub(crate) fn checks(workspace: &Workspace) -> Vec<Check> {
    // A test that skips something prints why, and that must reach the report.
    let tests = all(workspace).args(["--tests", "--", "--show-output"]);
    vec![Check::program(GROUP, "every crate", tests).side_by_side()]
}

fn all(workspace: &Workspace) -> Program {
    workspace.cargo().args(["test", "--workspace", "--all-features", "--no-fail-fast"])
}
