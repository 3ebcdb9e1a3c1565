//! Deletes a directory tree, whatever it contains.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, chmod, openat, renameat_with, unlinkat};

use super::folder::FOLDER;
use crate::sys::remove::ScratchDir;

/// The prefix of directories that are being deleted. No entry has such a name.
const DOOMED: &str = "doomed";

/// Deletes a file or directory tree by its name in a directory, whatever its permissions are. Symlinks are not followed.
///
/// # Errors
/// When it does not exist, or a part of it cannot be deleted.
pub fn remove_tree(folder: &Path, name: &OsStr) -> io::Result<()> {
    let folder = rustix::fs::open(folder, FOLDER & !OFlags::NOFOLLOW, Mode::empty())?;
    remove(&folder, name)
}

/// Deletes a file or directory tree by its name in a directory. Symlinks are not followed.
pub(crate) fn remove(folder: &OwnedFd, name: &OsStr) -> io::Result<()> {
    match unlinkat(folder, name, AtFlags::empty()) {
        Err(rustix::io::Errno::ISDIR | rustix::io::Errno::PERM) => {}
        other => return Ok(other?),
    }
    let doomed = format!("{DOOMED}-{}", crate::moment::moment());
    renameat_with(folder, name, folder, &doomed, RenameFlags::NOREPLACE)?;
    let opened = openat(folder, &doomed, FOLDER, Mode::empty()).or_else(|_| {
        // The command removed its permissions. FOLDER has O_NOFOLLOW, so chmod(2) through the descriptor changes this directory.
        let closed = openat(folder, &doomed, FOLDER | OFlags::PATH, Mode::empty())?;
        chmod(format!("/proc/self/fd/{}", closed.as_raw_fd()), Mode::RWXU)?;
        openat(folder, &doomed, FOLDER, Mode::empty())
    })?;
    let all = ScratchDir::new(folder.as_fd(), opened.as_fd(), doomed.as_bytes());
    all.ok_or(io::ErrorKind::InvalidFilename)?.remove();
    match rustix::fs::statat(folder, &doomed, AtFlags::SYMLINK_NOFOLLOW) {
        Err(rustix::io::Errno::NOENT) => Ok(()),
        // If a part cannot be deleted, the directory gets its name back, so that it stays listed.
        _ => {
            renameat_with(folder, &doomed, folder, name, RenameFlags::NOREPLACE)?;
            Err(io::ErrorKind::PermissionDenied.into())
        }
    }
}
