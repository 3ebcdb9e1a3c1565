//! What is on record of a command: what held, and why it ended, whatever made the sandbox.
#![expect(clippy::disallowed_methods, reason = "lays out workspaces")]

use std::fs;
use std::time::Duration;

use stockade_guard::audit::{
    AuditEvent, AuditOptions, AuditQuery, AuditRecord, AuditTrail, Detail, EventKind, field,
};
use stockade_guard::exec::run::{Cancellation, RunControl, Stream, Streams};
use stockade_guard::exec::{Limit, Network, SandboxBackend, SandboxMode, SandboxSpec};
use stockade_guard::{NotRun, PreparedRun, RunRecord};

/// Who asks for the sandbox.
const BACKENDS: [SandboxBackend; 3] =
    [SandboxBackend::Native, SandboxBackend::Bwrap, SandboxBackend::Landlock];

/// What a row asks for besides.
type Change<'c> = &'c dyn Fn(&mut SandboxSpec);

/// How much memory each command may use.
const MEMORY: u64 = 64 << 20;

/// Runs a command, and returns the records of its start and its end; nothing where this machine has no such sandbox.
fn records(script: &str, cancelled: bool, change: impl Fn(&mut SandboxSpec)) -> Option<[AuditRecord; 2]> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    fs::create_dir(path.join("work")).unwrap();
    let trail = AuditTrail::open(&path.join("audit.jsonl"), AuditOptions::default()).unwrap();
    let mut spec = SandboxSpec::new(path.join("work"), ["/bin/sh", "-c", script]);
    spec.limits.memory = Limit::AtMost(MEMORY);
    change(&mut spec);
    let record = RunRecord { trail: Some(trail.clone()), agent: None };
    let cancellation = Cancellation::default();
    if cancelled {
        cancellation.cancel();
    }
    let control = RunControl { cancellation: Some(cancellation), ..RunControl::default() };
    let started = AuditEvent { skill: Some("builder".into()), ..AuditEvent::new(EventKind::SandboxStarted) };
    let streams = Streams { stdout: Stream::Keep, stderr: Stream::Keep, ..Streams::default() };
    let prepared = PreparedRun::new(spec, None, record).unwrap().controlled(control);
    if let Err(NotRun::Sandbox { error, .. }) = prepared.run(started.with(field::COMMAND, script), streams) {
        println!("skipped: no such sandbox on this machine: {error}");
        return None;
    }
    let asked = AuditQuery {
        event: Some("sandbox_%".into()),
        skill: Some("builder".into()),
        ..AuditQuery::default()
    };
    let mut found = trail.query(&asked).unwrap();
    found.reverse();
    Some(found.try_into().unwrap())
}

fn said(record: &AuditRecord, name: &str) -> String {
    match record.data.get(name) {
        Some(Detail::Text(text)) => text.clone(),
        Some(Detail::Number(number)) => number.to_string(),
        other => format!("{other:?}"),
    }
}

#[test]
fn every_sandbox_says_on_record_what_held_and_why_it_ended() {
    let none = |_: &mut SandboxSpec| {};
    let rows: [(&str, bool, Change<'_>, &[&str]); 9] = [
        ("true", false, &none, &["None"]),
        ("exit 3", false, &none, &["exit code 3"]),
        // Bubblewrap tells of a signal as shells do.
        ("kill -TERM $$", false, &none, &["signal 15", "exit code 143"]),
        (
            "sleep 30",
            false,
            &|spec| spec.limits.wall_time = Limit::AtMost(Duration::from_millis(200)),
            &["time"],
        ),
        (
            "while :; do :; done",
            false,
            &|spec| spec.limits.cpu_time = Limit::AtMost(Duration::from_secs(1)),
            &["processor time", "exit code 152"],
        ),
        ("sleep 30", true, &none, &["cancelled"]),
        // Without a control group the program is refused the memory, and says so by its own code.
        ("exec python3 -c 'x = bytearray(200000000)'", false, &none, &["memory", "exit code 1"]),
        // The shell goes on when what it started is ended by the kernel.
        ("python3 -c 'x = bytearray(200000000)'; exit 9", false, &none, &["memory", "exit code 9"]),
        ("/no/such/program", false, &none, &["exit code 127"]),
    ];
    for backend in BACKENDS {
        for (script, cancelled, change, causes) in rows {
            let found = records(script, cancelled, |spec| {
                spec.backend = backend;
                change(spec);
            });
            let Some([started, ended]) = found else { break };
            let kind = if causes == ["None"] { "sandbox_completed" } else { "sandbox_error" };
            assert_eq!((started.event.as_str(), ended.event.as_str()), ("sandbox_started", kind), "{script}");
            for record in [&started, &ended] {
                assert_eq!(record.backend.as_deref(), Some(backend.name()));
                assert_eq!(
                    (said(record, "network"), said(record, "files")),
                    ("none".into(), "workspace".into())
                );
                assert_eq!(said(record, "memory"), MEMORY.to_string(), "{record:?}");
            }
            assert!(causes.contains(&said(&ended, "cause").as_str()), "{script}: {ended:?}");
        }
    }
}

#[test]
fn what_is_not_held_is_not_claimed() {
    let mode = |mode: SandboxMode| move |spec: &mut SandboxSpec| mode.apply(spec);
    let open = |spec: &mut SandboxSpec| spec.network = Network::Open;
    let rows: [(Change<'_>, [&str; 4]); 3] = [
        (&mode(SandboxMode::DangerFullAccess), ["warn", "open", "open", "nothing"]),
        (&mode(SandboxMode::ReadOnly), ["info", "none", "read-only", "native"]),
        (&open, ["info", "open", "workspace", "native"]),
    ];
    for (change, expected) in rows {
        let Some(both) = records("true", false, change) else { return };
        for record in both {
            let backend = record.backend.clone().unwrap_or_default();
            assert_eq!(
                [record.severity.as_str(), &said(&record, "network"), &said(&record, "files"), &backend],
                expected,
                "{record:?}"
            );
        }
    }
}

#[test]
fn values_of_variables_are_on_no_record() {
    let script = "echo s3cret-v4lue czNjcmV0LXY0bHVl s3cret%2Dv4lue; true";
    let set = ("NOTHING_SAYS_SO".into(), "s3cret-v4lue".into());
    let Some(both) = records(script, false, |spec| spec.environment.set = vec![set.clone()]) else { return };
    let kept = format!("{both:?}");
    assert!(kept.contains("echo [redacted] [redacted] [redacted]; true"), "{kept}");
}
