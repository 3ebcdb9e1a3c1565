//! The network of a sandbox: its loopback, and the socket that listens there.

use std::ffi::{c_char, c_int};
use std::os::fd::{AsRawFd as _, BorrowedFd, OwnedFd, RawFd};

use super::{Result, descriptor, done};

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

/// Connects a socket to an address as the kernel has it.
pub(crate) fn connect(socket: BorrowedFd<'_>, address: &[u8]) -> Result {
    // SAFETY: the address has the length that is given.
    done(unsafe { libc::syscall(libc::SYS_connect, socket.as_raw_fd(), address.as_ptr(), address.len()) })
}

/// Gives a socket an address as the kernel has it.
pub(crate) fn bind(socket: BorrowedFd<'_>, address: &[u8]) -> Result {
    // SAFETY: the address has the length that is given.
    done(unsafe { libc::syscall(libc::SYS_bind, socket.as_raw_fd(), address.as_ptr(), address.len()) })
}

/// Makes a socket that can listen.
pub(crate) fn tcp_socket() -> Result<OwnedFd> {
    let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC;
    // SAFETY: only numbers are handed over.
    descriptor(unsafe { libc::syscall(libc::SYS_socket, libc::AF_INET, kind, 0) })
}

/// Lets a socket listen on the loopback of the network that it was made in.
pub(crate) fn listen_on_loopback(socket: RawFd, port: u16, waiting: c_int) -> Result {
    let address = libc::sockaddr_in {
        sin_family: libc::AF_INET as _,
        sin_port: port.to_be(),
        sin_addr: libc::in_addr { s_addr: libc::INADDR_LOOPBACK.to_be() },
        sin_zero: [0; 8],
    };
    // SAFETY: the address is what this call expects, and its size is told.
    done(unsafe { libc::syscall(libc::SYS_bind, socket, &raw const address, size_of_val(&address)) })?;
    // SAFETY: only numbers are handed over.
    done(unsafe { libc::syscall(libc::SYS_listen, socket, waiting) })
}

/// Hands a copy of a descriptor to whoever holds the other end of a socket. A byte goes with it, as it must.
pub(crate) fn send_descriptor(to: RawFd, descriptor: RawFd) -> Result {
    /// The header of a message and one number behind it, as the kernel lays them out.
    #[repr(C)]
    struct Handed {
        header: libc::cmsghdr,
        descriptor: RawFd,
    }
    let header = libc::cmsghdr {
        cmsg_len: (size_of::<libc::cmsghdr>() + size_of::<RawFd>()) as _,
        cmsg_level: libc::SOL_SOCKET,
        cmsg_type: libc::SCM_RIGHTS,
    };
    let mut handed = Handed { header, descriptor };
    let mut byte = b'd';
    let mut part = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    // SAFETY: all zeros is an empty message.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = (&raw mut handed).cast();
    message.msg_controllen = size_of::<Handed>() as _;
    // SAFETY: the message points to one byte and one header, both of which live until the call returns.
    done(unsafe { libc::syscall(libc::SYS_sendmsg, to, &raw const message, libc::MSG_NOSIGNAL) })
}
