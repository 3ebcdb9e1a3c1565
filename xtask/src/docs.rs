//! `cargo xtask docs`: the documentation of the crates, with warnings as errors, and the book in `docs`.
//!
//! `ci` builds it with private items, where links in the comments of the inside are checked too. `nightly` and this command also
//! build it as a user sees it, where a link to something private is an error.

use crate::checks::{Check, Verdict, verdict_of};
use crate::runner::run_live;
use testkit::{Program, Stop, Workspace, no_more};

const GROUP: &str = "docs";

/// Runs the command.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), Stop> {
    no_more(arguments, "docs")?;
    // The public pages come last, so that they are the ones left to read.
    run_live(&[book(workspace), with_private_items(workspace), as_published(workspace)])?;
    println!("open {}", workspace.target.join("doc/stockade_scanner/index.html").display());
    println!("open {}", workspace.target.join("book/index.html").display());
    Ok(())
}

/// Returns the checks of continuous integration.
pub(crate) fn checks(workspace: &Workspace) -> Vec<Check> {
    vec![book(workspace), with_private_items(workspace)]
}

/// The book, where mdBook is installed. `tidy` checks its links, and a test of the command line its transcripts.
fn book(workspace: &Workspace) -> Check {
    let mdbook = || Program::new("mdbook").folder(&workspace.root);
    let installed = mdbook().args(["--version"]);
    let build = mdbook().args(["build", "docs", "--dest-dir"]).arg(workspace.target.join("book"));
    Check::new(GROUP, "the book", move |echo| match installed.succeeds() {
        true => verdict_of(&build, echo),
        false => Verdict::cannot("mdbook is not installed; its links were checked all the same"),
    })
}

/// Returns the check of the pages that users read.
pub(crate) fn as_published(workspace: &Workspace) -> Check {
    Check::program(GROUP, "as published", doc(workspace))
}

fn with_private_items(workspace: &Workspace) -> Check {
    Check::program(GROUP, "with private items", doc(workspace).arg("--document-private-items"))
}

fn doc(workspace: &Workspace) -> Program {
    let doc = workspace.cargo().args(["doc", "--workspace", "--no-deps", "--all-features"]);
    doc.env("RUSTDOCFLAGS", "-D warnings")
}
