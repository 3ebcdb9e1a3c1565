//! Folders of the quarantine: how they are made, opened and listed.

use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{Dir, Mode, OFlags, mkdirat, openat};

/// Flags to open a directory without following a symlink.
pub(super) const FOLDER: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Creates a directory for this user only, and opens it.
pub(super) fn make_folder(at: &OwnedFd, name: &str) -> io::Result<OwnedFd> {
    mkdirat(at, name, Mode::RWXU)?;
    Ok(openat(at, name, FOLDER, Mode::empty())?)
}

/// Returns the names in a directory.
pub(crate) fn names(folder: &OwnedFd) -> io::Result<Vec<std::ffi::OsString>> {
    use std::os::unix::ffi::OsStringExt as _;
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let name = entry?.file_name().to_bytes().to_vec();
        if name != b"." && name != b".." {
            names.push(std::ffi::OsString::from_vec(name));
        }
    }
    Ok(names)
}
