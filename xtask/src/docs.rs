//! `cargo xtask docs`: the documentation, with warnings as errors.
//!
//! Twice: as a user sees it, where a link to something private is an error, and with private items, where links
//! in the comments of the inside are checked too.

use crate::checks::Check;
use crate::runner::run_live;
use crate::stop::{Stop, no_more};
use crate::workspace::Workspace;

const GROUP: &str = "docs";

/// Runs the command.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), Stop> {
    no_more(arguments, "docs")?;
    run_live(&checks(workspace))?;
    println!("open {}", workspace.target.join("doc/stockade_scanner/index.html").display());
    Ok(())
}

/// Returns the checks of this command. The public pages come last, so that they are the ones left to read.
pub(crate) fn checks(workspace: &Workspace) -> Vec<Check> {
    let doc = || {
        let doc = workspace.cargo().args(["doc", "--workspace", "--no-deps", "--all-features"]);
        doc.env("RUSTDOCFLAGS", "-D warnings")
    };
    vec![
        Check::program(GROUP, "with private items", doc().arg("--document-private-items")),
        Check::program(GROUP, "as published", doc()),
    ]
}
