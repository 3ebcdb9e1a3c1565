//! Runs the transcripts: `*.md` in the folders beside this file, and the pages of the book in `docs`.
//!
//! In a transcript, a block ```` ```file NAME ```` makes a file, a block ```` ```calls FILE ```` makes calls as a program
//! does that counts them in that file of limits, and a block ```` ```console ```` holds commands after `$` and what they
//! print; `[exit N]` follows where a command fails. Everything of one transcript happens in one temporary folder, which
//! also has the demo skills of this repository in `skills/`. In a page of the book, that folder is a project in a home, which is
//! shown as `~`.
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
    let mut folders = Vec::from_iter(list(&here).into_iter().filter(|path| path.is_dir()));
    let book = repository().join("docs/src");
    folders.extend([book.clone()]);
    let transcripts: Vec<PathBuf> = folders.iter().flat_map(|folder| transcripts(folder)).collect();
    assert!(transcripts.len() > 5, "the transcripts are not where they should be");
    assert!(transcripts.iter().any(|path| path.starts_with(&book)), "the book is not where it should be");
    for path in transcripts {
        let written = fs::read_to_string(&path).unwrap();
        let happened = replay(&written, path.starts_with(&book));
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

fn list(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries
}

/// Returns the transcripts in a folder and below.
fn transcripts(folder: &Path) -> Vec<PathBuf> {
    let below =
        list(folder).into_iter().flat_map(|path| if path.is_dir() { transcripts(&path) } else { vec![path] });
    below.filter(|path| path.extension().is_some_and(|ending| ending == "md")).collect()
}

/// Returns the transcript with what its commands print now.
fn replay(transcript: &str, has_home: bool) -> String {
    let temporary = tempfile::tempdir().unwrap();
    let home = has_home.then(|| temporary.path().join("home"));
    let folder = home.as_ref().map_or_else(|| temporary.path().to_owned(), |home| home.join("project"));
    fs::create_dir_all(&folder).unwrap();
    copy_folder(&repository().join("examples/skills"), &folder.join("skills"));
    let mut happened = String::new();
    let mut lines = transcript.lines();
    while let Some(line) = lines.next() {
        happened.push_str(&format!("{line}\n"));
        let Some(kind) = line.strip_prefix("```").filter(|kind| !kind.is_empty()) else { continue };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        if kind == "console" {
            let commands = block.iter().filter_map(|line| line.strip_prefix("$ "));
            happened.extend(commands.map(|command| run(command, &folder, home.as_deref())));
        } else {
            if let Some((kind, name)) = kind.split_once(' ') {
                let path = folder.join(name);
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
fn run(command: &str, folder: &Path, home: Option<&Path>) -> String {
    let output = Command::new("sh")
        .args(["-c", &format!("{{ {command}\n}} 2>&1")])
        .current_dir(folder)
        .env_clear()
        .env("PATH", path_with_stockade())
        .envs(home.map(|home| ("HOME", home)))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let mut printed = String::from_utf8(output.stdout).unwrap().replace(STOCKADE, "stockade");
    if let Some(home) = home.and_then(Path::to_str) {
        printed = printed.replace(home, "~");
    }
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
