//! Files that were found under a protected name after a command, and which command left them there.

use std::path::PathBuf;

/// A file that was found under a protected name after a command, and where it was moved.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Quarantined {
    /// The original path: below the workspace, or absolute in another directory.
    pub path: PathBuf,
    /// The current path; nothing if it could not be moved.
    pub moved_to: Option<PathBuf>,
    /// Its identifier in the quarantine; nothing if it could not be moved, or its origin could not be recorded.
    pub id: Option<String>,
    /// The command that left it there.
    pub left_by: LeftBy,
}

/// The command that left a file under a protected name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LeftBy {
    /// The command that has just ended.
    ThisCommand,
    /// An earlier command: its supervisor was killed before the check, which is made up for before the next command.
    EarlierCommand,
}

impl LeftBy {
    /// Its stable name, for machines.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ThisCommand => "this-command",
            Self::EarlierCommand => "earlier-command",
        }
    }
}
