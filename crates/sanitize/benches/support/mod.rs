//! Shared code of the benches: texts, a clock, and the comparison of engines.
#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "reads the texts, and prints a table")]

use std::path::{Path, PathBuf};

use rustix::time::{ClockId, clock_gettime};

/// Texts that an engine processes one by one.
pub(crate) struct Texts {
    pub(crate) name: &'static str,
    pub(crate) texts: Vec<String>,
}

/// Returns the sets of texts to measure: every SKILL.md under the folder in `STOCKADE_CORPUS`, or synthetic ones that
/// resemble them, and their ASCII versions.
pub(crate) fn sets() -> Vec<Texts> {
    let skills = match std::env::var_os("STOCKADE_CORPUS") {
        Some(folder) => read_skills(Path::new(&folder)),
        None => (0..2_000).map(made_up_skill).collect(),
    };
    let ascii: Vec<String> = skills
        .iter()
        .map(|text| text.replace("<!--", "").chars().filter(|&c| is_plain(c)).collect())
        .collect();
    let wide = |text: &String| text.chars().filter(|c| !c.is_ascii()).count() * 4 > text.chars().count();
    let cjk = skills.iter().filter(|text| wide(text)).cloned().collect();
    vec![
        Texts { name: "skills", texts: skills },
        Texts { name: "skills, ASCII only", texts: ascii },
        Texts { name: "skills, a quarter non-ASCII", texts: cjk },
    ]
}

fn is_plain(c: char) -> bool {
    matches!(c, ' '..='~' | '\t' | '\n')
}

fn read_skills(folder: &Path) -> Vec<String> {
    let mut files: Vec<PathBuf> = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the corpus can be read") {
            let entry = entry.expect("the corpus can be read");
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
            } else if entry.file_name() == "SKILL.md" {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    files
        .iter()
        .map(|file| String::from_utf8_lossy(&std::fs::read(file).expect("a skill")).into_owned())
        .collect()
}

/// Makes a text with the statistics of real ones: some 3.4 KB, seven of ten with symbols (2.6 % of the bytes), a
/// presentation selector in every tenth, a comment in every tenth, full-width letters in every twentieth.
fn made_up_skill(nth: u64) -> String {
    let mut random = nth.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut below = |n: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % n
    };
    let symbols: &[&str] =
        if nth % 10 < 7 { &["→", "—", "✓", "│", "─", "“", "”", "é", "✅"] } else { &["-"] };
    let mut text = format!("---\nname: skill-{nth}\n---\n\n# Skill {nth}\n");
    let lines = 20 + below(70);
    for line in 0..lines {
        for _ in 0..2 + below(12) {
            text.push_str(
                ["the", "command", "`run`", "file", "when", "output", "$HOME", "<name>"][below(8) as usize],
            );
            text.push(' ');
        }
        if below(3) == 0 {
            text.push_str(symbols[below(symbols.len() as u64) as usize]);
        }
        match (line, nth % 20) {
            (5, 0 | 10) => text.push_str("\u{26A0}\u{FE0F} mind"),
            (7, 1 | 11) => text.push_str("<!-- a note to editors -->"),
            (9, 2) => text.push_str("ＦＵＬＬ，ｗｉｄｔｈ"),
            _ => {}
        }
        text.push('\n');
    }
    text
}

/// An engine that processes texts; returns a number that depends on all its results.
pub(crate) struct Engine<'a> {
    pub(crate) name: &'static str,
    pub(crate) run: Run<'a>,
}

/// Processes the texts once and returns the CPU time in seconds.
pub(crate) type Run<'a> = Box<dyn FnMut(&[String]) -> f64 + 'a>;

/// An engine in this process, measured by the CPU time of this thread.
pub(crate) fn engine<'a>(name: &'static str, mut each: impl FnMut(&str) -> usize + 'a) -> Engine<'a> {
    let run = move |texts: &[String]| {
        let start = cpu_seconds();
        let sum: usize = texts.iter().map(|text| each(text)).sum();
        std::hint::black_box(sum);
        cpu_seconds() - start
    };
    Engine { name, run: Box::new(run) }
}

fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Runs the engines in turn, round after round, and prints a line each: speed, and the speed of the first engine
/// relative to it, both as medians over the rounds.
pub(crate) fn compare(set: &Texts, rounds: usize, engines: &mut [Engine<'_>]) {
    let bytes: usize = set.texts.iter().map(String::len).sum();
    println!("\n{}: {} texts, {:.1} MB", set.name, set.texts.len(), bytes as f64 / 1e6);
    let mut seconds = vec![Vec::new(); engines.len()];
    for _ in 0..rounds {
        for (engine, seconds) in engines.iter_mut().zip(&mut seconds) {
            seconds.push((engine.run)(&set.texts));
        }
    }
    for (engine, own) in engines.iter().zip(&seconds) {
        let speed = bytes as f64 / 1e6 / median(own.clone());
        let ratio = median(own.iter().zip(&seconds[0]).map(|(own, first)| own / first).collect());
        println!("  {:<28}{speed:>10.0} MB/s   first is {ratio:.2} times as fast", engine.name);
    }
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}
