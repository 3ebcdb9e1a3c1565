//! `cargo xtask test [CRATE]`: the tests and doc tests with all features, the everyday command.

use crate::check::Check;
use crate::runner::run_live;
use crate::stop::{Stop, no_more};
use crate::workspace::{Crate, Workspace};

const GROUP: &str = "test";

/// Runs the command.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), Stop> {
    let (name, rest) = arguments.split_first().map_or((None, arguments), |(name, rest)| (Some(name), rest));
    no_more(rest, "test [CRATE]")?;
    let choice = match name {
        Some(name) => vec!["--package", workspace.find(name)?.package.as_str()],
        None => vec!["--workspace"],
    };
    let test = workspace.cargo().args(["test", "--all-features", "--no-fail-fast"]).args(choice);
    run_live(&[Check::program(GROUP, name.map_or("every crate", |name| name), test)])
}

/// Returns the checks of continuous integration that are not in `features`: the examples in each crate's
/// documentation, and that its benches and examples build. With all features, so that what `features` built is used.
pub(crate) fn checks(workspace: &Workspace) -> Vec<Check> {
    workspace.crates.iter().filter_map(|one| examples_and_benches(workspace, one)).collect()
}

fn examples_and_benches(workspace: &Workspace, one: &Crate) -> Option<Check> {
    let has = |kind| one.targets_of(kind).next().is_some();
    let cargo = |command| workspace.cargo().args([command, "--package", &one.package, "--all-features"]);
    let mut programs = Vec::new();
    if has("lib") {
        programs.push(cargo("test").args(["--doc", "--no-fail-fast"]));
    }
    if has("bench") || has("example") {
        programs.push(cargo("build").args(["--benches", "--examples"]));
    }
    let name = format!("{}, documentation, examples and benches", one.short());
    (!programs.is_empty()).then(|| Check::programs(GROUP, name, programs))
}
