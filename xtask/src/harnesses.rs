//! `cargo xtask harnesses [HARNESS…]`: runs real harnesses from npm with a scripted model and the hooks of `stockade
//! install`. The table that it prints is `crates/cli/tests/harnesses/measured.md`.
//!
//! `cargo xtask driven [CLI…]`: the same programs, driven by `stockade drive`. Its results are the table of
//! `crates/cli/DRIVE.md`.

use crate::checks::Check;
use crate::runner::run_live;
use testkit::{Program, Stop, Workspace};

const GROUP: &str = "harnesses";

/// What runs the programs. They need root, Node and npm, and keep the harnesses below the folder of what is built.
const PYTHON: &str = "/usr/bin/python3";

/// Runs the harnesses.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), Stop> {
    start(workspace, "crates/cli/tests/harnesses/run.py", &[], arguments)
}

/// Drives the CLIs.
pub(crate) fn driven(workspace: &Workspace, arguments: &[String]) -> Result<(), Stop> {
    start(workspace, "crates/cli/tests/harnesses/drive.py", &["crates/cli/DRIVE.md"], arguments)
}

fn start(workspace: &Workspace, program: &str, pages: &[&str], arguments: &[String]) -> Result<(), Stop> {
    let build = workspace.cargo().args(["build", "--package", "stockade-cli", "--all-features"]);
    let stockade = workspace.target.join("debug/stockade");
    let folder = workspace.target.join("harnesses");
    let run = Program::new(PYTHON)
        .folder(&workspace.root)
        .arg(program)
        .arg(stockade)
        .arg(folder)
        .args(pages)
        .args(arguments);
    run_live(&[Check::program(GROUP, "stockade", build), Check::program(GROUP, "harnesses", run)])
}
