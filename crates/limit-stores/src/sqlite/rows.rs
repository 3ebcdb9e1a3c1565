//! The rows of one agent, within a transaction.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, Params, Row};
use serde::Serialize;
use serde::de::DeserializeOwned;
use stockade_limits::Usage;
use stockade_limits::budget::{ExecutionRow, HoldRow, Ledger, WindowRow, WindowSpan};
use stockade_limits::store::StoreError;

use super::core::Core;
use super::unavailable;

const DOING: &str = "changing the file of limits";

const CORE: &str = "SELECT id, core FROM limit_agents WHERE agent = ?1";
const ADD_AGENT: &str = "INSERT INTO limit_agents (agent, core) VALUES (?1, ?2) RETURNING id";
const SET_CORE: &str = "UPDATE limit_agents SET core = ?2 WHERE id = ?1";

const ADD_HOLD: &str =
    "INSERT INTO limit_holds (agent, id, until, execution, hold) VALUES (?1, ?2, ?3, ?4, ?5)";
const TAKE_HOLD: &str = "DELETE FROM limit_holds WHERE agent = ?1 AND id = ?2 RETURNING hold";
const DUE: &str = "SELECT id FROM limit_holds WHERE agent = ?1 AND until <= ?2 ORDER BY id";
const OF_EXECUTION: &str = "SELECT hold FROM limit_holds WHERE agent = ?1 AND execution = ?2";

const EXECUTION: &str = "SELECT execution FROM limit_executions WHERE agent = ?1 AND name = ?2";
const SET_EXECUTION: &str = "INSERT INTO limit_executions (agent, name, touched, execution) VALUES (?1, ?2, ?3, ?4) \
    ON CONFLICT (agent, name) DO UPDATE SET touched = ?3, execution = ?4";
const END_EXECUTION: &str = "DELETE FROM limit_executions WHERE agent = ?1 AND name = ?2";
const DROP_IDLE: &str = "DELETE FROM limit_executions WHERE agent = ?1 AND touched < ?2";

const ADD_WINDOW: &str = "INSERT INTO limit_windows (agent, span, first, usage) VALUES (?1, ?2, ?3, ?4)";
const WINDOW: &str = "SELECT usage FROM limit_windows WHERE agent = ?1 AND span = ?2 ORDER BY first LIMIT ?3";
const DROP_WINDOW: &str = "DELETE FROM limit_windows WHERE agent = ?1 AND span = ?2 AND first = ?3";

/// The rows of one agent. What is read often, and the execution that was asked for last, are written by [`Rows::finish`].
pub(super) struct Rows<'t> {
    connection: &'t Connection,
    agent: &'t str,
    id: i64,
    pub(super) core: Core,
    stored: Core,
    execution: Option<Cached>,
    failure: Option<StoreError>,
}

struct Cached {
    name: String,
    row: Option<ExecutionRow>,
    is_changed: bool,
}

impl<'t> Rows<'t> {
    /// Reads what is stored of an agent, or begins with nothing.
    pub(super) fn of(connection: &'t Connection, agent: &'t str) -> Result<Self, StoreError> {
        let (id, core) = match find(connection, agent)? {
            Some(found) => found,
            None => (add(connection, agent)?, Core::default()),
        };
        let stored = core.clone();
        Ok(Self { connection, agent, id, core, stored, execution: None, failure: None })
    }

    /// Reads what is stored of an agent, if anything is.
    pub(super) fn find(connection: &'t Connection, agent: &'t str) -> Result<Option<Self>, StoreError> {
        let found = find(connection, agent)?;
        Ok(found.map(|(id, core)| {
            let stored = core.clone();
            Self { connection, agent, id, core, stored, execution: None, failure: None }
        }))
    }

    /// Returns the number by which the tables know the agent.
    pub(super) const fn id(&self) -> i64 {
        self.id
    }

    /// Writes what is not written yet.
    ///
    /// # Errors
    /// The first failure of any operation. The transaction must then be rolled back.
    pub(super) fn finish(mut self) -> Result<(), StoreError> {
        self.flush();
        if self.core != self.stored {
            self.run(SET_CORE, |rows| Ok((rows.id, json(&rows.core)?)));
        }
        self.failure.map_or(Ok(()), Err)
    }

    /// Adds a row to the older ones of a window.
    pub(super) fn add_older(&mut self, span: WindowSpan, row: &WindowRow) {
        self.run(ADD_WINDOW, |rows| Ok((rows.id, number(span), millis(row.first), json(row)?)));
        let window = self.core.window(span);
        if window.older == 0 {
            window.oldest = millis(row.last).cast_unsigned();
        }
        window.older = window.older.saturating_add(1);
    }

    fn flush(&mut self) {
        let Some(Cached { name, row: Some(row), is_changed: true }) = self.execution.take() else { return };
        self.run(SET_EXECUTION, |rows| Ok((rows.id, name, millis(row.touched), json(&row)?)));
    }

    /// Runs a statement without a result, unless something failed before. Returns how many rows changed.
    fn run<P: Params>(&mut self, sql: &str, params: impl FnOnce(&Self) -> Result<P, StoreError>) -> usize {
        self.attempt(|rows| {
            let params = params(rows)?;
            let mut statement = rows.connection.prepare_cached(sql).map_err(failed)?;
            statement.execute(params).map_err(failed)
        })
    }

    /// Returns the rows that a statement finds, each written as JSON in its last column.
    fn select<T: DeserializeOwned>(&mut self, sql: &str, params: impl Params) -> Vec<(i64, T)> {
        self.attempt(|rows| {
            let mut statement = rows.connection.prepare_cached(sql).map_err(failed)?;
            let last = statement.column_count().saturating_sub(1);
            // A statement with one column has no number of its own.
            let read =
                |row: &Row<'_>| Ok((if last > 0 { row.get(0)? } else { 0 }, row.get::<_, String>(last)?));
            let found: Result<Vec<(i64, String)>, _> =
                statement.query_map(params, read).map_err(failed)?.collect();
            let parsed = found.map_err(failed)?.into_iter();
            parsed.map(|(id, text)| Ok((id, parse(rows.agent, &text)?))).collect()
        })
    }

    fn attempt<T: Default>(&mut self, work: impl FnOnce(&Self) -> Result<T, StoreError>) -> T {
        if self.failure.is_some() {
            return T::default();
        }
        work(self).unwrap_or_else(|error| {
            self.failure = Some(error);
            T::default()
        })
    }

    /// Returns the row of an execution, from the table unless it was asked for last.
    fn cached(&mut self, name: &str) -> &mut Cached {
        if self.execution.as_ref().is_none_or(|cached| cached.name != name) {
            self.flush();
            let row = self.select(EXECUTION, (self.id, name)).pop().map(|(_, row)| row);
            self.execution = Some(Cached { name: name.to_owned(), row, is_changed: false });
        }
        self.execution.get_or_insert_with(|| Cached { name: String::new(), row: None, is_changed: false })
    }
}

impl Ledger for Rows<'_> {
    fn clock(&self) -> Duration {
        Duration::from_millis(self.core.clock)
    }

    fn set_clock(&mut self, now: Duration) {
        self.core.clock = self.core.clock.max(millis(now).cast_unsigned());
    }

    fn next_hold(&mut self) -> u64 {
        let id = self.core.next_hold;
        self.core.next_hold = id.wrapping_add(1);
        id
    }

    fn holds(&mut self) -> usize {
        self.core.holds
    }

    fn insert_hold(&mut self, id: u64, hold: HoldRow) {
        self.run(ADD_HOLD, |rows| {
            Ok((rows.id, id.cast_signed(), millis(hold.until), &hold.execution, json(&hold)?))
        });
        self.core.holds = self.core.holds.saturating_add(1);
        self.core.reserved.add(hold.usage);
    }

    fn remove_hold(&mut self, id: u64) -> Option<HoldRow> {
        if self.core.holds == 0 {
            return None;
        }
        let (_, hold) = self.select::<HoldRow>(TAKE_HOLD, (self.id, id.cast_signed())).pop()?;
        self.core.holds = self.core.holds.saturating_sub(1);
        self.core.reserved.take(hold.usage);
        Some(hold)
    }

    fn due(&mut self, now: Duration) -> Vec<u64> {
        if self.core.holds == 0 {
            return Vec::new();
        }
        self.attempt(|rows| {
            let mut statement = rows.connection.prepare_cached(DUE).map_err(failed)?;
            let due = statement.query_map((rows.id, millis(now)), |row| row.get::<_, i64>(0));
            let due: Result<Vec<i64>, _> = due.map_err(failed)?.collect();
            Ok(due.map_err(failed)?.into_iter().map(i64::cast_unsigned).collect())
        })
    }

    fn reserved(&mut self) -> Usage {
        self.core.reserved.usage()
    }

    fn reserved_by(&mut self, execution: &str) -> Usage {
        if self.core.holds == 0 {
            return Usage::ZERO;
        }
        let own = self.select::<HoldRow>(OF_EXECUTION, (self.id, execution));
        own.into_iter().fold(Usage::ZERO, |sum, (_, hold)| sum.plus(hold.usage))
    }

    fn executions(&mut self) -> usize {
        self.core.executions
    }

    fn execution(&mut self, name: &str) -> Option<ExecutionRow> {
        self.cached(name).row
    }

    fn set_execution(&mut self, name: &str, row: ExecutionRow) {
        let cached = self.cached(name);
        cached.is_changed = true;
        if cached.row.replace(row).is_none() {
            self.core.executions = self.core.executions.saturating_add(1);
        }
    }

    fn remove_execution(&mut self, name: &str) {
        self.flush();
        let ended = self.run(END_EXECUTION, |rows| Ok((rows.id, name)));
        self.core.executions = self.core.executions.saturating_sub(ended);
    }

    fn drop_idle_since(&mut self, start: Duration) {
        self.flush();
        let ended = self.run(DROP_IDLE, |rows| Ok((rows.id, millis(start))));
        self.core.executions = self.core.executions.saturating_sub(ended);
    }

    fn record(&mut self, span: WindowSpan, now: Duration, usage: Usage) {
        let newest = self.core.window(span).newest;
        let joined = newest.and_then(|row| row.joined(now, usage, span));
        match (joined, newest) {
            // The sum of a row stops at the largest number, so what it grew by may be less.
            (Some(joined), Some(newest)) => {
                self.core.window(span).total.add(joined.usage.minus(newest.usage));
            }
            (_, Some(newest)) => self.add_older(span, &newest),
            (_, None) => {}
        }
        let window = self.core.window(span);
        if joined.is_none() {
            window.total.add(usage);
        }
        window.newest = Some(joined.unwrap_or(WindowRow::begun(now, usage)));
    }

    fn drop_before(&mut self, span: WindowSpan, start: Duration) {
        while self.core.window(span).older > 0 && Duration::from_millis(self.core.window(span).oldest) < start
        {
            let mut front = self.select::<WindowRow>(WINDOW, (self.id, number(span), 2)).into_iter();
            let Some((_, dropped)) = front.next() else { break };
            self.run(DROP_WINDOW, |rows| Ok((rows.id, number(span), millis(dropped.first))));
            let window = self.core.window(span);
            window.total.take(dropped.usage);
            window.older = window.older.saturating_sub(1);
            window.oldest = front.next().map_or(0, |(_, row)| millis(row.last).cast_unsigned());
        }
        let window = self.core.window(span);
        if window.older == 0
            && let Some(newest) = window.newest
            && newest.last < start
        {
            window.total.take(newest.usage);
            window.newest = None;
        }
    }

    fn total(&mut self, span: WindowSpan) -> Usage {
        self.core.window(span).total.usage()
    }

    fn oldest(&mut self, span: WindowSpan) -> Option<WindowRow> {
        let front = self.select(WINDOW, (self.id, number(span), 1)).pop().map(|(_, row)| row);
        front.or(self.core.window(span).newest)
    }

    fn rows(&mut self, span: WindowSpan) -> Vec<WindowRow> {
        let older = self.select(WINDOW, (self.id, number(span), -1)).into_iter().map(|(_, row)| row);
        older.chain(self.core.window(span).newest).collect()
    }
}

fn find(connection: &Connection, agent: &str) -> Result<Option<(i64, Core)>, StoreError> {
    let mut statement = connection.prepare_cached(CORE).map_err(failed)?;
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let found: Option<(i64, String)> = statement.query_row([agent], read).optional().map_err(failed)?;
    found.map(|(id, text)| Ok((id, parse(agent, &text)?))).transpose()
}

fn add(connection: &Connection, agent: &str) -> Result<i64, StoreError> {
    let mut statement = connection.prepare_cached(ADD_AGENT).map_err(failed)?;
    statement.query_row((agent, json(&Core::default())?), |row| row.get(0)).map_err(failed)
}

fn failed(error: rusqlite::Error) -> StoreError {
    unavailable(DOING, error)
}

fn json(row: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(row).map_err(|error| unavailable("writing a row as JSON", error))
}

/// Parses what is stored of an agent. An error refuses: starting anew would forget what was used.
pub(super) fn parse<T: DeserializeOwned>(agent: &str, text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text)
        .map_err(|source| StoreError::Unreadable { agent: agent.to_owned(), source: source.into() })
}

/// Whole milliseconds, rounded up, as in JSON; the column holds signed numbers.
fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(i64::MAX)
}

const fn number(span: WindowSpan) -> i64 {
    match span {
        WindowSpan::Hour => 0,
        WindowSpan::Day => 1,
    }
}
