//! Why a thing in quarantine stays where it is.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why a thing in quarantine was neither given back nor dropped.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum QuarantineError {
    /// Nothing of this name is kept.
    #[error("there is nothing called `{0}` in quarantine")]
    Unknown(String),
    /// An earlier version took it, and did not write down where it lay.
    #[error("it is not known where {} lay: an earlier version took it", .0.display())]
    Unrecorded(PathBuf),
    /// It was moved, removed or replaced since.
    #[error("{} is not there any more, or is something else now", .0.display())]
    Gone(PathBuf),
    /// The workspace was removed, or another folder has its name.
    #[error("the workspace {} is not the folder that it was then", .0.display())]
    OtherWorkspace(PathBuf),
    /// The folder that it lay in is gone, or a link leads there.
    #[error("cannot get to the folder that {} lay in: {source}", path.display())]
    NoWay {
        /// Where it lay, below the workspace.
        path: PathBuf,
        /// Why nobody gets there.
        source: io::Error,
    },
    /// Something lies where it would have to go.
    #[error("something else is called {} now, and nothing is overwritten", .0.display())]
    Occupied(PathBuf),
    /// A command runs in the workspace, and what appears there is taken away after it.
    #[error("a command runs in {}, and what appears there meanwhile is taken away after it", .0.display())]
    AtWork(PathBuf),
    /// It cannot be moved back.
    #[error("cannot move it to {} from {}: {source}", to.display(), from.display())]
    Move {
        /// Where it is to go.
        to: PathBuf,
        /// Where it is.
        from: PathBuf,
        /// Why that fails.
        source: io::Error,
    },
    /// It cannot be removed.
    #[error("cannot remove {}: {source}", path.display())]
    Remove {
        /// Where it is.
        path: PathBuf,
        /// Why that fails.
        source: io::Error,
    },
    /// The quarantine cannot be read.
    #[error("cannot read the quarantine: {0}")]
    Read(#[source] io::Error),
}

impl QuarantineError {
    /// Returns what a person can do about it, if there is something.
    #[must_use]
    pub const fn help(&self) -> Option<&'static str> {
        match self {
            Self::Unknown(_) => Some("`stockade quarantine list` shows what is kept"),
            Self::Unrecorded(_) => Some("look at it, and move it yourself"),
            Self::OtherWorkspace(_) | Self::NoWay { .. } => Some(
                "look at it where it is kept, which `stockade quarantine list` tells, and move it yourself",
            ),
            Self::Occupied(_) => Some("move away what lies there first"),
            Self::AtWork(_) => Some("wait until the command is over"),
            _ => None,
        }
    }
}
