//! `cargo xtask own-scan`: this repository, scanned by its own program as others are asked to do it in theirs.
//!
//! Exclusions and reviewed findings are in `xtask/own-scan`, each with its reason. A row about a file is bound to its
//! reviewed content: after a change, the scan reports it with the new SHA-256.

use crate::checks::{Check, Verdict, verdict_of};
use crate::runner::run_live;
use testkit::{Program, Stop, Workspace, no_more};

const GROUP: &str = "own-scan";

/// Runs the command.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), Stop> {
    no_more(arguments, GROUP)?;
    run_live(&checks(workspace))
}

/// Returns the checks of this command.
pub(crate) fn checks(workspace: &Workspace) -> Vec<Check> {
    // Built alone it would have other features, and with them everything below it.
    let build = workspace.build_examples();
    let scan = Program::new(workspace.target.join("debug/stockade")).folder(&workspace.root).args([
        "scan",
        "--exclude-from",
        "xtask/own-scan/leave-out.txt",
        "--suppressions",
        "xtask/own-scan/suppressions.toml",
        ".",
    ]);
    vec![Check::new(GROUP, "nothing of this repository attacks", move |echo| {
        match verdict_of(&build, echo) {
            Verdict::Passed { .. } => verdict_of(&scan, echo),
            not_built => not_built,
        }
    })]
}
