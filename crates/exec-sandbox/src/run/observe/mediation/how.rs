//! Flags for opening a file in the place of a command without blocking this program.

use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags, fcntl_getfl, fcntl_setfl};

use super::{Done, Reply};

/// The flags and mode of an open call.
#[derive(Debug, Clone, Copy)]
pub(super) struct How {
    pub(super) flags: OFlags,
    pub(super) mode: Mode,
}

impl How {
    /// Returns the flags for this program: it does not block, follows no symlink, and gets no controlling terminal.
    pub(super) fn here(self) -> OFlags {
        self.flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC
    }

    pub(super) fn makes(self) -> bool {
        self.flags.contains(OFlags::CREATE)
    }

    pub(super) fn makes_anew(self) -> bool {
        self.flags.contains(OFlags::CREATE | OFlags::EXCL)
    }

    pub(super) fn file(self, file: OwnedFd) -> Reply {
        Reply::File(file, self.flags.contains(OFlags::CLOEXEC))
    }
}

/// Removes O_NONBLOCK from an opened file, unless the command requested it.
pub(super) fn finish(file: OwnedFd, how: How) -> Done {
    if !how.flags.contains(OFlags::NONBLOCK) {
        fcntl_setfl(&file, fcntl_getfl(&file)?.difference(OFlags::NONBLOCK))?;
    }
    Ok(how.file(file))
}
