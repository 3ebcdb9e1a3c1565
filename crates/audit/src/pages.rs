//! Whether the file of a database is whole: what SQLite reads past, a reader with other tools may stumble on, or miss.
#![expect(clippy::disallowed_methods, reason = "asks for the size of the file")]

use std::path::Path;

use rusqlite::{Connection, Error};

/// The most complaints that are passed on.
const MAX_COMPLAINTS: i64 = 20;

/// Returns what is wrong with the pages of a database.
pub(crate) fn damage(path: &Path, connection: &Connection) -> Vec<String> {
    let unreadable = |error: Error| vec![format!("its pages cannot be checked: {error}")];
    let pages = complaints(connection).unwrap_or_else(unreadable);
    let rest = trailing(path, connection)
        .unwrap_or_else(|error| vec![format!("its size cannot be checked: {error}")]);
    pages.into_iter().chain(rest).collect()
}

/// What SQLite itself finds: torn pages, and indexes that do not agree with their table.
fn complaints(connection: &Connection) -> Result<Vec<String>, Error> {
    let mut statement = connection.prepare(&format!("PRAGMA integrity_check({MAX_COMPLAINTS})"))?;
    let rows = statement.query_map([], |row| row.get::<_, String>(0))?;
    let all = rows.collect::<Result<Vec<_>, _>>()?;
    Ok(all
        .into_iter()
        .filter(|line| line != "ok")
        .map(|line| format!("its pages are damaged: {line}"))
        .collect())
}

/// Bytes behind the last page. A file may be shorter than its pages, some of which may still be in the journal.
fn trailing(path: &Path, connection: &Connection) -> Result<Vec<String>, Box<dyn std::error::Error>> {
    let number = |name: &str| connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, i64>(0));
    let pages = u64::try_from(number("page_count")?)?.saturating_mul(u64::try_from(number("page_size")?)?);
    let length = std::fs::metadata(path)?.len();
    Ok(match length.checked_sub(pages) {
        None | Some(0) => Vec::new(),
        Some(more) => {
            vec![format!("{more} bytes follow its last page, which Stockade did not write")]
        }
    })
}
