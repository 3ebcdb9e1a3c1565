//! Whether a path still means the file that is open: a record in a file that is nowhere any more is no record.
#![expect(clippy::disallowed_methods, reason = "looks at the file of the trail")]

#[cfg(feature = "sqlite")]
use std::fs::File;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

#[cfg(feature = "sqlite")]
use stockade_files::{OwnAccess, open_own};

use crate::error::{AuditError, Displaced};

/// A file that was found at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TrailFile {
    path: PathBuf,
    device: u64,
    inode: u64,
    /// Whether it had another name.
    is_linked: bool,
    /// Whether other users may write to it.
    is_writable: bool,
    /// The other user that it belongs to.
    other_owner: Option<u32>,
}

/// The write-ahead log of a database, which is synced here and not by SQLite.
///
/// With `synchronous = FULL`, SQLite syncs it at each commit, and at the first commit of a process its folder too, although the
/// log was there before. A hook is a process for each call; `strace` shows of its one commit:
///
/// ```text
/// fsync(5</home/me/.local/state/stockade/audit.db-wal>) = 0
/// fsync(8</home/me/.local/state/stockade>) = 0
/// ```
///
/// Here the folder is synced when the log is opened and empty, which is before anything is written to it. So a log that is not
/// empty is in its folder on the disk, and one sync for each commit is enough.
#[cfg(feature = "sqlite")]
#[derive(Debug)]
pub(crate) struct Journal {
    file: File,
    place: TrailFile,
}

#[cfg(feature = "sqlite")]
impl Journal {
    /// Opens the log, which SQLite has created, and syncs its folder if nothing was written to it yet.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = open_own(path, OwnAccess::Read)?;
        let found = file.metadata()?;
        if found.len() == 0 {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
        }
        Ok(Self { file, place: TrailFile::at(path, &found) })
    }

    pub(crate) const fn place(&self) -> &TrailFile {
        &self.place
    }

    /// Returns its length in bytes, and the greatest there is if that cannot be told.
    pub(crate) fn len(&self) -> u64 {
        self.file.metadata().map_or(u64::MAX, |found| found.len())
    }

    /// Waits until all that was written to the log is on the disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}

/// Whether other users may write to a file.
pub(crate) fn is_writable(found: &Metadata) -> bool {
    found.mode() & 0o022 != 0
}

/// The owner of a file that belongs neither to this user nor to root.
pub(crate) fn other_owner(found: &Metadata) -> Option<u32> {
    Some(found.uid()).filter(|owner| *owner != 0 && *owner != rustix::process::geteuid().as_raw())
}

/// Returns what is wrong with the permissions of a trail.
pub(crate) fn writable(path: &Path) -> Option<String> {
    let is_writable = fs::symlink_metadata(path).is_ok_and(|found| is_writable(&found));
    is_writable.then(|| "its file is writable by other users".to_owned())
}

impl TrailFile {
    /// Returns which file is at the path now.
    #[cfg(feature = "sqlite")]
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        fs::symlink_metadata(path).map(|found| Self::at(path, &found))
    }

    /// Returns the place of a file that is open already.
    pub(crate) fn at(path: &Path, open: &Metadata) -> Self {
        Self {
            path: path.to_owned(),
            device: open.dev(),
            inode: open.ino(),
            is_linked: open.nlink() > 1,
            is_writable: is_writable(open),
            other_owner: other_owner(open),
        }
    }

    /// Checks that the file had no other name when it was found, see [`TrailFile::check`].
    pub(crate) fn check_found(&self) -> Result<(), AuditError> {
        if let Some(owner) = self.other_owner {
            return Err(AuditError::Displaced {
                path: self.path.clone(),
                how: Displaced::OfAnother { owner },
            });
        }
        match self.is_linked {
            true => Err(AuditError::Displaced { path: self.path.clone(), how: Displaced::Linked }),
            false if self.is_writable => {
                Err(AuditError::Displaced { path: self.path.clone(), how: Displaced::Writable })
            }
            false => Ok(()),
        }
    }

    /// Checks that the path still names the same file, and that the file has no other name: through a hard link, a user without
    /// access to this path could write to it.
    pub(crate) fn check(&self) -> Result<(), AuditError> {
        let displaced = |how| Err(AuditError::Displaced { path: self.path.clone(), how });
        match fs::symlink_metadata(&self.path) {
            Ok(found) if (found.dev(), found.ino()) != (self.device, self.inode) => {
                displaced(Displaced::Replaced)
            }
            Ok(found) if found.nlink() > 1 => displaced(Displaced::Linked),
            Ok(found) if is_writable(&found) => displaced(Displaced::Writable),
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
