//! The exact schema of the database of a trail: a planted trigger could suppress every record, a view
//! could hide some, an index could lead past them.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use rusqlite::{Connection, Error};

/// The form of the database that this version writes.
pub(crate) const FORM: i64 = 2;

/// What makes each form out of the one before.
///
/// AUTOINCREMENT: the number of a record that was removed at the end is never assigned again. The triggers prevent mistakes of an
/// operator; an attacker can change a record all the same, and the digests show it.
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
"];

/// A table, an index, a view or a trigger, with the text that made it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Object {
    kind: String,
    name: String,
    table: String,
    sql: Option<String>,
}

/// What belongs into each form, from the first one on. It is asked of SQLite itself, so that nothing is listed twice.
static EXPECTED: LazyLock<Vec<BTreeSet<Object>>> = LazyLock::new(|| {
    let forms = (1..=FORMS.len()).map(|form| {
        let database = Connection::open_in_memory()?;
        FORMS.iter().take(form).try_for_each(|step| database.execute_batch(step))?;
        objects(&database)
    });
    // Where SQLite cannot even do that, nothing is expected, and every trail is refused.
    forms.collect::<Result<_, Error>>().unwrap_or_default()
});

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
    let nothing = BTreeSet::new();
    let form = usize::try_from(form).ok().and_then(|form| form.checked_sub(1));
    let expected = form.and_then(|form| EXPECTED.get(form)).unwrap_or(&nothing);
    let is_expected = |name: &str| expected.iter().any(|object| object.name == name);
    let is_there = |name: &str| found.iter().any(|object| object.name == name);
    let foreign = found.difference(expected).map(|object| match is_expected(&object.name) {
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
