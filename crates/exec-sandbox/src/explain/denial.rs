//! One thing that a command was refused.

use std::path::{Path, PathBuf};

/// Something that the sandbox denied to a command.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Denial {
    /// Reading a path that is not visible.
    Read(PathBuf),
    /// Writing a read-only path.
    Write(PathBuf),
    /// Reading or writing a path that is never shared, with the reason.
    Never(PathBuf, String),
    /// Creating, renaming or changing a file under a protected name, with the reason.
    Name(PathBuf, String),
    /// Connecting to a Unix socket of this machine.
    Socket(PathBuf),
    /// Locking a read-only file, which could block other programs.
    Lock(PathBuf),
    /// Connecting to a host, with its name if it is known.
    Reach(Option<String>),
    /// Exceeding the limit on processes and threads.
    Processes,
    /// Exceeding the memory limit.
    Memory,
    /// Exceeding the file size limit.
    FileSize,
    /// Exceeding the size of the temporary directories.
    Scratch,
}

impl Denial {
    /// Returns the denied path, if there is one.
    #[cfg(target_os = "linux")]
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Read(path) | Self::Write(path) | Self::Socket(path) => Some(path),
            Self::Never(path, _) | Self::Name(path, _) | Self::Lock(path) => Some(path),
            _ => None,
        }
    }

    /// Its stable name, for machines.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Read(_) => "read",
            Self::Write(_) => "write",
            Self::Never(..) => "never",
            Self::Name(..) => "name",
            Self::Socket(_) => "socket",
            Self::Lock(_) => "lock",
            Self::Reach(_) => "reach",
            Self::Processes => "processes",
            Self::Memory => "memory",
            Self::FileSize => "file-size",
            Self::Scratch => "scratch",
        }
    }
}
