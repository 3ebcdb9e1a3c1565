//! `cargo xtask ci [--job JOB] [--without GROUP]… [--install]`: every check, then a table of what ran, what was skipped and why.
//!
//! The quick checks come first, and builds that share their results follow each other. A failure does not stop the
//! checks after it. Where the environment says `CI=true`, missing tools are installed if that is possible, and leaving
//! out a check that this machine could run is a failure. What takes longest and finds least is left to `cargo xtask nightly`.

use crate::checks::Check;
use crate::runner;
use crate::setup::Missing;
use crate::{
    budgets, docs, elsewhere, features, fuzz, lint, oracle, own_scan, package, release, runners, setup, test,
    tidy,
};
use testkit::{Echo, Stop, Workspace, nearest};

const USAGE: &str = "usage: cargo xtask ci [--job JOB] [--without GROUP]… [--install]";

/// Parts of `ci` for machines that run beside each other, each with the groups of checks that it runs.
const JOBS: &[(&str, &[&str])] = &[
    ("static", &["tidy", "lint", "docs", "package", "budgets", "release"]),
    ("test", &["test", "battery", "own-scan"]),
    ("builds", &["features", "elsewhere"]),
    ("generated-input", &["oracle", "fuzz"]),
];

/// The group of the checks that prepare the machine, which every job needs.
const SETUP: &str = "setup";

/// What a person asked for on the command line.
#[derive(Debug, Default, PartialEq, Eq)]
struct Choice {
    /// The part to run; every part where none is named.
    job: Option<&'static [&'static str]>,
    without: Vec<String>,
    install: bool,
}

/// Runs the command.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), Stop> {
    let in_ci = std::env::var("CI").is_ok_and(|value| value == "true");
    let choice = Choice::parse(arguments)?;
    let missing = match (in_ci, choice.install) {
        (true, _) => Missing::InstallAll,
        (false, true) => Missing::Install,
        (false, false) => Missing::Ask,
    };
    let checks = choice.apply(checks(workspace, missing))?;
    println!("{} checks; a line when each ends\n", checks.len());
    let mut report = runner::run(&checks, Echo::Kept);
    if in_ci {
        report.forbid_choices();
    }
    report.print();
    report.print_slowest();
    println!("\nA test that runs under several sets of features counts once for each.\n");
    println!("{}", report.closing_line());
    report.result()
}

fn checks(workspace: &Workspace, missing: Missing) -> Vec<Check> {
    let mut checks = setup::checks(missing);
    checks.extend(tidy::checks(workspace));
    checks.extend(lint::checks(workspace));
    checks.extend(test::builds(workspace));
    // The program was built with the examples.
    checks.extend(runners::checks(workspace));
    checks.extend(own_scan::checks(workspace));
    // With the tests, what is generated is compared with its files. Feature sets are compiled beside them.
    checks.extend(test::checks(workspace));
    checks.extend(features::checks(workspace));
    // Another profile has a folder of its own, and nothing waits for it.
    checks.extend(budgets::checks(workspace));
    // It installs the program that the budgets built.
    checks.extend(release::checks(workspace));
    checks.extend(oracle::checks(workspace));
    checks.extend(docs::checks(workspace));
    checks.extend(package::checks(workspace));
    checks.extend(elsewhere::checks(workspace));
    checks.extend(fuzz::checks(workspace));
    checks
}

impl Choice {
    fn parse(arguments: &[String]) -> Result<Self, Stop> {
        let mut choice = Self::default();
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| Stop::usage(USAGE));
            match word.as_str() {
                "--install" => choice.install = true,
                "--without" => choice.without.push(value()?.clone()),
                "--job" => choice.job = Some(job(value()?)?),
                _ => return Err(Stop::usage(USAGE)),
            }
        }
        Ok(choice)
    }

    /// Takes out the checks of other jobs, and skips those of groups that are left out.
    fn apply(&self, checks: Vec<Check>) -> Result<Vec<Check>, Stop> {
        for group in &self.without {
            let known = || checks.iter().map(|check| check.group);
            if !known().any(|name| name == group) {
                let near = nearest(group, known()).unwrap_or("fuzz");
                return Err(Stop::usage(format!(
                    "unknown group of checks `{group}`; did you mean `{near}`?"
                )));
            }
        }
        let in_job = |check: &Check| {
            check.group == SETUP || self.job.is_none_or(|groups| groups.contains(&check.group))
        };
        let keep_or_skip = |check: Check| match self.without.iter().find(|&group| group == check.group) {
            Some(group) => check.left_out(format!("--without {group}")),
            None => check,
        };
        Ok(checks.into_iter().filter(in_job).map(keep_or_skip).collect())
    }
}

fn job(name: &str) -> Result<&'static [&'static str], Stop> {
    let names = || JOBS.iter().map(|job| job.0);
    let found = JOBS.iter().find(|job| job.0 == name).map(|job| job.1);
    found.ok_or_else(|| {
        let near = nearest(name, names())
            .map_or_else(|| names().collect::<Vec<_>>().join(", "), |near| format!("did you mean `{near}`?"));
        Stop::usage(format!("unknown job `{name}`: {near}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::Verdict;

    fn chosen(arguments: &[&str]) -> Result<Vec<Check>, String> {
        let arguments: Vec<String> = arguments.iter().map(|&word| word.to_owned()).collect();
        let checks =
            ["setup", "lint", "fuzz"].map(|group| Check::new(group, "x", |_| Verdict::failed("ran")));
        let choice = Choice::parse(&arguments).and_then(|choice| choice.apply(checks.into()));
        choice.map_err(|stop| stop.message().to_owned())
    }

    fn closing_line(arguments: &[&str]) -> Result<String, String> {
        chosen(arguments).map(|checks| runner::run(&checks, Echo::Kept).closing_line())
    }

    #[test]
    fn groups_can_be_left_out() {
        assert_eq!(closing_line(&[]).unwrap(), "0 passed, 3 failed");
        assert_eq!(closing_line(&["--without", "fuzz"]).unwrap(), "0 passed, 2 failed, 1 skipped");
        assert!(closing_line(&["--without", "fuz"]).unwrap_err().contains("did you mean `fuzz`?"));
        assert!(closing_line(&["--without"]).unwrap_err().starts_with("usage:"));
        assert!(closing_line(&["fuzz"]).unwrap_err().starts_with("usage:"));
    }

    #[test]
    fn a_job_runs_its_groups_and_the_setup() {
        let groups =
            |job| chosen(&["--job", job]).unwrap().iter().map(|check| check.group).collect::<Vec<_>>();
        assert_eq!(groups("static"), ["setup", "lint"]);
        assert_eq!(groups("generated-input"), ["setup", "fuzz"]);
        assert!(closing_line(&["--job", "tests"]).unwrap_err().contains("did you mean `test`?"));
    }

    #[test]
    fn every_check_is_in_one_job() {
        let workspace = Workspace::load().unwrap();
        for check in checks(&workspace, Missing::Ask).iter().filter(|check| check.group != SETUP) {
            let holding = JOBS.iter().filter(|job| job.1.contains(&check.group)).count();
            assert_eq!(holding, 1, "{} is in {holding} jobs of `JOBS`", check.group);
        }
    }

    #[test]
    fn the_hosted_workflow_runs_every_job() {
        let workflow = Workspace::load().unwrap().root.join(".github/workflows/ci.yml");
        let workflow = std::fs::read_to_string(workflow).unwrap();
        for (job, _) in JOBS {
            assert!(workflow.contains(&format!("- {job}\n")), "{job} is missing in ci.yml");
        }
    }
}
