//! Creates listening sockets in a sandbox, and passes them to the proxy outside, see [`ListenerHandoff`]. It must not allocate,
//! lock or unwind.

use std::net::SocketAddr;
use std::os::fd::{AsRawFd as _, OwnedFd, RawFd};

use stockade_handoff::{EgressSockets, ListenerHandoff, PROXY_PORT};

use super::raw::{self, Errno, Result, SocketKind};

/// The backlog of listening sockets.
const BACKLOG: i32 = 1024;

/// Creates the sockets, and sends them to the proxy. No copy is kept. A socket stays in the network namespace that it was created
/// in, so the proxy accepts connections of this namespace (network_namespaces(7)).
pub(super) fn hand_out(handoff: &ListenerHandoff) -> Result {
    let outside = handoff.number();
    let listener: OwnedFd = raw::socket(SocketKind::Stream, false)?;
    raw::listen_on_loopback(listener.as_raw_fd(), PROXY_PORT, BACKLOG)?;
    raw::send_descriptor(outside, listener.as_raw_fd())?;
    hand_out_more(outside, handoff.sockets())
}

fn hand_out_more(outside: RawFd, sockets: &EgressSockets) -> Result {
    for (address, bits) in &sockets.addresses {
        unless_missing(address.is_ipv6(), raw::add_to_loopback(*address, *bits))?;
    }
    for address in &sockets.streams {
        unless_missing(address.is_ipv6(), hand_out_one(outside, SocketKind::Stream, address))?;
    }
    for address in &sockets.datagrams {
        unless_missing(address.is_ipv6(), hand_out_one(outside, SocketKind::Datagram, address))?;
    }
    Ok(())
}

fn hand_out_one(outside: RawFd, kind: SocketKind, address: &SocketAddr) -> Result {
    let socket = raw::socket(kind, address.is_ipv6())?;
    raw::bind_to(socket.as_raw_fd(), address)?;
    if kind == SocketKind::Stream {
        raw::listen(socket.as_raw_fd(), BACKLOG)?;
    }
    raw::send_descriptor(outside, socket.as_raw_fd())
}

/// Ignores errors of missing IPv6, without which no program can connect to such an address either.
fn unless_missing(is_six: bool, result: Result) -> Result {
    const MISSING: [Errno; 5] =
        [libc::EAFNOSUPPORT, libc::EADDRNOTAVAIL, libc::EOPNOTSUPP, libc::EACCES, libc::EPERM];
    match result {
        Err(errno) if is_six && MISSING.contains(&errno) => Ok(()),
        result => result,
    }
}
