//! Runs the transcripts: `*.md` in the folders beside this file.
//!
//! In a transcript, a block ```` ```file NAME ```` makes a file, a block ```` ```calls FILE ```` makes calls as a program
//! does that counts them in that file of limits, and a block ```` ```console ```` holds commands after `$` and what they
//! print; `[exit N]` follows where a command fails. Everything of one transcript happens in one temporary folder, which
//! also has the demo skills of this repository in `skills/`.
//!
//! With `STOCKADE_BLESS=1` the transcripts are rewritten to what really happens.
#![expect(
    clippy::disallowed_methods,
    reason = "reads transcripts, makes their files and runs their commands"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use stockade_guard::SqliteStore;
use stockade_guard::limits::Usage;
use stockade_guard::limits::breaker::CallOutcome;
use stockade_guard::limits::budget::Settled;
use stockade_guard::limits::store::{AgentLimits, CallVerdict, SharedLimits};

use crate::support::{STOCKADE, copy_folder, path_with_stockade, repository};

#[test]
fn transcripts_are_true() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli");
    let mut wrong = Vec::new();
    let transcripts = transcripts(&here);
    assert!(transcripts.len() > 5, "the transcripts are not where they should be");
    for path in transcripts {
        let written = fs::read_to_string(&path).unwrap();
        let happened = replay(&written);
        if written == happened {
            continue;
        }
        if std::env::var_os("STOCKADE_BLESS").is_some_and(|bless| bless == "1") {
            fs::write(&path, &happened).unwrap();
        } else {
            wrong.push(format!("{}\n{}", path.display(), first_difference(&written, &happened)));
        }
    }
    assert!(wrong.is_empty(), "not what happens (STOCKADE_BLESS=1 rewrites):\n\n{}", wrong.join("\n"));
}

fn transcripts(here: &Path) -> Vec<PathBuf> {
    let list = |folder: &Path| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> = list(here)
        .filter(|path| path.is_dir())
        .flat_map(|folder| list(&folder).collect::<Vec<_>>())
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .collect();
    found.sort();
    found
}

/// Returns the transcript with what its commands print now.
fn replay(transcript: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    copy_folder(&repository().join("examples/skills"), &folder.path().join("skills"));
    let mut happened = String::new();
    let mut lines = transcript.lines();
    while let Some(line) = lines.next() {
        happened.push_str(&format!("{line}\n"));
        let Some(kind) = line.strip_prefix("```").filter(|kind| !kind.is_empty()) else { continue };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        if kind == "console" {
            let commands = block.iter().filter_map(|line| line.strip_prefix("$ "));
            happened.extend(commands.map(|command| run(command, folder.path())));
        } else {
            if let Some((kind, name)) = kind.split_once(' ') {
                let path = folder.path().join(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                match kind {
                    "file" => fs::write(path, format!("{}\n", block.join("\n"))).unwrap(),
                    "calls" => calls(&path, &block),
                    _ => panic!("there is no block of the kind {kind}"),
                }
            }
            happened.extend(block.iter().map(|line| format!("{line}\n")));
        }
        happened.push_str("```\n");
    }
    happened
}

/// Makes calls, one a line: agent, task, the most that it may cost, and what it does cost or how it goes.
fn calls(file: &Path, lines: &[&str]) {
    let shared = SharedLimits::new(AgentLimits::default(), SqliteStore::open(file).unwrap());
    for line in lines {
        let [agent, task, estimate, end] = line.split_whitespace().collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        let estimate = Usage::tokens(estimate.parse().unwrap());
        let CallVerdict::Granted(permit) = shared.admit(agent, task, estimate) else { panic!("{line}") };
        match end {
            "running" => {}
            "failed" => {
                let _: Settled = shared.settle(permit, Usage::ZERO, CallOutcome::Failure).unwrap();
            }
            used => {
                let used = Usage::tokens(used.parse().unwrap());
                let _: Settled = shared.settle(permit, used, CallOutcome::Success).unwrap();
            }
        }
    }
}

/// Returns what a command prints, as a transcript shows it.
fn run(command: &str, folder: &Path) -> String {
    let output = Command::new("sh")
        .args(["-c", &format!("{{ {command}\n}} 2>&1")])
        .current_dir(folder)
        .env_clear()
        .env("PATH", path_with_stockade())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let mut printed = String::from_utf8(output.stdout).unwrap().replace(STOCKADE, "stockade");
    if !printed.is_empty() && !printed.ends_with('\n') {
        printed.push('\n');
    }
    let exit = match output.status.code() {
        Some(0) => String::new(),
        Some(code) => format!("[exit {code}]\n"),
        None => format!("[{}]\n", output.status),
    };
    format!("$ {command}\n{printed}{exit}")
}

fn first_difference(written: &str, happened: &str) -> String {
    let (mut a, mut b) = (written.lines(), happened.lines());
    for number in 1.. {
        match (a.next(), b.next()) {
            (None, None) => break,
            (written, happened) if written == happened => {}
            (written, happened) => {
                return format!("line {number}\n  written:  {written:?}\n  happened: {happened:?}\n");
            }
        }
    }
    "only line ends differ\n".to_owned()
}
