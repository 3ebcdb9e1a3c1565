//! `cargo xtask harnesses [HARNESS…]`: real harnesses from npm, with a model that asks for what it is told to and with what
//! `stockade install` registers. The table that it prints is `crates/cli/tests/harnesses/measured.md`.

use crate::check::Check;
use crate::program::Program;
use crate::runner::run_live;
use crate::stop::Stop;
use crate::workspace::Workspace;

const GROUP: &str = "harnesses";

/// The program that does it. It needs root, Node and npm, and keeps the harnesses below the folder of what is built.
const PYTHON: &str = "/usr/bin/python3";
const PROGRAM: &str = "crates/cli/tests/harnesses/run.py";

/// Runs the command.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), Stop> {
    let build = workspace.cargo().args(["build", "--package", "stockade-cli", "--all-features"]);
    let stockade = workspace.target.join("debug/stockade");
    let folder = workspace.target.join("harnesses");
    let run =
        Program::new(PYTHON).folder(&workspace.root).arg(PROGRAM).arg(stockade).arg(folder).args(arguments);
    run_live(&[Check::program(GROUP, "stockade", build), Check::program(GROUP, "harnesses", run)])
}
