//! Limits in a file.
#![expect(clippy::disallowed_methods, reason = "looks at the file and damages it")]

mod layouts;

use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use proptest::prelude::*;
use stockade_limit_stores::SqliteStore;
use stockade_limits::Usage;
use stockade_limits::store::{
    AgentState, CallRefusal, CallVerdict, ManagedStore as _, MemoryStore, SharedLimits, StateStore as _,
    StoreError,
};

use super::steps::{self, Clock, Step};
use super::{CALL, CAP, assert_shared, limits};

/// A budget that begins anew without a word would be no budget.
#[test]
fn a_file_that_was_emptied_or_deleted_refuses_until_an_operator_says_so() {
    let empty = |path: &std::path::Path| std::fs::write(path, "").unwrap();
    let delete = |path: &std::path::Path| std::fs::remove_file(path).unwrap();
    for (what, lose) in [("emptied", &empty as &dyn Fn(&std::path::Path)), ("deleted", &delete)] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("limits.db");
        let open = || SqliteStore::open(&path);
        let admit = |store| SharedLimits::new(limits(), store).admit("agent", "task", Usage::tokens(CAP));
        assert!(matches!(admit(open().unwrap()), CallVerdict::Granted(_)));
        lose(&path);
        for _ in 0..2 {
            let error = open().unwrap_err();
            let why = std::error::Error::source(&error).unwrap().to_string();
            assert!(why.contains("emptied or deleted") && why.contains("limits.db-turn"), "{what}: {why}");
        }
        std::fs::remove_file(folder.path().join("limits.db-turn")).unwrap();
        assert!(matches!(admit(open().unwrap()), CallVerdict::Granted(_)), "{what}");
    }
}

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
    writer.execute("INSERT INTO limit_agents (agent, core) VALUES ('agent', '{\"budget\": 7}')", []).unwrap();
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

/// Fifty clients at once, each change tried once: the clock is asked once for each try.
#[test]
fn a_change_is_never_tried_again() {
    const CLIENTS: u64 = 50;
    const CHANGES: u64 = 20;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("limits.db");
    let tries = Arc::new(AtomicU64::new(0));
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (path, tries) = (&path, Arc::clone(&tries));
            scope.spawn(move || {
                let store = SqliteStore::open(path).unwrap().with_clock(move || {
                    tries.fetch_add(1, Ordering::Relaxed);
                    Duration::from_secs(1)
                });
                let shared = SharedLimits::new(limits(), store);
                for _ in 0..CHANGES {
                    shared.take_step("agent", &format!("task-{client}")).unwrap();
                }
            });
        }
    });
    assert_eq!(tries.load(Ordering::Relaxed), CLIENTS * CHANGES);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The rows of the file hold what a state in memory holds, and give the same answers.
    #[test]
    fn rows_agree_with_a_state_in_memory(script in steps::scripts()) {
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::default();
        let (of_file, of_memory) = (clock.clone(), clock.clone());
        let file = SqliteStore::open(&folder.path().join("limits.db")).unwrap();
        let file = SharedLimits::new(steps::limits(), file.with_clock(move || of_file.now()));
        let memory = SharedLimits::new(steps::limits(), MemoryStore::new(move || of_memory.now()));
        let (mut of_file, mut of_memory) = (Vec::new(), Vec::new());
        for step in &script {
            clock.pass(step);
            let expected = Step::take(step, &memory, &mut of_memory);
            prop_assert_eq!(Step::take(step, &file, &mut of_file), expected);
        }
        let mut expected = AgentState::default();
        memory.store().update("agent", &mut |state, _| expected = state.clone()).unwrap();
        prop_assert_eq!(file.store().look("agent").unwrap().state, expected.clone());
        // The same once more after all rows were written anew.
        file.store().update("agent", &mut |_, _| {}).unwrap();
        prop_assert_eq!(file.store().look("agent").unwrap().state, expected);
        prop_assert_eq!(Step::take(&Step::ADMIT, &file, &mut of_file), Step::take(&Step::ADMIT, &memory, &mut of_memory));
    }
}
