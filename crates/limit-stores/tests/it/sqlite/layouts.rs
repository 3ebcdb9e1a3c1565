//! Files of earlier and of later versions.
#![expect(clippy::panic, reason = "a test may panic")]

use std::path::Path;
use std::time::Duration;

use stockade_limit_stores::SqliteStore;
use stockade_limits::Usage;
use stockade_limits::breaker::CallOutcome;
use stockade_limits::store::{
    AgentState, CallRefusal, CallVerdict, ManagedStore as _, MemoryStore, SharedLimits, StateStore as _,
    StoreError,
};

use crate::{CALL, CAP, limits};

/// The statements of the version that kept a whole state in each row.
const OLD_TABLE: &str =
    "CREATE TABLE IF NOT EXISTS agent_limits (agent TEXT PRIMARY KEY, state TEXT NOT NULL) WITHOUT ROWID";
const OLD_LOAD: &str = "SELECT state FROM agent_limits WHERE agent = ?1";
const OLD_KEEP: &str =
    "INSERT INTO agent_limits (agent, state) VALUES (?1, ?2) ON CONFLICT (agent) DO UPDATE SET state = ?2";

/// A state with calls that were settled, one in flight, and a failure.
fn used() -> AgentState {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let now = Duration::from_millis(u64::try_from(now.as_millis()).unwrap());
    let shared = SharedLimits::new(limits(), MemoryStore::new(move || now));
    for (task, outcome) in [
        ("one", Some(CallOutcome::Success)),
        ("two", Some(CallOutcome::Success)),
        ("two", Some(CallOutcome::Failure)),
        ("two", None),
    ] {
        let CallVerdict::Granted(permit) = shared.admit("agent", task, Usage::tokens(CAP / 5)) else {
            panic!()
        };
        if let Some(outcome) = outcome {
            let _settled = shared.settle(permit, Usage::tokens(CAP / 5), outcome).unwrap();
        }
    }
    let mut state = AgentState::default();
    shared.store().update("agent", &mut |kept, _| state = kept.clone()).unwrap();
    state
}

fn old_file(path: &Path, states: &[(&str, &str)]) {
    let old = rusqlite::Connection::open(path).unwrap();
    old.execute(OLD_TABLE, []).unwrap();
    for state in states {
        old.execute(OLD_KEEP, *state).unwrap();
    }
}

#[test]
fn an_old_file_keeps_what_was_used() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("limits.db");
    let text = serde_json::to_string(&used()).unwrap();
    old_file(&path, &[("agent", &text), ("damaged", "{\"budget\": 7}")]);
    // A reader changes nothing, and finds the same before and after.
    let read = || SqliteStore::open_to_read(&path).unwrap();
    assert_eq!(read().agents().unwrap(), ["agent", "damaged"]);
    assert_eq!(read().look("agent").unwrap().state, used_again(&text));
    assert!(matches!(read().look("damaged"), Err(StoreError::Unreadable { .. })));

    let open = || SharedLimits::new(limits(), SqliteStore::open(&path).unwrap());
    drop(open());
    assert_eq!(read().agents().unwrap(), ["agent", "damaged"]);
    assert_eq!(read().look("agent").unwrap().state, used_again(&text));
    assert!(matches!(read().look("damaged"), Err(StoreError::Unreadable { .. })));
    let verdict = open().admit("agent", "three", Usage::tokens(CAP / 5 + 1));
    assert!(matches!(verdict, CallVerdict::Refused(CallRefusal::Budget(_))), "{verdict:?}");
    let verdict = open().admit("damaged", "task", Usage::tokens(CALL));
    let is_refused =
        matches!(&verdict, CallVerdict::Refused(CallRefusal::Store(StoreError::Unreadable { .. })));
    assert!(is_refused, "{verdict:?}");
    open().store().forget("damaged").unwrap();
    assert!(matches!(open().admit("damaged", "task", Usage::tokens(CALL)), CallVerdict::Granted(_)));
}

fn used_again(text: &str) -> AgentState {
    serde_json::from_str(text).unwrap()
}

/// A program of the old version that still runs, or is started again, must not begin anew.
#[test]
fn an_old_program_fails_on_a_new_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("limits.db");
    old_file(&path, &[]);
    let old = rusqlite::Connection::open(&path).unwrap();
    drop(SqliteStore::open(&path).unwrap());
    for _ in 0..2 {
        let load: Result<String, _> = old.query_row(OLD_LOAD, ["agent"], |row| row.get(0));
        assert!(load.is_err_and(|error| error != rusqlite::Error::QueryReturnedNoRows));
        assert!(old.execute(OLD_KEEP, ["agent", "{}"]).is_err());
        let _made: Result<usize, _> = old.execute(OLD_TABLE, []);
    }
}

#[test]
fn a_file_of_a_newer_version_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("limits.db");
    drop(SqliteStore::open(&path).unwrap());
    let writer = rusqlite::Connection::open(&path).unwrap();
    writer.pragma_update(None, "user_version", 2).unwrap();
    assert!(matches!(SqliteStore::open(&path), Err(StoreError::Unavailable { .. })));
    let read = SqliteStore::open_to_read(&path).unwrap();
    assert!(read.agents().is_err() && read.look("agent").is_err());
}
