//! Counts tests by parsing the output of the test harness.

/// How many tests ran, and which did not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Tests that passed.
    pub(crate) passed: usize,
    /// Tests that failed.
    pub(crate) failed: usize,
    /// Tests that were ignored, or that reported a skip, each with the reason.
    pub(crate) ignored: Vec<String>,
}

impl Tally {
    /// Parses the output of `cargo test`. The summaries contain the counts: `test result: ok. 12 passed; 0 failed; 1
    /// ignored; …`; the reasons are in the lines of the tests.
    pub(crate) fn of_output(text: &str) -> Self {
        let mut tally = Self::default();
        for line in text.lines() {
            if let Some(summary) = line.trim().strip_prefix("test result:") {
                tally.passed += count_before(summary, " passed");
                tally.failed += count_before(summary, " failed");
            } else if let Some(ignored) = ignored_test(line).or_else(|| skipping_test(line)) {
                tally.ignored.push(ignored);
            }
        }
        tally
    }

    /// The counts of two tallies together.
    pub(crate) fn and(&self, other: &Self) -> Self {
        Self {
            passed: self.passed + other.passed,
            failed: self.failed + other.failed,
            ignored: self.ignored.iter().chain(&other.ignored).cloned().collect(),
        }
    }
}

/// The number right before a word, as in `12 passed`.
fn count_before(summary: &str, word: &str) -> usize {
    let number = summary.split(word).next().and_then(|before| before.rsplit([' ', '.', ';']).next());
    number.and_then(|number| number.parse().ok()).unwrap_or_default()
}

/// `test a::b ... ignored, needs bwrap` becomes `a::b: needs bwrap`. Doc tests marked `ignore` on purpose read
/// `test src/lib.rs - item (line 3) ... ignored`.
fn ignored_test(line: &str) -> Option<String> {
    let (name, result) = line.strip_prefix("test ")?.split_once(" ... ignored")?;
    let reason = result.strip_prefix(", ").unwrap_or("no reason given");
    Some(format!("{name}: {reason}"))
}

/// A test that lacks something of this machine prints `skipped: ` and the reason.
fn skipping_test(line: &str) -> Option<String> {
    line.strip_prefix("skipped: ").map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "
running 3 tests
test a::b ... ok
test a::c ... ignored, needs a kernel with Landlock
test a::d ... FAILED
test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s

running 11 tests
test result: ok. 11 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s
";

    #[test]
    fn counts_every_summary_and_keeps_reasons() {
        let tally = Tally::of_output(OUTPUT);
        assert_eq!((tally.passed, tally.failed), (12, 1));
        assert_eq!(tally.ignored, ["a::c: needs a kernel with Landlock"]);
    }

    #[test]
    fn a_test_may_say_that_it_skips() {
        let output = "---- redis stdout ----\nskipped: there is no `redis-server`\n\ntest result: ok. 1 passed; 0 failed;";
        let tally = Tally::of_output(output);
        assert_eq!(
            (tally.passed, tally.ignored.as_slice()),
            (1, &["there is no `redis-server`".to_owned()][..])
        );
    }

    #[test]
    fn output_without_tests_counts_nothing() {
        assert_eq!(Tally::of_output("error: could not compile\n12 passed in prose"), Tally::default());
    }

    #[test]
    fn sums() {
        let sum = Tally::of_output(OUTPUT).and(&Tally::of_output(OUTPUT));
        assert_eq!((sum.passed, sum.failed, sum.ignored.len()), (24, 2, 2));
    }
}
