//! Records in an SQLite database: read by anybody's tools while it is written to.

mod rows;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::{
    Connection, OptionalExtension as _, Transaction, TransactionBehavior, params, params_from_iter,
};

use crate::error::{AuditError, Disagreement};
use crate::kind::EventPhase;
use crate::query::AuditQuery;
use crate::record::{AuditRecord, Draft, Head, OpenRun};
use crate::recovery::cut_off;
use crate::register::mark_of_run;
use crate::schema::{self, FORM};
use crate::select::{Bounds, Select};
use crate::store::{Ask, Entry, Link, Seal, Store};
use crate::trail_file::{Journal, TrailFile};
use crate::{database, pages};
use rows::{link, read};
use stockade_text::Timestamp;

const COLUMNS: &str = "id, timestamp, event, severity, run, agent, skill, decision, rule, backend, exit_code, duration_ms, \
                       data, writer, prev, hash, seal";
/// Where records were not sealed yet.
const UNSEALED: &str = "id, timestamp, event, severity, run, agent, skill, decision, rule, backend, exit_code, duration_ms, \
                        data, writer, prev, hash, NULL";
const INSERT: &str = "INSERT INTO audit_events (id, timestamp, event, severity, run, agent, skill, decision, rule, backend, \
                      exit_code, duration_ms, data, writer, prev, hash, seal) \
                      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)";
const HEAD: &str = "SELECT id, timestamp, hash FROM audit_events ORDER BY id DESC LIMIT 1";
const KEPT: &str = "SELECT id, timestamp, event, severity, run, agent, skill, decision, rule, backend, exit_code, duration_ms, \
                    data, writer, prev, hash, seal FROM audit_events NOT INDEXED WHERE id = ?1";
const COUNTED: &str = "SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'";
/// Length in bytes from which a journal is moved into the database in any case. Each process that opens the trail reads all of it:
/// a tool call adds 4 to 7 pages of 4 KiB, each of which is one more call of the kernel for every later one. In return, one call in
/// ten waits for the disk longer. SQLite's own limit does not help: where each process writes once and ends, none finds
/// out that the journal was moved and can begin anew.
const MAX_KEPT_JOURNAL: u64 = 64 * 4120;
const OPEN_RUN: &str = "INSERT INTO audit_open_runs (run, start) VALUES (?1, ?2)";
const OPEN_RUNS: &str = "SELECT e.run, e.writer, e.agent, e.skill FROM audit_open_runs o JOIN audit_events e ON e.id = o.start \
                         WHERE e.run = o.run ORDER BY o.start";

/// A trail in a database.
#[derive(Debug)]
pub(crate) struct SqliteTrail {
    path: PathBuf,
    connection: Connection,
    /// The database and its journal, once this process has seen them.
    places: Vec<TrailFile>,
    /// The version of the schema that was found to be right.
    schema: Option<i64>,
    /// What is read of each record.
    columns: &'static str,
    /// The journal, where records are written.
    journal: Option<Journal>,
    /// Whether a short journal is left as it is in the end.
    keeps_journal: bool,
}

impl SqliteTrail {
    /// Opens the database, or creates it. Its folder must exist.
    pub(crate) fn open(path: &Path) -> Result<Self, AuditError> {
        let connection = database::open(path).map_err(|error| unusable(path, "opening it", error))?;
        // SQLite waits for the disk where it moves the journal into the database; for each record, `Journal::sync` does.
        connection
            .pragma_update(None, "synchronous", "NORMAL")
            .map_err(|error| unusable(path, "opening it", error))?;
        let mut trail = Self::of(path, connection);
        // The journal is there from the first look on, and stays as long as anybody has the database open.
        trail.look_at_form()?;
        let looked = |error| unusable(path, "checking the file", error);
        let journal = Journal::open(&database::journal(path)).map_err(looked)?;
        trail.places = vec![TrailFile::of(path).map_err(looked)?, journal.place().clone()];
        trail.places.iter().try_for_each(TrailFile::check_found)?;
        trail.journal = Some(journal);
        if trail.schema.is_none() {
            trail.migrate()?;
            trail.look_at_form()?;
        }
        Ok(trail)
    }

    /// Opens a database that another process writes to, read-only.
    pub(crate) fn open_to_read(path: &Path) -> Result<Self, AuditError> {
        let connection = database::open_to_read(path).map_err(|error| unusable(path, "opening it", error))?;
        let mut trail = Self::of(path, connection);
        match trail.form()? {
            1 => {
                trail.columns = UNSEALED;
                Ok(trail)
            }
            2..=FORM => Ok(trail),
            0 => Err(unusable(path, "opening it", std::io::Error::other("it is no audit trail"))),
            found => Err(trail.newer(found)),
        }
    }

    fn of(path: &Path, connection: Connection) -> Self {
        Self {
            path: path.to_owned(),
            connection,
            places: Vec::new(),
            schema: None,
            columns: COLUMNS,
            journal: None,
            keeps_journal: false,
        }
    }

    /// Checks the schema, if it has the newest form already. A newer form is an error.
    fn look_at_form(&mut self) -> Result<(), AuditError> {
        let opening = |error| unusable(&self.path, "opening it", error);
        // Nothing is written, so no lock is waited for.
        let look = self.connection.unchecked_transaction().map_err(opening)?;
        match self.form()? {
            FORM => check_schema(&self.path, &look, &mut self.schema)?,
            found if !(0..=FORM).contains(&found) => return Err(self.newer(found)),
            _ => {}
        }
        look.commit().map_err(opening)
    }

    fn migrate(&mut self) -> Result<(), AuditError> {
        let transaction = begin(&self.path, &mut self.connection)?;
        let failed = |error| unusable(&self.path, "creating its tables", error);
        // Another process may have been quicker.
        let form: i64 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(failed)?;
        if form < FORM {
            let strange = schema::strange(&transaction, form).map_err(failed)?;
            if !strange.is_empty() {
                return Err(AuditError::Foreign { path: self.path.clone(), what: strange });
            }
            schema::migrate(&transaction, form).map_err(failed)?;
        }
        transaction.commit().map_err(failed)?;
        self.sync()
    }

    /// Waits until what was committed is on the disk.
    fn sync(&self) -> Result<(), AuditError> {
        let synced = self.journal.as_ref().map_or(Ok(()), Journal::sync);
        synced.map_err(|error| unusable(&self.path, "waiting for the disk", error))
    }

    fn check_places(&self) -> Result<(), AuditError> {
        self.places.iter().try_for_each(TrailFile::check)
    }

    fn form(&self) -> Result<i64, AuditError> {
        let form = self.connection.query_row("PRAGMA user_version", [], |row| row.get(0));
        form.map_err(|error| self.unusable("reading its form", error))
    }

    fn newer(&self, found: i64) -> AuditError {
        AuditError::Newer { path: self.path.clone(), found, known: FORM }
    }

    fn unusable(&self, doing: &'static str, error: rusqlite::Error) -> AuditError {
        unusable(&self.path, doing, error)
    }
}

impl Drop for SqliteTrail {
    /// Closing it, SQLite moves the journal into the database and removes it by its name, and by now that may be the journal of
    /// another trail.
    fn drop(&mut self) {
        let is_short = || self.journal.as_ref().is_some_and(|journal| journal.len() < MAX_KEPT_JOURNAL);
        if self.keeps_journal && is_short() || self.check_places().is_err() {
            // Where that is not to be had, it is moved at the end as it always was.
            self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).ok();
        }
    }
}

impl Store for SqliteTrail {
    /// One transaction: each question alone would lock and unlock the index of the journal.
    fn at_once(&self, ask: Ask<'_>) -> Result<bool, AuditError> {
        let failed = |error| self.unusable("reading the records", error);
        let look = self.connection.unchecked_transaction().map_err(failed)?;
        let answer = ask(self)?;
        look.commit().map_err(failed)?;
        Ok(answer)
    }

    fn keep_journal(&mut self) {
        self.keeps_journal = true;
    }

    fn append(&mut self, drafts: Vec<Draft>, now: Timestamp, seal: Seal<'_>) -> Result<Head, AuditError> {
        let transaction = begin(&self.path, &mut self.connection)?;
        check_schema(&self.path, &transaction, &mut self.schema)?;
        let mut head = counted_head(&self.path, &transaction)?;
        for draft in drafts {
            head = insert(&self.path, &transaction, head.follow(draft, now), seal)?;
        }
        transaction.commit().map_err(|error| unusable(&self.path, "writing a record", error))?;
        self.sync()?;
        // It may have been taken away, with what was just written to it.
        self.check_places()?;
        Ok(head)
    }

    fn lists_runs(&self, marks: u64) -> Result<bool, AuditError> {
        let listed = listed_runs(&self.connection);
        let listed = listed.map_err(|error| self.unusable("reading which runs are open", error))?;
        Ok(listed.iter().fold(0_u64, |sum, run| sum.wrapping_add(mark_of_run(run))) == marks)
    }

    fn list_runs_anew(&self) -> Result<(), AuditError> {
        let mut open = BTreeMap::new();
        self.each_behind(0, &mut |record| {
            match (record.phase(), &record.run) {
                (EventPhase::Start, Some(run)) => drop(open.insert(run.clone(), record.id)),
                (EventPhase::End, Some(run)) => drop(open.remove(run)),
                _ => {}
            }
            ControlFlow::Continue(())
        })?;
        let replace = || -> Result<(), rusqlite::Error> {
            let transaction = self.connection.unchecked_transaction()?;
            transaction.execute("DELETE FROM audit_open_runs", [])?;
            for (run, start) in &open {
                let start = i64::try_from(*start).unwrap_or(i64::MAX);
                transaction.execute(OPEN_RUN, params![run, start])?;
            }
            transaction.commit()
        };
        replace().map_err(|error| self.unusable("listing the open runs anew", error))
    }

    /// A start that comes behind this look is that of a writer who is alive.
    fn may_have_lost(&self, is_alive: &dyn Fn(&str) -> bool) -> Result<bool, AuditError> {
        let failed = |error| self.unusable("looking for what was cut off", error);
        Ok(open_runs(&self.connection).map_err(failed)?.iter().any(|open| !is_alive(&open.writer)))
    }

    fn recover(
        &mut self,
        is_alive: &dyn Fn(&str) -> bool,
        now: Timestamp,
        seal: Seal<'_>,
    ) -> Result<usize, AuditError> {
        let transaction = begin(&self.path, &mut self.connection)?;
        let failed = |error| unusable(&self.path, "ending what was cut off", error);
        let lost: Vec<OpenRun> = open_runs(&transaction)
            .map_err(failed)?
            .into_iter()
            .filter(|open| !is_alive(&open.writer))
            .collect();
        if lost.is_empty() {
            return Ok(0);
        }
        let mut head = counted_head(&self.path, &transaction)?;
        for open in &lost {
            head = insert(&self.path, &transaction, head.follow(cut_off(open), now), seal)?;
        }
        transaction.commit().map_err(failed)?;
        self.sync()?;
        Ok(lost.len())
    }

    fn head(&self) -> Result<Head, AuditError> {
        head(&self.path, &self.connection)
    }

    fn query(&self, query: &AuditQuery) -> Result<Vec<AuditRecord>, AuditError> {
        let failed = |error| self.unusable("answering a question", error);
        let bounds = match self.form()? {
            FORM => Bounds::of(query, &self.connection).map_err(failed)?,
            _ => Bounds::default(),
        };
        let select = Select::of(query, bounds);
        let mut statement = self.connection.prepare(&select.sql(self.columns)).map_err(failed)?;
        let mut rows = statement.query(params_from_iter(select.values)).map_err(failed)?;
        let mut records = Vec::new();
        while let Some(row) = rows.next().map_err(failed)? {
            match read(row).map_err(failed)? {
                Entry::Record(record) => records.push(*record),
                Entry::Damaged { id, reason } => {
                    return Err(AuditError::Damaged { path: self.path.clone(), id, reason });
                }
            }
        }
        Ok(records)
    }

    fn each(&self, see: &mut dyn FnMut(Entry) -> ControlFlow<()>) -> Result<(), AuditError> {
        let failed = |error| self.unusable("reading the records", error);
        // By place in the file, not by an index: an index could hide what the table holds.
        let sql = format!("SELECT {} FROM audit_events NOT INDEXED ORDER BY id", self.columns);
        let mut statement = self.connection.prepare(&sql).map_err(failed)?;
        let mut rows = statement.query([]).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            if see(read(row).map_err(failed)?).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn each_behind(
        &self,
        id: u64,
        see: &mut dyn FnMut(AuditRecord) -> ControlFlow<()>,
    ) -> Result<(), AuditError> {
        let failed = |error| self.unusable("reading the records", error);
        let mut statement = self.connection.prepare(&behind(self.columns)).map_err(failed)?;
        let mut rows = statement.query([i64::try_from(id).unwrap_or(i64::MAX)]).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            let record = match read(row).map_err(failed)? {
                Entry::Record(record) => *record,
                Entry::Damaged { id, reason } => {
                    return Err(AuditError::Damaged { path: self.path.clone(), id, reason });
                }
            };
            if see(record).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn each_link_behind(
        &self,
        id: u64,
        see: &mut dyn FnMut(Link<'_>) -> ControlFlow<()>,
    ) -> Result<(), AuditError> {
        let failed = |error| self.unusable("reading the records", error);
        let mut statement = self.connection.prepare(&behind(COLUMNS)).map_err(failed)?;
        let mut rows = statement.query([i64::try_from(id).unwrap_or(i64::MAX)]).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            let id = row.get::<_, i64>(0).map_err(failed)?.unsigned_abs();
            let link = link(id, row).map_err(|error| {
                let (path, reason) = (self.path.clone(), error.to_string());
                AuditError::Damaged { path, id, reason }
            })?;
            if see(link).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn check_place(&self) -> Result<(), AuditError> {
        self.check_places()
    }

    fn check_form(&self) -> Result<(), AuditError> {
        let failed = |error| self.unusable("reading its schema", error);
        let what = schema::strange(&self.connection, self.form()?).map_err(failed)?;
        if what.is_empty() { Ok(()) } else { Err(AuditError::Foreign { path: self.path.clone(), what }) }
    }

    fn unsound(&self) -> Vec<String> {
        let strange = match self.check_form() {
            Ok(()) => Vec::new(),
            Err(AuditError::Foreign { what, .. }) => what,
            Err(error) => vec![error.to_string()],
        };
        strange.into_iter().chain(pages::damage(&self.path, &self.connection)).collect()
    }

    fn listed_runs(&self) -> Result<Option<Vec<String>>, AuditError> {
        // An older form is read as it is.
        let listed = listed_runs(&self.connection);
        listed.map(Some).map_err(|error| self.unusable("reading which runs are open", error))
    }

    fn last_written(&self) -> Result<u64, AuditError> {
        counted(&self.path, &self.connection)
    }
}

/// "Immediate" takes the lock before reading, so that no other record comes between the last one and the next.
fn begin<'c>(path: &Path, connection: &'c mut Connection) -> Result<Transaction<'c>, AuditError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate);
    transaction.map_err(|error| unusable(path, "waiting for the lock", error))
}

fn head(path: &Path, connection: &Connection) -> Result<Head, AuditError> {
    let failed = |error| unusable(path, "reading the last record", error);
    let last = connection.prepare_cached(HEAD).and_then(|mut head| {
        head.query_row([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).optional()
    });
    let Some((id, timestamp, hash)): Option<(i64, String, String)> = last.map_err(failed)? else {
        return Ok(Head::default());
    };
    let damaged = |reason: &str| AuditError::Damaged {
        path: path.to_owned(),
        id: id.unsigned_abs(),
        reason: reason.to_owned(),
    };
    let micros = Timestamp::parse(&timestamp).ok_or_else(|| damaged("its time is invalid"))?.micros();
    let id = u64::try_from(id).map_err(|_| damaged("its number is negative"))?;
    Ok(Head { id, micros, hash })
}

/// How many records there were, as the database counts them apart from the records.
fn counted(path: &Path, connection: &Connection) -> Result<u64, AuditError> {
    let last: Option<i64> = connection
        .prepare_cached(COUNTED)
        .and_then(|mut counted| counted.query_row([], |row| row.get(0)).optional())
        .map_err(|error| unusable(path, "reading how many records there were", error))?;
    Ok(last.and_then(|last| u64::try_from(last).ok()).unwrap_or(0))
}

/// Where the trail ends, if it holds as many records as were counted. What is cut off is not gone on with.
fn counted_head(path: &Path, connection: &Connection) -> Result<Head, AuditError> {
    let (head, records) = (head(path, connection)?, counted(path, connection)?);
    if records > head.id {
        let why = Disagreement::Behind { ends: head.id, records };
        return Err(AuditError::Disagrees { path: path.to_owned(), why });
    }
    Ok(head)
}

/// Whether nothing stands in the database but what belongs there. It is looked at anew whenever it has changed.
fn check_schema(path: &Path, connection: &Connection, known: &mut Option<i64>) -> Result<(), AuditError> {
    let failed = |error| unusable(path, "reading its schema", error);
    let version = schema::version(connection).map_err(failed)?;
    if *known == Some(version) {
        return Ok(());
    }
    let what = schema::strange(connection, FORM).map_err(failed)?;
    if !what.is_empty() {
        return Err(AuditError::Foreign { path: path.to_owned(), what });
    }
    *known = Some(version);
    Ok(())
}

/// Puts one record behind the last, and looks whether it is there.
fn insert(
    path: &Path,
    connection: &Connection,
    mut record: AuditRecord,
    seal: Seal<'_>,
) -> Result<Head, AuditError> {
    seal(&mut record);
    let failed = |error| unusable(path, "writing a record", error);
    let rows = write(connection, &record).map_err(failed)?;
    if rows != 1 || !is_kept(connection, &record).map_err(failed)? {
        return Err(AuditError::NotKept { path: path.to_owned(), id: record.id });
    }
    Ok(record.head().unwrap_or_default())
}

/// Whether a record can be read as it was written.
fn is_kept(connection: &Connection, record: &AuditRecord) -> Result<bool, rusqlite::Error> {
    let mut statement = connection.prepare_cached(KEPT)?;
    let mut rows = statement.query([i64::try_from(record.id).unwrap_or(i64::MAX)])?;
    let Some(row) = rows.next()? else { return Ok(false) };
    Ok(matches!(read(row)?, Entry::Record(found) if *found == *record))
}

/// Writes a record, and returns how many rows that has added.
fn write(connection: &Connection, record: &AuditRecord) -> Result<usize, rusqlite::Error> {
    let data = serde_json::to_string(&record.data)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    let id =
        i64::try_from(record.id).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    let took = record.duration_ms.map(|took| i64::try_from(took).unwrap_or(i64::MAX));
    let rows = connection.prepare_cached(INSERT)?.execute(params![
        id,
        record.timestamp,
        record.event,
        record.severity,
        record.run,
        record.agent,
        record.skill,
        record.decision,
        record.rule,
        record.backend,
        record.exit_code,
        took,
        data,
        record.writer,
        record.prev,
        record.hash,
        record.seal,
    ])?;
    match record.phase() {
        EventPhase::Start => {
            connection.execute(OPEN_RUN, params![record.run, id])?;
        }
        // A run that ended before has no row any more: it gets no second end.
        EventPhase::End => {
            match connection.execute("DELETE FROM audit_open_runs WHERE run = ?1", [&record.run])? {
                1 => {}
                _ => return Err(rusqlite::Error::StatementChangedRows(0)),
            }
        }
        EventPhase::Point => {}
    }
    Ok(rows)
}

/// The names of the runs that are listed as open.
fn listed_runs(connection: &Connection) -> Result<Vec<String>, rusqlite::Error> {
    let mut statement = connection.prepare_cached("SELECT run FROM audit_open_runs")?;
    statement.query_map([], |row| row.get(0))?.collect()
}

fn open_runs(connection: &Connection) -> Result<Vec<OpenRun>, rusqlite::Error> {
    let mut statement = connection.prepare(OPEN_RUNS)?;
    let runs = statement.query_map([], |row| {
        Ok(OpenRun { run: row.get(0)?, writer: row.get(1)?, agent: row.get(2)?, skill: row.get(3)? })
    })?;
    runs.collect()
}

/// The question for the records behind a number, in their order.
fn behind(columns: &str) -> String {
    format!("SELECT {columns} FROM audit_events NOT INDEXED WHERE id > ?1 ORDER BY id")
}

fn unusable(
    path: &Path,
    doing: &'static str,
    source: impl std::error::Error + Send + Sync + 'static,
) -> AuditError {
    AuditError::Unusable { path: path.to_owned(), doing, source: source.into() }
}
