//! Errors of saved state, and of opening a guard with it.

use std::fmt;

use stockade_guard::config::ConfigError;

/// An error message, with a fix.
#[derive(Debug)]
pub struct StateError {
    message: String,
    help: Option<String>,
    kind: StateErrorKind,
}

/// Kind of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StateErrorKind {
    /// An argument, or a file that an argument names, is invalid.
    Input,
    /// A file could not be read or written.
    Unavailable,
}

impl StateError {
    /// An argument, or a file that an argument names, is invalid.
    pub(crate) fn input(message: impl fmt::Display) -> Self {
        Self { message: message.to_string(), help: None, kind: StateErrorKind::Input }
    }

    /// A file could not be read or written.
    pub(crate) fn unavailable(message: impl fmt::Display) -> Self {
        Self { kind: StateErrorKind::Unavailable, ..Self::input(message) }
    }

    /// Adds the fix.
    pub(crate) fn with_help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    /// Returns the fix, if one is known.
    #[must_use]
    pub fn help(&self) -> Option<&str> {
        self.help.as_deref()
    }

    /// Returns the kind of the error.
    #[must_use]
    pub const fn kind(&self) -> StateErrorKind {
        self.kind
    }
}

impl From<&ConfigError> for StateError {
    fn from(error: &ConfigError) -> Self {
        match error.problems.as_slice() {
            [] => Self::input(error),
            [only] => Self::input(format_args!("{}: {}", only.place, only.message)).with_help(&only.fix),
            [first, rest @ ..] => Self::input(format_args!("{}: {}", first.place, first.message))
                .with_help(format!("{}; `stockade config validate` shows {} more", first.fix, rest.len())),
        }
    }
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for StateError {}
