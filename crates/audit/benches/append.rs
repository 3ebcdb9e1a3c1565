//! What it costs to put a record on the disk. Run with `cargo xtask bench audit`.
//!
//! Each round writes to every kind of trail once, so that a busy moment of the machine hits all of them; the table shows
//! medians of processor time and of time for one record.

#![expect(
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a bench reports to a person"
)]

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use stockade_audit::{AuditEvent, AuditOptions, AuditTrail, EventKind};

const ROUNDS: usize = 41;
const REPEATS: u32 = 20;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let register = Some(folder.path().join("register"));
    let open = |name: &str, register| {
        AuditTrail::open(&folder.path().join(name), AuditOptions { register, ..AuditOptions::default() })
    };
    let cases = [
        ("a database", open("plain.db", None)?),
        ("a database, sealed", open("sealed.db", register.clone())?),
        ("lines of JSON", open("plain.jsonl", None)?),
        ("lines of JSON, sealed", open("sealed.jsonl", register)?),
    ];
    let mut times = vec![Vec::new(); cases.len()];
    for _ in 0..ROUNDS {
        for ((_, trail), times) in cases.iter().zip(&mut times) {
            let (start, began) = (processor_time(), Instant::now());
            for _ in 0..REPEATS {
                let event =
                    AuditEvent::new(EventKind::CommandAllowed).with("command", "cargo test --workspace");
                drop(trail.record(event)?);
            }
            times.push((processor_time().saturating_sub(start) / REPEATS, began.elapsed() / REPEATS));
        }
    }
    for ((name, _), times) in cases.iter().zip(&mut times) {
        times.sort_unstable();
        let processor = times[ROUNDS / 2].0;
        times.sort_unstable_by_key(|time| time.1);
        println!(
            "{name:<24} {:>8.1} us of processor time {:>8.1} us",
            micros(processor),
            micros(times[ROUNDS / 2].1)
        );
    }
    Ok(())
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// Returns the time that this thread was computing, so that other work on the machine does not count.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
