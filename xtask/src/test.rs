//! `cargo xtask test [CRATE]`: the tests and doc tests with all features, the everyday command.

use crate::check::Check;
use crate::runner::run_live;
use crate::stop::{Stop, no_more};
use crate::workspace::Workspace;

const GROUP: &str = "test";

/// Runs the command.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), Stop> {
    let (name, rest) = arguments.split_first().map_or((None, arguments), |(name, rest)| (Some(name), rest));
    no_more(rest, "test [CRATE]")?;
    let choice = match name {
        Some(name) => vec!["--package", workspace.find(name)?.package.as_str()],
        None => vec!["--workspace"],
    };
    let test = workspace.cargo().args(["test", "--all-features", "--no-fail-fast"]).args(choice);
    run_live(&[Check::program(GROUP, name.map_or("every crate", |name| name), test)])
}

/// Returns the checks of continuous integration: all crates together, so that what they share is built once.
pub(crate) fn checks(workspace: &Workspace) -> Vec<Check> {
    let test = || workspace.cargo().args(["test", "--workspace", "--all-features", "--no-fail-fast"]);
    let tests = test().args(["--lib", "--bins", "--tests"]);
    let benches = workspace.cargo().args(["build", "--workspace", "--all-features", "--benches"]);
    vec![
        // A test that skips something prints why, and that must reach the report.
        Check::program(GROUP, "every crate", tests.args(["--", "--show-output"])),
        Check::program(GROUP, "documentation", test().arg("--doc")),
        Check::programs(GROUP, "benches and examples build", [benches, workspace.build_examples()]),
    ]
}
