//! The audit trail, against crashes, full disks, clocks, other writers and people with an editor.
#![expect(clippy::disallowed_methods, reason = "makes folders, edits files, starts and kills processes")]

mod anchored;
#[cfg(feature = "sqlite")]
mod attacked;
mod faults;
mod head;
mod kills;
mod pipes;
#[cfg(feature = "sqlite")]
mod planted;
mod silenced;
mod tampering;

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use stockade_audit::{
    AuditError, AuditEvent, AuditField, AuditNumber, AuditOptions, AuditQuery, AuditTrail, Detail, EventKind,
    EventSeverity, Recorded, Redactor, field, to_ocsf,
};
use tempfile::TempDir;

/// The name of a trail of each kind that was built in.
#[cfg(feature = "sqlite")]
const KINDS: &[&str] = &["audit.db", "audit.jsonl"];
#[cfg(not(feature = "sqlite"))]
const KINDS: &[&str] = &["audit.jsonl"];

/// A folder and the path of a trail in it, for each kind.
fn new_trails() -> Vec<(TempDir, PathBuf)> {
    let new_trail = |kind| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(kind);
        (folder, path)
    };
    KINDS.iter().map(new_trail).collect()
}

fn open(path: &Path) -> AuditTrail {
    AuditTrail::open(path, AuditOptions::default()).unwrap()
}

const NUMBER: AuditField<AuditNumber> = AuditField::new("number");

fn denied(command: &str) -> AuditEvent {
    AuditEvent::new(EventKind::CommandDenied).with(field::COMMAND, command)
}

fn keep(trail: &AuditTrail, event: AuditEvent) {
    assert!(matches!(trail.record(event).unwrap(), Recorded::Kept(_)));
}

/// The events of a trail, the oldest first.
fn events(trail: &AuditTrail) -> Vec<String> {
    let all = AuditQuery { limit: 1000, ..AuditQuery::default() };
    let mut events: Vec<_> = trail.query(&all).unwrap().into_iter().map(|record| record.event).collect();
    events.reverse();
    events
}

#[test]
fn a_run_has_one_start_and_one_end() {
    for (_folder, path) in new_trails() {
        let trail = open(&path);
        let run = trail.start(AuditEvent::new(EventKind::SandboxStarted)).unwrap();
        let name = run.name().unwrap().to_owned();
        assert!(matches!(run.record(AuditEvent::new(EventKind::SandboxDenied)).unwrap(), Recorded::Kept(_)));
        let end = AuditEvent {
            exit_code: Some(3),
            duration: Some(Duration::from_millis(812)),
            ..AuditEvent::new(EventKind::SandboxCompleted)
        };
        assert!(matches!(run.end(end).unwrap(), Recorded::Kept(_)));
        drop(trail.start(AuditEvent::new(EventKind::SandboxStarted)).unwrap());

        let of_run = AuditQuery { run: Some(name), ..AuditQuery::default() };
        let records = trail.query(&of_run).unwrap();
        assert_eq!(records.len(), 3);
        assert_eq!((records[0].exit_code, records[0].duration_ms), (Some(3), Some(812)));
        let expected =
            ["sandbox_started", "sandbox_denied", "sandbox_completed", "sandbox_started", "sandbox_error"];
        assert_eq!(events(&trail), expected, "{}", path.display());
        assert!(trail.verify(None).unwrap().intact());
    }
}

#[test]
fn starts_and_ends_go_through_their_own_doors() {
    for (_folder, path) in new_trails() {
        let trail = open(&path);
        let event = AuditEvent::new;
        assert!(matches!(trail.record(event(EventKind::SandboxStarted)), Err(AuditError::Misused { .. })));
        assert!(matches!(trail.record(event(EventKind::SandboxCompleted)), Err(AuditError::Misused { .. })));
        assert!(matches!(trail.start(event(EventKind::ToolDenied)), Err(AuditError::Misused { .. })));
        let run = trail.start(event(EventKind::SandboxStarted)).unwrap();
        assert!(matches!(run.record(event(EventKind::SandboxError)), Err(AuditError::Misused { .. })));
        assert!(matches!(run.end(event(EventKind::ToolDenied)), Err(AuditError::Misused { .. })));
        let reader = AuditTrail::open_to_read(&path).unwrap();
        assert!(matches!(reader.record(event(EventKind::ToolDenied)), Err(AuditError::Misused { .. })));
    }
}

#[test]
fn questions_are_answered_alike_by_both_kinds() {
    for (_folder, path) in new_trails() {
        let trail = open(&path);
        for number in 0..30 {
            let kind = if number % 3 == 0 { EventKind::PathDenied } else { EventKind::PathAllowed };
            let agent = Some(if number % 2 == 0 { "even" } else { "odd" }.into());
            let event = AuditEvent::new(kind).with(NUMBER, number).with(field::ID, format!("name-{number}"));
            keep(&trail, AuditEvent { agent, ..event });
        }
        let numbers = |query: &AuditQuery| -> Vec<i64> {
            let records = trail.query(query).unwrap();
            let number = |detail: Option<&Detail>| match detail {
                Some(Detail::Number(number)) => *number,
                other => panic!("{other:?}"),
            };
            records.iter().map(|record| number(record.data.get("number"))).collect()
        };
        let ask = AuditQuery::default;
        assert_eq!(numbers(&AuditQuery { limit: 3, ..ask() }), [29, 28, 27]);
        assert_eq!(numbers(&ask()).len(), 20);
        assert_eq!(numbers(&AuditQuery { event: Some("%denied".into()), limit: 2, ..ask() }), [27, 24]);
        assert_eq!(numbers(&AuditQuery { agent: Some("odd".into()), limit: 2, ..ask() }), [29, 27]);
        assert_eq!(numbers(&AuditQuery { event: Some("scan_%".into()), ..ask() }), [0; 0]);
        assert_eq!(numbers(&AuditQuery { limit: 0, ..ask() }), [29]);
        assert_eq!(numbers(&AuditQuery { name: Some("name-2".into()), ..ask() }), [2]);
        assert_eq!(numbers(&AuditQuery { name: Some("name-".into()), ..ask() }), [0; 0]);
        keep(&trail, AuditEvent::new(EventKind::ApprovalAnswered).with(field::ID, "name-2").with(NUMBER, 30));
        let refused = |number: i64| {
            let decision = Some("deny".into());
            AuditEvent { decision, ..AuditEvent::new(EventKind::LimitReached) }.with(NUMBER, number)
        };
        keep(&trail, refused(31));
        let decisions = || AuditQuery { decisions: true, ..ask() };
        assert_eq!(numbers(&AuditQuery { name: Some("name-2".into()), ..ask() }), [30, 2]);
        assert_eq!(numbers(&AuditQuery { name: Some("name-2".into()), ..decisions() }), [2]);
        assert_eq!(numbers(&AuditQuery { limit: 3, ..decisions() }), [31, 29, 28]);
        assert_eq!(numbers(&AuditQuery { decision: Some("deny".into()), ..ask() }), [31]);
        assert_eq!(numbers(&AuditQuery { decision: Some("ask".into()), ..decisions() }), [0; 0]);
        for (severity, expected) in [(EventSeverity::Info, [31, 30]), (EventSeverity::Warn, [31, 27])] {
            assert_eq!(numbers(&AuditQuery { severity: Some(severity), limit: 2, ..ask() }), expected);
        }
        assert_eq!(numbers(&AuditQuery { severity: Some(EventSeverity::High), ..ask() }), [0; 0]);
    }
}

#[test]
fn secrets_never_reach_the_disk() {
    for (folder, path) in new_trails() {
        let redactor = Redactor::default().hide(["correct horse battery"]);
        let trail = AuditTrail::open(&path, AuditOptions { redactor, ..AuditOptions::default() }).unwrap();
        keep(&trail, denied("curl -H 'Authorization: Bearer abcdef123456' https://me:hunter2@x.example"));
        keep(&trail, denied("echo 'correct horse battery'"));
        drop(trail);
        for entry in std::fs::read_dir(folder.path()).unwrap() {
            let Ok(bytes) = std::fs::read(entry.unwrap().path()) else { continue };
            let text = String::from_utf8_lossy(&bytes);
            for secret in ["abcdef123456", "hunter2", "correct horse"] {
                assert!(!text.contains(secret), "{secret}");
            }
        }
    }
}

#[test]
fn a_clock_that_goes_back_changes_no_order() {
    fn later() -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(2_000_000_000)
    }
    fn earlier() -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(1_000_000_000)
    }
    for (_folder, path) in new_trails() {
        for clock in [later as fn() -> SystemTime, earlier, later] {
            let trail = AuditTrail::open_with_clock(&path, AuditOptions::default(), clock).unwrap();
            keep(&trail, denied("x"));
            keep(&trail, denied("y"));
        }
        let trail = open(&path);
        assert!(trail.verify(None).unwrap().intact());
        let records = trail.query(&AuditQuery::default()).unwrap();
        let told = records.iter().filter(|record| record.data.contains_key("clockWentBackMs")).count();
        assert_eq!((records.len(), told), (6, 1));
        // What comes after the clock was set right has the right time.
        let is_right = |record: &stockade_audit::AuditRecord| record.timestamp.starts_with("2001");
        assert_eq!(
            records.iter().map(is_right).collect::<Vec<_>>(),
            [false, false, true, true, false, false]
        );
    }
}

#[test]
fn every_record_can_be_exported() {
    for (_folder, path) in new_trails() {
        let trail = open(&path);
        keep(&trail, denied("x"));
        drop(trail.start(AuditEvent::new(EventKind::SandboxStarted)).unwrap());
        let mut classes = Vec::new();
        trail
            .each(|record| {
                classes.push(to_ocsf(&record, "m")["class_uid"].as_u64().unwrap());
                std::ops::ControlFlow::Continue(())
            })
            .unwrap();
        assert_eq!(classes, [1007, 1007, 1007]);
    }
}

/// The query of the documents, by a program that knows nothing of ours, while records are written.
#[cfg(feature = "sqlite")]
#[test]
fn the_documented_query_runs_as_it_stands() {
    const QUERY: &str =
        "SELECT * FROM audit_events\nWHERE event LIKE 'sandbox_%'\nORDER BY timestamp DESC\nLIMIT 10;";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.db");
    let trail = open(&path);
    for _ in 0..8 {
        keep(&trail, denied("x"));
        let run = trail.start(AuditEvent::new(EventKind::SandboxStarted)).unwrap();
        assert!(matches!(run.end(AuditEvent::new(EventKind::SandboxCompleted)).unwrap(), Recorded::Kept(_)));
    }
    let under_way = trail.start(AuditEvent::new(EventKind::SandboxStarted)).unwrap();
    let database = rusqlite::Connection::open(&path).unwrap();
    let mut statement = database.prepare(QUERY).unwrap();
    let mut rows = statement.query([]).unwrap();
    let mut found = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        // A reader in the middle of its answer blocks no writer.
        keep(&trail, denied("meanwhile"));
        found.push(row.get::<_, String>("event").unwrap());
    }
    drop(under_way);
    let pairs = ["sandbox_completed", "sandbox_started"];
    let expected: Vec<_> =
        std::iter::once("sandbox_started").chain(pairs.into_iter().cycle()).take(10).collect();
    assert_eq!(found, expected);
}

#[cfg(feature = "sqlite")]
#[test]
fn a_journal_that_is_kept_holds_what_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.db");
    let journal = folder.path().join("audit.db-wal");
    let write = |keeps: bool| {
        let trail = AuditTrail::open(&path, AuditOptions::default()).unwrap();
        if keeps {
            trail.keep_journal();
        }
        let _recorded = trail.record(AuditEvent::new(EventKind::CommandAllowed)).unwrap();
    };
    write(true);
    assert!(std::fs::metadata(&journal).is_ok_and(|found| found.len() > 0));
    write(true);
    let records = AuditTrail::open_to_read(&path).unwrap().query(&AuditQuery::default()).unwrap();
    assert_eq!(records.len(), 2);
    write(false);
    assert!(!journal.exists(), "the next one that closes it moves all of it");
    let records = AuditTrail::open_to_read(&path).unwrap().query(&AuditQuery::default()).unwrap();
    assert_eq!(records.len(), 3);
}

/// Every process that opens the trail reads the whole journal, so it must not grow with the trail.
#[cfg(feature = "sqlite")]
#[test]
fn a_journal_that_is_kept_stays_short() {
    const PAGE: u64 = 4120;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.db");
    let journal = folder.path().join("audit.db-wal");
    let mut longest = 0;
    for _ in 0..150 {
        let trail = open(&path);
        trail.keep_journal();
        keep(&trail, denied("make"));
        drop(trail);
        longest = longest.max(std::fs::metadata(&journal).map_or(0, |found| found.len() / PAGE));
    }
    assert!((40..90).contains(&longest), "{longest} pages");
    let reader = AuditTrail::open_to_read(&path).unwrap();
    let verified = reader.verify(None).unwrap();
    assert!(verified.intact() && verified.records == 150, "{verified:?}");
}

/// What is put on record together is there as a whole or not at all, in its order.
#[test]
fn several_events_are_on_record_together() {
    for (_folder, path) in new_trails() {
        let trail = open(&path);
        let numbered = |number: i64| denied("make").with(NUMBER, number);
        let kept = trail.record_all((0..3).map(numbered).collect()).unwrap();
        assert!(matches!(kept, Recorded::Kept(head) if head.id == 3));
        let refused = trail.record_all(vec![numbered(3), AuditEvent::new(EventKind::SandboxStarted)]);
        assert!(matches!(refused, Err(AuditError::Misused { .. })), "{refused:?}");
        let records = trail.query(&AuditQuery::default()).unwrap();
        let numbers: Vec<_> = records.iter().rev().map(|record| record.data.get("number").cloned()).collect();
        assert_eq!(numbers, [0, 1, 2].map(|number| Some(Detail::Number(number))));
        assert!(trail.verify(None).unwrap().intact());
    }
}

/// The decisions that led to a run and its start are on record together, and only the start belongs to the run.
#[test]
fn a_run_starts_behind_its_decisions() {
    for (_folder, path) in new_trails() {
        let trail = open(&path);
        let allowed = || AuditEvent::new(EventKind::CommandAllowed);
        let run = trail
            .start_behind(vec![allowed(), allowed()], AuditEvent::new(EventKind::SandboxStarted))
            .unwrap();
        let records = trail.query(&AuditQuery::default()).unwrap();
        let runs: Vec<_> = records.iter().rev().map(|record| record.run.as_deref()).collect();
        assert_eq!(runs, [None, None, run.name()]);
        drop(run);
        for wrong in [EventKind::SandboxStarted, EventKind::SandboxCompleted] {
            let events = vec![allowed(), AuditEvent::new(wrong)];
            let refused = trail.start_behind(events, AuditEvent::new(EventKind::SandboxStarted));
            assert!(matches!(refused, Err(AuditError::Misused { .. })), "{refused:?}");
        }
        assert_eq!(trail.head().unwrap().id, 4);
        assert!(trail.verify(None).unwrap().intact());
    }
}

/// The bounds of times that a database looks up must not hide a record that a walk over all of them finds.
#[cfg(feature = "sqlite")]
#[test]
fn questions_about_times_are_answered_alike_when_the_clock_goes_back() {
    use std::sync::atomic::{AtomicU64, Ordering};
    use stockade_audit::Timestamp;
    static SECONDS: AtomicU64 = AtomicU64::new(0);
    const NEVER_BACK: &[u64] = &[10, 20, 30, 40, 50, 60];
    const BACK: &[u64] = &[10, 50, 60, 20, 30, 70];
    for seconds in [NEVER_BACK, BACK] {
        let trails = new_trails();
        let trails: Vec<_> = trails
            .iter()
            .map(|(_folder, path)| {
                let clock = || UNIX_EPOCH + Duration::from_secs(SECONDS.load(Ordering::Relaxed));
                let trail = AuditTrail::open_with_clock(path, AuditOptions::default(), clock).unwrap();
                for (number, at) in seconds.iter().enumerate() {
                    SECONDS.store(*at, Ordering::Relaxed);
                    let agent = Some(["a", "b"][number % 2].into());
                    keep(
                        &trail,
                        AuditEvent { agent, ..denied("x").with(NUMBER, i64::try_from(*at).unwrap()) },
                    );
                }
                trail
            })
            .collect();
        let at = |seconds: u64| Some(Timestamp::from_micros(seconds * 1_000_000));
        let times = [None, at(5), at(10), at(25), at(30), at(65), at(90)];
        for (since, until) in times.iter().flat_map(|since| times.iter().map(move |until| (*since, *until))) {
            for agent in [None, Some("a".to_owned()), Some("none".to_owned())] {
                let query = AuditQuery { since, until, agent, ..AuditQuery::default() };
                let found: Vec<Vec<_>> = trails
                    .iter()
                    .map(|trail| {
                        trail
                            .query(&query)
                            .unwrap()
                            .into_iter()
                            .map(|record| (record.id, record.timestamp))
                            .collect()
                    })
                    .collect();
                assert_eq!(found[0], found[1], "{query:?}");
            }
        }
    }
}
