//! The tables of the file, and how a file of an earlier version becomes one of this.

use rusqlite::{Connection, TransactionBehavior};
use stockade_limits::store::{AgentState, StoreError};

use super::rows::parse;
use super::unavailable;
use super::whole::replace;

/// Number of this layout in the head of the file. Before there were rows, it was zero.
pub(super) const LAYOUT: i64 = 1;

const DOING: &str = "opening the file of limits";

/// One row for each agent, and one for each of its calls in flight, open executions, and parts of a window. Each row is
/// written as JSON, next to what it is found by.
///
/// A program of before finds a view in place of its table, so that its statements fail. It would begin anew otherwise.
const TABLES: &str = "
CREATE TABLE limit_agents (id INTEGER PRIMARY KEY, agent TEXT NOT NULL UNIQUE, core TEXT NOT NULL);
CREATE TABLE limit_holds (
    agent INTEGER NOT NULL, id INTEGER NOT NULL, until INTEGER NOT NULL, execution TEXT NOT NULL, hold TEXT NOT NULL,
    PRIMARY KEY (agent, id)
) WITHOUT ROWID;
CREATE INDEX limit_holds_until ON limit_holds (agent, until);
CREATE INDEX limit_holds_execution ON limit_holds (agent, execution);
CREATE TABLE limit_executions (
    agent INTEGER NOT NULL, name TEXT NOT NULL, touched INTEGER NOT NULL, execution TEXT NOT NULL,
    PRIMARY KEY (agent, name)
) WITHOUT ROWID;
CREATE INDEX limit_executions_touched ON limit_executions (agent, touched);
CREATE TABLE limit_windows (
    agent INTEGER NOT NULL, span INTEGER NOT NULL, first INTEGER NOT NULL, usage TEXT NOT NULL,
    PRIMARY KEY (agent, span, first)
) WITHOUT ROWID;
";
const CLOSE_OLD: &str = "
DROP TABLE IF EXISTS agent_limits;
CREATE VIEW agent_limits AS SELECT agent FROM limit_agents;
";

const HAS_OLD: &str = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'agent_limits'";
const OLD: &str = "SELECT agent, state FROM agent_limits";
/// A state that cannot be read is kept as it is, and refuses until an operator resets the agent.
const KEEP_UNREADABLE: &str = "INSERT INTO limit_agents (agent, core) VALUES (?1, ?2)";

/// Whether a file has no tables, of this version or of an earlier one.
///
/// # Errors
/// When it cannot be read, or is of a newer version.
pub(super) fn is_empty(connection: &Connection) -> Result<bool, StoreError> {
    let has_old = || connection.query_row(HAS_OLD, [], |row| row.get::<_, i64>(0));
    Ok(version(connection, DOING)? != LAYOUT && has_old().map_err(|error| unavailable(DOING, error))? == 0)
}

/// Makes the tables of a file, unless it has them.
///
/// # Errors
/// When a newer version has written the file, or it cannot be changed.
pub(super) fn prepare(connection: &mut Connection) -> Result<(), StoreError> {
    if version(connection, DOING)? == LAYOUT {
        return Ok(());
    }
    let failed = |error| unavailable(DOING, error);
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    // Another process may have made them meanwhile.
    if version(&transaction, DOING)? == LAYOUT {
        return Ok(());
    }
    transaction.execute_batch(TABLES).map_err(failed)?;
    for (agent, state) in old_states(&transaction).map_err(failed)? {
        match parse::<AgentState>(&agent, &state) {
            Ok(state) => replace(&transaction, &agent, &state)?,
            Err(_) => drop(transaction.execute(KEEP_UNREADABLE, [&agent, &state]).map_err(failed)?),
        }
    }
    transaction.execute_batch(CLOSE_OLD).map_err(failed)?;
    transaction.pragma_update(None, "user_version", LAYOUT).map_err(failed)?;
    transaction.commit().map_err(failed)
}

/// Returns the number of the layout of a file.
///
/// # Errors
/// When it cannot be read, or this version does not know it.
pub(super) fn version(connection: &Connection, doing: &'static str) -> Result<i64, StoreError> {
    let version = connection.query_row("PRAGMA user_version", [], |row| row.get(0));
    match version.map_err(|error| unavailable(doing, error))? {
        version @ 0..=LAYOUT => Ok(version),
        _ => Err(StoreError::Unavailable {
            doing,
            source: "a newer version of this program has written it; update this one".into(),
        }),
    }
}

fn old_states(connection: &Connection) -> Result<Vec<(String, String)>, rusqlite::Error> {
    let tables: i64 = connection.query_row(HAS_OLD, [], |row| row.get(0))?;
    if tables == 0 {
        return Ok(Vec::new());
    }
    connection.prepare(OLD)?.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}
