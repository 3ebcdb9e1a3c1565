//! Cost of reading a command: `cargo bench -p stockade-shell --bench shell`.
//!
//! The table shows the median over the rounds of the CPU time of the thread: for one command, and for one byte. The
//! texts are typical commands, long scripts, and texts that an attacker would pick.

#![expect(clippy::print_stdout, reason = "prints its table")]

use std::hint::black_box;

use stockade_shell::{ReadOptions, Script};
use testkit::bench::{Work, cpu_time_of, median_of_floats, repeats};
use texts::{SCRIPT, TYPICAL};

#[path = "support/texts.rs"]
mod texts;

const ROUNDS: usize = 31;

fn main() {
    println!("{:<34} {:>9} {:>11} {:>9}", "", "bytes", "ns each", "ns/byte");
    let typical: Vec<&str> = TYPICAL.to_vec();
    each("typical commands: read", &typical, read);
    each("typical commands: read, list", &typical, list);
    let scripts: Vec<String> = (0..20).map(|_| SCRIPT.to_owned()).collect();
    let scripts: Vec<&str> = scripts.iter().map(String::as_str).collect();
    each("scripts: read", &scripts, read);
    each("scripts: read, list", &scripts, list);
    for (name, repeated) in HOSTILE {
        let text = repeated.repeat(64 * 1024 / repeated.len());
        each(&format!("64 KiB of {name}"), &[&text], list);
    }
}

fn read(text: &str) {
    drop(black_box(Script::read(black_box(text), &ReadOptions::default())));
}

fn list(text: &str) {
    if let Ok(script) = Script::read(black_box(text), &ReadOptions::default()) {
        drop(black_box(script.actions()));
    }
}

/// Prints the median time that `work` takes for one of `texts`.
fn each(name: &str, texts: &[&str], work: fn(&str)) {
    let mut all: Work<'_> = Box::new(|| texts.iter().for_each(|text| work(text)));
    let repeats = repeats(&mut all);
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let took = cpu_time_of(|| (0..repeats).for_each(|_| all()));
        rounds.push(took.as_secs_f64() * 1e9 / f64::from(repeats));
    }
    let bytes: usize = texts.iter().map(|text| text.len()).sum();
    let (count, bytes) = (float(texts.len()), float(bytes));
    let median = median_of_floats(rounds);
    println!("{name:<34} {:>9.0} {:>11.0} {:>9.2}", bytes / count, median / count, median / bytes);
}

#[expect(clippy::cast_precision_loss, reason = "small counts")]
fn float(value: usize) -> f64 {
    value as f64
}

const HOSTILE: &[(&str, &str)] = &[
    ("pipes", "a|"),
    ("words", "a "),
    ("empty quotes", "''"),
    ("dollars", "$"),
    ("substitutions", "$(a)"),
    ("backticks", "`a`"),
    ("openings", "("),
    ("braces", "{a,b}"),
    ("open braces", "{"),
    ("backslashes", "\\a"),
    ("redirections", ">a "),
    ("comments", "#a\n"),
    ("here-documents", "a<<E\nE\n"),
    ("wrappers", "env "),
    ("nested texts", "eval "),
];
