//! Errors of commands.
#![expect(clippy::disallowed_methods, reason = "writes to standard error")]

use std::fmt;

use std::io::{self, Write as _};

use stockade_state::saved_rules::SavedRulesError;
use stockade_state::{StateError, StateErrorKind};
use stockade_text::escape;

use crate::exit::Exit;
pub(crate) use stockade_text::with_causes;

/// An error of a command: what failed, why, and how to fix it.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    help: Option<String>,
    exit: Exit,
}

impl Failure {
    /// The command line, or a file that it names, is invalid.
    pub(crate) fn usage(message: impl fmt::Display) -> Self {
        Self { message: message.to_string(), help: None, exit: Exit::Usage }
    }

    /// Something could not be read or written, so there is no result.
    pub(crate) fn incomplete(message: impl fmt::Display) -> Self {
        Self { exit: Exit::Incomplete, ..Self::usage(message) }
    }

    /// The request is refused.
    pub(crate) fn found(message: impl fmt::Display) -> Self {
        Self { exit: Exit::Found, ..Self::usage(message) }
    }

    /// Adds the fix.
    pub(crate) fn with_help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    /// Returns what failed and why.
    #[cfg(target_os = "linux")]
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Prints the error and returns the exit code.
    pub(crate) fn report(&self) -> Exit {
        let mut text = format!("error: {}\n", escape(&self.message));
        if let Some(help) = &self.help {
            text.push_str(&format!("  help: {}\n", escape(help)));
        }
        Self::print(&text, self.exit)
    }

    /// Prints text to standard error unchanged, and returns the exit code.
    pub(crate) fn print(text: &str, exit: Exit) -> Exit {
        // A failure to write to standard error cannot be reported anywhere.
        io::stderr().write_all(text.as_bytes()).ok();
        exit
    }
}

impl From<StateError> for Failure {
    fn from(error: StateError) -> Self {
        let failure = match error.kind() {
            StateErrorKind::Input => Self::usage(&error),
            _ => Self::incomplete(&error),
        };
        Self { help: error.help().map(str::to_owned), ..failure }
    }
}

impl From<SavedRulesError> for Failure {
    fn from(error: SavedRulesError) -> Self {
        StateError::from(error).into()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
