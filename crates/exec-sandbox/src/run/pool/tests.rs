//! When sandboxes are prepared, and when they are dropped.

use std::path::Path;

use tempfile::TempDir;

use super::*;
use crate::outcome::End;
use crate::provider::Provider;

const NEVER: Duration = Duration::from_secs(3600);

struct Ground {
    pool: SandboxPool,
    workspace: TempDir,
}

impl Ground {
    /// Returns nothing where this machine cannot create a sandbox.
    fn new(times: Times) -> Option<Self> {
        let ground = Self { pool: SandboxPool::with(1, times), workspace: tempfile::tempdir().unwrap() };
        let is_native = ground.run(&["true"]).is_some_and(|(plan, _)| plan.provider == Provider::Native);
        if !is_native {
            println!("skipped: no sandbox can be made here");
        }
        is_native.then_some(ground)
    }

    fn run(&self, command: &[&str]) -> Option<(Plan, Outcome)> {
        let workspace = self.workspace.path().canonicalize().unwrap();
        let spec = SandboxSpec::new(workspace, command);
        let facts = crate::probe(&spec);
        let planned = crate::plan(&spec, &facts).ok()?;
        self.pool.run_prepared(&spec, facts, planned, Streams::default()).ok()
    }

    fn succeeds(&self) {
        assert_eq!(self.run(&["true"]).unwrap().1.end, End::Exited(0));
    }

    /// Whether so many sandboxes are ready, at the latest after a while.
    fn has(&self, count: usize) -> bool {
        let began = Instant::now();
        while self.pool.ready() != count && began.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(2));
        }
        self.pool.ready() == count
    }

    /// Whether there are still so many after a moment.
    fn keeps(&self, count: usize) -> bool {
        std::thread::sleep(Duration::from_millis(300));
        self.pool.ready() == count
    }
}

#[test]
fn none_is_made_before_the_answer_was_sent() {
    let Some(ground) = Ground::new(Times { rest: NEVER, idle: NEVER }) else { return };
    ground.succeeds();
    assert!(ground.keeps(0), "made before an answer");
    ground.pool.answered();
    assert!(ground.has(1), "not made after the answer");
    std::thread::scope(|scope| {
        let mark = ground.workspace.path().join("runs");
        let runs = scope.spawn(|| ground.run(&["sh", "-c", "> runs; sleep 1"]));
        let began = Instant::now();
        while !mark.exists() && began.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(2));
        }
        // The answer to another request.
        ground.pool.answered();
        assert!(ground.keeps(0), "made while a command runs");
        assert_eq!(runs.join().unwrap().unwrap().1.end, End::Exited(0));
    });
    assert!(ground.keeps(0), "made before an answer");
    ground.pool.answered();
    assert!(ground.has(1), "not made after the answer");
    ground.pool.answered();
    assert!(ground.keeps(1), "one answer, two sandboxes");
}

#[test]
fn without_word_of_answers_one_is_made_a_moment_later() {
    let Some(ground) = Ground::new(Times { rest: Duration::from_millis(1), idle: NEVER }) else { return };
    ground.succeeds();
    assert!(ground.has(1));
}

#[test]
fn one_that_waits_for_too_long_is_dropped_and_not_replaced() {
    let times = Times { rest: Duration::from_millis(1), idle: Duration::from_secs(2) };
    let Some(ground) = Ground::new(times) else { return };
    ground.succeeds();
    assert!(ground.has(1) && ground.has(0) && ground.keeps(0));
    // One command is enough to make another.
    ground.succeeds();
    assert!(ground.has(1));
}

#[test]
fn one_that_died_is_not_used() {
    let Some(ground) = Ground::new(Times { rest: Duration::from_millis(1), idle: NEVER }) else { return };
    ground.succeeds();
    assert!(ground.has(1));
    let first = ground.pool.shared.lock().ready.front().and_then(|it| Some(it.running.as_ref()?.0.first()));
    raw::send_signal(first.unwrap(), libc::SIGKILL).unwrap();
    let state = format!("/proc/{}/stat", first.unwrap());
    let is_gone = || std::fs::read_to_string(Path::new(&state)).is_ok_and(|text| text.contains(") Z"));
    let began = Instant::now();
    while !is_gone() && began.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(2));
    }
    ground.succeeds();
}
