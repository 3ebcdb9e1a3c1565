//! A name on a disk, held by the folder that it is in.

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

/// Never through a link, never waiting for the other end of a pipe, never passed on to a child.
const CAREFUL: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::CLOEXEC).union(OFlags::NOCTTY);

/// A name in a folder that is held open. Whatever is put in the way of the folder later, this is still the folder.
#[derive(Debug)]
pub struct HeldName {
    /// The folder: the deepest one that exists.
    pub(crate) folder: OwnedFd,
    /// The name in it, `.` for the folder itself.
    pub(crate) name: OsString,
    /// Names below that one. Only when it does not exist.
    pub(crate) below: Vec<OsString>,
    /// What was there; nothing when it does not exist.
    pub(crate) identity: Option<Identity>,
}

/// What tells one file from every other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Identity {
    pub(crate) stat: Stat,
}

/// What a file is opened for; folders are only read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OpenFor {
    /// Reading from the beginning.
    Reading,
    /// Writing over what is there, which is not emptied.
    Writing,
}

/// What came of opening a name that was looked at before.
#[derive(Debug)]
pub enum Reopened {
    /// Nothing was there when the name was looked at.
    Missing,
    /// What was looked at, or why the system does not let it be opened.
    Same(io::Result<File>),
    /// Something else is there by now, which was not opened.
    Changed,
}

impl HeldName {
    /// Opens what was there when the name was looked at, and nothing that was put in its place.
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
            // A link, another kind of thing, or nothing: not what was looked at.
            Err(Errno::LOOP | Errno::NOTDIR | Errno::NOENT | Errno::MLINK) => Reopened::Changed,
            Err(errno) => Reopened::Same(Err(errno.into())),
        }
    }

    /// Returns the folder and the name in it. Nothing when that folder does not exist yet.
    #[must_use]
    pub fn in_folder(&self) -> Option<(BorrowedFd<'_>, &OsStr)> {
        self.below.is_empty().then(|| (self.folder.as_fd(), self.name.as_os_str()))
    }

    /// Creates the file for writing, with the folders above it.
    ///
    /// # Errors
    /// When the system refuses, or something has been put there meanwhile.
    pub fn create(self) -> io::Result<File> {
        let Self { mut folder, mut name, below, .. } = self;
        for next in below {
            folder = create_folder(&folder, &name)?;
            name = next;
        }
        // EXCL: whatever was put there meanwhile, a link above all, was not looked at.
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

/// The file without the flag that only served to open it.
fn blocking(file: OwnedFd) -> File {
    // When this fails the file stays non-blocking, which a regular file never shows.
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
