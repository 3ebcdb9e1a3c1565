//! Makes the socket that listens within a sandbox, and hands it out. See
//! [`ListenerHandoff`](crate::ListenerHandoff); the rules of the first process hold.

use std::os::fd::{AsRawFd as _, OwnedFd, RawFd};

use super::raw::{self, Result};
use crate::listener_handoff::PORT;

/// How many connections may wait to be accepted.
const BACKLOG: i32 = 128;

/// Listens, and hands the socket to whoever holds the other end of `outside`. This process keeps nothing of it: whoever
/// accepts on it does so in this network, wherever they are (network_namespaces(7)).
pub(super) fn hand_out(outside: RawFd) -> Result {
    let listener: OwnedFd = raw::tcp_socket()?;
    raw::listen_on_loopback(listener.as_raw_fd(), PORT, BACKLOG)?;
    raw::send_descriptor(outside, listener.as_raw_fd())
}
