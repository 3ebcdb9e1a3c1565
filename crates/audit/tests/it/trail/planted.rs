//! Objects that an attacker plants in the database, with any program that writes SQLite, so that records do not arrive or are not
//! seen.

use super::{denied, events, keep, open};
use std::path::Path;

use stockade_audit::{AuditError, AuditOptions, AuditTrail, FaultKind};

/// What is planted, and a word of what is said about it.
const PLANTED: &[(&str, &str)] = &[
    ("CREATE TRIGGER y BEFORE INSERT ON audit_events BEGIN SELECT RAISE(IGNORE); END", "trigger \"y\""),
    (
        "CREATE TRIGGER y AFTER INSERT ON audit_events BEGIN DELETE FROM audit_events WHERE id = new.id; END",
        "trigger \"y\"",
    ),
    (
        "CREATE TRIGGER y AFTER INSERT ON audit_open_runs BEGIN DELETE FROM audit_open_runs; END",
        "trigger \"y\"",
    ),
    ("CREATE VIEW y AS SELECT * FROM audit_events", "view \"y\""),
    ("CREATE INDEX y ON audit_events (id) WHERE id < 3", "index \"y\""),
    ("CREATE TABLE y (x)", "table \"y\""),
    ("DROP TRIGGER audit_events_last", "trigger \"audit_events_last\" is missing"),
    (
        "DROP TRIGGER audit_events_stay; CREATE TRIGGER audit_events_stay BEFORE UPDATE ON audit_events BEGIN SELECT 1; END",
        "trigger \"audit_events_stay\" is not as",
    ),
    (
        "ALTER TABLE audit_events RENAME TO hidden; CREATE VIEW audit_events AS SELECT * FROM hidden WHERE id <> 2",
        "view \"audit_events\"",
    ),
];

fn plant(path: &Path, sql: &str) {
    rusqlite::Connection::open(path).unwrap().execute_batch(sql).unwrap();
}

fn three_records(path: &Path) {
    let trail = open(path);
    (0..3).for_each(|number| keep(&trail, denied(&format!("command {number}"))));
}

/// Each is planted while the trail is closed, and while it is open.
#[test]
fn planted_objects_are_refused_at_opening_and_while_open() {
    for (sql, said) in PLANTED {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.db");
        three_records(&path);
        let open_before = open(&path);
        plant(&path, sql);
        let later = open_before.record(denied("hidden")).map(drop);
        let opened = AuditTrail::open(&path, AuditOptions::default()).map(drop);
        for refused in [later, opened] {
            let error = refused.expect_err(sql);
            assert!(matches!(error, AuditError::Foreign { .. }), "{sql}: {error}");
            assert!(error.to_string().contains(said), "{sql}: {error}");
        }
    }
}

#[test]
fn what_is_planted_is_named_by_verify_and_nothing_is_shown_through_it() {
    for (sql, said) in PLANTED {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.db");
        three_records(&path);
        plant(&path, sql);
        let trail = AuditTrail::open_to_read(&path).unwrap();
        let verified = trail.verify(None).unwrap();
        let named = |kind: &FaultKind| matches!(kind, FaultKind::Unsound(what) if what.contains(said));
        assert!(verified.faults.iter().any(|fault| named(&fault.kind)), "{sql}: {verified:?}");
        assert!(matches!(trail.query(&Default::default()), Err(AuditError::Foreign { .. })), "{sql}");
        assert!(matches!(trail.head(), Err(AuditError::Foreign { .. })), "{sql}");
    }
}

/// Statistics, which an operator may well have made, and another setting of the file, are accepted.
#[test]
fn what_cannot_hide_a_record_may_be_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.db");
    three_records(&path);
    plant(&path, "ANALYZE; PRAGMA application_id = 7; VACUUM");
    let trail = open(&path);
    keep(&trail, denied("command 3"));
    assert!(trail.verify(None).unwrap().intact());
    assert_eq!(events(&trail).len(), 4);
}

/// A record that SQLite was talked out of, by something that no schema shows, is still missed.
#[test]
fn a_record_that_is_not_there_was_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.db");
    three_records(&path);
    let trail = open(&path);
    // The run is open in the table that this program keeps of them, and its end finds nothing to end.
    let run =
        trail.start(stockade_audit::AuditEvent::new(stockade_audit::EventKind::SandboxStarted)).unwrap();
    plant(&path, "DELETE FROM audit_open_runs");
    assert!(run.end(stockade_audit::AuditEvent::new(stockade_audit::EventKind::SandboxCompleted)).is_err());
}
