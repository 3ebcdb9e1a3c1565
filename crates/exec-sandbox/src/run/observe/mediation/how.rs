//! How a file is opened in the place of a command: so that this program does not wait, and the command does.

use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags, fcntl_getfl, fcntl_setfl};

use super::{Done, Reply};

/// How a file is to be opened.
#[derive(Debug, Clone, Copy)]
pub(super) struct How {
    pub(super) flags: OFlags,
    pub(super) mode: Mode,
}

impl How {
    /// The same, so that nobody waits, no link is followed, and no terminal becomes that of this program.
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

/// Lets the command wait where it did not say that it would not.
pub(super) fn finish(file: OwnedFd, how: How) -> Done {
    if !how.flags.contains(OFlags::NONBLOCK) {
        fcntl_setfl(&file, fcntl_getfl(&file)?.difference(OFlags::NONBLOCK))?;
    }
    Ok(how.file(file))
}
