//! Which file is opened for a trail, and what lies beside it.
use std::path::{Path, PathBuf};

use stockade_files::real_path;

use crate::error::AuditError;
use crate::json_lines::JsonLines;
use crate::store::Store;

/// What lies beside a trail and belongs to it.
pub(crate) const BESIDE: &[&str] = &[WRITERS, "-wal", "-shm", "-journal", ".head", ".checkpoints"];
pub(crate) const WRITERS: &str = ".writers";

pub(crate) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Resolves links in the directory of a file. The file itself is not a link: opening it has checked that.
pub(crate) fn resolved(path: &Path) -> std::io::Result<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = real_path(folder)?;
    Ok(path.file_name().map_or_else(|| folder.clone(), |name| folder.join(name)))
}

fn has_lines(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "jsonl")
}

pub(crate) fn open_store(path: &Path) -> Result<Box<dyn Store>, AuditError> {
    if has_lines(path) {
        return Ok(Box::new(JsonLines::open(path)?));
    }
    #[cfg(feature = "sqlite")]
    return Ok(Box::new(crate::sqlite::SqliteTrail::open(path)?));
    #[cfg(not(feature = "sqlite"))]
    Err(no_database(path))
}

pub(crate) fn open_store_to_read(path: &Path) -> Result<Box<dyn Store>, AuditError> {
    if has_lines(path) {
        return Ok(Box::new(JsonLines::open_to_read(path)?));
    }
    #[cfg(feature = "sqlite")]
    return Ok(Box::new(crate::sqlite::SqliteTrail::open_to_read(path)?));
    #[cfg(not(feature = "sqlite"))]
    Err(no_database(path))
}

#[cfg(not(feature = "sqlite"))]
pub(crate) fn no_database(path: &Path) -> AuditError {
    AuditError::Unusable {
        path: path.to_owned(),
        doing: "opening it",
        source: "this program was built without SQLite; use a file with the extension .jsonl".into(),
    }
}
