//! Limits in a file.
#![expect(
    clippy::disallowed_methods,
    reason = "looks whether the file exists, and waits for others who use it"
)]

mod core;
mod fair_lock;
mod layout;
mod look;
mod rows;
mod whole;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use rusqlite::{Connection, Transaction, TransactionBehavior};
use stockade_audit::{database, private::default_state_folder};
use stockade_files::check_owned_once;
use stockade_limits::store::{
    AgentLimits, Change, LimitAnswer, LimitOperation, LimitStore, StateStore, StoreError,
};

use self::fair_lock::{FairLock, Turn};
use self::rows::Rows;

use crate::clock::SteadyClock;

/// How long a call waits for others that use the file: a call that is refused for that fails for no fault of its own.
const PATIENCE: Duration = Duration::from_secs(30);

/// Pages of the write-ahead log that are copied to the file together, some eight megabytes, in place of the usual four: fewer
/// waits for the disk.
const CHECKPOINT_PAGES: u32 = 2_000;
/// More than there are, so that each is prepared once.
const MAX_STATEMENTS: usize = 32;

const FORGET: [&str; 4] = [
    "DELETE FROM limit_holds WHERE agent = (SELECT id FROM limit_agents WHERE agent = ?1)",
    "DELETE FROM limit_executions WHERE agent = (SELECT id FROM limit_agents WHERE agent = ?1)",
    "DELETE FROM limit_windows WHERE agent = (SELECT id FROM limit_agents WHERE agent = ?1)",
    "DELETE FROM limit_agents WHERE agent = ?1",
];

/// Keeps limits in an SQLite file, for the processes of one machine.
///
/// A change is in the file before the call that it allows is made, so that no end of a process loses it, not even by a kill. A
/// power cut or a crash of the kernel may lose the changes of the last moments; the file stays whole. A decision reads and writes
/// the rows that it needs, so that its cost does not grow with what was used before. Processes have their turns in the order in
/// which they ask. The file is readable by its owner alone.
///
/// ```
/// use stockade_limit_stores::SqliteStore;
/// use stockade_limits::Usage;
/// use stockade_limits::store::{AgentLimits, CallVerdict, SharedLimits};
///
/// let folder = tempfile::tempdir()?;
/// let limits = SharedLimits::new(AgentLimits::default(), SqliteStore::open(&folder.path().join("limits.db"))?);
/// let verdict = limits.admit("agent-1", "task-1", Usage::tokens(10_000));
/// assert!(matches!(verdict, CallVerdict::Granted(_)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
/// Where nothing else is needed, [`SqliteStore::open_default`] keeps the limits of all agents of a user in one place, so
/// that starting an agent anew frees no budget.
pub struct SqliteStore {
    connection: Mutex<Connection>,
    /// Nothing where the file is only read.
    lock: Option<FairLock>,
    clock: Box<dyn Fn() -> Duration + Send + Sync>,
}

/// How a transaction ends.
enum Ends {
    Committed,
    Discarded,
}

impl SqliteStore {
    /// Opens the file of this user, or creates it: `stockade/limits.db` in `$XDG_STATE_HOME`, or in `~/.local/state`.
    ///
    /// # Errors
    /// When neither variable holds an absolute path, or the file cannot be opened. Never falls back to memory, where
    /// limits would end with the process.
    pub fn open_default() -> Result<Self, StoreError> {
        Self::open(&own_file()?)
    }

    /// Returns whether this user has no such file yet.
    ///
    /// # Errors
    /// When its folder cannot be found or created.
    pub fn is_default_missing() -> Result<bool, StoreError> {
        let file = own_file()?;
        let is_missing =
            file.symlink_metadata().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound);
        Ok(is_missing && !FairLock::tells_made(&file))
    }

    /// Opens a file, or creates it. Its folder must exist.
    ///
    /// # Errors
    /// When the file cannot be opened or is not such a store.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        const DOING: &str = "opening the file of limits";
        let failed = |error| unavailable(DOING, error);
        // What another user could replace is not obeyed, and nothing is created beside it.
        check_owned_once(path).map_err(|error| unavailable(DOING, error))?;
        // The file is opened first, so that nothing is created beside a file that is not a store.
        let mut connection = connect(path).map_err(|error| unavailable(DOING, error))?;
        let lock = FairLock::beside(path).map_err(|error| unavailable(DOING, error))?;
        {
            let _turn = wait(&lock)?;
            let was_made = lock.was_made().map_err(|error| unavailable(DOING, error))?;
            if was_made && layout::is_empty(&connection)? {
                return Err(emptied(path));
            }
            layout::prepare(&mut connection)?;
            if !was_made {
                lock.note_made().map_err(|error| unavailable(DOING, error))?;
            }
        }
        connection.busy_timeout(PATIENCE).map_err(failed)?;
        connection.pragma_update(None, "synchronous", "NORMAL").map_err(failed)?;
        connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES).map_err(failed)?;
        connection.set_prepared_statement_cache_capacity(MAX_STATEMENTS);
        Ok(Self { connection: Mutex::new(connection), lock: Some(lock), clock: steady_clock() })
    }

    /// Returns the store with another clock than the steady one of this process, for tests and simulations.
    #[must_use]
    pub fn with_clock(self, clock: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        Self { clock: Box::new(clock), ..self }
    }

    /// Forgets an agent: all it used, and whether its service failed. For an operator, where what is stored cannot be read;
    /// elsewhere [`AgentState::reset`](stockade_limits::store::AgentState::reset) is better, since it knows calls under way from
    /// those that follow.
    ///
    /// # Errors
    /// When the store fails; then nothing is forgotten.
    pub fn forget(&self, agent: &str) -> Result<(), StoreError> {
        let failed = |error| unavailable("forgetting an agent", error);
        self.change(|transaction| {
            for statement in FORGET {
                transaction.execute(statement, [agent]).map_err(failed)?;
            }
            Ok(())
        })
    }

    /// Runs a change in a transaction of its own, when it is the turn of this process.
    fn change<T>(
        &self,
        change: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.attempt(|transaction| Ok((change(transaction)?, Ends::Committed)))
    }

    fn attempt<T>(
        &self,
        change: impl FnOnce(&Transaction<'_>) -> Result<(T, Ends), StoreError>,
    ) -> Result<T, StoreError> {
        let failed = |error| unavailable("changing the file of limits", error);
        let mut connection = self.connection()?;
        let _turn = self.lock.as_ref().map(wait).transpose()?;
        // "Immediate" takes the lock before reading, so that nothing can change between read and write.
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        let (result, ends) = change(&transaction)?;
        match ends {
            Ends::Committed => transaction.commit(),
            Ends::Discarded => transaction.rollback(),
        }
        .map_err(failed)?;
        Ok(result)
    }

    fn connection(&self) -> Result<MutexGuard<'_, Connection>, StoreError> {
        self.connection.lock().map_err(|_| StoreError::Unavailable {
            doing: "using the file of limits",
            source: "a thread panicked while it changed the limits".into(),
        })
    }
}

impl LimitStore for SqliteStore {
    fn apply(
        &self,
        agent: &str,
        limits: &AgentLimits,
        operation: &LimitOperation<'_>,
    ) -> Result<LimitAnswer, StoreError> {
        self.attempt(|transaction| {
            let mut rows = Rows::of(transaction, agent)?;
            let mut breaker = std::mem::take(&mut rows.core.breaker);
            let answer = operation.run(limits, &mut rows, &mut breaker, self.now());
            rows.core.breaker = breaker;
            rows.finish()?;
            // Who only asks waits for no disk.
            Ok((answer, if operation.only_asks() { Ends::Discarded } else { Ends::Committed }))
        })
    }
}

impl StateStore for SqliteStore {
    fn update(&self, agent: &str, change: &mut Change<'_>) -> Result<(), StoreError> {
        self.change(|transaction| {
            let mut state = whole::state(transaction, agent)?;
            change(&mut state, self.now());
            whole::replace(transaction, agent, &state)
        })
    }
}

/// What agents used is gone, and they would begin anew.
fn emptied(path: &Path) -> StoreError {
    let why = format!(
        "it was emptied or deleted, and with it what agents used; restore it, or delete {}-turn to let all begin with nothing used",
        path.display()
    );
    StoreError::Unavailable { doing: "opening the file of limits", source: why.into() }
}

fn own_file() -> Result<PathBuf, StoreError> {
    const DOING: &str = "finding the folder for the file of limits";
    let folder = default_state_folder().map_err(|error| unavailable(DOING, error))?;
    Ok(folder.join("limits.db"))
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore")
            .field("connection", &self.connection)
            .field("lock", &self.lock)
            .finish_non_exhaustive()
    }
}

fn connect(path: &Path) -> Result<Connection, database::OpenError> {
    let began = Instant::now();
    loop {
        match database::open(path) {
            // Many processes may come at once, and all of them are to get in.
            Err(error) if error.is_busy() && began.elapsed() < PATIENCE => {}
            result => return result,
        }
    }
}

fn wait(lock: &FairLock) -> Result<Turn, StoreError> {
    lock.wait(PATIENCE)
        .map_err(|error| unavailable("waiting for others that change the file of limits", error))
}

fn steady_clock() -> Box<dyn Fn() -> Duration + Send + Sync> {
    let clock = SteadyClock::start();
    Box::new(move || clock.now())
}

fn unavailable(doing: &'static str, source: impl std::error::Error + Send + Sync + 'static) -> StoreError {
    StoreError::Unavailable { doing, source: source.into() }
}
