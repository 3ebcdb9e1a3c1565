//! Whole states of agents, for operators: read from the rows of the file, and written to them.

use std::collections::BTreeMap;

use rusqlite::Connection;
use stockade_limits::budget::{Ledger as _, WindowRow, WindowSpan};
use stockade_limits::store::{AgentState, StoreError};

use super::core::{Core, WindowCore};
use super::rows::{Rows, parse};
use super::unavailable;
use crate::whole::{Whole, WholeBudget};

const CLEAR: [&str; 3] = [
    "DELETE FROM limit_holds WHERE agent = ?1",
    "DELETE FROM limit_executions WHERE agent = ?1",
    "DELETE FROM limit_windows WHERE agent = ?1",
];
const HOLDS: &str = "SELECT id, hold FROM limit_holds WHERE agent = ?1";
const EXECUTIONS: &str = "SELECT name, execution FROM limit_executions WHERE agent = ?1";

/// Reads the state of an agent. Of one that is not in the file, nothing was used.
pub(super) fn state(connection: &Connection, agent: &str) -> Result<AgentState, StoreError> {
    let Some(mut rows) = Rows::find(connection, agent)? else { return Ok(AgentState::default()) };
    let [hour, day] = WindowSpan::ALL.map(|span| rows.rows(span));
    let (id, core) = (rows.id(), rows.core.clone());
    // Nothing was changed; this tells whether all windows could be read.
    rows.finish()?;
    let budget = WholeBudget {
        clock: core.clock,
        hour,
        day,
        executions: table(connection, agent, (EXECUTIONS, id))?,
        holds: table::<i64, _>(connection, agent, (HOLDS, id))?
            .into_iter()
            .map(|(id, hold)| (id.cast_unsigned(), hold))
            .collect(),
        next_hold: core.next_hold,
    };
    Whole { budget, breaker: core.breaker }.state(agent)
}

/// Writes the state of an agent in place of what is stored of it.
pub(super) fn replace(connection: &Connection, agent: &str, state: &AgentState) -> Result<(), StoreError> {
    let parts = serde_json::to_value(state).and_then(serde_json::from_value);
    let Whole { budget, breaker } = parts.map_err(|error| unavailable("taking a state apart", error))?;
    let mut rows = Rows::of(connection, agent)?;
    for statement in CLEAR {
        let cleared = connection.execute(statement, [rows.id()]);
        cleared.map_err(|error| unavailable("changing the file of limits", error))?;
    }
    rows.core = Core { clock: budget.clock, next_hold: budget.next_hold, breaker, ..Core::default() };
    for (id, hold) in budget.holds {
        rows.insert_hold(id, hold);
    }
    for (name, row) in budget.executions {
        rows.set_execution(&name, row);
    }
    for (span, window) in [(WindowSpan::Hour, budget.hour), (WindowSpan::Day, budget.day)] {
        set_window(&mut rows, span, &window);
    }
    rows.finish()
}

fn set_window(rows: &mut Rows<'_>, span: WindowSpan, window: &[WindowRow]) {
    *rows.core.window(span) = WindowCore::default();
    for row in window {
        rows.core.window(span).total.add(row.usage);
        if let Some(older) = rows.core.window(span).newest.replace(*row) {
            rows.add_older(span, &older);
        }
    }
}

fn table<K, V>(
    connection: &Connection,
    agent: &str,
    (sql, id): (&str, i64),
) -> Result<BTreeMap<K, V>, StoreError>
where
    K: rusqlite::types::FromSql + Ord,
    V: serde::de::DeserializeOwned,
{
    let read = || -> Result<Vec<(K, String)>, rusqlite::Error> {
        connection.prepare(sql)?.query_map([id], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
    };
    let found = read().map_err(|error| unavailable("reading the file of limits", error))?;
    found.into_iter().map(|(key, text)| Ok((key, parse(agent, &text)?))).collect()
}
