//! Runs checks.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use crate::checks::{Check, Company, Verdict};
use crate::report::{Report, Row};
use testkit::{Echo, Stop};

/// Runs the checks of one command with their output shown as it comes. Ends in the closing line.
pub(crate) fn run_live(checks: &[Check]) -> Result<(), Stop> {
    let report = run(checks, Echo::Live);
    report.print();
    println!("\n{}", report.closing_line());
    report.result()
}

/// Runs checks in order, neighbours that may run side by side together, and prints a line when each ends.
pub(crate) fn run(checks: &[Check], echo: Echo) -> Report {
    let mut report = Report::default();
    for group in checks.chunk_by(|a, b| a.company == Company::SideBySide && b.company == Company::SideBySide)
    {
        match group {
            [one] => report.rows.push(run_one(one, echo)),
            many => report.rows.extend(run_side_by_side(many)),
        }
    }
    report
}

fn run_one(check: &Check, echo: Echo) -> Row {
    if echo == Echo::Live {
        println!("{}: {} …", check.group, check.name);
    }
    let start = Instant::now();
    let verdict = check.run(echo);
    let row = Row { group: check.group, name: check.name.clone(), verdict, time: start.elapsed() };
    println!("{row}");
    if let Verdict::Failed { output, .. } = &row.verdict
        && !check.is_seen(echo)
    {
        // At once, and not only in the report: a user who stops a long run still sees the failure.
        println!("\n{}\n", output.trim_end());
    }
    row
}

/// One worker a core takes the next check until none is left. Their output is kept, or it would come mixed.
fn run_side_by_side(checks: &[Check]) -> Vec<Row> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(check) = checks.get(index) else { return };
            let row = run_one(check, Echo::Kept);
            if let Ok(mut done) = done.lock() {
                done.push((index, row));
            }
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(checks.len());
    std::thread::scope(|scope| (0..workers).for_each(|_| drop(scope.spawn(work))));
    let mut rows = done.into_inner().unwrap_or_default();
    rows.sort_by_key(|&(index, _)| index);
    rows.into_iter().map(|(_, row)| row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_checks_run_after_a_failure() {
        let failing = Check::new("test", "x", |_| Verdict::failed("x"));
        let passing = Check::new("test", "y", |_| Verdict::passed());
        let report = run(&[failing, passing], Echo::Kept);
        assert_eq!(report.rows.len(), 2);
        assert!(report.result().is_err());
    }

    #[test]
    fn side_by_side_checks_keep_their_order() {
        let checks: Vec<Check> =
            (0..9).map(|n| Check::new("fuzz", n.to_string(), |_| Verdict::passed()).side_by_side()).collect();
        let names: Vec<String> = run(&checks, Echo::Kept).rows.into_iter().map(|row| row.name).collect();
        assert_eq!(names, ["0", "1", "2", "3", "4", "5", "6", "7", "8"]);
    }
}
