//! Waiting for descriptors.

use std::io;
use std::time::Duration;

use rustix::event::{PollFd, Timespec, poll};

/// Waits until something happens at one of these, but not longer than this. A signal ends it early, as poll(2) has it.
pub(super) fn wait(fds: &mut [PollFd<'_>], rest: Option<Duration>) -> io::Result<()> {
    let rest = rest.and_then(|rest| Timespec::try_from(rest).ok());
    match poll(fds, rest.as_ref()) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
