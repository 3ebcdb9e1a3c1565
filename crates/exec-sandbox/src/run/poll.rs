//! poll(2) with a timeout.

use std::io;
use std::time::Duration;

use rustix::event::{PollFd, Timespec, poll};

/// Waits for an event on one of these descriptors, until the timeout. A signal ends the wait early.
pub(super) fn wait(fds: &mut [PollFd<'_>], rest: Option<Duration>) -> io::Result<()> {
    let rest = rest.and_then(|rest| Timespec::try_from(rest).ok());
    match poll(fds, rest.as_ref()) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
