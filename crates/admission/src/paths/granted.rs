//! Granted paths, held open so that they need not be opened again.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};

use stockade_files::{HeldName, OpenFor, Reopened};
use stockade_policy::{Access, PathFacts};

/// A path that a tool may use.
#[derive(Debug)]
pub struct Granted {
    path: PathBuf,
    access: Access,
    held: HeldName,
    /// The open target; `None` if it does not exist yet.
    file: Option<io::Result<File>>,
}

/// Result of opening a decided target.
pub(super) enum Opened {
    As(Box<Granted>),
    /// The target is not the judged one.
    Changed,
}

/// Opens the decided target. A target that cannot be opened, for lack of permission for example, is granted all the
/// same; the tool gets the error.
pub(super) fn open(held: HeldName, access: Access, facts: &PathFacts) -> Opened {
    let PathFacts::Resolved(resolved) = facts else { return Opened::Changed };
    let purpose = match access {
        Access::Read => OpenFor::Reading,
        Access::Write => OpenFor::Writing,
    };
    let file = match held.reopen(purpose) {
        Reopened::Missing => None,
        Reopened::Same(file) => Some(file),
        Reopened::Changed => return Opened::Changed,
    };
    Opened::As(Box::new(Granted { path: resolved.real.clone(), access, held, file }))
}

impl Granted {
    /// Returns the real path, for display: opening it again would resolve it again.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the granted access.
    #[must_use]
    pub fn access(&self) -> Access {
        self.access
    }

    /// Returns the parent directory and the name in it, for other uses than opening: creating a directory, renaming,
    /// deleting. `None` if the parent does not exist yet.
    #[must_use]
    pub fn place(&self) -> Option<(BorrowedFd<'_>, &OsStr)> {
        self.held.in_folder()
    }

    /// Returns the open file: for reading, or for writing without truncation. A missing file is created for writing,
    /// with its missing parents.
    ///
    /// # Errors
    /// When there is nothing to read, a system call fails, or a file was created there meanwhile.
    pub fn into_file(self) -> io::Result<File> {
        match (self.file, self.access) {
            (Some(file), _) => file,
            (None, Access::Read) => Err(io::ErrorKind::NotFound.into()),
            (None, Access::Write) => self.held.create(),
        }
    }
}
