//! Cost of reading a command: `cargo bench -p stockade-shell --bench shell`.
//!
//! The table shows the median over the rounds of the CPU time of the thread: for one command, and for one byte. The
//! texts are typical commands, long scripts, and texts that an attacker would pick.

#![expect(clippy::print_stdout, reason = "prints its table")]

use std::hint::black_box;

use stockade_shell::{ReadOptions, Script};
use texts::{SCRIPT, TYPICAL};

#[path = "support/texts.rs"]
mod texts;

const ROUNDS: usize = 31;

type Work<'w> = Box<dyn FnMut() + 'w>;

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
        let start = cpu_seconds();
        (0..repeats).for_each(|_| all());
        rounds.push((cpu_seconds() - start) * 1e9 / f64::from(repeats));
    }
    let bytes: usize = texts.iter().map(|text| text.len()).sum();
    let (count, bytes) = (float(texts.len()), float(bytes));
    let median = median(rounds);
    println!("{name:<34} {:>9.0} {:>11.0} {:>9.2}", bytes / count, median / count, median / bytes);
}

/// Returns how often a round repeats the work, so that it takes some two milliseconds.
fn repeats(work: &mut Work<'_>) -> u32 {
    let start = cpu_seconds();
    work();
    let once = (cpu_seconds() - start).max(1e-8);
    num((0.002 / once).clamp(1.0, 100_000.0))
}

/// The CPU time of this thread: other programs on the machine do not count.
#[expect(clippy::cast_precision_loss, reason = "seconds of a benchmark")]
fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

#[expect(clippy::cast_precision_loss, reason = "small counts")]
fn float(value: usize) -> f64 {
    value as f64
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped by the caller")]
fn num(value: f64) -> u32 {
    value as u32
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
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
