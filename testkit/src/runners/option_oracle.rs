//! Runs generated commands that the built-in rules of the crate `command` allow, and checks that none does harm. `cargo xtask
//! oracle` starts it after it has built the examples.
//!
//! The commands begin with the words of the rules. Their options and variables are those that the programs of this machine know:
//! the texts in a program's file are its table of long options, besides its help. Words, places and scripts are from lists of what
//! has got around such rules. An example of that crate decides; what it allows runs in a jail of namespaces, with secrets to read,
//! places to write and a program to start (`option_oracle/inside.rs`). The
//! workspace is hostile: its settings, message catalogues and names of files start that program if anything obeys them
//! (`option_oracle/hostile_files.rs`). Some commands are code for an interpreter (`option_oracle/inline_code.rs`).

mod hostile_files;
mod inline_code;
mod inside;
mod jail;
mod texts;
mod vocabulary;

use std::path::PathBuf;

use testkit::{Echo, Program, Stop, Workspace};

use crate::own_folder::OwnFolder;
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
        folder: OwnFolder::new(&workspace.target.join("option-oracle"), &seed.to_string())
            .map_err(|error| Stop::failed(error.to_string()))?,
    };
    let (note, harm) = oracle.try_out(count, seed).map_err(|error| Stop::failed(error.to_string()))?;
    harm.iter().for_each(|line| println!("{line}"));
    println!("{note}");
    if harm.is_empty() { Ok(()) } else { Err(Stop::reported()) }
}

struct Oracle {
    judge: PathBuf,
    folder: OwnFolder,
}

impl Oracle {
    /// Generates commands, and returns the sums and what did harm although it is allowed.
    fn try_out(&self, count: usize, seed: usize) -> std::io::Result<(String, Vec<String>)> {
        let commands = Program::new(&self.judge).arg("commands").read()?;
        let texts = Generator::new(&commands, seed).texts(count);
        let shells = jail::shells();
        let mut allowed: Vec<Vec<String>> = Vec::new();
        for (shell, own) in shells.iter().zip(texts.chunks(count.div_ceil(shells.len()).max(1))) {
            allowed.push(self.allowed(shell, own)?);
        }
        let of_shell = |(shell, texts): (&&'static str, &Vec<String>)| {
            texts.chunks(BATCH).map(|chunk| (*shell, chunk.to_vec())).collect::<Vec<_>>()
        };
        let batches: Vec<Batch> = shells.iter().zip(&allowed).flat_map(of_shell).collect();
        let run: usize = batches.iter().map(|(_, texts)| texts.len()).sum();
        if run == 0 {
            return Err(std::io::Error::other("none of the commands is allowed"));
        }
        let harm = all_batches(&batches)?;
        let note = format!(
            "{} commands for {}, {run} allowed; {} did harm",
            texts.len(),
            shells.join(", "),
            harm.len()
        );
        Ok((note, harm))
    }

    /// Returns the commands that are allowed for a shell.
    fn allowed(&self, shell: &str, texts: &[String]) -> std::io::Result<Vec<String>> {
        let file = self.folder.file(&format!("{shell}.texts"));
        std::fs::write(&file, joined(texts))?;
        let judge = Program::new(&self.judge).args(["decide", shell]).arg(&file).arg(inside::WORK);
        let decided = judge.run(Echo::Kept)?.text;
        if decided.lines().count() != texts.len() {
            return Err(std::io::Error::other(format!(
                "{} decisions on {} texts",
                decided.lines().count(),
                texts.len()
            )));
        }
        let is_allowed = |(line, _): &(&str, &String)| line.starts_with("allow\t");
        Ok(decided.lines().zip(texts).filter(is_allowed).map(|(_, text)| text.clone()).collect())
    }
}

/// A shell, and commands for it that are allowed.
type Batch = (&'static str, Vec<String>);

/// Runs the batches side by side, one jail a core.
fn all_batches(batches: &[Batch]) -> std::io::Result<Vec<String>> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(batches.len());
    let reports = std::thread::scope(|scope| {
        let work = |worker| {
            let own = batches.iter().skip(worker).step_by(workers);
            move || own.map(batch).collect::<Vec<_>>()
        };
        let running: Vec<_> = (0..workers).map(|worker| scope.spawn(work(worker))).collect();
        running.into_iter().flat_map(|one| one.join().unwrap_or_default()).collect::<Vec<_>>()
    });
    let reports: Vec<Vec<String>> = reports.into_iter().collect::<std::io::Result<_>>()?;
    Ok(reports.concat())
}

/// Runs a batch, and returns what did harm.
fn batch((shell, texts): &Batch) -> std::io::Result<Vec<String>> {
    let harm = jail::run(shell, &joined(texts))?;
    let answers: Vec<&str> = harm.split_terminator('\0').collect();
    if answers.len() != texts.len() {
        return Err(std::io::Error::other(format!("{} answers for {} commands", answers.len(), texts.len())));
    }
    let harmful = answers.iter().zip(texts).filter(|(harm, _)| !harm.is_empty());
    Ok(harmful.map(|(harm, text)| format!("ALLOWED for {shell}, and it {harm}: {text:?}")).collect())
}

fn joined(texts: &[String]) -> String {
    texts.iter().flat_map(|text| [text, "\0"]).collect()
}
