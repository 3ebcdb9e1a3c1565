//! What scanning a folder costs, beside opening and reading its files.
//!
//! `cargo bench -p stockade-guard --bench tree`, with `STOCKADE_CORPUS=FOLDER` for a folder of real skills; else one of
//! 12,000 files is made. The ways take turns in one process. Ratios are medians of the rounds: of processor time for one
//! thread, of wall time for two.
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
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use stockade_guard::scanner::{RuleBuf, Scanner};
use stockade_guard::{FileOptions, Source, scan_files};

const ROUNDS: usize = 15;
const FILES: usize = 12_000;

fn main() {
    let made = std::env::temp_dir().join(format!("stockade-tree-{}", std::process::id()));
    let folder = std::env::var_os("STOCKADE_CORPUS").map_or_else(|| make_folder(&made), PathBuf::from);
    let files = list(&folder);
    let bytes: u64 =
        files.iter().filter_map(|file| file.metadata().ok()).map(|metadata| metadata.len()).sum();
    println!("{} files, {:.1} MB", files.len(), bytes as f64 / 1e6);

    let no_rules = Scanner::only(Vec::<RuleBuf>::new()).expect("no rule that could be wrong");
    let scan = |scanner: &Scanner, threads| {
        let options = FileOptions { threads: NonZeroUsize::new(threads), ..FileOptions::default() };
        let mut found = 0;
        let sources = [Source::Path(folder.clone())];
        let look = |file: stockade_guard::FileScan<'_>| file.report.findings.len();
        scan_files(&sources, scanner, &options, look, |n| {
            found += n;
            ControlFlow::Continue(())
        });
        found
    };
    let ways: [(&str, &dyn Fn() -> usize); 5] = [
        ("open, read; names known", &|| read_all(&files)),
        ("list folders, open, read", &|| read_all(&list(&folder))),
        ("scan, one thread, no rules", &|| scan(&no_rules, 1)),
        ("scan, one thread", &|| scan(Scanner::builtin(), 1)),
        ("scan, two threads", &|| scan(Scanner::builtin(), 2)),
    ];
    let rounds: Vec<Vec<Times>> =
        (0..ROUNDS).map(|_| ways.iter().map(|(_, way)| time(way)).collect()).collect();
    println!("{:30}{:>9}{:>9}{:>11}{:>11}", "", "cpu ms", "wall ms", "cpu ratio", "wall ratio");
    for (at, (name, _)) in ways.iter().enumerate() {
        let of = |measure: fn(&Times) -> Duration| {
            let own = |round: &Vec<Times>| round.get(at).map_or(0.0, |times| measure(times).as_secs_f64());
            let floor = |round: &Vec<Times>| round.first().map_or(1.0, |times| measure(times).as_secs_f64());
            (
                median(rounds.iter().map(own)) * 1e3,
                median(rounds.iter().map(|round| own(round) / floor(round))),
            )
        };
        let ((cpu, cpu_ratio), (wall, wall_ratio)) = (of(|times| times.cpu), of(|times| times.wall));
        println!("{name:30}{cpu:>9.1}{wall:>9.1}{cpu_ratio:>11.2}{wall_ratio:>11.2}");
    }
    fs::remove_dir_all(&made).ok();
}

/// What one way of one round took.
struct Times {
    cpu: Duration,
    wall: Duration,
}

fn time(way: &dyn Fn() -> usize) -> Times {
    let (cpu, wall) = (cpu_time(), Instant::now());
    std::hint::black_box(way());
    Times { cpu: cpu_time().saturating_sub(cpu), wall: wall.elapsed() }
}

/// Processor time of all threads of this process.
fn cpu_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// The floor: every file opened by its name, read into the same buffer, and closed.
fn read_all(files: &[PathBuf]) -> usize {
    let mut buffer = vec![0; 4 << 20];
    let mut total = 0;
    for path in files {
        let mut file = File::open(path).expect("a file of the folder");
        loop {
            match file.read(&mut buffer).expect("its bytes") {
                0 => break,
                n => total += n,
            }
        }
    }
    total
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

/// Makes skills with the sizes of real ones: 3.4 KB in the middle, a few ten times that, some scripts beside them.
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
        fs::write(skill.join(name), paragraph.repeat(size / paragraph.len() + 1))
            .expect("a file of the skill");
    }
    folder.to_path_buf()
}
