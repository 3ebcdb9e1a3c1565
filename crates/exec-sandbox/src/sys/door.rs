//! Makes the socket that listens within a sandbox, and hands it out. See [`Doorway`](crate::Doorway); the rules of the first
//! process hold.

use std::os::fd::{AsRawFd as _, OwnedFd, RawFd};

use super::raw::{self, Result};
use crate::door::PORT;

/// How many may stand before the door and wait.
const WAITING: i32 = 128;

/// Opens the door, and hands it to whoever holds the other end of `outside`. This process keeps nothing of it.
pub(super) fn open(outside: RawFd) -> Result {
    let door: OwnedFd = raw::tcp_socket()?;
    raw::listen_on_loopback(door.as_raw_fd(), PORT, WAITING)?;
    raw::send_descriptor(outside, door.as_raw_fd())
}
