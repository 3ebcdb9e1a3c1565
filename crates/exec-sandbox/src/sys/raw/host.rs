//! The host name, terminals, and namespaces.

use std::os::fd::{OwnedFd, RawFd};

use super::{Result, descriptor, done};

pub(crate) fn set_hostname(name: &[u8]) -> Result {
    // SAFETY: the length is that of the name.
    done(unsafe { libc::syscall(libc::SYS_sethostname, name.as_ptr(), name.len()) })
}

/// Makes a terminal the controlling terminal of this process's session.
pub(crate) fn take_terminal(terminal: RawFd) -> Result {
    // SAFETY: only numbers are handed over.
    done(unsafe { libc::syscall(libc::SYS_ioctl, terminal, libc::TIOCSCTTY, 0) })
}

/// Joins a user namespace. Its creator gets all capabilities in it.
pub(crate) fn join_user_namespace(namespace: RawFd) -> Result {
    // SAFETY: only numbers are handed over.
    done(unsafe { libc::syscall(libc::SYS_setns, namespace, libc::CLONE_NEWUSER) })
}

/// Joins a mount namespace. Its root becomes the root of this process.
pub(crate) fn join_mount_namespace(namespace: RawFd) -> Result {
    // SAFETY: only numbers are handed over.
    done(unsafe { libc::syscall(libc::SYS_setns, namespace, libc::CLONE_NEWNS) })
}

/// Returns the user namespace that owns a namespace, see ioctl_nsfs(2).
pub(crate) fn owner_of_namespace(namespace: RawFd) -> Result<OwnedFd> {
    const NS_GET_USERNS: u64 = 0xb701;
    // SAFETY: this request takes no argument, and returns a new descriptor.
    descriptor(unsafe { libc::syscall(libc::SYS_ioctl, namespace, NS_GET_USERNS, 0) })
}
