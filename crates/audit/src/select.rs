//! Turns a question into SQL that reads no more of the database than the answer needs.

use rusqlite::types::Value;
use rusqlite::{Connection, Error, OptionalExtension as _};

use crate::query::AuditQuery;
use stockade_text::Timestamp;

/// The same text as in the schema, or the index is not used.
const SET_BACK: &str = "SELECT 1 FROM audit_events WHERE instr(data, 'clockWentBackMs') > 0 LIMIT 1";
const FIRST_SINCE: &str = "SELECT id FROM audit_events WHERE timestamp >= ?1 ORDER BY timestamp LIMIT 1";
const LAST_UNTIL: &str = "SELECT id FROM audit_events WHERE timestamp < ?1 ORDER BY timestamp DESC LIMIT 1";

/// The numbers of the records between two times, both included.
///
/// Records are returned in the order of their numbers. As long as the clock was never set back, that is the order of their times
/// as well, and two look-ups in the index of times tell where to begin and where to end.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Bounds {
    first: Option<i64>,
    last: Option<i64>,
}

impl Bounds {
    pub(crate) fn of(query: &AuditQuery, database: &Connection) -> Result<Self, Error> {
        let is_timed = query.since.is_some() || query.until.is_some();
        if !is_timed || database.query_row(SET_BACK, [], |_| Ok(())).optional()?.is_some() {
            return Ok(Self::default());
        }
        // Where no record is late or early enough, no number fits either.
        let look_up = |sql, time: Option<Timestamp>, none: i64| {
            let found =
                time.map(|time| database.query_row(sql, [time.to_string()], |row| row.get(0)).optional());
            Ok::<_, Error>(found.transpose()?.map(|found| found.unwrap_or(none)))
        };
        Ok(Self {
            first: look_up(FIRST_SINCE, query.since, i64::MAX)?,
            last: look_up(LAST_UNTIL, query.until, -1)?,
        })
    }
}

/// The conditions that a question has, with their values.
#[derive(Debug, Default)]
pub(crate) struct Select {
    conditions: Vec<&'static str>,
    pub(crate) values: Vec<Value>,
    limit: usize,
}

impl Select {
    pub(crate) fn of(query: &AuditQuery, bounds: Bounds) -> Self {
        let mut select = Self { limit: query.limit(), ..Self::default() };
        let text = |text: &Option<String>| text.clone().map(Value::from);
        let time = |time: Option<Timestamp>| time.map(|time| Value::from(time.to_string()));
        let behind = query.behind.map(|id| i64::try_from(id).unwrap_or(i64::MAX));
        select.add("run = ?", text(&query.run));
        select.add("agent = ?", text(&query.agent));
        select.add("skill = ?", text(&query.skill));
        select.add("id >= ?", bounds.first.map(Value::from));
        select.add("id <= ?", bounds.last.map(Value::from));
        select.add("id > ?", behind.map(Value::from));
        // With a sign in front, no index is used: it would return them in the order of time, to be sorted.
        select.add("+timestamp >= ?", time(query.since));
        select.add("+timestamp < ?", time(query.until));
        select.add("event LIKE ?", text(&query.event));
        select.add("decision = ?", text(&query.decision));
        select.add("instr(?, ' ' || severity || ' ') > 0", query.severities().map(Value::from));
        select.add("instr(?, ' ' || event || ' ') > 0", query.decision_events().map(Value::from));
        select.add("json_extract(data, '$.id') = ?", text(&query.name));
        select
    }

    fn add(&mut self, condition: &'static str, value: Option<Value>) {
        if let Some(value) = value {
            self.conditions.push(condition);
            self.values.push(value);
        }
    }

    /// Returns the statement, which returns these columns.
    pub(crate) fn sql(&self, columns: &str) -> String {
        let conditions = match self.conditions.join(" AND ") {
            none if none.is_empty() => none,
            some => format!("WHERE {some} "),
        };
        format!("SELECT {columns} FROM audit_events {conditions}ORDER BY id DESC LIMIT {}", self.limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema;

    /// Returns how SQLite answers a question: which index it uses, and whether it sorts.
    fn plan(query: &AuditQuery) -> String {
        let database = Connection::open_in_memory().unwrap();
        schema::migrate(&database, 0).unwrap();
        let select =
            Select::of(query, Bounds { first: query.since.map(|_| 1), last: query.until.map(|_| 9) });
        let mut statement = database.prepare(&format!("EXPLAIN QUERY PLAN {}", select.sql("*"))).unwrap();
        let steps =
            statement.query_map(rusqlite::params_from_iter(select.values), |row| row.get::<_, String>(3));
        steps.unwrap().map(Result::unwrap).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn no_question_is_sorted_and_the_narrowest_index_is_used() {
        let some = |text: &str| Some(text.to_owned());
        let at = Some(Timestamp::from_micros(5));
        let none = AuditQuery::default();
        let agent = AuditQuery { agent: some("a"), ..none.clone() };
        let cases = [
            (none.clone(), "SCAN audit_events"),
            (agent.clone(), "SEARCH audit_events USING INDEX audit_events_agent (agent=?)"),
            (
                AuditQuery { since: at, until: at, ..agent },
                "SEARCH audit_events USING INDEX audit_events_agent (agent=? AND rowid>? AND rowid<?)",
            ),
            (
                AuditQuery { run: some("r"), ..none.clone() },
                "SEARCH audit_events USING INDEX audit_events_run (run=?)",
            ),
            (
                AuditQuery { skill: some("s"), ..none.clone() },
                "SEARCH audit_events USING INDEX audit_events_skill (skill=?)",
            ),
            (
                AuditQuery { since: at, until: at, event: some("sandbox_%"), ..none },
                "SEARCH audit_events USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)",
            ),
        ];
        for (query, expected) in cases {
            assert_eq!(plan(&query), expected, "{query:?}");
        }
    }
}
