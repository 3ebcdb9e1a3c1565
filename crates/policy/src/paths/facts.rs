//! What a caller found out about a path on the disk, before anything is decided about it.

use std::path::{Path, PathBuf};

use thiserror::Error;

use super::lexical::InvalidPath;

/// What a caller found out about a path on the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathFacts {
    /// Where it really leads.
    Resolved(ResolvedPath),
    /// It cannot be told where it leads, so it is refused.
    Unresolvable(ResolveError),
}

/// Where a path really leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedPath {
    /// The path without links. Where it does not exist, the real path of the longest part that does, with the rest
    /// behind it; the target of a dangling link counts as the path.
    pub real: PathBuf,
    /// The links that were followed, each by its own path without links above it.
    pub through: Vec<PathBuf>,
    /// What is found at the end.
    pub target: Target,
}

/// What is at the end of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Nothing is there yet.
    Missing,
    /// A regular file, with its other names.
    File(OtherNames),
    /// A folder, which may hold anything.
    Folder,
    /// A device, a socket, a named pipe.
    Special,
}

/// The other names (hard links) of a regular file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OtherNames {
    /// It has only the one.
    None,
    /// It has these, and that is all of them.
    All(Vec<PathBuf>),
    /// It has these in the workspace, and more elsewhere.
    Some(Vec<PathBuf>),
    /// It has these and more that were not found, but not all of the workspace was looked through.
    Unfinished(Vec<PathBuf>),
}

/// Why it cannot be told where a path leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum ResolveError {
    /// It is no path.
    #[error(transparent)]
    Invalid(#[from] InvalidPath),
    /// Its links go round in a circle, or there are too many of them.
    #[error("its symlinks form a loop")]
    Loop,
    /// It goes through a link of `/proc` that leads wherever some process happens to be.
    #[error("it goes through a magic link of /proc")]
    MagicLink,
    /// A component that must be a directory is not one.
    #[error("a part of it is not a directory")]
    NotAFolder,
    /// It goes up behind a link. The kernel goes up from the link's target; programs that normalise paths as text go up from
    /// the link itself, and these differ.
    #[error("it has `..` after a symlink, which programs resolve differently: use a path without `..`")]
    UpBehindLink,
    /// A part of it may not be looked at.
    #[error("a part of it cannot be read")]
    Unreadable,
    /// It was something else a moment ago.
    #[error("it changed while it was checked")]
    Changed,
}

impl ResolvedPath {
    /// Returns the facts of a path without links, at which there is a file with one name.
    #[must_use]
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self { real: path.into(), through: Vec::new(), target: Target::File(OtherNames::None) }
    }
}

/// Every name by which a request may reach its target. A refusal of one is a refusal of all.
pub(crate) fn names<'n>(located: &'n Path, found: &'n ResolvedPath) -> impl Iterator<Item = &'n Path> {
    let others = match &found.target {
        Target::File(OtherNames::All(names) | OtherNames::Some(names) | OtherNames::Unfinished(names)) => {
            names.as_slice()
        }
        Target::File(OtherNames::None) | Target::Missing | Target::Folder | Target::Special => &[],
    };
    let real = (found.real != located).then_some(found.real.as_path());
    std::iter::once(located).chain(real).chain(found.through.iter().chain(others).map(PathBuf::as_path))
}
