//! `cargo xtask elsewhere`: whether the crates compile for other processors and systems than this one.
//!
//! They are checked and not linked, so that nothing of those systems need be here. Left out is what compiles C on the way:
//! SQLite, and with it the command line.

use crate::check::{Check, Verdict};
use crate::program::Echo;
use crate::runner::run_live;
use crate::setup;
use crate::stop::{Stop, no_more};
use crate::workspace::Workspace;

const GROUP: &str = "elsewhere";

/// What is checked, each time in one go.
const SELECTIONS: &[(&str, &[&str])] = &[
    (
        "the layers",
        &[
            "--workspace",
            "--exclude=stockade-audit",
            "--exclude=stockade-guard",
            "--exclude=stockade-cli",
            "--exclude=xtask",
            "--all-features",
        ],
    ),
    (
        "guard and the audit trail",
        &[
            "--package=stockade-guard",
            "--no-default-features",
            "--features=audit,config,container,exec,extract,redis",
        ],
    ),
];

/// Runs the command.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), Stop> {
    no_more(arguments, GROUP)?;
    run_live(&checks(workspace))
}

/// Returns the checks of this command.
pub(crate) fn checks(workspace: &Workspace) -> Vec<Check> {
    let pairs = setup::targets().flat_map(|target| SELECTIONS.iter().map(move |part| (target, part)));
    let check = |(target, (name, flags)): (&'static str, &(&str, &[&str]))| {
        let program = workspace.cargo().args(["check", "--target", target]).args(*flags).warnings_fail();
        let check = Check::program(GROUP, format!("{name}, {target}"), program);
        Check::new(GROUP, check.name.clone(), move |echo: Echo| match setup::lacking_for(target) {
            Some(reason) => Verdict::cannot(reason),
            None => check.run(echo),
        })
    };
    pairs.map(check).collect()
}
