//! Runs generated commands that the built-in rules of the crate `command` allow, and checks that none does harm. `cargo xtask
//! oracle` starts it after it has built the examples.
//!
//! The commands begin with the words of the rules. Their options and variables are those that the programs of this machine know:
//! the texts in a program's file are its table of long options, besides its help. Words, places and scripts are from lists of what
//! has got around such rules. An example of that crate decides; what it allows runs in a jail of namespaces, with secrets to read,
//! places to write and a program to start (`option_oracle/inside.rs`).

mod inside;
mod jail;
mod texts;
mod vocabulary;

use std::path::PathBuf;

use testkit::{Echo, Program, Stop, Workspace};

pub(crate) use inside::run_if_jailed;
use texts::Generator;

const USAGE: &str = "usage: testkit option-oracle COUNT SEED";

/// How many commands one jail runs before it is thrown away.
const BATCH: usize = 250;

/// Runs the command: prints the sums, or what is wrong.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), Stop> {
    let numbers: Option<Vec<usize>> = arguments.iter().map(|word| word.parse().ok()).collect();
    let Some(&[count, seed]) = numbers.as_deref() else { return Err(Stop::usage(USAGE.to_owned())) };
    jail::works().map_err(Stop::skipped)?;
    let oracle = Oracle {
        judge: workspace.target.join("debug/examples/allowed"),
        folder: workspace.target.join("option-oracle"),
    };
    let (note, harm) = oracle.try_out(count, seed).map_err(|error| Stop::failed(error.to_string()))?;
    harm.iter().for_each(|line| println!("{line}"));
    println!("{note}");
    if harm.is_empty() { Ok(()) } else { Err(Stop::reported()) }
}

struct Oracle {
    judge: PathBuf,
    folder: PathBuf,
}

impl Oracle {
    /// Generates commands, and returns the sums and what did harm although it is allowed.
    fn try_out(&self, count: usize, seed: usize) -> std::io::Result<(String, Vec<String>)> {
        std::fs::create_dir_all(&self.folder)?;
        let commands = Program::new(&self.judge).arg("commands").read()?;
        let texts = Generator::new(&commands, seed).texts(count);
        let file = self.folder.join("texts");
        std::fs::write(&file, joined(&texts))?;
        let decided =
            Program::new(&self.judge).arg("decide").arg(&file).arg(inside::WORK).run(Echo::Kept)?.text;
        let is_allowed = |line: &str| line.starts_with("allow\t");
        let allowed: Vec<String> = decided
            .lines()
            .zip(&texts)
            .filter(|(line, _)| is_allowed(line))
            .map(|(_, text)| text.clone())
            .collect();
        if decided.lines().count() != texts.len() || allowed.is_empty() {
            return Err(std::io::Error::other(format!(
                "{} decisions on {} texts",
                decided.lines().count(),
                texts.len()
            )));
        }
        let harm = self.all_batches(&allowed)?;
        Ok((format!("{} commands, {} allowed; {} did harm", texts.len(), allowed.len(), harm.len()), harm))
    }

    /// Runs the batches side by side, one jail a core.
    fn all_batches(&self, allowed: &[String]) -> std::io::Result<Vec<String>> {
        let batches: Vec<&[String]> = allowed.chunks(BATCH).collect();
        let workers = std::thread::available_parallelism().map_or(1, usize::from).min(batches.len());
        let of_worker =
            |worker: usize| batches.iter().skip(worker).step_by(workers).copied().collect::<Vec<_>>();
        let reports = std::thread::scope(|scope| {
            let work = |worker| {
                let own = of_worker(worker);
                move || own.into_iter().map(batch).collect::<Vec<_>>()
            };
            let running: Vec<_> = (0..workers).map(|worker| scope.spawn(work(worker))).collect();
            running.into_iter().flat_map(|one| one.join().unwrap_or_default()).collect::<Vec<_>>()
        });
        let reports: Vec<Vec<String>> = reports.into_iter().collect::<std::io::Result<_>>()?;
        Ok(reports.concat())
    }
}

/// Runs a batch, and returns what did harm.
fn batch(texts: &[String]) -> std::io::Result<Vec<String>> {
    let harm = jail::run(&joined(texts))?;
    let answers: Vec<&str> = harm.split_terminator('\0').collect();
    if answers.len() != texts.len() {
        return Err(std::io::Error::other(format!("{} answers for {} commands", answers.len(), texts.len())));
    }
    let harmful = answers.iter().zip(texts).filter(|(harm, _)| !harm.is_empty());
    Ok(harmful.map(|(harm, text)| format!("ALLOWED, and it {harm}: {text:?}")).collect())
}

fn joined(texts: &[String]) -> String {
    texts.iter().flat_map(|text| [text, "\0"]).collect()
}
