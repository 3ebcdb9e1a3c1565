//! One target, fuzzed for some time or for some runs.

use std::path::PathBuf;

use crate::checks::{Check, Verdict};
use crate::tally::Tally;
use testkit::{Echo, Program, Workspace};

/// An input that takes longer than this many seconds is a finding: every layer guarantees linear time.
const TIMEOUT_SECONDS: u32 = 10;

/// More memory than this many MiB is a finding.
const MEMORY_MIB: u32 = 2048;

/// A target, and everything that its run needs.
#[derive(Debug, Clone)]
pub(super) struct Session {
    root: PathBuf,
    binary: PathBuf,
    folder: String,
    target: String,
    extent: Extent,
}

/// Length of a session, and the start of its random inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// From a new seed and the corpus of earlier sessions: for finding new bugs.
    Seconds(u64),
    /// From a fixed seed and the committed seeds alone, so that a harmless change meets the same inputs as the one
    /// before it.
    Runs(u64),
}

impl Session {
    /// Prepares to fuzz a target of the package in `folder`.
    pub(super) fn new(workspace: &Workspace, folder: &str, target: &str, extent: Extent) -> Self {
        Self {
            root: workspace.root.clone(),
            binary: super::build::binary(workspace, target),
            folder: folder.to_owned(),
            target: target.to_owned(),
            extent,
        }
    }

    /// Returns the check that the target survives.
    pub(super) fn check(self) -> Check {
        let extent = match self.extent {
            Extent::Seconds(seconds) => format!("for {seconds} s"),
            Extent::Runs(runs) => format!("{runs} times"),
        };
        let name = format!("{} {} {extent}", self.crate_name(), self.target);
        Check::new(super::GROUP, name, move |echo| self.run(echo))
    }

    fn run(&self, echo: Echo) -> Verdict {
        if let Some(reason) = crate::setup::lacking(super::GROUP) {
            return Verdict::cannot(reason);
        }
        if !self.binary.is_file() {
            return Verdict::failed(format!("{} did not build", self.binary.display()));
        }
        if let Extent::Runs(_) = self.extent {
            // Remove leftovers of an interrupted session, if any.
            std::fs::remove_dir_all(self.root.join(self.corpus())).ok();
        }
        for place in [self.corpus(), self.place("artifacts")] {
            if let Err(error) = std::fs::create_dir_all(self.root.join(&place)) {
                return Verdict::failed(format!("cannot create {place}: {error}"));
            }
        }
        let program = self.program();
        match program.run(echo) {
            Ok(output) => self.judge(&program, output.success, &output.text),
            Err(error) => Verdict::failed(format!("cannot run `{program}`: {error}")),
        }
    }

    /// The corpus comes first: libFuzzer writes new inputs there. The seeds are only read.
    fn program(&self) -> Program {
        let program = Program::new(&self.binary).folder(&self.root).arg(self.corpus());
        let seeds = self.place("seeds");
        let program = if self.root.join(&seeds).is_dir() { program.arg(seeds) } else { program };
        let dictionary = format!("{}/{}.dict", self.folder, self.target);
        let has_dictionary = self.root.join(&dictionary).is_file();
        let program = if has_dictionary { program.arg(format!("-dict={dictionary}")) } else { program };
        let program = match self.extent {
            Extent::Seconds(seconds) => program.arg(format!("-max_total_time={seconds}")),
            Extent::Runs(runs) => program.args(["-seed=1".to_owned(), format!("-runs={runs}")]),
        };
        // A backtrace is longer than the logged part of the output, and would hide the message above it.
        program.env("RUST_BACKTRACE", "0").args([
            format!("-timeout={TIMEOUT_SECONDS}"),
            format!("-rss_limit_mb={MEMORY_MIB}"),
            format!("-artifact_prefix={}/", self.place("artifacts")),
        ])
    }

    fn judge(&self, program: &Program, success: bool, text: &str) -> Verdict {
        let tests = |passed| Tally { passed, failed: 1 - passed, ignored: Vec::new() };
        if !success {
            let output = format!("$ {program}\n{}\n{}", without_progress(text), self.advice(text));
            return Verdict::Failed { tests: tests(0), output };
        }
        match Progress::of(text) {
            Some(progress) => Verdict::Passed { tests: tests(1), note: progress.to_string() },
            None => Verdict::Failed {
                tests: tests(0),
                output: format!("$ {program}\n{text}\nThe fuzzer saw no coverage: it ran blind."),
            },
        }
    }

    /// Advice about a crash.
    fn advice(&self, text: &str) -> String {
        let artifact = text.lines().find_map(|line| line.split("Test unit written to ").nth(1));
        let Some(artifact) = artifact.map(str::trim) else {
            return "The fuzzer stopped without keeping an input.".to_owned();
        };
        let Self { folder, target, .. } = self;
        let krate = self.crate_name();
        format!(
            "See it again:       cargo xtask fuzz {krate} {target} --replay {artifact}\n\
             Keep it as a test:  cp {artifact} {folder}/seeds/{target}/NAME-OF-THE-BUG && cargo xtask test {krate}"
        )
    }

    /// Directory for new inputs.
    fn corpus(&self) -> String {
        let begins_anew = matches!(self.extent, Extent::Runs(_));
        self.place(if begins_anew { "corpus/anew" } else { "corpus" })
    }

    fn place(&self, what: &str) -> String {
        format!("{}/{what}/{}", self.folder, self.target)
    }

    fn crate_name(&self) -> &str {
        super::crate_of(&self.folder)
    }
}

/// Drops the lines about each new input and covered code: there are thousands.
fn without_progress(text: &str) -> String {
    let is_progress = |line: &&str| {
        (line.starts_with('#') && line.contains(" exec/s: ")) || line.trim_start().starts_with("NEW_FUNC[")
    };
    text.lines().filter(|line| !is_progress(line)).collect::<Vec<_>>().join("\n")
}

/// Progress reported by libFuzzer: code covered by the seeds, code covered in the end, number of runs.
#[derive(Debug, PartialEq, Eq)]
struct Progress {
    first_coverage: u64,
    last_coverage: u64,
    runs: u64,
}

impl Progress {
    /// Reads lines like `#465 NEW cov: 9 ft: 9 corp: 2/8b …` and `Done 59384390 runs in 21 second(s)`.
    fn of(text: &str) -> Option<Self> {
        let number = |text: &str| text.split_whitespace().next().and_then(|number| number.parse().ok());
        let mut coverage = text.lines().filter_map(|line| number(line.split(" cov: ").nth(1)?));
        let first_coverage = coverage.next()?;
        let last_coverage = coverage.next_back().unwrap_or(first_coverage);
        let runs = text.lines().find_map(|line| number(line.strip_prefix("Done ")?))?;
        Some(Self { first_coverage, last_coverage, runs })
    }
}

impl std::fmt::Display for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { first_coverage, last_coverage, runs } = self;
        write!(f, "{runs} runs, coverage {first_coverage} → {last_coverage}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session() -> Session {
        Session {
            root: "/repository".into(),
            binary: "/target/clean".into(),
            folder: "crates/sanitize/fuzz".to_owned(),
            target: "clean".to_owned(),
            extent: Extent::Runs(500),
        }
    }

    const GOOD: &str = "#2\tINITED cov: 8 ft: 8 corp: 1/1b\n#436\tNEW    cov: 19 ft: 9 corp: 2/9b\n\
                        #500\tDONE   cov: 19 ft: 9\nDone 500 runs in 21 second(s)\n";

    #[test]
    fn progress_is_read_from_the_fuzzers_own_words() {
        let progress = Progress::of(GOOD).unwrap();
        assert_eq!(progress.to_string(), "500 runs, coverage 8 → 19");
    }

    #[test]
    fn a_run_without_coverage_is_a_failure() {
        let blind = "#23\tDONE   corp: 1/1b lim: 4096\nDone 23 runs in 6 second(s)\n";
        let program = session().program();
        assert!(matches!(session().judge(&program, true, GOOD), Verdict::Passed { .. }));
        assert!(matches!(session().judge(&program, true, blind), Verdict::Failed { .. }));
    }

    #[test]
    fn a_crash_tells_how_to_see_it_again_and_keep_it() {
        let text = "#7\tNEW    cov: 9 exec/s: 3\npanicked\nartifact_prefix='…'; Test unit written to crates/sanitize/fuzz/artifacts/clean/crash-1\n";
        let Verdict::Failed { output, tests } = session().judge(&session().program(), false, text) else {
            panic!("a crash must fail")
        };
        assert_eq!((tests.passed, tests.failed), (0, 1));
        assert!(output.contains("panicked") && !output.contains("NEW"), "{output}");
        assert!(output.contains(
            "cargo xtask fuzz sanitize clean --replay crates/sanitize/fuzz/artifacts/clean/crash-1\n"
        ));
        assert!(
            output.contains(
                "cp crates/sanitize/fuzz/artifacts/clean/crash-1 crates/sanitize/fuzz/seeds/clean/"
            )
        );
    }

    #[test]
    fn the_whole_command_line() {
        assert_eq!(
            session().program().to_string(),
            "RUST_BACKTRACE=0 clean crates/sanitize/fuzz/corpus/anew/clean -seed=1 -runs=500 -timeout=10 -rss_limit_mb=2048 \
             -artifact_prefix=crates/sanitize/fuzz/artifacts/clean/"
        );
    }
}
