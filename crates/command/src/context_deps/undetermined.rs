//! Why an answer to a command cannot last.

use std::fmt;

use stockade_text::Shown;

/// The most files that an answer is bound to.
pub(super) const MAX_FILES: usize = 2048;

/// Why it cannot be told before a command runs what it means, so that no answer to it lasts.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Undetermined {
    /// The text cannot be read to its end.
    NotRead,
    /// It uses what another command prints.
    Output,
    /// It may do more than it shows.
    Uncertain,
    /// Words are added when it runs, or depend on which files there are.
    Words,
    /// It uses this variable, whose value is not known.
    Variable(String),
    /// It is not known in which folder it runs, or a part of it.
    Folder,
    /// It names more files than are looked at.
    TooManyFiles,
}

impl fmt::Display for Undetermined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotRead => f.write_str("it cannot be read to its end"),
            Self::Output => f.write_str("it uses what another command prints"),
            Self::Uncertain => f.write_str("it may do more than it shows"),
            Self::Words => f.write_str("some of its words are only known when it runs"),
            Self::Variable(name) => write!(f, "the value of `{}` is not known", Shown(name)),
            Self::Folder => f.write_str("it is not known in which folder it runs"),
            Self::TooManyFiles => write!(f, "it names more than {MAX_FILES} files"),
        }
    }
}
