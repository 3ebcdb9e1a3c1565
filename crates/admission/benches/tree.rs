//! Cost of scanning a directory, compared with opening and reading its files.
//!
//! `cargo bench -p stockade-admission --bench tree`, with `STOCKADE_CORPUS=FOLDER` for a directory of real skills;
//! otherwise 12,000 files are made. `-- NAME…` selects the variants whose names contain one of these words. The
//! variants take turns in one process, so that other load affects all of them; times and ratios are medians of the
//! rounds. A variant is compared with the floor of as many threads: every file opened by its known name, read into
//! one reused buffer, and closed. Finding the names is not part of the floor; its minimal cost has a line of its own.
#![expect(clippy::disallowed_methods, reason = "makes a folder, reads it and takes the time")]
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a bench that cannot run has to say so; it prints a table"
)]

use std::fs::{self, File};
use std::io::Read as _;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use stockade_admission::scanner::{RuleBuf, Scanner};
use stockade_admission::{FileOptions, Source, scan_files};

const ROUNDS: usize = 25;
const FILES: usize = 12_000;

/// One variant of processing the directory.
struct Way<'w> {
    name: &'static str,
    /// The floor that it is compared with.
    floor: &'static str,
    run: &'w dyn Fn() -> usize,
}

/// Times of one variant in one round.
#[derive(Clone, Copy, Default)]
struct Times {
    cpu: Duration,
    wall: Duration,
}

fn main() {
    let made = std::env::temp_dir().join(format!("stockade-tree-{}", std::process::id()));
    let folder = std::env::var_os("STOCKADE_CORPUS").map_or_else(|| make_folder(&made), PathBuf::from);
    let files = list(&folder);
    let bytes: u64 =
        files.iter().filter_map(|file| file.metadata().ok()).map(|metadata| metadata.len()).sum();
    println!("{} files, {:.1} MB", files.len(), bytes as f64 / 1e6);

    let no_rules = Scanner::only(Vec::<RuleBuf>::new()).expect("no rule that could be wrong");
    let ways: [Way<'_>; 7] = [
        Way { name: "open, read", floor: "open, read", run: &|| read_all(&files, 1) },
        Way { name: "list, open, read", floor: "open, read", run: &|| read_all(&list(&folder), 1) },
        Way { name: "scan, no rules", floor: "open, read", run: &|| scan(&folder, &no_rules, 1) },
        Way { name: "scan", floor: "open, read", run: &|| scan(&folder, Scanner::builtin(), 1) },
        Way {
            name: "two threads: open, read",
            floor: "two threads: open, read",
            run: &|| read_all(&files, 2),
        },
        Way {
            name: "two threads: scan, no rules",
            floor: "two threads: open, read",
            run: &|| scan(&folder, &no_rules, 2),
        },
        Way {
            name: "two threads: scan",
            floor: "two threads: open, read",
            run: &|| scan(&folder, Scanner::builtin(), 2),
        },
    ];
    print(&measure(&chosen(ways)));
    fs::remove_dir_all(&made).ok();
}

/// Keeps the selected variants.
fn chosen(ways: [Way<'_>; 7]) -> Vec<Way<'_>> {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let asked_for = |way: &Way<'_>| words.is_empty() || words.iter().any(|word| way.name.contains(word));
    ways.into_iter().filter(asked_for).collect()
}

/// Runs every variant once per round, and returns the times of each.
fn measure<'w>(ways: &[Way<'w>]) -> Vec<(&'static str, &'static str, Vec<Times>)> {
    let mut measured: Vec<_> = ways.iter().map(|way| (way.name, way.floor, Vec::new())).collect();
    for _ in 0..ROUNDS {
        for (way, (_, _, times)) in ways.iter().zip(&mut measured) {
            times.push(time(way.run));
        }
    }
    measured
}

fn print(measured: &[(&str, &str, Vec<Times>)]) {
    println!("{:30}{:>9}{:>9}{:>11}{:>11}", "", "cpu ms", "wall ms", "cpu ratio", "wall ratio");
    for (name, floor, own) in measured {
        let base = measured.iter().find(|(name, ..)| name == floor).map_or(own, |(_, _, times)| times);
        let of = |part: fn(&Times) -> Duration| {
            let milliseconds = own.iter().map(|times| part(times).as_secs_f64() * 1e3);
            let ratios = own.iter().zip(base).map(|(a, b)| part(a).as_secs_f64() / part(b).as_secs_f64());
            (median(milliseconds), median(ratios))
        };
        let ((cpu, cpu_ratio), (wall, wall_ratio)) = (of(|times| times.cpu), of(|times| times.wall));
        println!("{name:30}{cpu:>9.1}{wall:>9.1}{cpu_ratio:>11.2}{wall_ratio:>11.2}");
    }
}

fn time(way: &dyn Fn() -> usize) -> Times {
    let (cpu, wall) = (cpu_time(), Instant::now());
    std::hint::black_box(way());
    Times { cpu: cpu_time().saturating_sub(cpu), wall: wall.elapsed() }
}

/// Returns the CPU time of all threads of this process.
fn cpu_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

fn scan(folder: &Path, scanner: &Scanner, threads: usize) -> usize {
    let options = FileOptions { threads: NonZeroUsize::new(threads), ..FileOptions::default() };
    let mut found = 0;
    let sources = [Source::Path(folder.to_path_buf())];
    let look = |file: stockade_admission::FileScan<'_>| file.report.findings.len();
    scan_files(&sources, scanner, &options, look, |n| {
        found += n;
        ControlFlow::Continue(())
    });
    found
}

/// The floor: every file opened by its name, read, and closed. The threads take turns in taking names.
fn read_all(files: &[PathBuf], threads: usize) -> usize {
    let next = AtomicUsize::new(0);
    let read_some = || {
        let mut buffer = vec![0; 128 << 10];
        let mut total = 0;
        while let Some(path) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            total += read_one(path, &mut buffer);
        }
        total
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(read_some)).collect();
        let own = read_some();
        own + others.into_iter().map(|thread| thread.join().expect("a thread that reads")).sum::<usize>()
    })
}

fn read_one(path: &Path, buffer: &mut [u8]) -> usize {
    let mut file = File::open(path).expect("a file of the folder");
    let mut total = 0;
    loop {
        match file.read(buffer).expect("its bytes") {
            0 => return total,
            n => total += n,
        }
    }
}

fn list(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder").flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(kind) if kind.is_file() => files.push(entry.path()),
                _ => {}
            }
        }
    }
    files.sort_unstable();
    files
}

/// Makes skills with the sizes of real ones: 3.4 KB in the median, a few ten times that, with some scripts.
fn make_folder(folder: &Path) -> PathBuf {
    let paragraph = "## Step\n\nLook at the folder first – then run `make test`.\n\n```bash\nmake test | tee log.txt\n```\n\n";
    for n in 0..FILES {
        let skill = folder.join(format!("skill-{:04}", n / 6));
        fs::create_dir_all(&skill).expect("a folder for the skill");
        let name = match n % 6 {
            0 => "SKILL.md".to_owned(),
            at => format!("part-{at}.{}", if at % 2 == 0 { "py" } else { "md" }),
        };
        let size = 800 + (n * 7919) % 5200 + if n % 50 == 0 { 34_000 } else { 0 };
        // No file is a copy of another, since copies are scanned only once.
        let text = format!("# Part {n}\n\n{}", paragraph.repeat(size / paragraph.len() + 1));
        fs::write(skill.join(name), text).expect("a file of the skill");
    }
    folder.to_path_buf()
}
