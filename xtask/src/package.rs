//! `cargo xtask package`: checks that each crate can be published.
//!
//! Every crate is packed as `cargo publish` would pack it, together, so that crates find each other before any of them is
//! in a registry. Cargo refuses what lacks a description, a version of a dependency or a file that the manifest names.
//!
//! `ci` stops there. This command and `nightly` also build from their packed sources those that stand on nothing of ours but each other, with what they turn on by default:
//! a file that the crate includes and the package lacks shows there. The others are packed by the same rule (all of `src`, without
//! tests and benches, held by `cargo xtask tidy`), and are not built a second time: that would compile SQLite, TLS and
//! every layer once more to learn nothing about them.

use crate::checks::Check;
use crate::runner::run_live;
use testkit::{Crate, Program, Stop, Workspace, no_more};

const GROUP: &str = "package";

/// Packages that are useful only in this repository.
const NOT_PACKED: &[&str] = &["testkit", "xtask"];

/// The crates that are built from their packed sources.
const BUILT: &[&str] = &["eval", "files", "limits", "names", "output", "sanitize", "shell", "text"];

/// Runs the command.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), Stop> {
    no_more(arguments, GROUP)?;
    let mut checks = checks(workspace);
    checks.push(verified(workspace));
    run_live(&checks)
}

/// Returns the checks of continuous integration.
pub(crate) fn checks(workspace: &Workspace) -> Vec<Check> {
    let packed = package(workspace).args(["--workspace", "--no-verify"]);
    let packed = packed.args(NOT_PACKED.iter().map(|name| format!("--exclude={name}")));
    vec![Check::program(GROUP, "every crate can be packed", packed)]
}

/// Returns the check that packed sources build.
pub(crate) fn verified(workspace: &Workspace) -> Check {
    let built = package(workspace).args(built(workspace).map(|one| format!("--package={}", one.package)));
    Check::program(GROUP, "crates that stand alone build from their package", built)
}

/// What is not committed yet is packed as well: a check asks about the files that are there.
fn package(workspace: &Workspace) -> Program {
    workspace.cargo().args(["package", "--allow-dirty", "--quiet"])
}

fn built(workspace: &Workspace) -> impl Iterator<Item = &Crate> {
    workspace.crates.iter().filter(|one| BUILT.contains(&one.short()))
}
