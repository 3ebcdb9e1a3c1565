//! Removes a thing with all that lies in it, whatever that is.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, chmod, openat, renameat_with, unlinkat};

use super::folder::FOLDER;
use crate::sys::remove::ScratchDir;

/// A name that nothing in quarantine has, and that is short enough.
const DOOMED: &str = "doomed";

/// Removes what has this name in a folder, with all that lies in it, whatever its modes are. A link is removed, and not what it leads to.
///
/// # Errors
/// When it is not there, or something of it cannot be removed.
pub fn remove_tree(folder: &Path, name: &OsStr) -> io::Result<()> {
    let folder = rustix::fs::open(folder, FOLDER & !OFlags::NOFOLLOW, Mode::empty())?;
    remove(&folder, name)
}

/// Removes what has this name in a folder. A link is removed, and not what it leads to.
pub(crate) fn remove(folder: &OwnedFd, name: &OsStr) -> io::Result<()> {
    match unlinkat(folder, name, AtFlags::empty()) {
        Err(rustix::io::Errno::ISDIR | rustix::io::Errno::PERM) => {}
        other => return Ok(other?),
    }
    let doomed = format!("{DOOMED}-{}", crate::moment::moment());
    renameat_with(folder, name, folder, &doomed, RenameFlags::NOREPLACE)?;
    let opened = openat(folder, &doomed, FOLDER, Mode::empty()).or_else(|_| {
        // Its owner closed it. What is opened is a folder, and no link.
        let closed = openat(folder, &doomed, FOLDER | OFlags::PATH, Mode::empty())?;
        chmod(format!("/proc/self/fd/{}", closed.as_raw_fd()), Mode::RWXU)?;
        openat(folder, &doomed, FOLDER, Mode::empty())
    })?;
    let all = ScratchDir::new(folder.as_fd(), opened.as_fd(), doomed.as_bytes());
    all.ok_or(io::ErrorKind::InvalidFilename)?.remove();
    match rustix::fs::statat(folder, &doomed, AtFlags::SYMLINK_NOFOLLOW) {
        Err(rustix::io::Errno::NOENT) => Ok(()),
        // What cannot be removed keeps its name.
        _ => {
            renameat_with(folder, &doomed, folder, name, RenameFlags::NOREPLACE)?;
            Err(io::ErrorKind::PermissionDenied.into())
        }
    }
}
