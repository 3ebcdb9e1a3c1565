//! Opens SQLite files that several processes of one user read and write at once: the trail, and whatever a caller keeps
//! beside it.
#![expect(clippy::disallowed_methods, reason = "waits for other processes")]

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, Error, ErrorCode, OpenFlags};

use crate::private::create_private;

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

/// Opens a database, or creates it, readable by its owner alone. Its folder must exist.
///
/// Readers never wait for the writer, and what was committed survives a loss of power.
///
/// # Errors
/// When the file cannot be created or opened, or other processes keep it locked for five seconds.
pub fn open(path: &Path) -> Result<Connection, OpenError> {
    create_private(path)?;
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NOFOLLOW)?;
    // SQLite waits for nobody while it changes the kind of journal, which the first process to come does.
    while_busy(|| connection.pragma_update(None, "journal_mode", "WAL"))?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    Ok(connection)
}

/// Opens a database that others write to, read-only. Nothing is created.
///
/// # Errors
/// When there is no such file, or it cannot be read.
pub fn open_to_read(path: &Path) -> Result<Connection, Error> {
    connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
}

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, Error> {
    let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(LOCK_TIMEOUT)?;
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
