//! `cargo xtask bench [CRATE] [-- ARGS]`: the benches, in release mode and one after the other.

use crate::checks::Check;
use crate::runner::run_live;
use testkit::{Stop, Workspace, no_more};

const GROUP: &str = "bench";

/// Runs the command.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), Stop> {
    let mut parts = arguments.splitn(2, |argument| argument == "--");
    let ours = parts.next().unwrap_or_default();
    let theirs = parts.next().unwrap_or_default();
    let (name, rest) = ours.split_first().map_or((None, ours), |(name, rest)| (Some(name), rest));
    no_more(rest, "bench [CRATE] [-- ARGS]")?;

    let mut checks = Vec::new();
    for one in workspace.chosen(name.map(String::as_str))? {
        for bench in one.targets_of("bench") {
            let run = workspace.cargo().args(["bench", "--all-features", "--package", &one.package]);
            let run = run.args(["--bench", bench, "--"]).args(theirs);
            checks.push(Check::program(GROUP, format!("{} {bench}", one.short()), run));
        }
    }
    if checks.is_empty() {
        return Err(Stop::usage(format!("{} has no benches", name.map_or("the workspace", |name| name))));
    }
    run_live(&checks)
}
