//! `cargo xtask nightly`: the checks that take longest and find least, which `ci` leaves out or shortens.
//!
//! Every set of features is linted, packages are built from their packed sources, the documentation is built as users see it, the
//! oracle asks for fifty times as many commands, and each fuzz target runs fifty times as long as in `ci`.

use crate::checks::Check;
use crate::runner;
use crate::setup::Missing;
use crate::{docs, features, fuzz, oracle, package, setup};
use testkit::{Echo, Stop, Workspace, no_more};

/// Runs the command.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), Stop> {
    no_more(arguments, "nightly")?;
    let in_ci = std::env::var("CI").is_ok_and(|value| value == "true");
    let report =
        runner::run(&checks(workspace, if in_ci { Missing::InstallAll } else { Missing::Ask }), Echo::Kept);
    report.print();
    report.print_slowest();
    println!("\n{}", report.closing_line());
    report.result()
}

fn checks(workspace: &Workspace, missing: Missing) -> Vec<Check> {
    let mut checks = setup::checks(missing);
    checks.extend(features::lints(workspace));
    checks.extend([docs::as_published(workspace), package::verified(workspace)]);
    checks.extend(oracle::long_checks(workspace));
    checks.extend(fuzz::long_checks(workspace));
    checks
}
