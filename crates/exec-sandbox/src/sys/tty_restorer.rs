//! A process that puts a terminal back as it was, should this program be killed before it comes to that.
//!
//! It is a copy of the calling thread and keeps to the rules of this module: no allocation, no lock. It waits for the end of
//! a pipe of which this program holds the other end, and which the kernel closes however this program ends.

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, OwnedFd, RawFd};

use rustix::pipe::{PipeFlags, pipe_with};
use rustix::termios::{OptionalActions, Termios, tcgetpgrp, tcsetattr};

use super::raw::{self, ALL_SIGNALS, CapabilityMask, Side};

/// The process. It is gone when this is dropped, and has done nothing then.
pub(crate) struct TtyRestorer {
    pid: i32,
    _alive: OwnedFd,
}

impl TtyRestorer {
    /// Starts one for a terminal with these settings.
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

/// Waits for the end. All signals are blocked, so the terminal can be set from wherever this is; but where a shell has taken
/// it back, it has its own settings.
fn guard(terminal: BorrowedFd<'_>, settings: &Termios, end: RawFd) -> ! {
    raw::close_all_but(terminal.as_raw_fd(), end);
    // To set a terminal that is open takes no rights.
    if raw::drop_held_capabilities(CapabilityMask::NONE).is_err() {
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
    fn it_holds_nothing_while_it_waits() {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        let restorer = TtyRestorer::new(terminal.as_fd(), &tcgetattr(&terminal).unwrap()).unwrap();
        assert_eq!(held_by(restorer.pid), [0; 4]);
    }
}
