//! Mounts and the root.

use std::ffi::{CStr, c_int, c_uint, c_ulong};
use std::os::fd::{AsRawFd as _, OwnedFd, RawFd};

use rustix::mount::{MountAttrFlags, MountPropagationFlags};

use super::{Result, descriptor, done};

/// Changes of a mount: the kernel's `struct mount_attr`, see mount_setattr(2).
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct MountAttributes {
    pub(crate) set: u64,
    pub(crate) clear: u64,
    pub(crate) propagation: u64,
    pub(crate) user_namespace: u64,
}

impl MountAttributes {
    pub(crate) const READ_ONLY: u64 = MountAttrFlags::MOUNT_ATTR_RDONLY.bits() as u64;
    pub(crate) const NOSUID: u64 = MountAttrFlags::MOUNT_ATTR_NOSUID.bits() as u64;
    pub(crate) const NODEV: u64 = MountAttrFlags::MOUNT_ATTR_NODEV.bits() as u64;
    pub(crate) const NOEXEC: u64 = MountAttrFlags::MOUNT_ATTR_NOEXEC.bits() as u64;
    /// Maps file owners by the given user namespace.
    pub(crate) const IDMAP: u64 = MountAttrFlags::MOUNT_ATTR_IDMAP.bits() as u64;
    /// Private propagation: mount events are neither received nor sent.
    pub(crate) const PRIVATE: u64 = MountPropagationFlags::PRIVATE.bits() as u64;
}

/// Changes a mount, and with `recursive` all mounts below it.
pub(crate) fn mount_setattr(mount: RawFd, attributes: &MountAttributes, recursive: bool) -> Result {
    mount_setattr_at(mount, c"", attributes, recursive)
}

/// Changes the mount at a path, and with `recursive` all mounts below it. An empty path is the mount of the descriptor.
pub(crate) fn mount_setattr_at(
    folder: RawFd,
    path: &CStr,
    attributes: &MountAttributes,
    recursive: bool,
) -> Result {
    let flags = libc::AT_EMPTY_PATH | libc::AT_SYMLINK_NOFOLLOW;
    let flags = flags | if recursive { libc::AT_RECURSIVE } else { 0 };
    let attributes = attributes as *const MountAttributes;
    let size = size_of::<MountAttributes>();
    // SAFETY: the path ends in 0, and the attributes have the size that is given.
    done(unsafe { libc::syscall(libc::SYS_mount_setattr, folder, path.as_ptr(), flags, attributes, size) })
}

/// Mounts a new file system at a path with these options, in one call. Symlinks in the path are followed.
pub(crate) fn mount_new(kind: &CStr, path: &CStr, attributes: u64, options: &CStr) -> Result {
    // MOUNT_ATTR_RDONLY, _NOSUID, _NODEV and _NOEXEC have the numbers of the flags of mount(2).
    mount(kind, path, kind, attributes, options)
}

/// Bind-mounts a path, with all mounts below it. Symlinks in both paths are followed.
pub(crate) fn bind_mount(source: &CStr, path: &CStr) -> Result {
    mount(source, path, c"", libc::MS_BIND | libc::MS_REC, c"")
}

fn mount(source: &CStr, path: &CStr, kind: &CStr, flags: c_ulong, options: &CStr) -> Result {
    let (source, path) = (source.as_ptr(), path.as_ptr());
    // SAFETY: all four strings end in 0.
    done(unsafe { libc::syscall(libc::SYS_mount, source, path, kind.as_ptr(), flags, options.as_ptr()) })
}

/// Clones the mounts at a descriptor.
pub(crate) fn open_tree(at: RawFd, path: &CStr) -> Result<OwnedFd> {
    // Without OPEN_TREE_CLONE it would be the mount itself, and moving it would remove it from the machine.
    let flags = libc::OPEN_TREE_CLONE as c_int | libc::O_CLOEXEC | libc::AT_EMPTY_PATH | libc::AT_RECURSIVE;
    // SAFETY: the path ends in 0.
    descriptor(unsafe { libc::syscall(libc::SYS_open_tree, at, path.as_ptr(), flags) })
}

/// Attaches a detached mount to a target.
pub(crate) fn move_mount(mount: RawFd, target: RawFd) -> Result {
    const BOTH_PATHS_EMPTY: c_uint = libc::MOVE_MOUNT_F_EMPTY_PATH | libc::MOVE_MOUNT_T_EMPTY_PATH;
    let empty = c"".as_ptr();
    // SAFETY: both names are empty and end in 0.
    done(unsafe { libc::syscall(libc::SYS_move_mount, mount, empty, target, empty, BOTH_PATHS_EMPTY) })
}

/// Attaches a detached mount to a path. The last name may be no symlink; those before it are followed.
pub(crate) fn move_mount_to(mount: RawFd, folder: RawFd, path: &CStr) -> Result {
    let (empty, flags) = (c"".as_ptr(), libc::MOVE_MOUNT_F_EMPTY_PATH as c_uint);
    // SAFETY: both names end in 0.
    done(unsafe { libc::syscall(libc::SYS_move_mount, mount, empty, folder, path.as_ptr(), flags) })
}

/// Creates a detached mount of a new file system with these options.
pub(crate) fn new_filesystem(kind: &CStr, options: &[(&CStr, &CStr)], attributes: u64) -> Result<OwnedFd> {
    // SAFETY: the name ends in 0.
    let context =
        descriptor(unsafe { libc::syscall(libc::SYS_fsopen, kind.as_ptr(), libc::FSOPEN_CLOEXEC) })?;
    let context = context.as_raw_fd();
    for (name, value) in options {
        // An option that takes no value is a flag, and the kernel insists on none.
        let (command, value) = match value.is_empty() {
            true => (libc::FSCONFIG_SET_FLAG, std::ptr::null()),
            false => (libc::FSCONFIG_SET_STRING, value.as_ptr()),
        };
        // SAFETY: both strings end in 0, if there are two.
        done(unsafe { libc::syscall(libc::SYS_fsconfig, context, command, name.as_ptr(), value, 0) })?;
    }
    // SAFETY: this command takes no strings.
    done(unsafe {
        libc::syscall(libc::SYS_fsconfig, context, libc::FSCONFIG_CMD_CREATE, 0usize, 0usize, 0)
    })?;
    // SAFETY: only numbers are handed over.
    descriptor(unsafe {
        libc::syscall(libc::SYS_fsmount, context, libc::FSMOUNT_CLOEXEC, attributes as c_uint)
    })
}

/// Unmounts a path.
pub(crate) fn unmount(path: &CStr) -> Result {
    // SAFETY: the path ends in 0.
    done(unsafe { libc::syscall(libc::SYS_umount2, path.as_ptr(), libc::MNT_DETACH | libc::UMOUNT_NOFOLLOW) })
}

/// Makes the current directory the root, and detaches the old root.
pub(crate) fn become_root_here() -> Result {
    let here = c".".as_ptr();
    // With `.` for both paths, no directory for the old root is needed, see pivot_root(2).
    // SAFETY: the paths end in 0. The old root comes to lie on top of the new one, where it is taken off.
    done(unsafe { libc::syscall(libc::SYS_pivot_root, here, here) })?;
    // SAFETY: the path ends in 0.
    done(unsafe { libc::syscall(libc::SYS_umount2, here, libc::MNT_DETACH) })
}
