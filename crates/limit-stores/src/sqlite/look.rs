//! What an operator asks of the file: where it is, whose limits are in it, and how they stand.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use rusqlite::OptionalExtension as _;
use stockade_audit::{database, private::state_folder};
use stockade_limits::store::{AgentState, StoreError};

use super::{LOAD, SqliteStore, SteadyClock, poisoned, unavailable};
use crate::state::read;

const AGENTS: &str = "SELECT agent FROM agent_limits ORDER BY agent";

impl SqliteStore {
    /// Returns where the file of this user is, or would be; nothing where the environment names no place.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "asks the environment where states are kept")]
    pub fn default_path() -> Option<PathBuf> {
        state_folder(|name| std::env::var_os(name).map(PathBuf::from)).map(|folder| folder.join("limits.db"))
    }

    /// Opens a file that others write to, to read it alone. Nothing is created.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn open_to_read(path: &Path) -> Result<Self, StoreError> {
        let connection =
            database::open_to_read(path).map_err(|error| unavailable("opening the file of limits", error))?;
        Ok(Self { connection: Mutex::new(connection), clock: SteadyClock::start() })
    }

    /// Returns the agents of which anything is known, in the order of their names.
    ///
    /// # Errors
    /// When the file cannot be read, or is no such store.
    pub fn agents(&self) -> Result<Vec<String>, StoreError> {
        let connection = self.connection.lock().map_err(|_| poisoned())?;
        let names = || -> Result<Vec<String>, rusqlite::Error> {
            connection.prepare(AGENTS)?.query_map([], |row| row.get(0))?.collect()
        };
        names().map_err(|error| unavailable("listing the agents of the file of limits", error))
    }

    /// Returns what is known of an agent; of one that is not in the file, nothing was used.
    ///
    /// # Errors
    /// When the file cannot be read, or what is stored of the agent cannot.
    pub fn state(&self, agent: &str) -> Result<AgentState, StoreError> {
        let connection = self.connection.lock().map_err(|_| poisoned())?;
        let stored: Option<String> = connection
            .query_row(LOAD, [agent], |row| row.get(0))
            .optional()
            .map_err(|error| unavailable("reading the file of limits", error))?;
        read(agent, stored.as_deref())
    }

    /// Returns what time it is by the clock that limits are counted by.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.clock.now()
    }
}
