//! A name on the disk, pinned by its open parent directory.

#![expect(
    clippy::disallowed_methods,
    reason = "opens names that were looked at before, and creates what was not there"
)]

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{FileType, Mode, OFlags, Stat, fcntl_setfl, fstat, mkdirat, openat};
use rustix::io::Errno;

/// Never through a link, never blocking on a pipe, never inherited by a child.
const CAREFUL: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::CLOEXEC).union(OFlags::NOCTTY);

/// A name in an open directory. If the directory is moved or replaced later, this still refers to the original one.
#[derive(Debug)]
pub struct HeldName {
    /// The directory: the deepest one that exists.
    pub(crate) folder: OwnedFd,
    /// The name in it, `.` for the directory itself.
    pub(crate) name: OsString,
    /// Components below `name`. Only if it does not exist.
    pub(crate) below: Vec<OsString>,
    /// Identity of the file; `None` if it does not exist.
    pub(crate) identity: Option<Identity>,
}

/// Device and inode, which identify a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Identity {
    pub(crate) stat: Stat,
}

/// Purpose of opening a file; directories are only read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OpenFor {
    /// Reading from the beginning.
    Reading,
    /// Overwriting the content without truncation.
    Writing,
}

/// Result of opening a name that was looked up before.
#[derive(Debug)]
pub enum Reopened {
    /// Nothing existed at the lookup.
    Missing,
    /// The same file, or the error of opening it.
    Same(io::Result<File>),
    /// A different file exists by now; it was not opened.
    Changed,
}

impl HeldName {
    /// Opens the file that existed at the lookup, and never a replacement.
    pub fn reopen(&self, purpose: OpenFor) -> Reopened {
        let Some(identity) = self.identity else { return Reopened::Missing };
        let flags = match purpose {
            _ if identity.kind() == FileType::Directory => OFlags::RDONLY | OFlags::DIRECTORY,
            OpenFor::Reading => OFlags::RDONLY,
            OpenFor::Writing => OFlags::WRONLY,
        };
        match openat(&self.folder, &self.name, flags | CAREFUL, Mode::empty()) {
            Ok(file) => match fstat(&file) {
                Ok(stat) if identity.is(&stat) => Reopened::Same(Ok(blocking(file))),
                _ => Reopened::Changed,
            },
            // A link, another type, or nothing: not the file that was looked up.
            Err(Errno::LOOP | Errno::NOTDIR | Errno::NOENT | Errno::MLINK) => Reopened::Changed,
            Err(errno) => Reopened::Same(Err(errno.into())),
        }
    }

    /// Returns the directory and the name in it, or `None` if the directory does not exist yet.
    #[must_use]
    pub fn in_folder(&self) -> Option<(BorrowedFd<'_>, &OsStr)> {
        self.below.is_empty().then(|| (self.folder.as_fd(), self.name.as_os_str()))
    }

    /// Creates the file for writing, with its missing parents.
    ///
    /// # Errors
    /// When a system call fails, or a file was created there meanwhile.
    pub fn create(self) -> io::Result<File> {
        let Self { mut folder, mut name, below, .. } = self;
        for next in below {
            folder = create_folder(&folder, &name)?;
            name = next;
        }
        // EXCL: anything that was created there meanwhile, above all a link, was not examined.
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(File::from(openat(&folder, &name, flags, Mode::from_raw_mode(0o666))?))
    }
}

impl Identity {
    pub(crate) fn is(&self, stat: &Stat) -> bool {
        self.stat.st_dev == stat.st_dev
            && self.stat.st_ino == stat.st_ino
            && self.kind() == FileType::from_raw_mode(stat.st_mode)
    }

    pub(crate) fn kind(&self) -> FileType {
        FileType::from_raw_mode(self.stat.st_mode)
    }
}

/// Clears the non-blocking flag, which was needed only for the open.
fn blocking(file: OwnedFd) -> File {
    // If this fails the file stays non-blocking, which has no effect on a regular file.
    let _unchanged = fcntl_setfl(&file, OFlags::empty());
    File::from(file)
}

fn create_folder(folder: &OwnedFd, name: &OsString) -> io::Result<OwnedFd> {
    match mkdirat(folder, name, Mode::from_raw_mode(0o777)) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(errno) => return Err(errno.into()),
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(folder, name, flags, Mode::empty())?)
}
