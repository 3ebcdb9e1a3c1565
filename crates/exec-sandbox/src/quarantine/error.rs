//! Errors of the quarantine.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why an entry could not be restored or deleted.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum QuarantineError {
    /// No entry has this identifier.
    #[error("no entry `{0}` in the quarantine")]
    Unknown(String),
    /// An earlier version quarantined it, and did not record its original path.
    #[error("the original path of {} is unknown: an earlier version quarantined it", .0.display())]
    Unrecorded(PathBuf),
    /// It was moved, deleted or replaced since.
    #[error("{} was moved, deleted or replaced since", .0.display())]
    Gone(PathBuf),
    /// The workspace was deleted or replaced.
    #[error("the workspace {} was deleted or replaced since", .0.display())]
    OtherWorkspace(PathBuf),
    /// The original directory is gone, or its path contains a symlink.
    #[error("cannot open the original directory of {}: {source}", path.display())]
    NoWay {
        /// The original path, below the workspace.
        path: PathBuf,
        /// Why it cannot be opened.
        source: io::Error,
    },
    /// The original path is occupied.
    #[error("{} already exists, and is not overwritten", .0.display())]
    Occupied(PathBuf),
    /// A command runs in the workspace, and its sweep would quarantine the restored file again.
    #[error("a command runs in {}, and would quarantine the restored file again", .0.display())]
    AtWork(PathBuf),
    /// It cannot be moved back.
    #[error("cannot move it to {} from {}: {source}", to.display(), from.display())]
    Move {
        /// The original path.
        to: PathBuf,
        /// The current path.
        from: PathBuf,
        /// Why moving it fails.
        source: io::Error,
    },
    /// It cannot be deleted.
    #[error("cannot delete {}: {source}", path.display())]
    Remove {
        /// The current path.
        path: PathBuf,
        /// Why deleting it fails.
        source: io::Error,
    },
    /// The quarantine cannot be read.
    #[error("cannot read the quarantine: {0}")]
    Read(#[source] io::Error),
}

impl QuarantineError {
    /// Returns advice for the user, if there is any.
    #[must_use]
    pub const fn help(&self) -> Option<&'static str> {
        match self {
            Self::Unknown(_) => Some("list the entries: `stockade quarantine list`"),
            Self::Unrecorded(_) => Some("inspect it, and move it yourself"),
            Self::OtherWorkspace(_) | Self::NoWay { .. } => {
                Some("find it with `stockade quarantine list`, inspect it, and move it yourself")
            }
            Self::Occupied(_) => Some("move that file away first"),
            Self::AtWork(_) => Some("wait until the command ends"),
            _ => None,
        }
    }
}
