//! Results of a list of checks, and their presentation.

use std::fmt;
use std::time::Duration;

use crate::checks::{Cause, Verdict};
use crate::tally::Tally;
use testkit::{Stop, Table};

/// How much of the output of a failed check the report repeats.
const LINES: usize = 15;

/// How many failed tests of one check the report repeats, and how much of the output of each.
const FAILURES: usize = 10;
const LINES_OF_A_TEST: usize = 30;

/// How many of the slowest checks are named.
const SLOWEST: usize = 10;

/// Results of a list of checks.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// In the order of the checks.
    pub(crate) rows: Vec<Row>,
}

/// A check that has run.
#[derive(Debug)]
pub(crate) struct Row {
    /// The command that the check belongs to.
    pub(crate) group: &'static str,
    /// Name of the check.
    pub(crate) name: String,
    /// How it ended.
    pub(crate) verdict: Verdict,
    /// How long it took.
    pub(crate) time: Duration,
}

impl Report {
    /// Turns every check that a person left out into a failure: in continuous integration nothing is left out.
    pub(crate) fn forbid_choices(&mut self) {
        for row in &mut self.rows {
            if let Verdict::Skipped { reason, cause: Cause::Choice } = &row.verdict {
                row.verdict =
                    Verdict::failed(format!("this machine could have run it, but it was left out: {reason}"));
            }
        }
    }

    /// Prints the table of what ran, what was skipped and why, and the end of the output of what failed. All of it was
    /// printed when it happened.
    pub(crate) fn print(&self) {
        let mut table = Table::new(&["", "check", "tests", "time", ""]);
        for row in &self.rows {
            let tests = row.tests().map_or(0, |tests| tests.passed + tests.failed);
            let tests = if tests == 0 { String::new() } else { tests.to_string() };
            let name = format!("{}: {}", row.group, row.name);
            table.row([row.mark().to_owned(), name, tests, seconds(row.time), row.note().to_owned()]);
        }
        println!("\n{table}");
        for line in self.skipped() {
            println!("SKIPPED  {line}");
        }
        for row in &self.rows {
            if let Verdict::Failed { output, .. } = &row.verdict {
                println!("\nFAILED   {}: {}", row.group, row.name);
                for failure in failures(output).take(FAILURES) {
                    println!("{}", last_lines(failure, LINES_OF_A_TEST));
                }
                println!("It ended with:\n{}", last_lines(output, LINES));
            }
        }
    }

    /// Prints the checks that took longest, so that the next cut is measured and not guessed.
    pub(crate) fn print_slowest(&self) {
        let total: Duration = self.rows.iter().map(|row| row.time).sum();
        println!("\nslowest checks, of {} in all (checks that run side by side count each):", seconds(total));
        for row in self.slowest() {
            println!("{:>9}  {}: {}", seconds(row.time), row.group, row.name);
        }
    }

    fn slowest(&self) -> Vec<&Row> {
        let mut rows: Vec<&Row> = self.rows.iter().collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.time));
        rows.truncate(SLOWEST);
        rows
    }

    /// Everything that did not run, with its reason.
    fn skipped(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for row in &self.rows {
            if let Verdict::Skipped { reason, .. } = &row.verdict {
                lines.push(format!("{}: {}: {reason}", row.group, row.name));
            }
            let ignored = row.tests().into_iter().flat_map(|tests| &tests.ignored);
            lines.extend(ignored.map(|test| format!("{}: {}: {test}", row.group, row.name)));
        }
        lines
    }

    /// The sums in one line. A failed check without a failed test of its own counts as one failure, so that the line
    /// never reads like a success that it is not.
    pub(crate) fn closing_line(&self) -> String {
        let mut sum = Tally::default();
        let mut failed_checks = 0;
        for row in &self.rows {
            let tests = row.tests().cloned().unwrap_or_default();
            failed_checks += usize::from(matches!(row.verdict, Verdict::Failed { .. }) && tests.failed == 0);
            sum = sum.and(&tests);
        }
        let line = format!("{} passed, {} failed", sum.passed, sum.failed + failed_checks);
        match self.skipped().len() {
            0 => line,
            skipped => format!("{line}, {skipped} skipped"),
        }
    }

    /// An error when any check failed.
    pub(crate) fn result(&self) -> Result<(), Stop> {
        let failed = self.rows.iter().any(|row| matches!(row.verdict, Verdict::Failed { .. }));
        if failed { Err(Stop::reported()) } else { Ok(()) }
    }
}

impl Row {
    fn mark(&self) -> &'static str {
        match self.verdict {
            Verdict::Passed { .. } => "ok",
            Verdict::Failed { .. } => "FAILED",
            Verdict::Skipped { .. } => "SKIPPED",
        }
    }

    fn note(&self) -> &str {
        match &self.verdict {
            Verdict::Passed { note, .. } => note,
            Verdict::Failed { .. } => "see above",
            Verdict::Skipped { reason, .. } => reason,
        }
    }

    fn tests(&self) -> Option<&Tally> {
        match &self.verdict {
            Verdict::Passed { tests, .. } | Verdict::Failed { tests, .. } => Some(tests),
            Verdict::Skipped { .. } => None,
        }
    }
}

/// The line that is printed when the check ends.
impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<7} {:>7}  {}: {}", self.mark(), seconds(self.time), self.group, self.name)
    }
}

/// The output of each failed test. The harness prints it under `failures:`, in sections that begin with `---- NAME stdout ----`;
/// the same sections under `successes:` are of tests that passed.
fn failures(output: &str) -> impl Iterator<Item = &str> {
    let lists = output.split("\nfailures:\n").skip(1);
    let sections = lists.filter_map(|list| list.split("\ntest result:").next());
    sections.flat_map(|list| list.split("\n---- ").skip(1))
}

fn last_lines(text: &str, count: usize) -> &str {
    let text = text.trim_end();
    let start = text.rmatch_indices('\n').nth(count - 1).map_or(0, |(at, _)| at + 1);
    text.get(start..).unwrap_or(text)
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(verdicts: &[Verdict]) -> Report {
        let row = |verdict: &Verdict| Row {
            group: "test",
            name: "x".to_owned(),
            verdict: verdict.clone(),
            time: Duration::ZERO,
        };
        Report { rows: verdicts.iter().map(row).collect() }
    }

    fn closing_line(verdicts: &[Verdict]) -> String {
        report(verdicts).closing_line()
    }

    fn tests(passed: usize, failed: usize, ignored: &[&str]) -> Tally {
        Tally { passed, failed, ignored: ignored.iter().map(|&reason| reason.to_owned()).collect() }
    }

    #[test]
    fn closing_lines() {
        let passed = Verdict::Passed { tests: tests(7, 0, &[]), note: String::new() };
        let failed = Verdict::Failed { tests: tests(2, 1, &[]), output: String::new() };
        let ignoring = Verdict::Passed { tests: tests(1, 0, &["a: b"]), note: String::new() };
        assert_eq!(closing_line(&[]), "0 passed, 0 failed");
        assert_eq!(closing_line(&[passed.clone(), passed.clone()]), "14 passed, 0 failed");
        assert_eq!(closing_line(&[passed.clone(), failed]), "9 passed, 1 failed");
        assert_eq!(closing_line(&[passed.clone(), Verdict::failed("no compiler")]), "7 passed, 1 failed");
        assert_eq!(
            closing_line(&[ignoring, Verdict::cannot("no compiler")]),
            "1 passed, 0 failed, 2 skipped"
        );
    }

    #[test]
    fn what_was_left_out_by_choice_fails_where_choices_are_forbidden() {
        let left_out = Verdict::Skipped { reason: "--without test".to_owned(), cause: Cause::Choice };
        let mut report = report(&[left_out, Verdict::cannot("no gcc")]);
        assert!(report.result().is_ok());
        report.forbid_choices();
        assert!(report.result().is_err());
        assert_eq!(report.closing_line(), "0 passed, 1 failed, 1 skipped");
    }

    #[test]
    fn the_slowest_checks_come_first() {
        let mut report = report(&vec![Verdict::passed(); SLOWEST + 2]);
        for (row, time) in report.rows.iter_mut().zip(0..) {
            row.time = Duration::from_secs(time);
        }
        let times: Vec<u64> = report.slowest().iter().map(|row| row.time.as_secs()).collect();
        assert_eq!(times, [11, 10, 9, 8, 7, 6, 5, 4, 3, 2]);
    }

    #[test]
    fn what_failed_tests_printed_is_found_wherever_it_stands() {
        let output = "successes:\n\n---- a stdout ----\nfine\n\n\nsuccesses:\n    a\n\nfailures:\n\n---- b stdout ----\nbroken\n\n\
                      ---- c stdout ----\nlate\n\n\nfailures:\n    b\n    c\n\ntest result: FAILED. 1 passed\n\
                      successes:\n\n---- d stdout ----\nfine\n\ntest result: ok. 1 passed\n";
        let found: Vec<_> = failures(output).collect();
        assert_eq!(found, ["b stdout ----\nbroken\n", "c stdout ----\nlate\n\n"]);
        assert_eq!(failures("error: could not compile").count(), 0);
    }

    #[test]
    fn the_end_of_a_long_output() {
        assert_eq!(last_lines("a\nb\nc\n", 2), "b\nc");
        assert_eq!(last_lines("a\nb\nc\n", 3), "a\nb\nc");
        assert_eq!(last_lines("", 3), "");
    }
}
