//! What a tool was granted: open, and not to be opened again.

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
    /// What is there, open. Nothing when it does not exist yet.
    file: Option<io::Result<File>>,
}

/// What came of opening.
pub(super) enum Opened {
    As(Box<Granted>),
    /// Something else is there than what was judged.
    Changed,
}

/// Opens what was decided on. What could not be opened for a reason of its own (a permission, say) is granted all the same,
/// and the reason is what the tool gets.
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
    /// Returns the real path. It is for showing: opening it again would ask the disk again.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns what the tool may do.
    #[must_use]
    pub fn access(&self) -> Access {
        self.access
    }

    /// Returns the folder that the path is in and the name in it, for everything but opening: creating a folder,
    /// renaming, deleting. Nothing when that folder does not exist yet.
    #[must_use]
    pub fn place(&self) -> Option<(BorrowedFd<'_>, &OsStr)> {
        self.held.in_folder()
    }

    /// Returns the open file: for reading, or for writing without having been emptied. What does not exist yet is
    /// created for writing, with the folders above it.
    ///
    /// # Errors
    /// When there is nothing to read, when the system refuses, or when something has been put there meanwhile.
    pub fn into_file(self) -> io::Result<File> {
        match (self.file, self.access) {
            (Some(file), _) => file,
            (None, Access::Read) => Err(io::ErrorKind::NotFound.into()),
            (None, Access::Write) => self.held.create(),
        }
    }
}
