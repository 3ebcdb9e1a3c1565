//! The two ends of the oracle: `oracle generate SHELL SEED COUNT` writes commands, `oracle judge SHELL TEXTS RUNS
//! UNFORESEEN` checks that the programs that a real shell ran for them were all predicted.
//!
//! `cargo xtask oracle` runs the shells in between, in a jail where every program only records how it was called.
//! Unpredicted programs of a text with a reservation go to `UNFORESEEN`, for the crate that decides about such texts.
//! Texts are separated by NUL. Runs are listed per text: their number, and for each run the number of its words and
//! the words, each ended by NUL.

#![expect(clippy::disallowed_methods, reason = "reads its arguments, and the files that they name")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "writes commands, and what was missed")]

use std::process::ExitCode;

use stockade_shell::Shell;

#[path = "oracle/attacks.rs"]
mod attacks;
#[path = "oracle/grammar.rs"]
mod grammar;
#[path = "oracle/hostile.rs"]
mod hostile;
#[path = "oracle/judge.rs"]
mod judge;
#[path = "oracle/mutation.rs"]
mod mutation;
#[path = "oracle/random.rs"]
mod random;
#[path = "oracle/words.rs"]
mod words;

const USAGE: &str = "usage: oracle generate SHELL SEED COUNT | oracle judge SHELL TEXTS RUNS UNFORESEEN";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["generate", shell, seed, count] => generate(shell, seed, count),
        ["judge", shell, texts, runs, unforeseen] => judge(shell, texts, runs, unforeseen),
        _ => None,
    };
    done.unwrap_or_else(|| {
        eprintln!("{USAGE}");
        ExitCode::from(2)
    })
}

fn generate(shell: &str, seed: &str, count: &str) -> Option<ExitCode> {
    let (shell, seed, count) = (Shell::named(shell)?, seed.parse().ok()?, count.parse().ok()?);
    for text in mutation::texts(shell, seed, count) {
        print!("{text}\0");
    }
    Some(ExitCode::SUCCESS)
}

fn judge(shell: &str, texts: &str, runs: &str, unforeseen: &str) -> Option<ExitCode> {
    let shell = Shell::named(shell)?;
    let read =
        |path: &str| std::fs::read(path).map_err(|error| eprintln!("cannot read {path}: {error}")).ok();
    let report = judge::judge(shell, &String::from_utf8(read(texts)?).ok()?, &read(runs)?)?;
    std::fs::write(unforeseen, report.unforeseen()).ok()?;
    print!("{report}");
    Some(ExitCode::from(u8::from(!report.is_sound())))
}
