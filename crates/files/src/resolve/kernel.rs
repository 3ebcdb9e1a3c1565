//! Linux-specific path queries.

#![cfg_attr(
    target_os = "linux",
    expect(clippy::disallowed_methods, reason = "opens folders below another in one step")
)]

use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;

/// Opens a directory below another in one step, or fails: through no link, never out of it.
#[cfg(target_os = "linux")]
pub(super) fn open_below(folder: &OwnedFd, path: &Path) -> rustix::io::Result<OwnedFd> {
    use rustix::fs::{Mode, ResolveFlags, openat2};

    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    openat2(folder, path, super::FOLDER, Mode::empty(), resolve)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn open_below(_folder: &OwnedFd, _path: &Path) -> rustix::io::Result<OwnedFd> {
    Err(rustix::io::Errno::NOSYS)
}

/// Whether a link with this target is a magic link, which leads to a process or its open files instead of its text.
/// They occur only in `/proc`, and their text is an absolute path or not a path at all (`pipe:[1]`).
#[cfg(target_os = "linux")]
pub(super) fn is_magic(folder: BorrowedFd<'_>, target: &Path) -> bool {
    let looks = target.is_absolute() || target.as_os_str().as_encoded_bytes().contains(&b':');
    looks && rustix::fs::fstatfs(folder).is_ok_and(|system| system.f_type == rustix::fs::PROC_SUPER_MAGIC)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn is_magic(_folder: BorrowedFd<'_>, _target: &Path) -> bool {
    false
}
