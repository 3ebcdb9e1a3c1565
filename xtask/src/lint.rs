//! `cargo xtask lint`: the format, and clippy with the default features, with none and with all.

use crate::check::Check;
use crate::runner::run_live;
use crate::stop::{Stop, no_more};
use crate::workspace::Workspace;

const GROUP: &str = "lint";

/// The three sets of features in which the whole workspace is linted.
const FEATURES: &[(&str, &[&str])] = &[
    ("default features", &[]),
    ("no features", &["--no-default-features"]),
    ("all features", &["--all-features"]),
];

/// Runs the command.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), Stop> {
    no_more(arguments, "lint")?;
    run_live(&checks(workspace))
}

/// Returns the checks of this command.
pub(crate) fn checks(workspace: &Workspace) -> Vec<Check> {
    let format = workspace.cargo().args(["fmt", "--all", "--check"]);
    let targets =
        workspace.cargo().args(["fmt", "--all", "--check", "--manifest-path", crate::fuzz::MANIFEST]);
    let mut checks = vec![
        Check::program(GROUP, "format", format),
        Check::program(GROUP, "format of fuzz targets", targets),
    ];
    checks.extend(FEATURES.iter().map(|&(name, flags)| {
        let clippy =
            workspace.cargo().args(["clippy", "--workspace", "--all-targets", "--keep-going"]).args(flags);
        Check::program(GROUP, format!("clippy, {name}"), clippy.args(["--", "-D", "warnings"]))
    }));
    checks
}
