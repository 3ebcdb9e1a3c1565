//! Makes the sockets that listen within a sandbox, and hands them out. See
//! [`ListenerHandoff`]; the rules of the first process hold.

use std::net::SocketAddr;
use std::os::fd::{AsRawFd as _, OwnedFd, RawFd};

use stockade_handoff::{EgressSockets, ListenerHandoff, PROXY_PORT};

use super::raw::{self, Errno, Result, SocketKind};

/// How many connections may wait to be accepted.
const BACKLOG: i32 = 1024;

/// Listens, and hands the sockets to whoever holds the other end. This process keeps nothing of them: whoever
/// accepts on one does so in this network, wherever they are (network_namespaces(7)).
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

/// Some machines have no IPv6. Then no program finds anything there.
fn unless_missing(is_six: bool, result: Result) -> Result {
    const MISSING: [Errno; 5] =
        [libc::EAFNOSUPPORT, libc::EADDRNOTAVAIL, libc::EOPNOTSUPP, libc::EACCES, libc::EPERM];
    match result {
        Err(errno) if is_six && MISSING.contains(&errno) => Ok(()),
        result => result,
    }
}
