//! `cargo xtask oracle [COUNT [SEED]]`: runs generated commands in real shells, and checks that the crate `shell`
//! predicted every program.
//!
//! The shells run in a jail of namespaces in which every program only records how it was called (`oracle/jail.rs`,
//! `oracle/inside.rs`). An example of that crate generates the commands and judges the runs. A command that is read
//! without any reservation and runs an unpredicted program bypasses every rule; and so does one that an example of
//! the crate `command` allows although there is a reservation.

mod inside;
mod jail;

use std::path::PathBuf;

use crate::checks::{Check, Verdict};
use crate::program::Program;
use crate::runner::run_live;
use crate::stop::{Stop, no_more};
use crate::workspace::Workspace;
use crate::{setup, tally::Tally};

pub(crate) use inside::run_if_jailed;
use jail::Jail;

const GROUP: &str = "oracle";
const USAGE: &str = "oracle [COUNT [SEED]]";

/// Default number of commands.
const DEFAULT_COUNT: usize = 20_000;

/// How many commands `ci` tries, always the same ones.
const CI_COUNT: usize = 400;

/// How many commands one jail runs before it is thrown away.
const BATCH: usize = 500;

/// The shells that are asked.
const SHELLS: &[&str] = &["bash", "zsh", "sh"];

/// Runs the command.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), Stop> {
    let mut words = arguments.iter();
    let mut number = |default: usize| match words.next() {
        Some(word) => word.parse().map_err(|_| {
            Stop::usage(format!("`{word}` is not a number of commands or a seed; usage: cargo xtask {USAGE}"))
        }),
        None => Ok(default),
    };
    let (count, seed) = (number(DEFAULT_COUNT)?, number(1)?);
    no_more(words.as_slice(), USAGE)?;
    let mut checks = vec![build(workspace)];
    checks.extend(SHELLS.iter().map(|shell| ask(workspace, shell, count, seed)));
    run_live(&checks)
}

/// Returns the checks of continuous integration.
pub(crate) fn checks(workspace: &Workspace) -> Vec<Check> {
    of_count(workspace, CI_COUNT)
}

/// Returns the checks of `nightly`.
pub(crate) fn long_checks(workspace: &Workspace) -> Vec<Check> {
    of_count(workspace, DEFAULT_COUNT)
}

fn of_count(workspace: &Workspace, count: usize) -> Vec<Check> {
    let mut checks = vec![build(workspace)];
    checks.extend(SHELLS.iter().map(|shell| ask(workspace, shell, count, 1)));
    checks
}

fn build(workspace: &Workspace) -> Check {
    Check::program(GROUP, "build", workspace.build_examples())
}

/// Asks one shell about `count` commands.
fn ask(workspace: &Workspace, shell: &'static str, count: usize, seed: usize) -> Check {
    let asked = Asked {
        judge: workspace.target.join("debug/examples/oracle"),
        policy: workspace.target.join("debug/examples/judged"),
        folder: workspace.target.join("oracle").join(shell),
        shell,
        count,
        seed,
    };
    Check::new(GROUP, format!("what {shell} runs for {count} commands, from seed {seed}"), move |_| {
        // Checked only now: an earlier check may have installed it.
        if let Some(reason) = setup::lacking(GROUP).or_else(|| Jail::of(shell).works().err()) {
            return Verdict::cannot(reason);
        }
        asked.all_batches().unwrap_or_else(|error| Verdict::failed(error.to_string()))
    })
}

/// Parameters of one shell's run.
#[derive(Debug, Clone)]
struct Asked {
    judge: PathBuf,
    /// The second judge, which decides whether a text with a reservation would be allowed.
    policy: PathBuf,
    folder: PathBuf,
    shell: &'static str,
    count: usize,
    seed: usize,
}

impl Asked {
    /// Runs the batches side by side, one jail a core.
    fn all_batches(&self) -> std::io::Result<Verdict> {
        std::fs::create_dir_all(&self.folder)?;
        let batches = self.count.div_ceil(BATCH);
        let workers = std::thread::available_parallelism().map_or(1, usize::from).min(batches.max(1));
        let batches_of = |worker: usize| (worker..batches).step_by(workers);
        let reports = std::thread::scope(|scope| {
            let work = |worker| move || batches_of(worker).map(|batch| self.batch(batch)).collect::<Vec<_>>();
            let running: Vec<_> = (0..workers).map(|worker| scope.spawn(work(worker))).collect();
            running.into_iter().flat_map(|one| one.join().unwrap_or_default()).collect::<Vec<_>>()
        });
        Ok(verdict(&reports.into_iter().collect::<Result<Vec<_>, _>>()?, batches))
    }

    /// Generates the commands of a batch, runs them, and has the runs judged.
    fn batch(&self, number: usize) -> std::io::Result<String> {
        let size = BATCH.min(self.count - number * BATCH);
        let seed = (self.seed * 100_000 + number).to_string();
        let generate = Program::new(&self.judge).args(["generate", self.shell, &seed, &size.to_string()]);
        let texts = generate.read()?;
        let file = |kind: &str| self.folder.join(format!("{number}.{kind}"));
        std::fs::write(file("texts"), &texts)?;
        std::fs::write(file("runs"), Jail::of(self.shell).run(&texts)?)?;
        let judge = Program::new(&self.judge).args(["judge", self.shell]);
        let judge = judge.arg(file("texts")).arg(file("runs")).arg(file("unforeseen"));
        let report = judge.run(crate::program::Echo::Kept)?.text;
        let decided = Program::new(&self.policy).args([self.shell]).arg(file("unforeseen")).read()?;
        Ok(format!("{}{report}", allowed(&decided)))
    }
}

/// Returns the allowed ones among texts that ran an unpredicted program.
fn allowed(decided: &str) -> String {
    let is_allowed = |line: &&str| line.starts_with("allow ");
    decided
        .lines()
        .filter(is_allowed)
        .map(|line| format!("ALLOWED although it ran what was not foreseen: {line}\n"))
        .collect()
}

/// Sums up the reports of all batches. Each ends in the line with its numbers.
fn verdict(reports: &[String], batches: usize) -> Verdict {
    let mut sums = [0_usize; 4];
    let mut output = String::new();
    let mut judged = 0;
    for report in reports {
        let (misses, line) = report.trim_end().rsplit_once('\n').unwrap_or(("", report.trim_end()));
        output.extend([misses, "\n"]);
        let numbers: Vec<usize> = line
            .split(|character: char| !character.is_ascii_digit())
            .filter_map(|digits| digits.parse().ok())
            .collect();
        match <[usize; 4]>::try_from(numbers) {
            Ok(numbers) => {
                judged += 1;
                sums.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number);
            }
            Err(_) => output.push_str(report),
        }
    }
    let [texts, uncertain, runs, missed] = sums;
    let note = format!("{texts} commands, {uncertain} uncertain; {runs} runs, {missed} missed");
    if judged == batches && missed == 0 && output.trim().is_empty() && runs > 0 {
        return Verdict::Passed { tests: Tally::default(), note };
    }
    Verdict::failed(format!("{}\n{note}", output.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(reports: &[&str]) -> Result<String, String> {
        let reports: Vec<String> = reports.iter().map(|&report| report.to_owned()).collect();
        match verdict(&reports, reports.len()) {
            Verdict::Passed { note, .. } => Ok(note),
            Verdict::Failed { output, .. } => Err(output),
            Verdict::Skipped { reason, .. } => Err(reason),
        }
    }

    const CLEAN: &str = "501 commands (20 uncertain) ran 700 programs that had to be foreseen: 0 missed\n";

    #[test]
    fn batches_are_added_up() {
        let sum = "1002 commands, 40 uncertain; 1400 runs, 0 missed";
        assert_eq!(note(&[CLEAN, CLEAN]), Ok(sum.to_owned()));
    }

    #[test]
    fn a_miss_or_a_batch_without_an_answer_fails() {
        let missed = CLEAN.replace(": 0", ": 1");
        let found = note(&[CLEAN, &format!("MISSED [\"rm\"]\n{missed}")]).unwrap_err();
        assert!(found.contains("MISSED") && found.contains("1 missed"), "{found}");
        assert!(note(&["cannot read x\n"]).is_err());
        assert!(note(&[]).is_err());
        let blind = format!("the jail did not see `rm canary`: it sees nothing\n{CLEAN}");
        assert!(note(&[&blind]).is_err());
    }
}
