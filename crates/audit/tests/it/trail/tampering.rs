//! Whatever is changed in a trail after it was written shows.

use super::{denied, keep, new_trails, open};
use std::fs;
use std::path::Path;

use stockade_audit::{AuditTrail, FaultKind, Head};

/// Changes the lines of a trail.
type EditLines = fn(&mut Vec<String>);

/// What was done, how it is done to lines and to a database, and how it shows.
struct Row {
    what: &'static str,
    lines: EditLines,
    #[cfg_attr(not(feature = "sqlite"), expect(dead_code, reason = "there is no database"))]
    sql: &'static str,
    shows: fn(&FaultKind) -> bool,
}

const ROWS: &[Row] = &[
    Row {
        what: "a text is changed",
        lines: |lines| lines[2] = lines[2].replace("command 2", "command X"),
        sql: "UPDATE audit_events SET data = replace(data, 'command 2', 'command X') WHERE id = 3",
        shows: |kind| *kind == FaultKind::Edited,
    },
    Row {
        what: "a decision is changed",
        lines: |lines| lines[4] = lines[4].replace("command_denied", "command_allowed"),
        sql: "UPDATE audit_events SET event = 'command_allowed' WHERE id = 5",
        shows: |kind| *kind == FaultKind::Edited,
    },
    Row {
        what: "a time is changed",
        lines: |lines| lines[4] = lines[4].replacen("\"timestamp\":\"2", "\"timestamp\":\"3", 1),
        sql: "UPDATE audit_events SET timestamp = '3' || substr(timestamp, 2) WHERE id = 5",
        shows: |kind| *kind == FaultKind::Edited,
    },
    Row {
        what: "a record is removed",
        lines: |lines| drop(lines.remove(3)),
        sql: "DELETE FROM audit_events WHERE id = 4",
        shows: |kind| *kind == FaultKind::Missing { from: 4 },
    },
    Row {
        what: "the first record is removed",
        lines: |lines| drop(lines.remove(0)),
        sql: "DELETE FROM audit_events WHERE id = 1",
        shows: |kind| *kind == FaultKind::Missing { from: 1 },
    },
    Row {
        what: "the last records are removed",
        lines: |lines| lines.truncate(6),
        sql: "DELETE FROM audit_events WHERE id > 6",
        shows: |kind| *kind == FaultKind::CutOff { last: 10 },
    },
    Row {
        what: "two records change places",
        lines: |lines| lines.swap(2, 5),
        sql: "UPDATE audit_events SET id = -1 WHERE id = 3; UPDATE audit_events SET id = 3 WHERE id = 6; \
              UPDATE audit_events SET id = 6 WHERE id = -1",
        shows: |kind| matches!(kind, FaultKind::Misplaced | FaultKind::Edited),
    },
    Row {
        what: "a record stands twice",
        lines: |lines| lines.insert(4, lines[4].clone()),
        sql: "INSERT INTO audit_events SELECT 11, '3026-01-01T00:00:00.000000Z', event, severity, run, agent, skill, decision, \
              rule, backend, exit_code, duration_ms, data, writer, prev, hash, seal FROM audit_events WHERE id = 5",
        shows: |kind| matches!(kind, FaultKind::Misplaced | FaultKind::Edited),
    },
    Row {
        what: "a record is no record any more",
        lines: |lines| lines[5] = "{\"id\": 6}".to_owned(),
        sql: "UPDATE audit_events SET data = 'nothing' WHERE id = 6",
        shows: |kind| matches!(kind, FaultKind::Unreadable(_)),
    },
];

fn ten_records(path: &Path) -> Head {
    let trail = open(path);
    for number in 0..10 {
        keep(&trail, denied(&format!("command {number}")));
    }
    let verified = trail.verify(None).unwrap();
    assert!(verified.intact() && verified.records == 10, "{verified:?}");
    verified.head
}

fn edit(path: &Path, row: &Row) {
    match path.extension().is_some_and(|ending| ending == "jsonl") {
        true => edit_lines(path, row.lines),
        false => edit_database(path, row),
    }
}

#[cfg(feature = "sqlite")]
fn edit_database(path: &Path, row: &Row) {
    const DISARM: &str = "DROP TRIGGER audit_events_stay; DROP TRIGGER audit_events_last; \
                          DROP INDEX audit_events_timestamp;";
    let database = rusqlite::Connection::open(path).unwrap();
    if !row.sql.starts_with("INSERT") {
        assert!(database.execute_batch(row.sql).is_err(), "{}: a trigger objects", row.what);
    }
    database.execute_batch(DISARM).unwrap();
    database.execute_batch(row.sql).unwrap();
}

#[cfg(not(feature = "sqlite"))]
fn edit_database(path: &Path, _: &Row) {
    panic!("{} cannot be a database", path.display());
}

fn edit_lines(path: &Path, edit: EditLines) {
    let text = fs::read_to_string(path).unwrap();
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    edit(&mut lines);
    fs::write(path, lines.join("\n") + "\n").unwrap();
}

#[test]
fn every_change_shows() {
    for row in ROWS {
        for (_folder, path) in new_trails() {
            ten_records(&path);
            edit(&path, row);
            let verified = AuditTrail::open_to_read(&path).unwrap().verify(None).unwrap();
            let shows = verified.faults.iter().any(|fault| (row.shows)(&fault.kind));
            assert!(shows, "{}: {}: {:?}", path.display(), row.what, verified.faults);
        }
    }
}

#[test]
fn a_line_that_says_the_same_in_other_words_shows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    ten_records(&path);
    edit_lines(&path, |lines| lines[2] = lines[2].replacen("{\"id\":3", "{ \"id\":3", 1));
    let verified = AuditTrail::open_to_read(&path).unwrap().verify(None).unwrap();
    assert!(verified.faults.iter().any(|fault| fault.id == 3), "{verified:?}");
}

/// Who can write to the file can write another trail that is sound in itself. Only what was kept elsewhere tells.
#[test]
fn a_trail_that_was_written_anew_is_not_the_expected_one() {
    for (folder, path) in new_trails() {
        let head = ten_records(&path);
        for name in fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()) {
            if name.is_file() {
                fs::remove_file(name).unwrap();
            }
        }
        ten_records(&path);
        let trail = AuditTrail::open_to_read(&path).unwrap();
        assert!(trail.verify(None).unwrap().intact());
        let verified = trail.verify(Some(&head)).unwrap();
        assert!(
            matches!(verified.faults[..], [ref fault] if fault.kind == FaultKind::NotTheExpected),
            "{verified:?}"
        );
        let longer = Head { id: 99, ..head };
        assert!(!trail.verify(Some(&longer)).unwrap().intact(), "a record that is not there");
    }
}
