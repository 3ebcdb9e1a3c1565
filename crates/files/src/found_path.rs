//! What was found out about a path.

use std::path::PathBuf;

use thiserror::Error;

use crate::held_name::HeldName;

/// Where a path really leads.
#[derive(Debug)]
#[non_exhaustive]
pub struct FoundPath {
    /// The path without links. Where it does not exist, the real path of the longest part that does, with the rest
    /// behind it; the target of a dangling link counts as the path.
    pub real: PathBuf,
    /// The links that were followed, each by its own path without links above it.
    pub through: Vec<PathBuf>,
    /// What is found at the end.
    pub target: FoundTarget,
    /// The end, held open.
    pub held: HeldName,
}

/// What is at the end of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FoundTarget {
    /// Nothing is there yet.
    Missing,
    /// A regular file, with its other names.
    File(OtherLinks),
    /// A folder, which may hold anything.
    Folder,
    /// A device, a socket or a named pipe.
    Special,
}

/// The other names (hard links) of a regular file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OtherLinks {
    /// It has only the one name.
    None,
    /// It has these, and that is all of them.
    All(Vec<PathBuf>),
    /// It has these below the root, and more elsewhere.
    Some(Vec<PathBuf>),
    /// It has these and more that were not found, but not all below the root was looked through.
    Unfinished(Vec<PathBuf>),
}

/// Why it cannot be told where a path leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Error)]
pub enum LookupError {
    /// Its links go round in a circle, or there are too many of them.
    #[error("its links lead in a circle")]
    Loop,
    /// It goes through a link of `/proc` that leads wherever some process happens to be.
    #[error("it goes through a magic link of /proc")]
    MagicLink,
    /// A part of it that must be a folder is none.
    #[error("a part of it is no folder")]
    NotAFolder,
    /// A part of it may not be looked at.
    #[error("a part of it may not be read")]
    Unreadable,
    /// It was something else a moment ago.
    #[error("it changed while it was being looked at")]
    Changed,
}
