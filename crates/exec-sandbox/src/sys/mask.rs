//! Hides a file from a running command, or protects it: a helper joins the command's mount namespace, and mounts a device that
//! cannot be opened over the file, or the file itself read-only.

#![expect(clippy::disallowed_methods, reason = "compares a file with the one that is to be hidden")]

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd as _, RawFd};

use rustix::fs::fstat;

use super::raw::{self, ALL_SIGNALS, CapabilityMask, Errno, MountAttributes, Result, Side};

/// A device that every sandbox has. On a mount that permits no devices, it cannot be opened.
const DEVICE: &CStr = c"/dev/null";

/// The exit code of the helper if another file is at the path.
const ANOTHER: i32 = 2;

/// What is mounted over a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cover {
    /// A device that cannot be opened.
    Device,
    /// The file itself, or the directory with all mounts below it, read-only.
    ReadOnly,
}

/// Covers the file with this device and inode number for a process. Returns whether it was at the path; a file that is hidden
/// already is not.
pub(crate) fn cover_in(process: i32, path: &CStr, file: (u64, u64), cover: Cover) -> io::Result<bool> {
    let error = |errno: Errno| io::Error::from_raw_os_error(errno);
    let mounts = raw::open_for_reading(&CString::new(format!("/proc/{process}/ns/mnt"))?).map_err(error)?;
    let users = raw::owner_of_namespace(mounts.as_raw_fd()).map_err(error)?;
    let mask = raw::set_signal_mask(ALL_SIGNALS).map_err(error)?;
    // SAFETY: the child makes a few calls, all safe there.
    let side = unsafe { raw::clone_process(0) };
    if let Ok(Side::Child) = side {
        let _abort = raw::AbortOnUnwind;
        // Joining the namespace grants all capabilities in it, so its own are dropped before.
        let masked = raw::renounce_capabilities(CapabilityMask::NONE)
            .and_then(|()| raw::join_user_namespace(users.as_raw_fd()))
            .and_then(|()| raw::join_mount_namespace(mounts.as_raw_fd()))
            .and_then(|()| mount_over(path, file, cover));
        raw::exit(match masked {
            Ok(true) => 0,
            Ok(false) => ANOTHER,
            Err(_) => 1,
        });
    }
    raw::set_signal_mask(mask).ok();
    let Side::Parent { pid, .. } = side.map_err(error)? else {
        return Err(error(libc::EINVAL));
    };
    match libc::WEXITSTATUS(raw::wait_for(pid).map_err(error)?.status) {
        0 => Ok(true),
        ANOTHER => Ok(false),
        _ => Err(error(libc::EPERM)),
    }
}

/// The mount goes on the file that was compared, and not on a name: the command may exchange names meanwhile.
fn mount_over(path: &CStr, file: (u64, u64), cover: Cover) -> Result<bool> {
    let there = raw::open_path(libc::AT_FDCWD, path, libc::O_PATH | libc::O_NOFOLLOW, false)?;
    let found = fstat(&there).map_err(rustix::io::Errno::raw_os_error)?;
    if (found.st_dev, found.st_ino) != file {
        return Ok(false);
    }
    let closed = MountAttributes::READ_ONLY | MountAttributes::NOSUID | MountAttributes::NODEV;
    let (mount, set) = match cover {
        Cover::Device => (raw::open_tree(libc::AT_FDCWD as RawFd, DEVICE)?, closed | MountAttributes::NOEXEC),
        Cover::ReadOnly => (raw::open_tree(there.as_raw_fd(), c"")?, closed),
    };
    let attributes = MountAttributes { set, ..MountAttributes::default() };
    raw::mount_setattr(mount.as_raw_fd(), &attributes, cover == Cover::ReadOnly)?;
    raw::move_mount(mount.as_raw_fd(), there.as_raw_fd())?;
    Ok(true)
}
