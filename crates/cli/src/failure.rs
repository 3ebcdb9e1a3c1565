//! Why a command could not do its work, said to a person.
#![expect(clippy::disallowed_methods, reason = "writes to standard error")]

use std::fmt;

use std::io::{self, Write as _};

use stockade_state::saved_rules::SavedRulesError;
use stockade_state::{StateError, StateErrorKind};
use stockade_text::escape;

use crate::exit::Exit;
pub(crate) use stockade_text::with_causes;

/// A command could not be carried out: what, why, and how to mend it.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    help: Option<String>,
    exit: Exit,
}

impl Failure {
    /// Something that was typed, or a file that was named, is wrong.
    pub(crate) fn usage(message: impl fmt::Display) -> Self {
        Self { message: message.to_string(), help: None, exit: Exit::Usage }
    }

    /// Something could not be read or written, so there is no answer.
    pub(crate) fn incomplete(message: impl fmt::Display) -> Self {
        Self { exit: Exit::Incomplete, ..Self::usage(message) }
    }

    /// What was asked for is refused.
    pub(crate) fn found(message: impl fmt::Display) -> Self {
        Self { exit: Exit::Found, ..Self::usage(message) }
    }

    /// Adds how to mend it.
    pub(crate) fn with_help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    /// What could not be done, and why.
    #[cfg(target_os = "linux")]
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Tells the person and returns how to end.
    pub(crate) fn report(&self) -> Exit {
        let mut text = format!("error: {}\n", escape(&self.message));
        if let Some(help) = &self.help {
            text.push_str(&format!("  help: {}\n", escape(help)));
        }
        Self::print(&text, self.exit)
    }

    /// Tells the person what has its final form already.
    pub(crate) fn print(text: &str, exit: Exit) -> Exit {
        // Nobody is left to tell when even this fails.
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
