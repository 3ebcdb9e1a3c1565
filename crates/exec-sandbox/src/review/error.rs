//! Errors of the review.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why changes could not be shown, applied, discarded or undone.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReviewError {
    /// No changes have this identifier.
    #[error("no changes `{0}`")]
    Unknown(String),
    /// A word is an identifier, and a changed path as well.
    #[error("`{0}` is a changed path, and an ID")]
    Ambiguous(String),
    /// A word is neither an identifier nor a changed path.
    #[error("no changes `{word}`, and no change at {word} in the latest ones, `{id}`")]
    NeitherIdNorPath {
        /// The word.
        word: String,
        /// The identifier of the latest changes of the workspace.
        id: String,
    },
    /// No changes are pending or undoable.
    #[error("no changes are pending, and none can be undone")]
    Nothing,
    /// No changes belong to this workspace.
    #[error(
        "no changes to decide on in a workspace around {}{}",
        folder.display(),
        elsewhere.as_ref().map(|(id, path)| format!("; the newest elsewhere are `{id}`, of {}", path.display())).unwrap_or_default()
    )]
    NothingHere {
        /// The directory that the workspace must contain.
        folder: PathBuf,
        /// The newest changes of another workspace, and its path.
        elsewhere: Option<(String, PathBuf)>,
    },
    /// The command still runs.
    #[error("the command of the changes `{0}` still runs")]
    Running(String),
    /// Another program is working on changes.
    #[error("another program is applying, discarding or undoing changes")]
    Busy,
    /// The workspace was deleted or replaced.
    #[error("the workspace {} was deleted or replaced since", .0.display())]
    OtherWorkspace(PathBuf),
    /// No change has this path.
    #[error("no change at {}", .0.display())]
    NoSuchPath(PathBuf),
    /// The record of the changes cannot be read.
    #[error("cannot read the record of the changes `{id}`: {source}")]
    Unreadable {
        /// The identifier of the changes.
        id: String,
        /// The cause.
        source: io::Error,
    },
    /// The overlay cannot be read, and unjudged changes are never applied.
    #[error("cannot read the overlay of the command, so its changes cannot be applied: {0}")]
    Unjudged(#[source] io::Error),
    /// The operation was interrupted. The next command that works on changes completes it or rolls it back.
    #[error("interrupted, and continued by the next `stockade changes`: {0}")]
    Stopped(#[source] io::Error),
    /// The layers cannot be read or created.
    #[error("cannot read pending changes: {0}")]
    Store(#[source] io::Error),
}

impl ReviewError {
    /// Returns advice for the user, if there is any.
    #[must_use]
    pub const fn help(&self) -> Option<&'static str> {
        match self {
            Self::Unknown(_) | Self::Nothing | Self::Running(_) => Some("list them: `stockade changes list`"),
            Self::NothingHere { .. } => Some("name them by their ID: `stockade changes list`"),
            Self::Busy => Some("wait until it is done"),
            Self::OtherWorkspace(_) => Some("put the workspace back where it was, or discard the changes"),
            Self::Ambiguous(_) => {
                Some("for the path, begin with `./`; for the changes, name the start of the ID")
            }
            Self::NoSuchPath(_) | Self::NeitherIdNorPath { .. } => {
                Some("list the paths, which are relative to the workspace: `stockade changes show`")
            }
            Self::Stopped(_) => Some("fix the cause, and repeat the command"),
            Self::Unreadable { .. } | Self::Unjudged(_) | Self::Store(_) => None,
        }
    }
}
