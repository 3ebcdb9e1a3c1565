//! How long it takes until `true` has run and is gone: by itself, in the native sandbox, in one of a pool, and in bubblewrap
//! with the same mounts. All take turns, so that whatever else the machine does meets each alike. Ratios are what to compare.
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

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use stockade_exec_sandbox::{Pool, bwrap_arguments};

mod support;
use support::{TRUE, command, native, planned, pooled, streams, wish};

const ROUNDS: usize = 60;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = folder.path().canonicalize().unwrap();
    let spec = wish(&workspace);
    let plan = planned(&spec);
    let pool = Pool::new(spec.clone(), streams(), 2).unwrap();
    let runners: [(&str, &dyn Fn()); 5] = [
        ("plain", &|| command(TRUE, &[])),
        ("native", &|| native(&plan)),
        ("native, with probe and plan", &|| native(&planned(&spec))),
        ("native, from a pool", &|| pooled(&pool)),
        ("bubblewrap", &|| command("bwrap", &bwrap_arguments(&plan))),
    ];
    if Command::new("bwrap").arg("--version").stdout(Stdio::null()).status().is_err() {
        println!("skipped: bubblewrap is not installed; `cargo xtask setup` installs it");
        return;
    }
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
    let middle = |times: &mut Vec<Duration>| {
        times.sort_unstable();
        (times[0], times[times.len() / 2])
    };
    let results: Vec<_> = times.iter_mut().map(middle).collect();
    let (least, median) = results[results.len() - 1];
    println!("{ROUNDS} rounds, taking turns        least   median   against bubblewrap: least, median");
    for ((name, _), (own_least, own_median)) in runners.iter().zip(&results) {
        println!(
            "{name:32} {:6.2} ms {:6.2} ms   {:.2} {:.2}",
            own_least.as_secs_f64() * 1e3,
            own_median.as_secs_f64() * 1e3,
            own_least.as_secs_f64() / least.as_secs_f64(),
            own_median.as_secs_f64() / median.as_secs_f64(),
        );
    }
}
