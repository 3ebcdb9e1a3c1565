//! Why a command ends without success.

use std::process::ExitCode;

/// The reason why a command stops, and the exit code that goes with it.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The command line makes no sense: exit code 2.
    Usage(String),
    /// Something failed: exit code 1. The message is empty when a report has already said everything.
    Failed(String),
}

impl Stop {
    /// A mistake on the command line.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::Usage(message.into())
    }

    /// A failure with something still to say.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::Failed(message.into())
    }

    /// A failure which a printed report has explained.
    pub(crate) fn reported() -> Self {
        Self::Failed(String::new())
    }

    /// What to tell the person.
    pub(crate) fn message(&self) -> &str {
        match self {
            Self::Usage(message) | Self::Failed(message) => message,
        }
    }

    /// The exit code of the process.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) => ExitCode::from(2),
            Self::Failed(_) => ExitCode::FAILURE,
        }
    }
}

/// Refuses arguments that a command does not take.
pub(crate) fn no_more(arguments: &[String], usage: &str) -> Result<(), Stop> {
    match arguments.first() {
        None => Ok(()),
        Some(extra) => Err(Stop::usage(format!("`{extra}` means nothing here; usage: cargo xtask {usage}"))),
    }
}
