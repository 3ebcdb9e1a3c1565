//! Opens what was decided on, and nothing that was put in its place.

#![expect(clippy::disallowed_methods, reason = "opens the paths that a tool was granted")]

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags, fcntl_setfl, fstat, mkdirat, openat};
use rustix::io::Errno;
use stockade_policy::{Access, PathFacts};

use super::place::Place;

/// Never through a link, never waiting for the other end of a pipe, never passed on to a child.
const CAREFUL: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::CLOEXEC).union(OFlags::NOCTTY);

/// A path that a tool may use.
#[derive(Debug)]
pub struct Granted {
    path: PathBuf,
    access: Access,
    place: Place,
    /// What is there, open. Nothing when it does not exist yet.
    file: Option<io::Result<File>>,
}

/// What came of opening.
pub(super) enum Opened {
    As(Box<Granted>),
    /// Something else is there than what was judged.
    Changed,
}

/// Opens a place. What could not be opened for a reason of its own (a permission, say) is granted all the same, and
/// the reason is what the tool gets.
pub(super) fn open(place: Place, access: Access, facts: &PathFacts) -> Opened {
    let path = match facts {
        PathFacts::Resolved(resolved) => resolved.real.clone(),
        PathFacts::Unresolvable(_) => return Opened::Changed,
    };
    let Some(identity) = place.identity else {
        return Opened::As(Box::new(Granted { path, access, place, file: None }));
    };
    let is_folder = FileType::from_raw_mode(identity.0.st_mode) == FileType::Directory;
    let flags = match access {
        _ if is_folder => OFlags::RDONLY | OFlags::DIRECTORY,
        Access::Read => OFlags::RDONLY,
        Access::Write => OFlags::WRONLY,
    };
    let file = match openat(&place.folder, &place.name, flags | CAREFUL, Mode::empty()) {
        Ok(file) => match fstat(&file) {
            Ok(stat) if identity.is(&stat) => Ok(blocking(file)),
            _ => return Opened::Changed,
        },
        // A link, another kind of thing, or nothing: not what was judged.
        Err(Errno::LOOP | Errno::NOTDIR | Errno::NOENT | Errno::MLINK) => return Opened::Changed,
        Err(errno) => Err(errno.into()),
    };
    Opened::As(Box::new(Granted { path, access, place, file: Some(file) }))
}

/// The file without the flag that only served to open it.
fn blocking(file: OwnedFd) -> File {
    // When this fails the file stays non-blocking, which a regular file never shows.
    let _unchanged = fcntl_setfl(&file, OFlags::empty());
    File::from(file)
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
        self.place.below.is_empty().then(|| (self.place.folder.as_fd(), self.place.name.as_os_str()))
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
            (None, Access::Write) => create(self.place),
        }
    }
}

fn create(place: Place) -> io::Result<File> {
    let Place { mut folder, mut name, below, .. } = place;
    for next in below {
        folder = create_folder(&folder, &name)?;
        name = next;
    }
    // EXCL: whatever was put there meanwhile, a link above all, was not judged.
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(File::from(openat(&folder, &name, flags, Mode::from_raw_mode(0o666))?))
}

fn create_folder(folder: &OwnedFd, name: &OsString) -> io::Result<OwnedFd> {
    match mkdirat(folder, name, Mode::from_raw_mode(0o777)) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(errno) => return Err(errno.into()),
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(folder, name, flags, Mode::empty())?)
}
