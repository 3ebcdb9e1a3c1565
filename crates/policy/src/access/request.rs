//! What a tool asks for, and who asks.

use std::fmt;
use std::path::{Path, PathBuf};

use stockade_text::Shown;

use crate::paths::facts::PathFacts;
use stockade_names::Access;

/// A kind of access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// Reading a file, listing a folder.
    Read,
    /// Writing, creating, deleting, renaming.
    Write,
    /// Running a command through a shell.
    Execute,
}

/// A request for access.
#[derive(Debug, Clone, Copy)]
pub enum AccessRequest<'a> {
    /// A path is to be opened.
    Path {
        /// What is done to it.
        access: Access,
        /// The path as the tool was given it.
        path: &'a Path,
        /// What the caller found out about it: [`crate::Sandbox::locate`] says where to look.
        facts: &'a PathFacts,
    },
    /// To run a command.
    Command {
        /// The command, as text for a shell.
        text: &'a str,
    },
}

/// Who asks for access, as far as the host knows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Caller<'a> {
    /// The agent, for the question to a person.
    pub agent: &'a str,
    /// Whether its run is still wanted.
    pub run: RunState,
}

/// Whether a run is still wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RunState {
    /// The run goes on, and answers count.
    #[default]
    Active,
    /// It was aborted: no further question is asked for it.
    Aborted,
}

/// The exact object of a decision. A remembered answer holds for this and nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Object {
    /// A path: the real one where it was found out, as far as it could be resolved otherwise.
    Path(PathBuf),
    /// A command, as text.
    Command(String),
}

impl Operation {
    /// Returns the name that the documents use: `fs.read`, `fs.write`, `command.execute`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "fs.read",
            Self::Write => "fs.write",
            Self::Execute => "command.execute",
        }
    }

    /// Returns the operation of this exact name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Read, Self::Write, Self::Execute].into_iter().find(|operation| operation.name() == name)
    }
}

impl From<Access> for Operation {
    fn from(access: Access) -> Self {
        match access {
            Access::Read => Self::Read,
            Access::Write => Self::Write,
        }
    }
}

impl AccessRequest<'_> {
    /// Returns the kind of access.
    #[must_use]
    pub fn operation(&self) -> Operation {
        match self {
            Self::Path { access, .. } => (*access).into(),
            Self::Command { .. } => Operation::Execute,
        }
    }
}

impl Object {
    /// Returns the path, unless the object is a command.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Path(path) => Some(path),
            Self::Command(_) => None,
        }
    }
}

/// As a person sees it: nothing is hidden by padding, controls or characters without a shape.
impl fmt::Display for Object {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => Shown(&path.to_string_lossy()).fmt(formatter),
            Self::Command(text) => Shown(text).fmt(formatter),
        }
    }
}
