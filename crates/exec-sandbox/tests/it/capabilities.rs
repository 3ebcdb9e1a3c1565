//! Nothing that is started to make a sandbox, or to look after it, holds a right that it does not need. What each process and
//! thread holds is read back from the kernel while it is at work.

#![expect(clippy::disallowed_methods, reason = "reads what processes hold, and starts threads")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use stockade_exec_sandbox::run::Streams;
use stockade_exec_sandbox::{Explain, Limit, OnUnavailable, SandboxBackend, SandboxSpec, plan, probe, run};

use crate::live::{Live, each, read};

/// The four sets that can do something, or be handed on; and the one that bounds what a program could bring, which only
/// root can lower. Where no program can bring anything, it bounds nothing.
const SETS: &[&str] = &["CapInh", "CapPrm", "CapEff", "CapAmb"];
const BOUND: &str = "CapBnd";

/// CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH, to look into a command of another user.
const OBSERVER: u64 = 1 << 19 | 1 << 2;

/// CAP_KILL and CAP_SYS_RESOURCE, to end a command that ran without a sandbox.
const END_OTHERS: u64 = 1 << 5 | 1 << 24;

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// What a process or a thread may do by a set, as `/proc` says it.
fn set(status: &str, name: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    u64::from_str_radix(line.unwrap().trim(), 16).unwrap()
}

/// Holds a status to these capabilities and no others.
fn holds_at_most(status: &str, allowed: u64, whose: &str) {
    for name in SETS {
        assert_eq!(set(status, name) & !allowed, 0, "{whose} has too much in {name}: {status}");
    }
    if is_root() {
        let brings_nothing = set(status, "NoNewPrivs") == 1;
        assert!(brings_nothing || set(status, BOUND) == 0, "{whose} is not bound: {status}");
    }
}

/// A word that no other process of this machine has among its arguments.
fn mark() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("60.{}{:04}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Waits for `sleep` with this mark.
fn find(mark: &str) -> i32 {
    let wanted = format!("sleep\0{mark}\0");
    let began = Instant::now();
    loop {
        let numbers = fs::read_dir("/proc").unwrap().flatten();
        let mut numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        let found = numbers.find(|pid| read(Path::new(&format!("/proc/{pid}/cmdline"))) == wanted);
        if let Some(pid) = found {
            return pid;
        }
        assert!(began.elapsed() < Duration::from_secs(20), "the command does not begin");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The command and all above it that this program has started for it, the command first.
fn started_for(command: i32) -> Vec<String> {
    let (own, mut next) = (std::process::id(), u32::try_from(command).unwrap());
    let mut found = Vec::new();
    while next != own && next > 1 {
        let status = read(Path::new(&format!("/proc/{next}/status")));
        let parent = status.lines().find_map(|line| line.strip_prefix("PPid:")).unwrap();
        next = parent.trim().parse().unwrap();
        found.push(status);
    }
    assert_eq!(next, own, "not started by this program: {found:?}");
    found
}

/// Runs `sleep`, looks at something as soon as it runs, and ends it.
fn while_it_sleeps(live: &Live, change: impl FnOnce(&mut SandboxSpec), look: impl FnOnce(i32)) {
    let mark = mark();
    let mut spec = SandboxSpec::new(live.workspace(), ["sleep", mark.as_str()]);
    spec.limits.wall_time = Limit::AtMost(Duration::from_secs(40));
    change(&mut spec);
    std::thread::scope(|scope| {
        let planned = plan(&spec, &probe(&spec)).unwrap();
        let runs = scope.spawn(move || run(&planned, Streams::default()));
        let command = find(&mark);
        look(command);
        let command = rustix::process::Pid::from_raw(command).unwrap();
        rustix::process::kill_process(command, rustix::process::Signal::KILL).unwrap();
        runs.join().unwrap().unwrap();
    });
}

/// A first process gives up what it holds beside the command that it has just started.
fn look_again_until(mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() && began.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn no_process_of_a_sandbox_has_capabilities() {
    for backend in each() {
        let live = Live::bare();
        while_it_sleeps(
            &live,
            |spec| spec.backend = backend,
            |command| {
                let is_free = |status: &String| SETS.iter().all(|name| set(status, name) == 0);
                look_again_until(|| started_for(command).iter().all(is_free));
                let all = started_for(command);
                assert!(all.len() >= 2, "{backend:?} {all:?}");
                for status in all {
                    holds_at_most(&status, 0, &format!("{backend:?}"));
                }
            },
        );
    }
}

#[test]
fn a_command_without_a_sandbox_keeps_its_rights_and_what_ends_it_does_not() {
    let live = Live::bare();
    let own = read(Path::new("/proc/self/status"));
    let nothing = |spec: &mut SandboxSpec| {
        spec.backend = SandboxBackend::Auto;
        spec.on_unavailable = OnUnavailable::Warn;
    };
    let mut spec = SandboxSpec::new(live.workspace(), ["sleep"]);
    nothing(&mut spec);
    let mark = mark();
    spec.command.push(mark.clone().into());
    spec.limits.wall_time = Limit::AtMost(Duration::from_secs(40));
    // A machine that can make none.
    let mut facts = probe(&spec);
    facts.kernel = stockade_exec_sandbox::host::Kernel::default();
    facts.bubblewrap = None;
    std::thread::scope(|scope| {
        let planned = plan(&spec, &facts).unwrap();
        assert_eq!(planned.provider, stockade_exec_sandbox::provider::Provider::Nothing);
        let runs = scope.spawn(move || run(&planned, Streams::default()));
        let command = find(&mark);
        let is_free = |status: &String| set(status, "CapEff") & !END_OTHERS == 0;
        look_again_until(|| started_for(command).iter().skip(1).all(is_free));
        let mut all = started_for(command).into_iter();
        assert_eq!(set(&all.next().unwrap(), "CapEff"), set(&own, "CapEff"));
        for status in all {
            holds_at_most(&status, END_OTHERS, "what looks after a command without a sandbox");
        }
        let command = rustix::process::Pid::from_raw(command).unwrap();
        rustix::process::kill_process(command, rustix::process::Signal::KILL).unwrap();
        runs.join().unwrap().unwrap();
    });
}

/// The statuses of threads of this program by their name.
fn threads(name: &str) -> Vec<String> {
    let tasks = fs::read_dir("/proc/self/task").unwrap().flatten().map(|task| task.path());
    let named = tasks.filter(|task: &PathBuf| read(&task.join("comm")).trim_end() == name);
    // One may end while it is looked at.
    named.map(|task| read(&task.join("status"))).filter(|status| status.contains(BOUND)).collect()
}

#[test]
fn observer_threads_have_only_the_capabilities_to_observe() {
    for backend in each() {
        let live = Live::bare();
        let look_on = |spec: &mut SandboxSpec| {
            spec.backend = backend;
            spec.explain = Explain::Asked;
        };
        while_it_sleeps(&live, look_on, |_| {
            // One of another test may have just started.
            let is_free = |status: &String| SETS.iter().all(|name| set(status, name) & !OBSERVER == 0);
            look_again_until(|| threads("looks on").iter().all(is_free));
            let all = threads("looks on");
            assert!(!all.is_empty());
            for status in all {
                holds_at_most(&status, OBSERVER, "what looks on");
            }
        });
    }
}
