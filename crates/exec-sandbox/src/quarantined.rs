//! What was found under a protected name after a command, and which command left it there.

use std::path::PathBuf;

/// Something that was found under a protected name after a command, and where it was put.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Quarantined {
    /// Where it was found, below the workspace; in full, where that is another folder.
    pub path: PathBuf,
    /// Where it is now; nothing if it could not be moved.
    pub moved_to: Option<PathBuf>,
    /// What it is called in quarantine; nothing if it could not be moved, or its origin could not be recorded.
    pub id: Option<String>,
    /// Which command left it there.
    pub left_by: LeftBy,
}

/// Which command left something under a protected name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LeftBy {
    /// The command that has just ended.
    ThisCommand,
    /// An earlier one: the program that ran it was killed before it could look, so that this is done before the next one.
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
