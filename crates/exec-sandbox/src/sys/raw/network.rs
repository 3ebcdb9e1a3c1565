//! The network of a sandbox: its loopback, and the sockets that listen there.

use std::ffi::{c_char, c_int};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4};
use std::os::fd::{AsRawFd as _, BorrowedFd, OwnedFd, RawFd};

use super::{Result, descriptor, done};

/// Enables the loopback of this network namespace.
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

/// Connects a socket to a raw address.
pub(crate) fn connect(socket: BorrowedFd<'_>, address: &[u8]) -> Result {
    // SAFETY: the address has the length that is given.
    done(unsafe { libc::syscall(libc::SYS_connect, socket.as_raw_fd(), address.as_ptr(), address.len()) })
}

/// Binds a socket to a raw address.
pub(crate) fn bind(socket: BorrowedFd<'_>, address: &[u8]) -> Result {
    // SAFETY: the address has the length that is given.
    done(unsafe { libc::syscall(libc::SYS_bind, socket.as_raw_fd(), address.as_ptr(), address.len()) })
}

/// The type of a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SocketKind {
    Stream,
    Datagram,
}

/// Creates an IPv4 socket, or an IPv6-only one.
pub(crate) fn socket(kind: SocketKind, is_six: bool) -> Result<OwnedFd> {
    let family = if is_six { libc::AF_INET6 } else { libc::AF_INET };
    let kind = match kind {
        SocketKind::Stream => libc::SOCK_STREAM,
        SocketKind::Datagram => libc::SOCK_DGRAM,
    };
    // SAFETY: only numbers are handed over.
    let socket =
        descriptor(unsafe { libc::syscall(libc::SYS_socket, family, kind | libc::SOCK_CLOEXEC, 0) })?;
    if is_six {
        let yes: c_int = 1;
        let (level, option) = (libc::IPPROTO_IPV6, libc::IPV6_V6ONLY);
        // SAFETY: the option is a number of this size.
        done(unsafe {
            let number = socket.as_raw_fd();
            libc::syscall(libc::SYS_setsockopt, number, level, option, &raw const yes, size_of::<c_int>())
        })?;
    }
    Ok(socket)
}

/// Binds a socket to an address.
pub(crate) fn bind_to(socket: RawFd, address: &SocketAddr) -> Result {
    match address {
        SocketAddr::V4(four) => {
            let address = libc::sockaddr_in {
                sin_family: libc::AF_INET as _,
                sin_port: four.port().to_be(),
                sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(four.ip().octets()) },
                sin_zero: [0; 8],
            };
            // SAFETY: the address is what this call expects, and its size is told.
            done(unsafe { libc::syscall(libc::SYS_bind, socket, &raw const address, size_of_val(&address)) })
        }
        SocketAddr::V6(six) => {
            let address = libc::sockaddr_in6 {
                sin6_family: libc::AF_INET6 as _,
                sin6_port: six.port().to_be(),
                sin6_flowinfo: 0,
                sin6_addr: libc::in6_addr { s6_addr: six.ip().octets() },
                sin6_scope_id: 0,
            };
            // SAFETY: the address is what this call expects, and its size is told.
            done(unsafe { libc::syscall(libc::SYS_bind, socket, &raw const address, size_of_val(&address)) })
        }
    }
}

/// Starts listening on a socket.
pub(crate) fn listen(socket: RawFd, waiting: c_int) -> Result {
    // SAFETY: only numbers are handed over.
    done(unsafe { libc::syscall(libc::SYS_listen, socket, waiting) })
}

/// Assigns an address range to the loopback of this network namespace, see rtnetlink(7).
pub(crate) fn add_to_loopback(address: IpAddr, bits: u8) -> Result {
    /// A netlink request with one attribute of at most sixteen bytes.
    #[repr(C)]
    struct Request {
        header: libc::nlmsghdr,
        message: AddressMessage,
        attribute_length: u16,
        attribute_kind: u16,
        address: [u8; 16],
    }
    #[repr(C)]
    struct AddressMessage {
        family: u8,
        bits: u8,
        flags: u8,
        scope: u8,
        interface: u32,
    }
    /// The acknowledgement of a request, with an error number or 0.
    #[repr(C)]
    struct Reply {
        header: libc::nlmsghdr,
        error: c_int,
        of: libc::nlmsghdr,
    }
    /// The loopback is the first interface of every network namespace.
    const LOOPBACK: u32 = 1;
    /// IFA_LOCAL, the attribute with the address.
    const LOCAL: u16 = 2;
    /// IFA_F_NODAD: without duplicate address detection, the address is usable at once.
    const AT_ONCE: u8 = 0x02;
    const SCOPE_HOST: u8 = 254;
    const HEADERS: usize = size_of::<libc::nlmsghdr>() + size_of::<AddressMessage>() + 4;

    let (family, length, mut octets) = match address {
        IpAddr::V4(_) => (libc::AF_INET, 4usize, [0; 16]),
        IpAddr::V6(_) => (libc::AF_INET6, 16usize, [0; 16]),
    };
    match address {
        IpAddr::V4(four) => {
            for (to, from) in octets.iter_mut().zip(four.octets()) {
                *to = from;
            }
        }
        IpAddr::V6(six) => octets = six.octets(),
    }
    let flags = libc::NLM_F_REQUEST | libc::NLM_F_ACK | libc::NLM_F_CREATE | libc::NLM_F_EXCL;
    let request = Request {
        header: libc::nlmsghdr {
            nlmsg_len: (HEADERS + length) as u32,
            nlmsg_type: libc::RTM_NEWADDR,
            nlmsg_flags: flags as u16,
            nlmsg_seq: 1,
            nlmsg_pid: 0,
        },
        message: AddressMessage {
            family: family as u8,
            bits,
            flags: if length == 16 { AT_ONCE } else { 0 },
            scope: SCOPE_HOST,
            interface: LOOPBACK,
        },
        attribute_length: (4 + length) as u16,
        attribute_kind: LOCAL,
        address: octets,
    };
    let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
    // SAFETY: only numbers are handed over.
    let socket =
        descriptor(unsafe { libc::syscall(libc::SYS_socket, libc::AF_NETLINK, kind, libc::NETLINK_ROUTE) })?;
    let (number, length) = (socket.as_raw_fd(), HEADERS + length);
    // SAFETY: the request is at least as long as is told.
    done(unsafe { libc::syscall(libc::SYS_write, number, &raw const request, length) })?;
    // SAFETY: all zeros is a reply that says nothing.
    let mut reply: Reply = unsafe { std::mem::zeroed() };
    // SAFETY: the reply has the size that is told.
    done(unsafe { libc::syscall(libc::SYS_read, number, &raw mut reply, size_of::<Reply>()) })?;
    match reply.error {
        0 => Ok(()),
        error if error == -libc::EEXIST => Ok(()),
        error => Err(-error),
    }
}

/// Binds a socket to the loopback, and starts listening.
pub(crate) fn listen_on_loopback(socket: RawFd, port: u16, waiting: c_int) -> Result {
    let loopback = Ipv4Addr::LOCALHOST;
    bind_to(socket, &SocketAddr::V4(SocketAddrV4::new(loopback, port)))?;
    listen(socket, waiting)
}

/// Sends a copy of a descriptor over a Unix socket, with one byte, because a stream message must contain data.
pub(crate) fn send_descriptor(to: RawFd, descriptor: RawFd) -> Result {
    /// A control message with one descriptor.
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
