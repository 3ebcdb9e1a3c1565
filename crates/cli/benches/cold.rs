//! What one `stockade scan FILE` costs as a whole process, beside `cat FILE` and a program that does nothing.
//!
//! `cargo bench -p stockade-cli --bench cold`, with `STOCKADE_BINARY=…` for a binary that was built in another way.
//! The programs take turns, so that whatever else the machine does meets all of them. The first quartile of the times
//! stands for an undisturbed run.
#![expect(clippy::disallowed_methods, reason = "runs programs and takes their time")]
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a bench that cannot run has to say so; it prints a table"
)]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const ROUNDS: usize = 300;

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

fn main() {
    let folder = std::env::temp_dir().join(format!("stockade-cold-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for the files");
    let [prose, commands] = [("prose.md", PROSE), ("commands.md", COMMANDS)].map(|(name, paragraph)| {
        let file = folder.join(name);
        fs::write(&file, paragraph.repeat(3400 / paragraph.len())).expect("a file to scan");
        file
    });
    let stockade =
        std::env::var("STOCKADE_BINARY").unwrap_or_else(|_| env!("CARGO_BIN_EXE_stockade").to_owned());

    let programs = [
        ("/bin/true", command("/bin/true", &[], None)),
        ("cat FILE", command("cat", &[], Some(&prose))),
        ("stockade --version", command(&stockade, &["--version"], None)),
        ("stockade scan, prose", command(&stockade, &["scan"], Some(&prose))),
        ("stockade scan, commands", command(&stockade, &["scan"], Some(&commands))),
    ];
    let times = measure(programs.each_ref().map(|(_, command)| command));
    let cat = times.get(1).copied().unwrap_or_default().as_secs_f64();
    println!("{:24}{:>10}{:>10}", "whole process", "µs", "× cat");
    for ((name, _), time) in programs.iter().zip(times) {
        println!("{name:24}{:>10.0}{:>10.2}", time.as_secs_f64() * 1e6, time.as_secs_f64() / cat);
    }
    fs::remove_dir_all(&folder).ok();
}

/// What to run: a program, its arguments, and perhaps the file.
type Run = (String, Vec<String>);

fn command(program: &str, args: &[&str], file: Option<&Path>) -> Run {
    let file = file.map(|file| file.display().to_string());
    (program.to_owned(), args.iter().map(|arg| (*arg).to_owned()).chain(file).collect())
}

/// Returns the first quartile of each program's times.
fn measure<const N: usize>(runs: [&Run; N]) -> [Duration; N] {
    let mut times = [const { Vec::new() }; N];
    for _ in 0..ROUNDS {
        for ((program, args), times) in runs.into_iter().zip(&mut times) {
            let mut command = Command::new(program);
            command.args(args).stdin(Stdio::null()).stdout(Stdio::null());
            let start = Instant::now();
            let status = command.status().expect("a program that runs");
            times.push(start.elapsed());
            assert!(status.success(), "{program} {args:?}: {status}");
        }
    }
    times.map(|mut times| {
        times.sort_unstable();
        times.get(ROUNDS / 4).copied().unwrap_or_default()
    })
}
