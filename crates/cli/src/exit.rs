//! Exit codes of all commands.

use std::process::ExitCode;

/// Result of a command, as its exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// Everything was checked, and nothing was found.
    Clean = 0,
    /// Something was found, even if not everything could be checked.
    Found = 1,
    /// The command line or a file that it names is invalid.
    Usage = 2,
    /// Nothing was found, but not everything could be checked.
    Incomplete = 3,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
