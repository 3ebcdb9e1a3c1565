//! The first process of a sandbox begins as a copy of the program that starts it, and stays for as long as the command runs.
//! What it inherited is given back, so that it is not kept twice.

#![expect(clippy::disallowed_methods, reason = "reads the memory of another process, and starts itself")]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use stockade_exec_sandbox::run::Streams;
use stockade_exec_sandbox::{Limit, SandboxSpec, plan, probe, run};

use crate::live::{Live, each, read};

/// How much the program has that starts the sandbox, and how much the first process may have, in thousands of bytes.
const OWN: usize = 64 << 10;
const MAX_LEFT: u64 = 4 << 10;

/// The processes that a process has started.
fn children(pid: u32) -> Vec<u32> {
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let lists = tasks.flatten().map(|task| read(&task.path().join("children")));
    lists
        .flat_map(|list| list.split_whitespace().map(|pid| pid.parse().unwrap()).collect::<Vec<_>>())
        .collect()
}

/// Thousands of bytes that a process has in memory and that show no file, also what it shares with its parent.
fn anonymous(pid: u32) -> u64 {
    let status = read(Path::new(&format!("/proc/{pid}/status")));
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(u64::MAX)
}

/// Not a test of its own: what the test below starts, so that nothing else starts processes there.
#[test]
fn parent() {
    let Some(workspace) = std::env::var_os("STOCKADE_TEST_PARENT") else { return };
    let own = vec![1u8; OWN << 10];
    let this = std::process::id();
    for backend in each() {
        let mut spec = SandboxSpec::new(&workspace, ["sleep", "60"]);
        spec.backend = backend;
        spec.limits.wall_time = Limit::AtMost(Duration::from_secs(4));
        let planned = plan(&spec, &probe(&spec)).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| run(&planned, Streams::default()).unwrap());
            let began = Instant::now();
            let first = loop {
                assert!(began.elapsed() < Duration::from_secs(3), "{backend:?} does not begin");
                let first = children(this).into_iter().find(|first| !children(*first).is_empty());
                if let Some(first) = first {
                    break first;
                }
                std::thread::sleep(Duration::from_millis(2));
            };
            // It gives back one mapping after the other, in its own time.
            while anonymous(first) > MAX_LEFT && began.elapsed() < Duration::from_secs(3) {
                std::thread::sleep(Duration::from_millis(5));
            }
            let left = anonymous(first);
            assert!(left <= MAX_LEFT, "{backend:?}: {left} kB of {OWN} kB are kept twice");
        });
    }
    assert_eq!(own.iter().filter(|byte| **byte == 1).count(), own.len());
}

#[test]
fn a_first_process_keeps_nothing_of_what_it_inherited() {
    let Some(live) = Live::new() else { return };
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "inherited_memory::parent", "--nocapture"])
        .env("STOCKADE_TEST_PARENT", live.workspace())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
