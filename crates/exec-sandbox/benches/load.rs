//! What sandboxes cost beside the time that one takes to start: how many commands run in a second, what memory a waiting
//! one takes, what a protected path costs, and how long it takes until nothing is left after a `kill -9`.
//!
//! Rates of ours and of bubblewrap are measured in turns, so that the ratio can be relied on.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a program that measures others and reports to a person"
)]

use std::fs;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use stockade_exec_sandbox::{SandboxSpec, run};

mod support;
use support::{command, native, planned, pool, pooled, request, same_mounts, streams};

/// How long each rate is measured, and how often.
const SPAN: Duration = Duration::from_millis(700);
const TURNS: usize = 5;

/// How many commands run at a time.
const AT_ONCE: &[usize] = &[1, 2, 16];

/// The program starts itself with this to have a sandbox whose launcher does nothing else.
const LAUNCHER: &str = "launcher";

fn main() {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|word| word == LAUNCHER) {
        let spec = SandboxSpec::new(arguments.next().unwrap(), ["/bin/sleep", "60"]);
        run(&planned(&spec), streams()).unwrap();
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let workspace = folder.path().canonicalize().unwrap();
    rates(&workspace);
    paths(&workspace);
    memory(&workspace);
    orphans(&workspace);
}

fn rates(workspace: &Path) {
    let plan = planned(&request(workspace));
    let words = same_mounts(&plan);
    let spec = request(workspace);
    let pool = pool(&spec, 8);
    let runners: [(&str, &(dyn Fn() + Sync)); 3] = [
        ("native", &|| native(&plan)),
        ("native, from a pool of 8", &|| pooled(&pool, &spec)),
        ("bubblewrap", &|| command("bwrap", &words)),
    ];
    println!("commands a second, median of {TURNS}, with so many at a time");
    for at_once in AT_ONCE {
        let mut found = vec![Vec::new(); runners.len()];
        for _ in 0..TURNS {
            for (rates, (_, runner)) in found.iter_mut().zip(&runners) {
                rates.push(rate(*runner, *at_once));
            }
        }
        for (rates, (name, _)) in found.iter_mut().zip(&runners) {
            rates.sort_by(f64::total_cmp);
            println!("{at_once:3}  {name:26} {:7.0}", rates[TURNS / 2]);
        }
    }
}

fn rate(runner: &(dyn Fn() + Sync), at_once: usize) -> f64 {
    let (start, count) = (Instant::now(), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                while start.elapsed() < SPAN {
                    runner();
                    count.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    count.load(Ordering::Relaxed) as f64 / start.elapsed().as_secs_f64()
}

/// Starts in a workspace with and without many files that are hidden, in turns.
fn paths(workspace: &Path) {
    const MANY: usize = 400;
    const ROUNDS: usize = 25;
    let (few, many) = (workspace.join("few"), workspace.join("many"));
    fs::create_dir(&few).unwrap();
    fs::create_dir(&many).unwrap();
    (0..MANY).for_each(|number| fs::write(many.join(format!(".env.{number}")), "").unwrap());
    let plans = [planned(&request(&few)), planned(&request(&many))];
    let hidden = plans[1].mounts.len() - plans[0].mounts.len();
    assert_eq!(hidden, MANY);
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        for (times, plan) in times.iter_mut().zip(&plans) {
            let start = Instant::now();
            run(plan, streams()).unwrap();
            times.push(start.elapsed());
        }
    }
    times.iter_mut().for_each(|times| times.sort_unstable());
    let each = |at: usize| (times[1][at].as_secs_f64() - times[0][at].as_secs_f64()) * 1e6 / MANY as f64;
    println!(
        "a protected path of {MANY}: {:.1} µs at best, {:.1} µs in the middle",
        each(0),
        each(ROUNDS / 2)
    );
}

/// A launcher whose sandbox `sleep` is to run in.
fn sleeper(workspace: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap()).arg(LAUNCHER).arg(workspace).spawn().unwrap()
}

/// Waits until `sleep` runs, and returns the launcher, the first process and `sleep`.
fn processes(launcher: &Child) -> Vec<i32> {
    let pid = i32::try_from(launcher.id()).unwrap();
    loop {
        let (first, command) = (children(pid), children(pid).first().map(|first| children(*first)));
        let runs = |pid: &i32| fs::read(format!("/proc/{pid}/comm")).is_ok_and(|name| name == b"sleep\n");
        if let Some(command) = command.filter(|command| command.iter().any(runs)) {
            return [vec![pid], first, command].concat();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn children(pid: i32) -> Vec<i32> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    text.split_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

fn memory(workspace: &Path) {
    let mut child = sleeper(workspace);
    let pids = processes(&child);
    // What ran to start it is given back a moment later.
    std::thread::sleep(Duration::from_millis(500));
    println!("kB of memory while a command waits       own  shared part (PSS in all)");
    for (pid, name) in
        pids.iter().zip(["the launcher, a program like this", "the first process", "the command"])
    {
        let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
        let figure = |names: &[&str]| -> u64 {
            let lines = text.lines().filter(|line| names.iter().any(|name| line.starts_with(name)));
            lines.filter_map(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok()).sum()
        };
        let (own, all) = (figure(&["Private_Clean:", "Private_Dirty:"]), figure(&["Pss:"]));
        println!("  {name:35} {own:6} {:6} ({all})", all.saturating_sub(own));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

fn orphans(workspace: &Path) {
    let mut times: Vec<Duration> = (0..10)
        .map(|_| {
            let mut child = sleeper(workspace);
            let pids = processes(&child);
            let start = Instant::now();
            child.kill().unwrap();
            while pids.iter().skip(1).any(|pid| lives(*pid)) {
                std::thread::sleep(Duration::from_micros(200));
            }
            let time = start.elapsed();
            child.wait().unwrap();
            time
        })
        .collect();
    times.sort_unstable();
    println!("after a kill -9 nothing is left: {:?} in the middle, {:?} at worst", times[5], times[9]);
}

fn lives(pid: i32) -> bool {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    text.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}
