//! `cargo xtask elsewhere`: whether the crates compile for other processors and systems than this one.
//!
//! They are checked and not linked, so that nothing of those systems need be here. SQLite's build script compiles C on the
//! way: it is given [`NO_COMPILER`] for a compiler, and since nothing is linked, its missing output does not matter. So
//! the Rust is checked with every feature, the command line included, and the C is not.

use crate::checks::{Check, Verdict};
use crate::runner::run_live;
use crate::setup;
use testkit::{Echo, Stop, Workspace, no_more};

const GROUP: &str = "elsewhere";

/// A program that takes any arguments and succeeds.
const NO_COMPILER: &str = "true";

/// Packages that run on the machines of those who work on this repository, and nowhere else.
const OWN_TOOLS: [&str; 2] = ["testkit", "xtask"];

/// Runs the command.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), Stop> {
    no_more(arguments, GROUP)?;
    run_live(&checks(workspace))
}

/// Returns the checks of this command.
pub(crate) fn checks(workspace: &Workspace) -> Vec<Check> {
    let check = |target: &'static str| {
        let check = workspace.cargo().args(["check", "--target", target, "--workspace", "--all-features"]);
        let program = check.args(OWN_TOOLS.map(|name| format!("--exclude={name}"))).warnings_fail();
        let program = program.env(&for_target("CC", target), NO_COMPILER);
        let program = program.env(&for_target("AR", target), NO_COMPILER);
        // A wrapper of rustc, such as sccache, is used by build scripts too, and asks the compiler for its name.
        let program = program.env("RUSTC_WRAPPER", "");
        let check = Check::program(GROUP, target, program);
        Check::new(GROUP, check.name.clone(), move |echo: Echo| match setup::lacking_for(target) {
            Some(reason) => Verdict::cannot(reason),
            None => check.run(echo),
        })
    };
    setup::targets().map(check).collect()
}

/// The variable with the tool that build scripts use for a target: `CC_aarch64_apple_darwin`.
fn for_target(tool: &str, target: &str) -> String {
    format!("{tool}_{}", target.replace('-', "_"))
}
