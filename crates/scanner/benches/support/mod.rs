//! Shared code of the benches: texts, a clock, and the comparison of engines.
#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "reads the texts, and prints a table")]
#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "a bench may stop")]

mod made_up_rules;
mod synthetic;

use std::ffi::OsStr;
use std::path::Path;

pub(crate) use made_up_rules::rules as made_up_rules;
use rustix::time::{ClockId, clock_gettime};

/// Texts that an engine processes one by one.
pub(crate) struct Texts {
    pub(crate) name: String,
    pub(crate) texts: Vec<String>,
}

/// Returns every Markdown file under the folder in `STOCKADE_CORPUS`, or synthetic texts that resemble them.
pub(crate) fn skills() -> Texts {
    let Some(folder) = std::env::var_os("STOCKADE_CORPUS") else {
        return Texts { name: "made-up skills".to_owned(), texts: synthetic::skills(2_000) };
    };
    let mut texts = Vec::new();
    read_markdown(Path::new(&folder), &mut texts);
    Texts { name: "skills".to_owned(), texts }
}

fn read_markdown(folder: &Path, texts: &mut Vec<String>) {
    let entries = std::fs::read_dir(folder).expect("the corpus can be read");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("the corpus can be read").path()).collect();
    paths.sort();
    for path in paths {
        if path.is_symlink() {
            continue;
        } else if path.is_dir() {
            read_markdown(&path, texts);
        } else if path.extension() == Some(OsStr::new("md")) {
            let bytes = std::fs::read(&path).expect("a Markdown file");
            texts.push(String::from_utf8_lossy(&bytes).into_owned());
        }
    }
}

/// An engine that processes texts.
pub(crate) struct Engine<'a> {
    name: &'static str,
    /// Processes every text once and returns the CPU time in seconds.
    run: Run<'a>,
}

type Run<'a> = Box<dyn FnMut(&[String]) -> f64 + 'a>;

/// An engine in this process, which takes one text after the other and returns a number that depends on the result.
pub(crate) fn engine<'a>(name: &'static str, mut each: impl FnMut(&str) -> usize + 'a) -> Engine<'a> {
    engine_of_all(name, move |texts| {
        let start = cpu_seconds();
        let sum: usize = texts.iter().map(|text| each(text)).sum();
        std::hint::black_box(sum);
        cpu_seconds() - start
    })
}

/// An engine that measures itself.
pub(crate) fn engine_of_all<'a>(name: &'static str, run: impl FnMut(&[String]) -> f64 + 'a) -> Engine<'a> {
    Engine { name, run: Box::new(run) }
}

pub(crate) fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Runs the engines in turn, round after round, and prints a line each: speed, and the speed of the first relative to
/// it, both as medians over the rounds.
pub(crate) fn compare(set: &Texts, rounds: usize, engines: &mut [Engine<'_>]) {
    let bytes: usize = set.texts.iter().map(String::len).sum();
    println!("\n{}: {} texts, {:.1} MB", set.name, set.texts.len(), bytes as f64 / 1e6);
    let mut seconds = vec![Vec::new(); engines.len()];
    for round in 0..=rounds {
        for (engine, seconds) in engines.iter_mut().zip(&mut seconds) {
            let took = (engine.run)(&set.texts);
            // The first round compiles lazily compiled patterns.
            if round > 0 {
                seconds.push(took);
            }
        }
    }
    for (engine, own) in engines.iter().zip(&seconds) {
        let speed = bytes as f64 / 1e6 / median(own.clone());
        let ratio = median(own.iter().zip(&seconds[0]).map(|(own, first)| own / first).collect());
        println!("  {:<36}{speed:>10.0} MB/s   first is {ratio:.2} times as fast", engine.name);
    }
}

pub(crate) fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}
