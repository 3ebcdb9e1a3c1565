//! What an operator asks of the file: where it is, whose limits are in it, and how they stand.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _};
use stockade_audit::{database, private::state_folder};
use stockade_limits::store::{AgentLook, AgentState, LimitReset, ManagedStore, StateStore as _, StoreError};

use super::layout::{self, LAYOUT};
use super::rows::parse;
use super::{SqliteStore, steady_clock, unavailable, whole};

/// The agents of a file. One that no program of this version has opened yet has a whole state in each row.
const AGENTS: &str = "SELECT agent FROM limit_agents ORDER BY agent";
const OLD_AGENTS: &str = "SELECT agent FROM agent_limits ORDER BY agent";
const READING: &str = "reading the file of limits";
const OLD_STATE: &str = "SELECT state FROM agent_limits WHERE agent = ?1";

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
        Ok(Self { connection: Mutex::new(connection), lock: None, clock: steady_clock() })
    }
}

impl ManagedStore for SqliteStore {
    fn agents(&self) -> Result<Vec<String>, StoreError> {
        const DOING: &str = "listing the agents of the file of limits";
        let connection = self.connection()?;
        let sql = if layout::version(&connection, DOING)? == LAYOUT { AGENTS } else { OLD_AGENTS };
        let names = || -> Result<Vec<String>, rusqlite::Error> {
            connection.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
        };
        names().map_err(|error| unavailable(DOING, error))
    }

    fn look(&self, agent: &str) -> Result<AgentLook, StoreError> {
        let connection = self.connection()?;
        // All rows are read as they were at one moment.
        let moment = connection.unchecked_transaction().map_err(|error| unavailable(READING, error))?;
        let state = match layout::version(&moment, READING)? {
            LAYOUT => whole::state(&moment, agent),
            _ => old_state(&moment, agent),
        }?;
        Ok(AgentLook { state, now: self.now() })
    }

    fn reset(&self, agent: &str, what: LimitReset) -> Result<(), StoreError> {
        match self.update(agent, &mut |state, _| state.reset(what)) {
            // What cannot be read can still be forgotten as a whole.
            Err(StoreError::Unreadable { .. }) if what == LimitReset::All => self.forget(agent),
            other => other,
        }
    }
}

impl SqliteStore {
    /// Returns what time it is by the clock that limits are counted by.
    pub(super) fn now(&self) -> Duration {
        (self.clock)()
    }
}

fn old_state(connection: &Connection, agent: &str) -> Result<AgentState, StoreError> {
    let stored: Result<Option<String>, _> =
        connection.query_row(OLD_STATE, [agent], |row| row.get(0)).optional();
    match stored.map_err(|error| unavailable(READING, error))? {
        Some(state) => parse(agent, &state),
        None => Ok(AgentState::default()),
    }
}
