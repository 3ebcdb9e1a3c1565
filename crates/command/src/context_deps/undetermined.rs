//! Why an answer to a command cannot last.

use std::fmt;

use stockade_text::Shown;

/// Maximum number of files that an answer is bound to.
pub(super) const MAX_FILES: usize = 2048;

/// Why the meaning of a command cannot be determined before it runs, so that no answer to it lasts.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Undetermined {
    /// The text cannot be parsed completely.
    NotRead,
    /// It uses the output of another command.
    Output,
    /// It may do more than it shows.
    Uncertain,
    /// Words are added at run time, or depend on existing files.
    Words,
    /// It uses this variable, whose value is unknown.
    Variable(String),
    /// Its directory or that of a part is unknown.
    Folder,
    /// It names too many files.
    TooManyFiles,
}

impl fmt::Display for Undetermined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotRead => f.write_str("it cannot be parsed completely"),
            Self::Output => f.write_str("it uses the output of another command"),
            Self::Uncertain => f.write_str("it may run code that is not in its text"),
            Self::Words => f.write_str("some of its words are only known at run time"),
            Self::Variable(name) => write!(f, "the value of `{}` is unknown", Shown(name)),
            Self::Folder => f.write_str("its working directory is unknown"),
            Self::TooManyFiles => write!(f, "it names more than {MAX_FILES} files"),
        }
    }
}
