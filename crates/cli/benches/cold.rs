//! What one `stockade scan FILE` costs as a whole process, beside `cat FILE` and programs that do nothing, one
//! `stockade exec -- true` beside bubblewrap, and one `stockade scan FOLDER` beside a program that opens and reads the same
//! files on as many threads and keeps nothing.
//!
//! `cargo bench -p stockade-cli --bench cold`, with `STOCKADE_BINARY=…` for a binary that was built in another way and
//! `STOCKADE_CORPUS=FOLDER` for real skills besides the two made ones: a different file each round, and the folder as a
//! whole; else a folder of 12,000 files is made. The programs take turns, so that whatever else the machine does meets all
//! of them. Times are medians of the rounds, and so are the ratios to the first program of the same round; `9 in 10` is what
//! nine of ten rounds stay below.
#![expect(clippy::disallowed_methods, reason = "runs programs and takes their time")]
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a bench that cannot run has to say so; it prints a table"
)]

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const ROUNDS: usize = 400;

/// A folder takes longer.
const FOLDER_ROUNDS: usize = 25;

/// How many files a made folder has.
const FILES: usize = 12_000;

/// How many of those there are for each file of commands.
const PROSE_FILES: usize = 64;

/// With this argument the bench itself is the Rust program that does nothing.
const NOTHING: &str = "--do-nothing";

/// And with this one, the program that reads the folder named after it.
const READ: &str = "--read";

/// Two texts of the usual size of a skill, 3.4 KB, with nothing to find. The second has commands in it that the scanner
/// has to look at twice.
const PROSE: &str = "\
## Step

Look at the folder first. Run the tests and read what they say – twice if need be. If one of them fails, say which.

";
const COMMANDS: &str = "\
## Step

Run `make test` and look at the answer of the service, `curl -s https://api.example/v1/items | jq .name`.

```bash
make test | tee log.txt
```

";

/// What is run in each round, and with which files, one after the other; without any, it is run alone.
struct Program<'f> {
    name: &'static str,
    command: Vec<String>,
    files: &'f [PathBuf],
}

fn main() {
    let mut args = std::env::args().skip(1);
    match (args.next().as_deref(), args.next()) {
        (Some(NOTHING), _) => return,
        (Some(READ), Some(folder)) => return read_all(&list(Path::new(&folder))),
        _ => {}
    }
    let folder = std::env::temp_dir().join(format!("stockade-cold-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for the files");
    let [prose, commands] = [("prose.md", PROSE), ("commands.md", COMMANDS)].map(|(name, paragraph)| {
        let file = folder.join(name);
        fs::write(&file, paragraph.repeat(3400 / paragraph.len())).expect("a file to scan");
        [file]
    });
    let corpus = std::env::var_os("STOCKADE_CORPUS").map(PathBuf::from);
    let skills = corpus.as_deref().map(skills);
    let stockade =
        std::env::var("STOCKADE_BINARY").unwrap_or_else(|_| env!("CARGO_BIN_EXE_stockade").to_owned());
    let bench = std::env::current_exe().expect("this program").display().to_string();

    let mut programs = vec![
        Program::new("cat FILE", &["cat"], &prose),
        Program::new("/bin/true", &["/bin/true"], &[]),
        Program::new("Rust that does nothing", &[&bench, NOTHING], &[]),
        Program::new("stockade --version", &[&stockade, "--version"], &[]),
        Program::new("stockade scan, prose", &[&stockade, "scan"], &prose),
        Program::new("stockade scan, commands", &[&stockade, "scan"], &commands),
    ];
    // The same view of the disk for both, as far as bubblewrap can have it.
    let workspace = folder.display().to_string();
    programs.push(Program::new(
        "stockade exec -- true",
        &[&stockade, "exec", "--quiet", "--workspace", &workspace, "--", "true"],
        &[],
    ));
    if Command::new("bwrap").arg("--version").output().is_ok() {
        let bare = [
            "bwrap",
            "--unshare-all",
            "--die-with-parent",
            "--ro-bind",
            "/usr",
            "/usr",
            "--symlink",
            "usr/bin",
            "/bin",
            "--symlink",
            "usr/lib",
            "/lib",
            "--symlink",
            "usr/lib64",
            "/lib64",
            "--proc",
            "/proc",
            "--dev",
            "/dev",
            "true",
        ];
        programs.push(Program::new("bwrap … true", &bare, &[]));
    }
    if let Some(skills) = &skills {
        programs.push(Program::new("stockade scan, skills", &[&stockade, "scan"], skills));
    }
    print("whole process", &programs, &measure(&programs, ROUNDS));

    let whole = corpus.unwrap_or_else(|| make_folder(&folder.join("whole"))).display().to_string();
    let programs = [
        Program::new("open, read FOLDER", &[&bench, READ, &whole], &[]),
        Program::new("stockade scan FOLDER", &[&stockade, "scan", &whole], &[]),
    ];
    println!();
    print("whole folder", &programs, &measure(&programs, FOLDER_ROUNDS));
    fs::remove_dir_all(&folder).ok();
}

impl<'f> Program<'f> {
    fn new(name: &'static str, command: &[&str], files: &'f [PathBuf]) -> Self {
        Self { name, command: command.iter().map(|&word| word.to_owned()).collect(), files }
    }

    /// Runs the program in a round, and returns how long that took.
    fn run(&self, round: usize) -> Duration {
        let file = round.checked_rem(self.files.len()).and_then(|at| self.files.get(at));
        let (program, args) = self.command.split_first().expect("a program");
        let mut command = Command::new(program);
        command.args(args).args(file).stdin(Stdio::null()).stdout(Stdio::null());
        let start = Instant::now();
        let status = command.status().expect("a program that runs");
        let time = start.elapsed();
        assert!(status.code().is_some_and(|code| code != 2), "{command:?}: {status}");
        time
    }
}

/// Returns the files of a folder, by their names.
fn list(folder: &Path) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_path_buf()]);
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

/// Opens, reads and closes every file, on a thread for each processor as a scan does, into one buffer of each thread.
fn read_all(files: &[PathBuf]) {
    let next = AtomicUsize::new(0);
    let read_some = || {
        let mut buffer = vec![0; 128 << 10];
        while let Some(path) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut file = File::open(path).expect("a file of the folder");
            while file.read(&mut buffer).expect("its bytes") > 0 {}
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        (1..threads).for_each(|_| drop(scope.spawn(read_some)));
        read_some();
    });
}

/// Makes skills of the usual size. As much of them as of real ones has to be looked at twice, an eighth of all bytes: nine
/// shapes of rules come into question for a file of commands, and one file in [`PROSE_FILES`] is one.
fn make_folder(folder: &Path) -> PathBuf {
    for n in 0..FILES {
        let skill = folder.join(format!("skill-{:04}", n / 6));
        fs::create_dir_all(&skill).expect("a folder for the skill");
        let paragraph = if n % PROSE_FILES == 0 { COMMANDS } else { PROSE };
        let size = 800 + (n * 7919) % 5200;
        // No file is a copy of another, which would be scanned once only.
        let text = format!("# Part {n}\n\n{}", paragraph.repeat(size / paragraph.len() + 1));
        fs::write(skill.join(format!("part-{}.md", n % 6)), text).expect("a file of the skill");
    }
    folder.to_path_buf()
}

/// Returns the texts of a folder that have the size of a skill, spread over the whole of it.
fn skills(folder: &Path) -> Vec<PathBuf> {
    let has_size = |file: &PathBuf| fs::metadata(file).is_ok_and(|file| (500..60_000).contains(&file.len()));
    let files: Vec<PathBuf> = list(folder).into_iter().filter(has_size).collect();
    let step = (files.len() / ROUNDS).max(1);
    files.into_iter().step_by(step).take(ROUNDS).collect()
}

/// Returns the times of each program in seconds, round by round.
fn measure(programs: &[Program<'_>], rounds: usize) -> Vec<Vec<f64>> {
    let mut times = vec![Vec::with_capacity(rounds); programs.len()];
    for round in 0..rounds {
        for (program, times) in programs.iter().zip(&mut times) {
            times.push(program.run(round).as_secs_f64());
        }
    }
    times
}

fn print(title: &str, programs: &[Program<'_>], times: &[Vec<f64>]) {
    let first = times.first().map(Vec::as_slice).unwrap_or_default();
    println!("{title:26}{:>10}{:>10}{:>10}", "µs", "× first", "9 in 10");
    for (program, times) in programs.iter().zip(times) {
        let ratios = || times.iter().zip(first).map(|(own, first)| own / first);
        let (time, ratio, most) =
            (quantile(times.iter().copied(), 0.5), quantile(ratios(), 0.5), quantile(ratios(), 0.9));
        println!("{:26}{:>10.0}{ratio:>10.2}{most:>10.2}", program.name, time * 1e6);
    }
}

fn quantile(values: impl Iterator<Item = f64>, part: f64) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "part of a small number")]
    let at = (values.len() as f64 * part) as usize;
    values.get(at).copied().unwrap_or_default()
}
