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

/// Returns the checks of continuous integration: the tests of all crates together, what is in the documentation, and that the
/// examples build. That each crate holds together alone is for `features` to say: its lints come after, beside the tests of
/// every crate, which often wait for a sandbox or a clock.
pub(crate) fn checks(workspace: &Workspace) -> Vec<Check> {
    let test = || workspace.cargo().args(["test", "--workspace", "--all-features", "--no-fail-fast"]);
    // A test that skips something prints why, and that must reach the report.
    let tests = test().args(["--tests", "--", "--show-output"]);
    vec![
        Check::program(GROUP, "examples build", workspace.build_examples()),
        Check::program(GROUP, "documentation", test().arg("--doc")),
        Check::program(GROUP, "every crate", tests).side_by_side(),
    ]
}
