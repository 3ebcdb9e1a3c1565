//! Whether a path still means the file that is open: a record in a file that is nowhere any more is no record.
#![expect(clippy::disallowed_methods, reason = "looks at the file of the trail")]

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::error::{AuditError, Displaced};

/// A file that was found at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TrailFile {
    path: PathBuf,
    device: u64,
    inode: u64,
}

impl TrailFile {
    /// Returns which file is at the path now.
    #[cfg(feature = "sqlite")]
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        fs::symlink_metadata(path).map(|found| Self::at(path, &found))
    }

    /// Returns the place of a file that is open already.
    pub(crate) fn at(path: &Path, open: &Metadata) -> Self {
        Self { path: path.to_owned(), device: open.dev(), inode: open.ino() }
    }

    /// Whether the path means the same file as before, and no other path does: by another name, somebody may write to it
    /// who may not write here.
    pub(crate) fn check(&self) -> Result<(), AuditError> {
        let displaced = |how| Err(AuditError::Displaced { path: self.path.clone(), how });
        match fs::symlink_metadata(&self.path) {
            Ok(found) if Self::at(&self.path, &found) != *self => displaced(Displaced::Replaced),
            Ok(found) if found.nlink() > 1 => displaced(Displaced::Linked),
            Ok(_) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => displaced(Displaced::Gone),
            Err(source) => Err(AuditError::Unusable {
                path: self.path.clone(),
                doing: "looking whether it is still there",
                source: source.into(),
            }),
        }
    }
}
