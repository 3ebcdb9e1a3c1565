//! What belongs to a machine: its name, its network, its terminals.

use std::ffi::c_char;
use std::os::fd::{AsRawFd as _, RawFd};

use super::{Result, descriptor, done};

pub(crate) fn set_hostname(name: &[u8]) -> Result {
    // SAFETY: the length is that of the name.
    done(unsafe { libc::syscall(libc::SYS_sethostname, name.as_ptr(), name.len()) })
}

/// Switches the loopback of this network on.
pub(crate) fn loopback_up() -> Result {
    // SAFETY: only numbers are handed over.
    let socket = descriptor(unsafe {
        libc::syscall(libc::SYS_socket, libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0)
    })?;
    // SAFETY: all zeros is a request without a name and flags.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = *from as c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as _;
    // SAFETY: the request is what this call expects.
    done(unsafe {
        libc::syscall(libc::SYS_ioctl, socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request)
    })
}

/// Makes a terminal that of the session which this process leads; its keys reach the processes of this one's group.
pub(crate) fn take_terminal(terminal: RawFd) -> Result {
    // SAFETY: only numbers are handed over.
    done(unsafe { libc::syscall(libc::SYS_ioctl, terminal, libc::TIOCSCTTY, 0) })
}
