//! A helper process that restores the terminal settings if this program is killed.
//!
//! It is forked from the calling thread, so it must not allocate or lock. It waits for end of file on a pipe whose write end this
//! program holds, and which the kernel closes however this program ends.

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, OwnedFd, RawFd};

use rustix::pipe::{PipeFlags, pipe_with};
use rustix::termios::{OptionalActions, Termios, tcgetpgrp, tcsetattr};

use super::raw::{self, ALL_SIGNALS, CapabilityMask, Side};

/// The helper process. Dropping it ends the process without restoring the settings.
pub(crate) struct TtyRestorer {
    pid: i32,
    _alive: OwnedFd,
}

impl TtyRestorer {
    /// Starts a helper process that restores these settings of a terminal.
    pub(crate) fn new(terminal: BorrowedFd<'_>, settings: &Termios) -> io::Result<Self> {
        let error = io::Error::from_raw_os_error;
        let (end, alive) = pipe_with(PipeFlags::CLOEXEC)?;
        let mask = raw::set_signal_mask(ALL_SIGNALS).map_err(error)?;
        // SAFETY: the child makes system calls and nothing else.
        let side = unsafe { raw::clone_process(0) };
        if let Ok(Side::Child) = side {
            guard(terminal, settings, end.as_raw_fd());
        }
        raw::set_signal_mask(mask).ok();
        match side.map_err(error)? {
            Side::Parent { pid, .. } => Ok(Self { pid, _alive: alive }),
            Side::Child => Err(error(libc::EINVAL)),
        }
    }
}

impl Drop for TtyRestorer {
    fn drop(&mut self) {
        raw::send_signal(self.pid, libc::SIGKILL).ok();
        raw::wait_for(self.pid).ok();
    }
}

/// Waits for the end of this program. All signals are blocked, including SIGTTOU, so the terminal can be set from the background.
/// If the shell has taken the terminal back already, it has set its own settings, which are kept.
fn guard(terminal: BorrowedFd<'_>, settings: &Termios, end: RawFd) -> ! {
    raw::close_all_but(terminal.as_raw_fd(), end);
    // Setting an open terminal needs no capabilities.
    if raw::renounce_capabilities(CapabilityMask::NONE).is_err() {
        raw::exit(1);
    }
    if raw::read_byte(end).is_none()
        && tcgetpgrp(terminal).is_ok_and(|group| group == rustix::process::getpgrp())
    {
        tcsetattr(terminal, OptionalActions::Now, settings).ok();
    }
    raw::exit(0)
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd as _;

    use rustix::pty::{OpenptFlags, openpt};
    use rustix::termios::tcgetattr;

    use super::*;
    use crate::sys::raw::held_by;

    #[test]
    fn the_terminal_restorer_has_no_descriptors() {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        let restorer = TtyRestorer::new(terminal.as_fd(), &tcgetattr(&terminal).unwrap()).unwrap();
        assert_eq!(held_by(restorer.pid), [0; 4]);
    }
}
