//! What a trail of a million records costs to verify and to ask. Run with `cargo xtask bench audit -- --bench large`.
//!
//! The records are written a thousand at a time. Of every thousand, one is of an agent that is seldom at work.

#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a bench reports to a person")]

use std::time::Instant;

use stockade_audit::{AuditEvent, AuditOptions, AuditQuery, AuditTrail, EventKind, Timestamp, field};
use testkit::bench::cpu_time;

const RECORDS: usize = 1_000_000;
const BATCH: usize = 1000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("audit.db");
    let register = folder.path().join("register");
    let trail = AuditTrail::open(
        &path,
        AuditOptions { register: Some(register.clone()), ..AuditOptions::default() },
    )?;
    measured("write", RECORDS, || write(&trail))?;
    drop(trail);
    let trail = AuditTrail::open_to_read_beside(&path, Some(&register))?;
    let before = peak_kib();
    let verified = measured("verify", RECORDS, || trail.verify(None))?;
    println!(
        "verify took {} KiB of memory more, and found {} faults",
        peak_kib() - before,
        verified.faults.len()
    );
    let newest = AuditQuery { limit: 20, ..AuditQuery::default() };
    let middle = trail.query(&AuditQuery { limit: 1, behind: Some(0), ..newest.clone() })?;
    let end = middle.first().and_then(|record| Timestamp::parse(&record.timestamp)).ok_or("no record")?;
    let since = Timestamp::from_micros(end.micros() - 3_000_000);
    let seldom = Some("seldom".to_owned());
    for (name, query) in [
        ("newest", newest.clone()),
        ("a seldom agent", AuditQuery { agent: seldom.clone(), limit: 1000, ..newest.clone() }),
        ("an agent since", AuditQuery { agent: seldom, since: Some(since), ..newest.clone() }),
        ("an agent that is not there", AuditQuery { agent: Some("none".to_owned()), ..newest.clone() }),
        ("before the first", AuditQuery { until: Some(Timestamp::from_micros(1)), ..newest.clone() }),
        ("an event that is not there", AuditQuery { event: Some("command_denied".to_owned()), ..newest }),
    ] {
        let found = measured(name, 1, || trail.query(&query))?;
        println!("    {} records", found.len());
    }
    Ok(())
}

fn write(trail: &AuditTrail) -> Result<(), Box<dyn std::error::Error>> {
    for batch in 0..RECORDS / BATCH {
        let event = |number: usize| AuditEvent {
            agent: Some(if number == 0 { "seldom".into() } else { format!("agent-{}", number % 7).into() }),
            decision: Some("allow".into()),
            ..AuditEvent::new(EventKind::CommandAllowed)
                .with(field::COMMAND, format!("cargo test --package part-{batch} case_{number}"))
        };
        drop(trail.record_all((0..BATCH).map(event).collect())?);
    }
    Ok(())
}

fn measured<T, E>(what: &str, count: usize, act: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    let (start, began) = (cpu_time(), Instant::now());
    let done = act()?;
    let (processor, time) = (cpu_time().saturating_sub(start), began.elapsed());
    let each = processor.as_secs_f64() * 1e6 / count as f64;
    println!(
        "{what:<28} {:>9.1} ms of processor time {:>9.1} ms ({each:.1} us each)",
        processor.as_secs_f64() * 1e3,
        time.as_secs_f64() * 1e3
    );
    Ok(done)
}

fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or(0)
}
