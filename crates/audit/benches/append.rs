//! What it costs to put a record on the disk. Run with `cargo xtask bench audit`.
//!
//! Each round writes to every kind of trail once, so that a busy moment of the machine hits all of them; the table shows
//! medians of processor time and of time for one record, and how many times that is what SQLite takes for a row with the same text.

#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a bench reports to a person")]

use std::time::{Duration, Instant};

use stockade_audit::{AuditEvent, AuditOptions, AuditTrail, EventKind, field};
use testkit::bench::{cpu_time, median};

const ROUNDS: usize = 41;
const REPEATS: u32 = 20;
const INSERT: &str = "INSERT INTO rows (text) VALUES (?1)";
const TEXT: &str =
    "2026-11-25T09:00:00.000000Z command_allowed info {\"command\":\"cargo test --workspace\"} 1f0b64c2a3d4";

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
    let bare = bare(&folder.path().join("bare.db"))?;
    let mut times = vec![Vec::new(); cases.len()];
    let mut bare_times = Vec::new();
    for _ in 0..ROUNDS {
        let (start, began) = (cpu_time(), Instant::now());
        for _ in 0..REPEATS {
            bare.execute(INSERT, [TEXT])?;
        }
        bare_times.push((cpu_time().saturating_sub(start) / REPEATS, began.elapsed() / REPEATS));
        for ((_, trail), times) in cases.iter().zip(&mut times) {
            let (start, began) = (cpu_time(), Instant::now());
            for _ in 0..REPEATS {
                let event =
                    AuditEvent::new(EventKind::CommandAllowed).with(field::COMMAND, "cargo test --workspace");
                drop(trail.record(event)?);
            }
            times.push((cpu_time().saturating_sub(start) / REPEATS, began.elapsed() / REPEATS));
        }
    }
    let least = medians(&bare_times);
    print("a row of SQLite", least, least);
    for ((name, _), times) in cases.iter().zip(&times) {
        print(name, medians(times), least);
    }
    Ok(())
}

/// A table with the settings of a trail, and nothing that makes it one.
fn bare(path: &std::path::Path) -> Result<rusqlite::Connection, rusqlite::Error> {
    let database = rusqlite::Connection::open(path)?;
    database.execute_batch("PRAGMA journal_mode = wal; PRAGMA synchronous = full; CREATE TABLE rows (id INTEGER PRIMARY KEY, text TEXT)")?;
    Ok(database)
}

fn medians(times: &[(Duration, Duration)]) -> (Duration, Duration) {
    (median(times.iter().map(|time| time.0)), median(times.iter().map(|time| time.1)))
}

fn print(name: &str, (processor, time): (Duration, Duration), least: (Duration, Duration)) {
    println!(
        "{name:<24} {:>8.1} us of processor time ({:.1} x) {:>8.1} us ({:.1} x)",
        micros(processor),
        processor.as_secs_f64() / least.0.as_secs_f64(),
        micros(time),
        time.as_secs_f64() / least.1.as_secs_f64()
    );
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
