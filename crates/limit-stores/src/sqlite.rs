//! Limits in a file.
#![expect(
    clippy::disallowed_methods,
    reason = "looks whether the file exists, and waits for others who use it"
)]

mod look;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OptionalExtension, TransactionBehavior};
use stockade_audit::{database, private::default_state_folder};
use stockade_limits::store::{
    AgentLimits, AgentState, Change, LimitAnswer, LimitOperation, LimitStore, StateStore, StoreError,
    apply_by_update,
};

use crate::clock::SteadyClock;

/// How long a call waits for others that use the file: a call that is refused for that fails for no fault of its own.
const PATIENCE: Duration = Duration::from_secs(30);

const TABLE: &str =
    "CREATE TABLE IF NOT EXISTS agent_limits (agent TEXT PRIMARY KEY, state TEXT NOT NULL) WITHOUT ROWID";
const LOAD: &str = "SELECT state FROM agent_limits WHERE agent = ?1";
const KEEP: &str =
    "INSERT INTO agent_limits (agent, state) VALUES (?1, ?2) ON CONFLICT (agent) DO UPDATE SET state = ?2";
const FORGET: &str = "DELETE FROM agent_limits WHERE agent = ?1";

/// Keeps limits in an SQLite file, for the processes of one machine.
///
/// A change is on the disk before the call that it allows is made. The file is readable by its owner alone.
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
#[derive(Debug)]
pub struct SqliteStore {
    connection: Mutex<Connection>,
    clock: SteadyClock,
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
        let found = own_file()?.symlink_metadata();
        Ok(found.is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound))
    }

    /// Opens a file, or creates it. Its folder must exist.
    ///
    /// # Errors
    /// When the file cannot be opened or is not such a store.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        const DOING: &str = "opening the file of limits";
        let began = Instant::now();
        let connection = loop {
            match open(path) {
                Ok(connection) => break connection,
                // Many processes may come at once, and all of them are to get in.
                Err(error) if error.is_busy() && began.elapsed() < PATIENCE => {}
                Err(error) => return Err(unavailable(DOING, error)),
            }
        };
        connection.busy_timeout(PATIENCE).map_err(|error| unavailable(DOING, error))?;
        Ok(Self { connection: Mutex::new(connection), clock: SteadyClock::start() })
    }

    /// Forgets an agent: all it used, and whether its service failed. For an operator, where what is stored cannot be read;
    /// elsewhere [`AgentState::reset`] is better, since it knows calls under way from those that follow.
    ///
    /// # Errors
    /// When the store fails; then nothing is forgotten.
    pub fn forget(&self, agent: &str) -> Result<(), StoreError> {
        let connection = self.connection.lock().map_err(|_| poisoned())?;
        connection.execute(FORGET, [agent]).map_err(|error| unavailable("forgetting an agent", error))?;
        Ok(())
    }
}

impl LimitStore for SqliteStore {
    fn apply(
        &self,
        agent: &str,
        limits: &AgentLimits,
        operation: &LimitOperation<'_>,
    ) -> Result<LimitAnswer, StoreError> {
        apply_by_update(self, agent, limits, operation)
    }
}

impl StateStore for SqliteStore {
    fn update(&self, agent: &str, change: &mut Change<'_>) -> Result<(), StoreError> {
        const DOING: &str = "changing the file of limits";
        let mut connection = self.connection.lock().map_err(|_| poisoned())?;
        // "Immediate" takes the lock before reading, so that the state cannot change between read and write.
        let transaction = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(|error| unavailable(DOING, error))?;
        let stored: Option<String> = transaction
            .query_row(LOAD, [agent], |row| row.get(0))
            .optional()
            .map_err(|error| unavailable(DOING, error))?;
        let mut state: AgentState = crate::state::read(agent, stored.as_deref())?;
        change(&mut state, self.clock.now());
        let state = crate::state::write(&state)?;
        if stored.as_deref() == Some(state.as_str()) {
            return Ok(());
        }
        transaction.execute(KEEP, [agent, &state]).map_err(|error| unavailable(DOING, error))?;
        transaction.commit().map_err(|error| unavailable(DOING, error))
    }
}

fn own_file() -> Result<PathBuf, StoreError> {
    const DOING: &str = "finding the folder for the file of limits";
    let folder = default_state_folder().map_err(|error| unavailable(DOING, error))?;
    Ok(folder.join("limits.db"))
}

fn open(path: &Path) -> Result<Connection, database::OpenError> {
    let connection = database::open(path)?;
    // Where there is one already, this writes nothing.
    connection.execute(TABLE, [])?;
    Ok(connection)
}

fn unavailable(doing: &'static str, source: impl std::error::Error + Send + Sync + 'static) -> StoreError {
    StoreError::Unavailable { doing, source: source.into() }
}

fn poisoned() -> StoreError {
    let source = "a thread panicked while it changed the limits".into();
    StoreError::Unavailable { doing: "using the file of limits", source }
}
