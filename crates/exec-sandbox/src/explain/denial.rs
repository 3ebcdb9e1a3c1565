//! One thing that a command was refused.

use std::path::{Path, PathBuf};

/// Something that a command was refused.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Denial {
    /// To read a path that it does not see.
    Read(PathBuf),
    /// To write a path that it may only read.
    Write(PathBuf),
    /// To read or write a path that is shared with no command, and why.
    Never(PathBuf, String),
    /// To make, move or change something under a name that other programs obey, and why not.
    Name(PathBuf, String),
    /// To reach a socket of this machine.
    Socket(PathBuf),
    /// To lock a file that it can only read, so that other programs would wait for it.
    Lock(PathBuf),
    /// To reach a machine; its name, if that was said.
    Reach(Option<String>),
    /// More processes and threads.
    Processes,
    /// More memory than the limit lets it have.
    Memory,
    /// A larger file than the limit lets it write.
    FileSize,
    /// More room for temporary files.
    Scratch,
}

impl Denial {
    /// The path that it is about, if it is about one.
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
