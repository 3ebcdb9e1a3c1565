//! Result of resolving a path.

use std::path::PathBuf;

use thiserror::Error;

use crate::held_name::HeldName;

/// A resolved path and its target.
#[derive(Debug)]
#[non_exhaustive]
pub struct FoundPath {
    /// The path without links. If it does not exist: the real path of the longest existing prefix, followed by the
    /// rest. The target of a dangling link counts as the path.
    pub real: PathBuf,
    /// The followed links, each by its own path without links.
    pub through: Vec<PathBuf>,
    /// The type of the target.
    pub target: FoundTarget,
    /// The target, held open.
    pub held: HeldName,
}

/// Type of the target of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FoundTarget {
    /// It does not exist yet.
    Missing,
    /// A regular file, with its other names.
    File(OtherLinks),
    /// A directory, which has entries.
    Folder,
    /// A device, a socket or a named pipe.
    Special,
}

/// The other names (hard links) of a regular file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OtherLinks {
    /// It has no other name.
    None,
    /// It has exactly these other names.
    All(Vec<PathBuf>),
    /// It has these below the root, and more elsewhere.
    Some(Vec<PathBuf>),
    /// It has these and more that were not found; the search below the root was incomplete.
    Unfinished(Vec<PathBuf>),
}

/// Why a path cannot be resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Error)]
pub enum LookupError {
    /// Its links form a loop, or there are too many.
    #[error("its symlinks form a loop")]
    Loop,
    /// It passes through a link in `/proc` whose target depends on a process.
    #[error("it goes through a magic link of /proc")]
    MagicLink,
    /// A component that must be a directory is not one.
    #[error("a part of it is not a directory")]
    NotAFolder,
    /// A component is not accessible.
    #[error("a part of it cannot be read")]
    Unreadable,
    /// It changed during the lookup.
    #[error("it changed while it was checked")]
    Changed,
}
