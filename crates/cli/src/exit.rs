//! What the exit code of every command means.

use std::process::ExitCode;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// Everything was looked at and nothing was found.
    Clean = 0,
    /// Something was found. This holds however much could not be looked at.
    Found = 1,
    /// The command line was not understood, or a file that it needs is wrong.
    Usage = 2,
    /// Nothing was found, but not everything could be looked at.
    Incomplete = 3,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
