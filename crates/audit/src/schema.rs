//! The exact schema of the database of a trail: a planted trigger could suppress every record, a view
//! could hide some, an index could lead past them.

use std::collections::BTreeSet;

use rusqlite::{Connection, Error};

/// The form of the database that this version writes.
pub(crate) const FORM: i64 = 3;

/// What makes each form out of the one before.
///
/// AUTOINCREMENT: the number of a record that was removed at the end is never assigned again. The triggers prevent mistakes of an
/// operator; an attacker can change a record all the same, and the digests show it.
///
/// The third form has an index for each question that `select` answers by one. No question is answered by the index of events,
/// since most events are frequent.
const FORMS: &[&str] = &["
CREATE TABLE audit_events (
  id INTEGER PRIMARY KEY AUTOINCREMENT, timestamp TEXT NOT NULL, event TEXT NOT NULL, severity TEXT NOT NULL,
  run TEXT, agent TEXT, skill TEXT, decision TEXT, rule TEXT, backend TEXT, exit_code INTEGER, duration_ms INTEGER,
  data TEXT NOT NULL, writer TEXT NOT NULL, prev TEXT NOT NULL, hash TEXT NOT NULL) STRICT;
CREATE UNIQUE INDEX audit_events_timestamp ON audit_events (timestamp);
CREATE INDEX audit_events_event ON audit_events (event, timestamp);
CREATE INDEX audit_events_run ON audit_events (run) WHERE run IS NOT NULL;
CREATE TRIGGER audit_events_stay BEFORE UPDATE ON audit_events
  BEGIN SELECT RAISE (ABORT, 'records of the audit trail are never changed'); END;
CREATE TRIGGER audit_events_last BEFORE DELETE ON audit_events
  BEGIN SELECT RAISE (ABORT, 'records of the audit trail are never removed'); END;
CREATE TABLE audit_open_runs (run TEXT PRIMARY KEY, start INTEGER NOT NULL) STRICT, WITHOUT ROWID;
", "
ALTER TABLE audit_events ADD COLUMN seal TEXT;
DROP INDEX audit_events_timestamp;
CREATE INDEX audit_events_timestamp ON audit_events (timestamp);
CREATE INDEX audit_events_skill ON audit_events (skill) WHERE skill IS NOT NULL;
", "
DROP INDEX audit_events_event;
CREATE INDEX audit_events_agent ON audit_events (agent) WHERE agent IS NOT NULL;
CREATE INDEX audit_events_set_back ON audit_events (id) WHERE instr(data, 'clockWentBackMs') > 0;
"];

/// A table, an index, a view or a trigger, with the text that made it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Object {
    kind: String,
    name: String,
    table: String,
    sql: Option<String>,
}

/// What belongs into the newest form: kind, name, table and text, as SQLite has it. To ask SQLite in each process takes longer than
/// to open the trail, so a test does.
#[rustfmt::skip]
const NEWEST: &[(&str, &str, &str, &str)] = &[
    ("table", "audit_events", "audit_events", "CREATE TABLE audit_events (
  id INTEGER PRIMARY KEY AUTOINCREMENT, timestamp TEXT NOT NULL, event TEXT NOT NULL, severity TEXT NOT NULL,
  run TEXT, agent TEXT, skill TEXT, decision TEXT, rule TEXT, backend TEXT, exit_code INTEGER, duration_ms INTEGER,
  data TEXT NOT NULL, writer TEXT NOT NULL, prev TEXT NOT NULL, hash TEXT NOT NULL, seal TEXT) STRICT"),
    ("table", "sqlite_sequence", "sqlite_sequence", "CREATE TABLE sqlite_sequence(name,seq)"),
    ("index", "audit_events_agent", "audit_events", "CREATE INDEX audit_events_agent ON audit_events (agent) WHERE agent IS NOT NULL"),
    ("index", "audit_events_set_back", "audit_events",
        "CREATE INDEX audit_events_set_back ON audit_events (id) WHERE instr(data, 'clockWentBackMs') > 0"),
    ("index", "audit_events_run", "audit_events", "CREATE INDEX audit_events_run ON audit_events (run) WHERE run IS NOT NULL"),
    ("index", "audit_events_timestamp", "audit_events", "CREATE INDEX audit_events_timestamp ON audit_events (timestamp)"),
    ("index", "audit_events_skill", "audit_events", "CREATE INDEX audit_events_skill ON audit_events (skill) WHERE skill IS NOT NULL"),
    ("trigger", "audit_events_stay", "audit_events", "CREATE TRIGGER audit_events_stay BEFORE UPDATE ON audit_events
  BEGIN SELECT RAISE (ABORT, 'records of the audit trail are never changed'); END"),
    ("trigger", "audit_events_last", "audit_events", "CREATE TRIGGER audit_events_last BEFORE DELETE ON audit_events
  BEGIN SELECT RAISE (ABORT, 'records of the audit trail are never removed'); END"),
    ("table", "audit_open_runs", "audit_open_runs",
        "CREATE TABLE audit_open_runs (run TEXT PRIMARY KEY, start INTEGER NOT NULL) STRICT, WITHOUT ROWID"),
];

/// Returns what belongs into a form.
fn expected(form: i64) -> BTreeSet<Object> {
    if form == FORM {
        let object = |(kind, name, table, sql): &(&str, &str, &str, &str)| Object {
            kind: (*kind).to_owned(),
            name: (*name).to_owned(),
            table: (*table).to_owned(),
            sql: Some((*sql).to_owned()),
        };
        return NEWEST.iter().map(object).collect();
    }
    // Where SQLite cannot even make it, nothing is expected, and every trail is refused.
    usize::try_from(form).ok().and_then(|form| made(form).ok()).unwrap_or_default()
}

/// Makes an older form in memory, and returns what is in it.
fn made(form: usize) -> Result<BTreeSet<Object>, Error> {
    if form > FORMS.len() {
        return Ok(BTreeSet::new());
    }
    let database = Connection::open_in_memory()?;
    FORMS.iter().take(form).try_for_each(|step| database.execute_batch(step))?;
    objects(&database)
}

/// Makes the newest form out of an older one, or of an empty database.
pub(crate) fn migrate(connection: &Connection, form: i64) -> Result<(), Error> {
    let done = usize::try_from(form).unwrap_or(usize::MAX);
    FORMS.iter().skip(done).try_for_each(|step| connection.execute_batch(step))?;
    connection.pragma_update(None, "user_version", FORM)
}

/// Returns the number that changes whenever the schema does.
pub(crate) fn version(connection: &Connection) -> Result<i64, Error> {
    connection.query_row("PRAGMA schema_version", [], |row| row.get(0))
}

/// Returns what is in the database and should not be, or is missing; nothing when it is as this program made it.
pub(crate) fn strange(connection: &Connection, form: i64) -> Result<Vec<String>, Error> {
    let found = objects(connection)?;
    let expected = expected(form);
    let is_expected = |name: &str| expected.iter().any(|object| object.name == name);
    let is_there = |name: &str| found.iter().any(|object| object.name == name);
    let foreign = found.difference(&expected).map(|object| match is_expected(&object.name) {
        true => format!("the {} {:?} is not as Stockade made it", object.kind, object.name),
        false => format!("there is a {} {:?} that is not Stockade's", object.kind, object.name),
    });
    let missing = expected.iter().filter(|object| !is_there(&object.name));
    let missing = missing.map(|object| format!("the {} {:?} is missing", object.kind, object.name));
    Ok(foreign.chain(missing).collect())
}

/// Returns all that there is. Statistics of `ANALYZE` decide nothing.
fn objects(connection: &Connection) -> Result<BTreeSet<Object>, Error> {
    let sql = "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_stat%' ESCAPE '\\'";
    let mut statement = connection.prepare(sql)?;
    let objects = statement.query_map([], |row| {
        Ok(Object { kind: row.get(0)?, name: row.get(1)?, table: row.get(2)?, sql: row.get(3)? })
    })?;
    objects.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_form_is_what_sqlite_makes() {
        assert_eq!(usize::try_from(FORM), Ok(FORMS.len()));
        assert_eq!(expected(FORM), made(FORMS.len()).unwrap());
        assert_eq!(expected(0), BTreeSet::new());
        assert_eq!(expected(FORM + 1), BTreeSet::new());
        assert!(!expected(1).is_empty());
    }

    /// What an older version wrote is carried on in the newest form.
    #[test]
    fn every_older_form_becomes_the_newest() {
        for form in 1..FORMS.len() {
            let database = Connection::open_in_memory().unwrap();
            FORMS.iter().take(form).for_each(|step| database.execute_batch(step).unwrap());
            migrate(&database, i64::try_from(form).unwrap()).unwrap();
            assert_eq!(strange(&database, FORM).unwrap(), Vec::<String>::new(), "{form}");
        }
    }
}
