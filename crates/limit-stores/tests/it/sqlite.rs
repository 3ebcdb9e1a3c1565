//! Limits in a file.
#![expect(clippy::disallowed_methods, reason = "looks at the file and damages it")]

use std::os::unix::fs::PermissionsExt;

use stockade_limit_stores::SqliteStore;
use stockade_limits::Usage;
use stockade_limits::store::{CallRefusal, CallVerdict, SharedLimits, StoreError};

use super::{CALL, CAP, assert_shared, limits};

#[test]
fn many_connections_share_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("limits.db");
    assert_shared(8, || SqliteStore::open(&path).unwrap());
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn what_was_used_survives_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("limits.db");
    let open = || SharedLimits::new(limits(), SqliteStore::open(&path).unwrap());
    // A process that dies leaves its reservation behind, and with it what its call may have used.
    assert!(matches!(open().admit("agent", "task", Usage::tokens(CAP - CALL + 1)), CallVerdict::Granted(_)));
    assert!(matches!(
        open().admit("agent", "task", Usage::tokens(CALL)),
        CallVerdict::Refused(CallRefusal::Budget(_))
    ));
    SqliteStore::open(&path).unwrap().forget("agent").unwrap();
    assert!(matches!(open().admit("agent", "task", Usage::tokens(CALL)), CallVerdict::Granted(_)));
}

#[test]
fn a_state_that_cannot_be_read_refuses() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("limits.db");
    let store = SqliteStore::open(&path).unwrap();
    let writer = rusqlite::Connection::open(&path).unwrap();
    writer.execute("INSERT INTO agent_limits VALUES ('agent', '{\"budget\": 7}')", []).unwrap();
    let verdict = SharedLimits::new(limits(), store).admit("agent", "task", Usage::tokens(1));
    let CallVerdict::Refused(CallRefusal::Store(StoreError::Unreadable { agent, .. })) = verdict else {
        panic!("{verdict:?}");
    };
    assert_eq!(agent, "agent");
}

#[test]
fn a_file_that_is_no_store_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    std::fs::write(&path, "These are notes, and long enough not to be taken for an empty file.".repeat(40))
        .unwrap();
    assert!(matches!(SqliteStore::open(&path), Err(StoreError::Unavailable { .. })));
    assert!(SqliteStore::open(&folder.path().join("missing/limits.db")).is_err());
    std::os::unix::fs::symlink(&path, folder.path().join("link.db")).unwrap();
    assert!(SqliteStore::open(&folder.path().join("link.db")).is_err());
}
