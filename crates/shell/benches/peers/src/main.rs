//! The reader of shell commands beside other parsers.
//!
//! `cargo run --release` measures the median CPU time of the thread for one command over the rounds, and how many
//! times as long the others take. `cargo run --release -- opinions FILE` reads NUL-separated texts (such as those that
//! `target/debug/examples/oracle generate bash 1 1000` prints), and prints the commands in which another parser finds a program that
//! ours does not list although it read the text without any reservation.

use std::hint::black_box;
use std::process::ExitCode;

use stockade_shell::{ReadOptions, Script};
use texts::{SCRIPT, TYPICAL};

#[path = "../../support/texts.rs"]
mod texts;

mod brush;
mod opinions;
mod shuck;
mod tree_sitter;

const ROUNDS: usize = 31;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => measure(),
        ["opinions", file] => return opinions::compare(file),
        _ => {
            eprintln!("usage: stockade-shell-peers [opinions FILE]");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

fn measure() {
    let mut grammar = tree_sitter::parser();
    println!("{:<22} {:>12} {:>15} {:>15} {:>15}", "ns for each", "ours", "tree-sitter", "brush", "shuck");
    let scripts = vec![SCRIPT];
    for (name, texts) in [("a typical command", TYPICAL), ("a script", scripts.as_slice())] {
        let ours = each(texts, |text| drop(black_box(Script::read(text, &ReadOptions::default()))));
        let others = [
            each(texts, |text| drop(black_box(grammar.parse(text, None)))),
            each(texts, |text| drop(black_box(brush::parse(text)))),
            each(texts, |text| drop(black_box(shuck_parser::parser::Parser::new(text).parse()))),
        ];
        let shown = others.map(|other| format!("{other:.0} ({:.1}x)", other / ours));
        println!("{name:<22} {ours:>12.0} {:>15} {:>15} {:>15}", shown[0], shown[1], shown[2]);
    }
}

/// The median time that `work` takes for one of `texts`, in nanoseconds.
fn each(texts: &[&str], mut work: impl FnMut(&str)) -> f64 {
    let mut all = || texts.iter().for_each(|text| work(black_box(text)));
    let start = cpu_seconds();
    all();
    let repeats = (0.002 / (cpu_seconds() - start).max(1e-8)).clamp(1.0, 100_000.0) as u32;
    let mut rounds: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = cpu_seconds();
            (0..repeats).for_each(|_| all());
            (cpu_seconds() - start) * 1e9 / f64::from(repeats) / texts.len() as f64
        })
        .collect();
    rounds.sort_by(f64::total_cmp);
    rounds[ROUNDS / 2]
}

/// The CPU time of this thread: other programs on the machine do not count.
fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}
