//! The host name, terminals, and user namespaces.

use std::os::fd::RawFd;

use super::{Result, done};

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
