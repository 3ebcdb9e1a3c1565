//! Random scripts under review: applying their changes gives what the same script does to a copy of the workspace, and undoing
//! them gives the workspace as it was.
//!
//! `STOCKADE_REVIEW_SCRIPTS=10000 cargo xtask test cli scripts_under_review` tries more than the few of every run, from the seed
//! `STOCKADE_REVIEW_SEED`.
#![expect(clippy::disallowed_methods, reason = "runs the binary, and lays out workspaces")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use crate::support::STOCKADE;

/// How many scripts are tried where everybody waits for the tests, with each kind of overlay.
const SCRIPTS: u64 = 12;

/// Names of files and directories. Few, so that operations meet.
const NAMES: &[&str] = &["a", "b", "c d", "src", "dist", "x.js", "n1", "ü", "lib", ".h"];

/// A generator of numbers: SplitMix64, by Sebastiano Vigna.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).unwrap()
    }

    /// Returns a path of at most this many names, quoted.
    fn path(&mut self, depth: usize) -> String {
        let names: Vec<&str> = (0..=self.below(depth)).map(|_| NAMES[self.below(NAMES.len())]).collect();
        format!("'{}'", names.join("/"))
    }

    /// Returns an operation, which may fail without ending its script.
    fn operation(&mut self, is_setup: bool) -> String {
        let (p, q) = (self.path(2), self.path(2));
        let (top, other, number) = (self.path(1), self.path(1), self.next() % 9000);
        // Writing to one of several names of a file separates them in an overlay, as REVIEW.md says.
        let kinds = if is_setup { 17 } else { 24 };
        match self.below(kinds) {
            0 | 1 => format!("mkdir -p {p}"),
            2..=4 => format!("mkdir -p \"$(dirname {p})\" && echo {number} > {p}"),
            5 => format!("echo {number} >> {p}"),
            6 => format!("truncate -s {number} {p}"),
            7 => format!("head -c {number} /bin/sh > {p}"),
            8 | 9 => format!("rm -rf {p}"),
            10 => format!("mkdir -p \"$(dirname {q})\"; mv -T {p} {q}"),
            11 => format!("mv {p} {top}/"),
            12 => format!("cp -r {p} {q}"),
            13 | 14 => format!("rm -rf {p}; mkdir -p {p}; echo {number} > {p}/n"),
            15 => format!("mkdir -p t/s && echo {number} > t/s/f && rm -rf {top} && mv -T t {top}"),
            16 => format!("ln -sfn {q} {p}"),
            17 => format!("ln {p} {q} && echo {number} >> {q}"),
            18 => {
                format!("chmod $([ -d {p} ] && echo 7{:02o} || echo 6{:02o}) {p}", number % 64, number % 64)
            }
            19 => format!("mv -T {top} t && mv -T {other} {top}; mv -T t {other}"),
            20 => format!("truncate -s 5M {p}"),
            21 => format!(
                "d={p}; for i in 1 2 3 4 5 6 7 8 9; do d=\"$d/d$i\"; done; mkdir -p \"$d\" && echo {number} > \"$d/f\""
            ),
            22 => format!("chmod 755 {top} && echo {number} > {top}/z; chmod 555 {top}"),
            _ => format!(
                "git add -A . && git commit -qm {number}; git checkout -qb b{number}; git rm -rqf {p} && git stash -q && git stash pop -q"
            ),
        }
    }

    fn script(&mut self, operations: usize, is_setup: bool) -> String {
        let lines: Vec<String> = (0..operations).map(|_| self.operation(is_setup)).collect();
        lines.join("\n") + "\n:"
    }
}

/// A workspace in a home of its own.
struct Ground {
    folder: TempDir,
    work: PathBuf,
}

impl Ground {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let work = folder.path().canonicalize().unwrap().join("work");
        fs::create_dir(&work).unwrap();
        Self { folder, work }
    }

    fn command(&self, program: &str, folder: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(folder).env_clear().env("PATH", "/usr/bin:/bin").env("HOME", self.folder.path());
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "n").env(format!("GIT_{who}_EMAIL"), "a@b");
            command.env(format!("GIT_{who}_DATE"), "2026-01-01T00:00:00Z");
        }
        command.stdin(Stdio::null());
        command
    }

    fn script(&self, folder: &Path, script: &str) -> Output {
        self.command("bash", folder).args(["-c", script]).output().unwrap()
    }

    fn stockade(&self, words: &[&str]) -> Output {
        self.command(STOCKADE, &self.work).args(words).output().unwrap()
    }
}

/// Every path with its mode and its content, or where it leads. Of a repository, what git says of it: the files of its directory
/// have times in them.
fn state(ground: &Ground, root: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut all = BTreeMap::new();
    let mut left = vec![root.to_path_buf()];
    while let Some(folder) = left.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            let found = path.symlink_metadata().unwrap();
            let below = path.strip_prefix(root).unwrap().to_path_buf();
            let content = if found.is_symlink() {
                fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
            } else if found.is_dir() {
                Vec::new()
            } else {
                fs::read(&path).unwrap_or_else(|_| b"unreadable".to_vec())
            };
            if below == Path::new(".git") {
                let said = "git log --all --format=%T%s; git status --porcelain; git fsck --no-progress 2>&1 | grep -v dangling; \
                            git stash list; git branch -a";
                all.insert(below, (0, ground.script(root, said).stdout));
                continue;
            }
            all.insert(below, (found.mode(), content));
            if found.is_dir() {
                left.push(path);
            }
        }
    }
    all
}

/// Tries one script, and returns the differences; nothing if this machine makes no such overlay.
fn tried(backend: &str, seed: u64) -> Option<Vec<String>> {
    let ground = Ground::new();
    let mut numbers = Numbers(seed);
    let (before, operations) = (numbers.script(10, true), 5 + numbers.below(8));
    let script = numbers.script(operations, false);
    ground.script(&ground.work, &format!("git init -q .; {before}"));
    let copy = ground.folder.path().join("copy");
    let copied = Command::new("cp").arg("-a").args([&ground.work, &copy]).status().unwrap();
    assert!(copied.success());
    ground.script(&copy, &script);
    let (was, wanted) = (state(&ground, &ground.work), state(&ground, &copy));
    let words = ["exec", "--backend", backend, "--review", "--no-rules", "--format", "json"];
    let passed = [
        "GIT_AUTHOR_NAME",
        "GIT_AUTHOR_EMAIL",
        "GIT_AUTHOR_DATE",
        "GIT_COMMITTER_NAME",
        "GIT_COMMITTER_EMAIL",
        "GIT_COMMITTER_DATE",
    ];
    let passed = passed.iter().flat_map(|name| ["--env", name]);
    let words: Vec<&str> = words.into_iter().chain(passed).chain(["--", "bash", "-c", &script]).collect();
    let ran = ground.stockade(&words);
    let answer: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    if matches!(answer["end"].as_str(), Some("refused" | "failed")) {
        println!("skipped: {answer}");
        return None;
    }
    let mut wrong = Vec::new();
    let mut compare = |what: &str, wanted: &BTreeMap<PathBuf, (u32, Vec<u8>)>| {
        let now = state(&ground, &ground.work);
        let paths: std::collections::BTreeSet<_> = wanted.keys().chain(now.keys()).collect();
        let differ: Vec<_> = paths.into_iter().filter(|path| wanted.get(*path) != now.get(*path)).collect();
        if !differ.is_empty() {
            wrong.push(format!("{what}: {differ:?}"));
        }
    };
    compare("before it is applied", &was);
    let applied = ground.stockade(&["changes", "apply"]);
    compare("applied", &wanted);
    let undone = ground.stockade(&["changes", "undo"]);
    compare("undone", &was);
    if !wrong.is_empty() {
        let said = |output: &Output| {
            String::from_utf8_lossy(&[&*output.stdout, &*output.stderr].concat()).into_owned()
        };
        wrong.push(format!(
            "# seed {seed}\n{before}\n# script\n{script}\n# apply\n{}# undo\n{}",
            said(&applied),
            said(&undone)
        ));
    }
    open_up(&ground.work);
    open_up(&copy);
    Some(wrong)
}

/// Gives directories their rights back, so that they can be deleted.
fn open_up(folder: &Path) {
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).ok();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path());
        }
    }
}

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn scripts_under_review_do_what_they_do_without() {
    let count = variable("STOCKADE_REVIEW_SCRIPTS").unwrap_or(SCRIPTS);
    let first = variable("STOCKADE_REVIEW_SEED").unwrap_or(2026);
    for backend in ["native", "bwrap"] {
        for seed in first..first + count {
            let Some(wrong) = tried(backend, seed.wrapping_mul(0x2545_f491_4f6c_dd1d)) else { break };
            assert!(wrong.is_empty(), "{backend}: {}", wrong.join("\n"));
        }
    }
}
