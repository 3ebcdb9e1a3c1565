//! Opens SQLite files that several processes of one user read and write at once: the trail, and whatever a caller keeps
//! beside it.
#![expect(clippy::disallowed_methods, reason = "waits for other processes, and looks for journals")]

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use stockade_files::regular_file::check_regular;
use stockade_text::push_percent_encoded;

use rusqlite::{Connection, Error, ErrorCode, OpenFlags};

use crate::private::create_private;
use crate::trail_file::{is_writable, other_owner};

/// How long a process waits for another one that holds the lock.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);
const RETRY_INTERVAL: Duration = Duration::from_millis(2);

/// Why a database cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Its file cannot be created.
    #[error(transparent)]
    Create(#[from] io::Error),
    /// SQLite cannot use the file.
    #[error(transparent)]
    Open(#[from] Error),
}

impl OpenError {
    /// Whether others kept the file locked, so that it is worth trying again.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::Open(error) if is_busy(error))
    }
}

/// Opens a database, or creates it, readable by its owner alone. Its folder must exist.
///
/// Readers never wait for the writer, and what was committed survives a loss of power.
///
/// # Errors
/// When the file cannot be created or opened, or other processes keep it locked for five seconds.
pub fn open(path: &Path) -> Result<Connection, OpenError> {
    // Creating it takes two calls of the kernel where it is there, and looking whether it is takes one.
    match std::fs::symlink_metadata(path) {
        // SQLite writes to the file as soon as it is asked for the journal.
        Ok(found) if found.is_file() => check_own(&found)?,
        _ => {
            check_regular(path)?;
            // SQLite would take over a journal that is there already, whatever user can write to it.
            if let Ok(found) = std::fs::symlink_metadata(journal(path)) {
                check_own(&found)?;
            }
            create_private(path)?;
        }
    }
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NOFOLLOW)?;
    // SQLite does not wait for locks while it changes the journal mode, which the first process does.
    while_busy(|| connection.pragma_update(None, "journal_mode", "WAL"))?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    Ok(connection)
}

/// Refuses a file that another user owns or may write to.
fn check_own(found: &Metadata) -> io::Result<()> {
    let why = match other_owner(found) {
        Some(owner) => format!("it belongs to user {owner}, who could change it"),
        None if is_writable(found) => {
            "it is writable by other users, who could change it; review it, then run `chmod 600` on it"
                .to_owned()
        }
        None => return Ok(()),
    };
    Err(io::Error::new(io::ErrorKind::PermissionDenied, why))
}

/// Opens a database that others write to, read-only. Nothing is created.
///
/// A copy on a read-only disk is read unchanged, unless a part of it is still in its journal.
///
/// # Errors
/// When the file is missing, or cannot be read.
pub fn open_to_read(path: &Path) -> Result<Connection, OpenError> {
    // SQLite would wait for the other end of a pipe.
    check_regular(path)?;
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let looked: Result<i64, Error> = connection.query_row("PRAGMA schema_version", [], |row| row.get(0));
    match looked {
        // To read beside a writer, SQLite needs files of its own beside the database.
        Err(error) if is_out_of_reach(&error) && !has_journal(path) => Ok(connect(
            Path::new(&format!("file:{}?immutable=1", escaped(path))),
            OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI,
        )?),
        // Other errors are reported by the first query.
        _ => Ok(connection),
    }
}

fn is_out_of_reach(error: &Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly))
}

fn has_journal(path: &Path) -> bool {
    std::fs::metadata(journal(path)).is_ok_and(|found| found.len() > 0)
}

/// The journal of a database, in which its newest rows are.
pub(crate) fn journal(path: &Path) -> PathBuf {
    let mut journal = path.as_os_str().to_owned();
    journal.push("-wal");
    journal.into()
}

/// Escapes a path for a URI.
fn escaped(path: &Path) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/.-_".contains(&byte);
    let mut escaped = String::new();
    push_percent_encoded(&mut escaped, path.as_os_str().as_encoded_bytes(), is_plain);
    escaped
}

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, Error> {
    let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(LOCK_TIMEOUT)?;
    // An attacker may have planted functions in the schema, which must not be called.
    connection.pragma_update(None, "trusted_schema", false)?;
    Ok(connection)
}

fn while_busy(mut attempt: impl FnMut() -> Result<(), Error>) -> Result<(), Error> {
    let began = Instant::now();
    loop {
        match attempt() {
            Err(error) if is_busy(&error) && began.elapsed() < LOCK_TIMEOUT => {
                std::thread::sleep(RETRY_INTERVAL);
            }
            outcome => return outcome,
        }
    }
}

fn is_busy(error: &Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn many_may_open_a_new_one_at_once() {
        for _ in 0..20 {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("new.db");
            let together = Barrier::new(16);
            let come = || {
                together.wait();
                open(&path).unwrap().execute_batch("CREATE TABLE IF NOT EXISTS t (x)").unwrap();
            };
            std::thread::scope(|threads| (0..16).for_each(|_| drop(threads.spawn(come))));
        }
    }
}
