//! Runs generated commands in a real shell, and checks that the crate `shell` predicted every program. `cargo xtask oracle` starts
//! it for each shell, after it has built the examples.
//!
//! The shells run in a jail of namespaces in which every program only records how it was called (`oracle/jail.rs`,
//! `oracle/inside.rs`). An example of that crate generates the commands and judges the runs. A command that is read
//! without any reservation and runs an unpredicted program bypasses every rule; and so does one that an example of
//! the crate `command` allows although there is a reservation.

mod inside;
mod jail;

use std::path::PathBuf;

use testkit::{Echo, Program, Stop, Workspace};

use crate::own_folder::OwnFolder;
pub(crate) use inside::run_if_jailed;
use jail::Jail;

const USAGE: &str = "usage: testkit oracle SHELL COUNT SEED, where SHELL is one of";

/// How many commands one jail runs before it is thrown away.
const BATCH: usize = 500;

/// The shells that can be asked. `ash` is that of busybox.
const SHELLS: &[&str] = &["bash", "zsh", "sh", "ash"];

/// Runs the command: prints the sums, or what is wrong.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), Stop> {
    let asked = Asked::parse(workspace, arguments)
        .ok_or_else(|| Stop::usage(format!("{USAGE} {}", SHELLS.join(", "))))?;
    Jail::of(asked.shell).works().map_err(Stop::skipped)?;
    let reports = asked.all_batches().map_err(|error| Stop::failed(error.to_string()))?;
    match verdict(&reports, asked.batches()) {
        Ok(note) => {
            println!("{note}");
            Ok(())
        }
        Err(output) => {
            println!("{output}");
            Err(Stop::reported())
        }
    }
}

/// Parameters of one shell's run.
#[derive(Debug, Clone)]
struct Asked {
    judge: PathBuf,
    /// The second judge, which decides whether a text with a reservation would be allowed.
    policy: PathBuf,
    /// Has a folder for each run.
    top: PathBuf,
    shell: &'static str,
    count: usize,
    seed: usize,
}

impl Asked {
    fn parse(workspace: &Workspace, arguments: &[String]) -> Option<Self> {
        let [shell, count, seed] = arguments else { return None };
        let shell = SHELLS.iter().find(|known| *known == shell)?;
        Some(Self {
            judge: workspace.target.join("debug/examples/oracle"),
            policy: workspace.target.join("debug/examples/judged"),
            top: workspace.target.join("oracle"),
            shell,
            count: count.parse().ok()?,
            seed: seed.parse().ok()?,
        })
    }

    const fn batches(&self) -> usize {
        self.count.div_ceil(BATCH)
    }

    /// Runs the batches side by side, one jail a core, and returns their reports.
    fn all_batches(&self) -> std::io::Result<Vec<String>> {
        let folder = &OwnFolder::new(&self.top, &format!("{}-{}", self.shell, self.seed))?;
        let batches = self.batches();
        let workers = std::thread::available_parallelism().map_or(1, usize::from).min(batches.max(1));
        let batches_of = |worker: usize| (worker..batches).step_by(workers);
        let reports = std::thread::scope(|scope| {
            let work = |worker| {
                move || batches_of(worker).map(|batch| self.batch(batch, folder)).collect::<Vec<_>>()
            };
            let running: Vec<_> = (0..workers).map(|worker| scope.spawn(work(worker))).collect();
            running.into_iter().flat_map(|one| one.join().unwrap_or_default()).collect::<Vec<_>>()
        });
        reports.into_iter().collect()
    }

    /// Generates the commands of a batch, runs them, and has the runs judged.
    fn batch(&self, number: usize, folder: &OwnFolder) -> std::io::Result<String> {
        let size = BATCH.min(self.count - number * BATCH);
        let seed = (self.seed * 100_000 + number).to_string();
        let generate = Program::new(&self.judge).args(["generate", self.shell, &seed, &size.to_string()]);
        let texts = generate.read()?;
        let file = |kind: &str| folder.file(&format!("{number}.{kind}"));
        std::fs::write(file("texts"), &texts)?;
        std::fs::write(file("runs"), Jail::of(self.shell).run(&texts)?)?;
        let judge = Program::new(&self.judge).args(["judge", self.shell]);
        let judge = judge.arg(file("texts")).arg(file("runs")).arg(file("unforeseen"));
        let report = judge.run(Echo::Kept)?.text;
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

/// Sums up the reports of all batches, each of which ends in the line with its numbers. Returns the sums, or what is wrong and the sums.
fn verdict(reports: &[String], batches: usize) -> Result<String, String> {
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
        return Ok(note);
    }
    Err(format!("{}\n{note}", output.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(reports: &[&str]) -> Result<String, String> {
        let reports: Vec<String> = reports.iter().map(|&report| report.to_owned()).collect();
        verdict(&reports, reports.len())
    }

    #[test]
    fn a_shell_a_count_and_a_seed_are_read() {
        let parse = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            Asked::parse(&Workspace::default(), &words)
                .map(|asked| (asked.shell, asked.batches(), asked.seed))
        };
        assert_eq!(parse(&["zsh", "501", "7"]), Some(("zsh", 2, 7)));
        for wrong in
            [&["fish", "1", "1"] as &[_], &["bash", "many", "1"], &["bash", "1"], &["bash", "1", "1", "1"]]
        {
            assert_eq!(parse(wrong), None, "{wrong:?}");
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
