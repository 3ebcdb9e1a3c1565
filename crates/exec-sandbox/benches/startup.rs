//! How long it takes until `true` has run and is gone: by itself, in the native sandbox, in one of a pool, and in bubblewrap
//! with the same mounts. All take turns, so that whatever else the machine does meets each alike. Ratios are what to compare.
//!
//! Other programs take part by the variable `STOCKADE_PEERS`, a line for the words of each: `srt true`. Who is not root sees
//! what we take with bubblewrap, too.
//!
//! A sandbox of ours does more in that time than bubblewrap here: a filter of system calls, Landlock, limits, hidden parts
//! of `/proc`, protected names.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a program that measures others and reports to a person"
)]

use std::ffi::OsString;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use stockade_exec_sandbox::{SandboxBackend, SandboxSpec, bwrap_arguments, plan, probe};

mod support;
use support::{TRUE, command, native, planned, pool, pooled, request, same_mounts};

const ROUNDS: usize = 60;

/// What takes part, and how it is run.
type Runner<'a> = (&'a str, Box<dyn Fn() + 'a>);

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = folder.path().canonicalize().unwrap();
    let spec = request(&workspace);
    let by_default = planned(&spec);
    let pool = pool(&spec, 2);
    if Command::new("bwrap").arg("--version").stdout(Stdio::null()).status().is_err() {
        println!("skipped: bubblewrap is not installed; `cargo xtask setup` installs it");
        return;
    }
    let peers = std::env::var("STOCKADE_PEERS").unwrap_or_default();
    let peers: Vec<(&str, Vec<OsString>)> = peers.lines().filter_map(peer).collect();
    let with_bubblewrap = SandboxSpec { backend: SandboxBackend::Bwrap, ..spec.clone() };
    let with_bubblewrap = plan(&with_bubblewrap, &probe(&with_bubblewrap)).ok();
    let (documented, same) = (bwrap_arguments(&by_default), same_mounts(&by_default));
    let mut runners: Vec<Runner<'_>> = vec![
        ("plain", Box::new(|| command(TRUE, &[]))),
        ("native", Box::new(|| native(&by_default))),
        ("native, with probe and plan", Box::new(|| native(&planned(&spec)))),
        ("native, from a pool, with both", Box::new(|| pooled(&pool, &spec))),
    ];
    if let Some(plan) = &with_bubblewrap {
        runners.push(("bubblewrap, as we start it", Box::new(|| native(plan))));
    }
    for (program, words) in &peers {
        runners.push((program, Box::new(|| command(program, words))));
    }
    runners.push(("bubblewrap, open /proc", Box::new(|| command("bwrap", &documented))));
    runners.push(("bubblewrap", Box::new(|| command("bwrap", &same))));
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); runners.len()];
    for round in 0..ROUNDS {
        for turn in 0..runners.len() {
            let at = (round + turn) % runners.len();
            // What the pool makes in the background is no part of anybody's time.
            while pool.ready() < 2 {
                std::thread::sleep(Duration::from_millis(1));
            }
            let start = Instant::now();
            runners[at].1();
            times[at].push(start.elapsed());
        }
    }
    print_table(&runners.iter().map(|(name, _)| *name).collect::<Vec<_>>(), times);
}

/// The program and the words of a line.
fn peer(line: &str) -> Option<(&str, Vec<OsString>)> {
    let mut words = line.split_whitespace();
    Some((words.next()?, words.map(OsString::from).collect()))
}

fn print_table(names: &[&str], mut times: Vec<Vec<Duration>>) {
    let middle = |times: &mut Vec<Duration>| {
        times.sort_unstable();
        (times[0], times[times.len() / 2])
    };
    let results: Vec<_> = times.iter_mut().map(middle).collect();
    let (least, median) = results[results.len() - 1];
    println!("{ROUNDS} rounds, taking turns        least   median   against bubblewrap: least, median");
    for (name, (own_least, own_median)) in names.iter().zip(&results) {
        println!(
            "{name:32} {:6.2} ms {:6.2} ms   {:.2} {:.2}",
            own_least.as_secs_f64() * 1e3,
            own_median.as_secs_f64() * 1e3,
            own_least.as_secs_f64() / least.as_secs_f64(),
            own_median.as_secs_f64() / median.as_secs_f64(),
        );
    }
}
