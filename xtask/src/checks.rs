//! Checks: things that pass, fail or are skipped. Every command is a list of them; `ci` is the list of all.

use crate::tally::Tally;
use testkit::{Echo, Program};

/// One thing to check.
pub(crate) struct Check {
    /// The command that it belongs to: `lint`, `fuzz` …
    pub(crate) group: &'static str,
    /// What it checks, for the table.
    pub(crate) name: String,
    /// Whether it may run beside its neighbours.
    pub(crate) company: Company,
    job: Job,
}

/// What a check does.
enum Job {
    /// Runs programs. With [`Echo::Live`] a person has seen everything that they print.
    Programs(Vec<Program>),
    /// Whatever else.
    Function(Box<dyn Fn(Echo) -> Verdict + Send + Sync>),
}

/// Whether checks run one after the other or side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Company {
    /// Alone: it uses every core, or shares a folder with others.
    Alone,
    /// Beside others of its kind, one a core.
    SideBySide,
}

/// How a check ended.
#[derive(Debug, Clone)]
pub(crate) enum Verdict {
    /// Nothing is wrong.
    Passed { tests: Tally, note: String },
    /// It failed; the output has the reason.
    Failed { tests: Tally, output: String },
    /// It did not run.
    Skipped { reason: String, cause: Cause },
}

/// Who decided that a check is skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// This machine cannot run it.
    Machine,
    /// A person asked to leave it out. In continuous integration that is a failure.
    Choice,
}

impl Check {
    /// A check that is a function.
    pub(crate) fn new(
        group: &'static str,
        name: impl Into<String>,
        job: impl Fn(Echo) -> Verdict + Send + Sync + 'static,
    ) -> Self {
        Self { group, name: name.into(), company: Company::Alone, job: Job::Function(Box::new(job)) }
    }

    /// A check that is a program: it passes when the program succeeds. Tests that it runs are counted.
    pub(crate) fn program(group: &'static str, name: impl Into<String>, program: Program) -> Self {
        Self::programs(group, name, [program])
    }

    /// A check that is several programs. All of them run, and all must succeed.
    pub(crate) fn programs(
        group: &'static str,
        name: impl Into<String>,
        programs: impl IntoIterator<Item = Program>,
    ) -> Self {
        let job = Job::Programs(programs.into_iter().collect());
        Self { group, name: name.into(), company: Company::Alone, job }
    }

    /// Runs it.
    pub(crate) fn run(&self, echo: Echo) -> Verdict {
        match &self.job {
            Job::Programs(programs) => {
                let verdicts = programs.iter().map(|program| verdict_of(program, echo));
                verdicts.fold(Verdict::passed(), Verdict::and)
            }
            Job::Function(function) => function(echo),
        }
    }

    /// Whether its output was on the screen before its verdict is.
    pub(crate) fn is_seen(&self, echo: Echo) -> bool {
        echo == Echo::Live && matches!(self.job, Job::Programs(_))
    }

    /// The same check, allowed to run beside others.
    pub(crate) fn side_by_side(self) -> Self {
        Self { company: Company::SideBySide, ..self }
    }

    /// The same check, left out because a person asked for it.
    pub(crate) fn left_out(self, reason: String) -> Self {
        let job = move |_| Verdict::Skipped { reason: reason.clone(), cause: Cause::Choice };
        Self { job: Job::Function(Box::new(job)), ..self }
    }
}

impl Verdict {
    /// Nothing is wrong, and there is nothing to say.
    pub(crate) fn passed() -> Self {
        Self::Passed { tests: Tally::default(), note: String::new() }
    }

    /// Something is wrong.
    pub(crate) fn failed(output: impl Into<String>) -> Self {
        Self::Failed { tests: Tally::default(), output: output.into() }
    }

    /// The verdict on two things together: what failed counts more than what was skipped, and that more than what passed.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Passed { tests: a, .. }, Self::Passed { tests: b, note }) => {
                Self::Passed { tests: a.and(&b), note }
            }
            (Self::Failed { tests: a, output: first }, Self::Failed { tests: b, output: second }) => {
                Self::Failed { tests: a.and(&b), output: format!("{first}\n{second}") }
            }
            (Self::Failed { tests: a, output }, Self::Passed { tests: b, .. })
            | (Self::Passed { tests: a, .. }, Self::Failed { tests: b, output }) => {
                Self::Failed { tests: a.and(&b), output }
            }
            (failed @ Self::Failed { .. }, Self::Skipped { .. }) | (Self::Skipped { .. }, failed) => failed,
            (_, skipped @ Self::Skipped { .. }) => skipped,
        }
    }

    /// This machine cannot run the check.
    pub(crate) fn cannot(reason: impl Into<String>) -> Self {
        Self::Skipped { reason: reason.into(), cause: Cause::Machine }
    }
}

/// Runs a program and judges it by its exit code.
pub(crate) fn verdict_of(program: &Program, echo: Echo) -> Verdict {
    let output = match program.run(echo) {
        Ok(output) => output,
        Err(error) => return Verdict::failed(format!("cannot run `{program}`: {error}")),
    };
    let tests = Tally::of_output(&output.text);
    if output.success && tests.failed == 0 {
        Verdict::Passed { tests, note: String::new() }
    } else {
        Verdict::Failed { tests, output: format!("$ {program}\n{}", output.text) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Program {
        Program::new("sh").args(["-c", script])
    }

    #[test]
    fn programs_are_judged_by_exit_code_and_by_their_tests() {
        let verdict = |script: &str| verdict_of(&shell(script), Echo::Kept);
        assert!(matches!(verdict("exit 0"), Verdict::Passed { .. }));
        assert!(matches!(verdict("exit 1"), Verdict::Failed { .. }));
        let lying = verdict("echo 'test result: FAILED. 0 passed; 2 failed; 0 ignored'; exit 0");
        assert!(matches!(lying, Verdict::Failed { tests: Tally { failed: 2, .. }, .. }));
    }

    #[test]
    fn every_program_of_a_check_runs_and_must_succeed() {
        let two = |first, second| match Check::programs("test", "x", [shell(first), shell(second)])
            .run(Echo::Kept)
        {
            Verdict::Passed { tests, .. } => ("passed", tests.passed, tests.failed),
            Verdict::Failed { tests, .. } => ("failed", tests.passed, tests.failed),
            Verdict::Skipped { .. } => ("skipped", 0, 0),
        };
        let passing = "echo 'test result: ok. 3 passed; 0 failed; 0 ignored'";
        let failing = "echo 'test result: FAILED. 1 passed; 2 failed; 0 ignored'; exit 101";
        assert_eq!(two(passing, passing), ("passed", 6, 0));
        assert_eq!(two(failing, passing), ("failed", 4, 2));
        assert_eq!(two("exit 1", passing), ("failed", 3, 0));
        assert_eq!(two(failing, failing), ("failed", 2, 4));
    }
}
