//! Limits in a file.
#![expect(clippy::disallowed_methods, reason = "creates the file in which limits are kept")]

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension, TransactionBehavior};
use stockade_limits::{AgentState, Change, LimitStore, StoreError};

use super::clock::SteadyClock;

/// How long a process waits for another one's change.
const PATIENCE: Duration = Duration::from_secs(5);

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
/// use stockade_guard::SqliteStore;
/// use stockade_guard::limits::{AgentLimits, CallVerdict, SharedLimits, Usage};
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
        const DOING: &str = "finding the folder for the file of limits";
        let folder = state_folder(|name| std::env::var_os(name).map(PathBuf::from));
        let folder = folder.ok_or_else(|| StoreError::Unavailable {
            doing: DOING,
            source: "neither XDG_STATE_HOME nor HOME is an absolute path; open a file of your choice instead"
                .into(),
        })?;
        create_private_folder(&folder).map_err(|error| unavailable(DOING, error))?;
        Self::open(&folder.join("limits.db"))
    }

    /// Opens a file, or creates it. Its folder must exist.
    ///
    /// # Errors
    /// When the file cannot be opened or is not such a store.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        create_private(path).map_err(|error| unavailable("creating the file of limits", error))?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let prepare = || -> Result<Connection, rusqlite::Error> {
            let connection = Connection::open_with_flags(path, flags)?;
            connection.busy_timeout(PATIENCE)?;
            connection.pragma_update(None, "journal_mode", "WAL")?;
            connection.pragma_update(None, "synchronous", "FULL")?;
            connection.execute(TABLE, [])?;
            Ok(connection)
        };
        let connection = prepare().map_err(|error| unavailable("opening the file of limits", error))?;
        Ok(Self { connection: Mutex::new(connection), clock: SteadyClock::start() })
    }

    /// Forgets an agent: all it used, and whether its service failed. For an operator, after a mistake.
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
    fn update(&self, agent: &str, change: &mut Change<'_>) -> Result<(), StoreError> {
        const DOING: &str = "changing the file of limits";
        let mut connection = self.connection.lock().map_err(|_| poisoned())?;
        // "Immediate" takes the lock before reading, so that nobody changes what was read.
        let transaction = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(|error| unavailable(DOING, error))?;
        let stored: Option<String> = transaction
            .query_row(LOAD, [agent], |row| row.get(0))
            .optional()
            .map_err(|error| unavailable(DOING, error))?;
        let mut state: AgentState = super::read(agent, stored.as_deref())?;
        change(&mut state, self.clock.now());
        let state = super::write(&state)?;
        transaction.execute(KEEP, [agent, &state]).map_err(|error| unavailable(DOING, error))?;
        transaction.commit().map_err(|error| unavailable(DOING, error))
    }
}

/// The folder for what is kept between runs, from the variables of the environment. Relative ones are no answer: they
/// would change with the current folder, and an agent may have put one there.
fn state_folder(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let absolute = |name| variable(name).filter(|path| path.is_absolute());
    let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")))?;
    Some(state.join("stockade"))
}

fn create_private_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Creates the file if it is not there. SQLite gives its side files the same permissions.
fn create_private(path: &Path) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}

fn unavailable(doing: &'static str, source: impl std::error::Error + Send + Sync + 'static) -> StoreError {
    StoreError::Unavailable { doing, source: source.into() }
}

fn poisoned() -> StoreError {
    let source = "a thread panicked while it changed the limits".into();
    StoreError::Unavailable { doing: "using the file of limits", source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_kept_where_the_user_keeps_states() {
        for (state, home, expected) in [
            (None, Some("/home/me"), Some("/home/me/.local/state/stockade")),
            (Some("/var/state"), Some("/home/me"), Some("/var/state/stockade")),
            (Some("state"), Some("/home/me"), Some("/home/me/.local/state/stockade")),
            (Some(""), None, None),
            (None, Some("."), None),
            (None, None, None),
        ] {
            let folder = state_folder(|name| match name {
                "XDG_STATE_HOME" => state.map(PathBuf::from),
                _ => home.map(PathBuf::from),
            });
            assert_eq!(folder.as_deref(), expected.map(Path::new), "{state:?} {home:?}");
        }
    }
}
