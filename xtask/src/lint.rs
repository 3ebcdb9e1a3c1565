//! `cargo xtask lint`: the format, and clippy with all features. With fewer, `features` lints each crate alone.

use crate::checks::Check;
use crate::runner::run_live;
use testkit::{Stop, Workspace, no_more};

const GROUP: &str = "lint";

/// Runs the command.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), Stop> {
    no_more(arguments, "lint")?;
    run_live(&checks(workspace))
}

/// Returns the checks of this command.
pub(crate) fn checks(workspace: &Workspace) -> Vec<Check> {
    let targets =
        workspace.cargo().args(["fmt", "--all", "--check", "--manifest-path", crate::fuzz::MANIFEST]);
    let clippy = workspace.cargo().args([
        "clippy",
        "--locked",
        "--workspace",
        "--all-targets",
        "--all-features",
        "--keep-going",
    ]);
    vec![
        format(workspace),
        Check::program(GROUP, "format of fuzz targets", targets),
        Check::program(GROUP, "clippy, all features", clippy.args(["--", "-D", "warnings"])),
    ]
}

/// Returns the check of the format of every crate.
pub(crate) fn format(workspace: &Workspace) -> Check {
    Check::program(GROUP, "format", workspace.cargo().args(["fmt", "--all", "--check"]))
}
