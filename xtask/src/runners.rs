//! `cargo xtask battery`, `corpus` and `conformance`, which the program `testkit` runs, and its checks.
//!
//! They are a program of their own so that the everyday commands compile without them.

use testkit::{Echo, Program, SKIPPED, Stop, Workspace};

use crate::checks::{Check, Verdict};
use crate::tally::Tally;

const GROUP: &str = "battery";

/// Tries to get out of a sandbox, or tries published attacks.
pub(crate) fn battery(workspace: &Workspace, arguments: &[String]) -> Result<(), Stop> {
    start(workspace, "battery", arguments)
}

/// Scores the scanner on labelled skills.
pub(crate) fn corpus(workspace: &Workspace, arguments: &[String]) -> Result<(), Stop> {
    start(workspace, "corpus", arguments)
}

/// Runs test vectors.
pub(crate) fn conformance(workspace: &Workspace, arguments: &[String]) -> Result<(), Stop> {
    start(workspace, "conformance", arguments)
}

/// Returns the check of published attacks.
pub(crate) fn checks(workspace: &Workspace) -> Vec<Check> {
    let (build, attacks) = (workspace.build_examples(), workspace.testkit().args(["battery", "--cve"]));
    vec![Check::new(GROUP, "published attacks", move |_| match build.read() {
        Ok(_) => verdict_of(&attacks),
        Err(error) => Verdict::failed(error.to_string()),
    })]
}

/// Runs a runner, built before, and judges it by its exit code. The last line that it prints is the note.
pub(crate) fn verdict_of(runner: &Program) -> Verdict {
    let output = match runner.run(Echo::Kept) {
        Ok(output) => output,
        Err(error) => return Verdict::failed(format!("cannot run `{runner}`: {error}")),
    };
    let last = output.text.lines().last().unwrap_or_default();
    match output.code {
        Some(0) => Verdict::Passed { tests: Tally::default(), note: last.to_owned() },
        Some(code) if code == i32::from(SKIPPED) => {
            Verdict::cannot(last.strip_prefix("skipped: ").unwrap_or(last))
        }
        _ => Verdict::failed(output.text.trim_end()),
    }
}

/// Builds `testkit` and runs it in the place of this program. It has explained its failures.
fn start(workspace: &Workspace, runner: &str, arguments: &[String]) -> Result<(), Stop> {
    let program = workspace.cargo().args(["run", "--quiet", "--package", "testkit", "--", runner]);
    let program = program.args(arguments);
    match program.run_in_place() {
        Ok(Some(0)) => Ok(()),
        Ok(Some(2)) => Err(Stop::usage("")),
        Ok(_) => Err(Stop::reported()),
        Err(error) => Err(Stop::failed(format!("cannot run `{program}`: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(script: &str) -> (&'static str, String) {
        match verdict_of(&Program::new("sh").args(["-c", script])) {
            Verdict::Passed { note, .. } => ("passed", note),
            Verdict::Failed { output, .. } => ("failed", output),
            Verdict::Skipped { reason, .. } => ("skipped", reason),
        }
    }

    #[test]
    fn runners_are_judged_by_their_exit_code() {
        assert_eq!(verdict("echo row; echo 5 of 5"), ("passed", "5 of 5".to_owned()));
        assert_eq!(verdict("echo row; echo 4 of 5; exit 1"), ("failed", "row\n4 of 5".to_owned()));
        assert_eq!(verdict("echo 'skipped: no bwrap'; exit 77"), ("skipped", "no bwrap".to_owned()));
        assert_eq!(verdict("exit 101"), ("failed", String::new()));
        let missing = verdict_of(&Program::new("no-such-program-here"));
        assert!(matches!(missing, Verdict::Failed { .. }));
    }
}
