//! Why nothing was done with a layer.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why changes that wait for review were neither shown, applied, discarded nor undone.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReviewError {
    /// There is no layer of this name.
    #[error("there are no changes called `{0}`")]
    Unknown(String),
    /// There is none at all.
    #[error("there are no changes that wait, and none that could be undone")]
    Nothing,
    /// There is none of the workspace that is meant.
    #[error(
        "no changes to decide on in a workspace around {}{}",
        folder.display(),
        elsewhere.as_ref().map(|(id, path)| format!("; the newest elsewhere are `{id}`, of {}", path.display())).unwrap_or_default()
    )]
    NothingHere {
        /// The folder in whose workspace they would have to be.
        folder: PathBuf,
        /// The newest of another workspace, and which one that is.
        elsewhere: Option<(String, PathBuf)>,
    },
    /// The command is not over.
    #[error("the command that makes the changes `{0}` is not over")]
    Running(String),
    /// Another program works on changes.
    #[error("another program applies, discards or undoes changes right now")]
    Busy,
    /// The workspace was removed, or another folder has its name.
    #[error("the workspace {} is not the folder that it was then", .0.display())]
    OtherWorkspace(PathBuf),
    /// No change has such a path.
    #[error("nothing was changed at {}", .0.display())]
    NoSuchPath(PathBuf),
    /// What was written about it cannot be read.
    #[error("what was written down about the changes `{id}` cannot be read: {source}")]
    Unreadable {
        /// Which.
        id: String,
        /// Why not.
        source: io::Error,
    },
    /// The view of the command cannot be looked at, and what nobody judged is not applied.
    #[error("the view of the command cannot be looked at, and what nobody judged is not applied: {0}")]
    Unjudged(#[source] io::Error),
    /// It stopped on the way. What was done so far is completed, or taken back, by the next command that works on changes.
    #[error("it stopped on the way, and goes on with the next `stockade changes`: {0}")]
    Stopped(#[source] io::Error),
    /// The layers cannot be read or made.
    #[error("the changes that wait cannot be read: {0}")]
    Store(#[source] io::Error),
}

impl ReviewError {
    /// Returns what a person can do about it, if there is something.
    #[must_use]
    pub const fn help(&self) -> Option<&'static str> {
        match self {
            Self::Unknown(_) | Self::Nothing | Self::Running(_) => {
                Some("`stockade changes list` shows what there is")
            }
            Self::NothingHere { .. } => {
                Some("name them by their ID: `stockade changes list` shows what there is")
            }
            Self::Busy => Some("wait until it is done"),
            Self::OtherWorkspace(_) => Some("put the workspace back where it was, or discard the changes"),
            Self::NoSuchPath(_) => {
                Some("`stockade changes show` lists the paths; they begin in the workspace")
            }
            Self::Stopped(_) => Some("mend what stands in the way, and give the same command again"),
            Self::Unreadable { .. } | Self::Unjudged(_) | Self::Store(_) => None,
        }
    }
}
