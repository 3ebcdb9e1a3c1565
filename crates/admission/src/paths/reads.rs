//! Reading by file tools as the command that reads the same.

use std::path::Path;

use stockade_command::shell::quote_argv;

/// What a tool reads of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    /// The content of the file.
    File,
    /// The contents of the file, or of all files below the folder.
    Tree,
    /// The names in the folder.
    Names,
}

impl Reads {
    /// Returns the command that reads the same; nothing if the path is not UTF-8.
    #[must_use]
    pub fn command(self, path: &Path) -> Option<String> {
        let command = match self {
            Self::File => "cat --",
            Self::Tree => "grep -r -e x --",
            Self::Names => "ls --",
        };
        Some(format!("{command} {}", quote_argv([path.to_str()?])))
    }
}
