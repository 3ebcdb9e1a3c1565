//! `cargo xtask ci [--without GROUP]…`: every check, then a table of what ran, what was skipped and why.
//!
//! The quick checks come first, and builds that share their results follow each other. A failure does not stop the
//! checks after it. Where the environment says `CI=true`, missing tools are installed if that is possible, and leaving
//! out a check that this machine could run is a failure.

use crate::checks::Check;
use crate::nearest::nearest;
use crate::program::Echo;
use crate::runner;
use crate::setup::Missing;
use crate::stop::Stop;
use crate::workspace::Workspace;
use crate::{battery, docs, elsewhere, features, fuzz, lint, oracle, own_scan, package, setup, test, tidy};

/// Runs the command.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), Stop> {
    let in_ci = std::env::var("CI").is_ok_and(|value| value == "true");
    let missing_tools = if in_ci { Missing::Install } else { Missing::Ask };
    let checks = without(checks(workspace, missing_tools), arguments)?;
    println!("{} checks; a line when each ends\n", checks.len());
    let mut report = runner::run(&checks, Echo::Kept);
    if in_ci {
        report.forbid_choices();
    }
    report.print();
    println!("\nA test that runs under several sets of features counts once for each.\n");
    println!("{}", report.closing_line());
    report.result()
}

fn checks(workspace: &Workspace, missing_tools: Missing) -> Vec<Check> {
    let mut checks = setup::checks(missing_tools);
    checks.extend(tidy::checks(workspace));
    checks.extend(lint::checks(workspace));
    // With the tests, what is generated is compared with its files.
    checks.extend(test::checks(workspace));
    // The program is there since its tests were built.
    checks.extend(battery::checks(workspace));
    checks.extend(own_scan::checks(workspace));
    checks.extend(features::checks(workspace));
    checks.extend(oracle::checks(workspace));
    checks.extend(docs::checks(workspace));
    checks.extend(package::checks(workspace));
    checks.extend(elsewhere::checks(workspace));
    checks.extend(fuzz::checks(workspace));
    checks
}

/// Reads `--without GROUP` and takes the checks of that group out.
fn without(checks: Vec<Check>, arguments: &[String]) -> Result<Vec<Check>, Stop> {
    let mut left_out = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let group = words.next().filter(|_| word == "--without");
        let group = group.ok_or_else(|| Stop::usage("usage: cargo xtask ci [--without GROUP]…"))?;
        let known = || checks.iter().map(|check| check.group);
        if !known().any(|name| name == group) {
            let near = nearest(group, known()).unwrap_or("fuzz");
            return Err(Stop::usage(format!("there are no checks called `{group}`; did you mean `{near}`?")));
        }
        left_out.push(group.as_str());
    }
    let keep_or_skip = |check: Check| match left_out.iter().find(|&&group| group == check.group) {
        Some(group) => check.left_out(format!("--without {group}")),
        None => check,
    };
    Ok(checks.into_iter().map(keep_or_skip).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::Verdict;

    fn closing_line(arguments: &[&str]) -> Result<String, String> {
        let arguments: Vec<String> = arguments.iter().map(|&word| word.to_owned()).collect();
        let checks = ["lint", "fuzz"].map(|group| Check::new(group, "x", |_| Verdict::failed("ran")));
        let checks = without(checks.into(), &arguments).map_err(|stop| stop.message().to_owned())?;
        Ok(runner::run(&checks, Echo::Kept).closing_line())
    }

    #[test]
    fn groups_can_be_left_out() {
        assert_eq!(closing_line(&[]).unwrap(), "0 passed, 2 failed");
        assert_eq!(closing_line(&["--without", "fuzz"]).unwrap(), "0 passed, 1 failed, 1 skipped");
        assert!(closing_line(&["--without", "fuz"]).unwrap_err().contains("did you mean `fuzz`?"));
        assert!(closing_line(&["--without"]).unwrap_err().starts_with("usage:"));
        assert!(closing_line(&["fuzz"]).unwrap_err().starts_with("usage:"));
    }
}
