//! Reasons to end without success.

use std::process::ExitCode;

/// The reason why a command stops, with its exit code.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The command line is invalid: exit code 2.
    Usage(String),
    /// A check failed: exit code 1. The message is empty if a report has already explained it.
    Failed(String),
}

impl Stop {
    /// A mistake on the command line.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::Usage(message.into())
    }

    /// A failure with a message.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::Failed(message.into())
    }

    /// A failure which a printed report has explained.
    pub(crate) fn reported() -> Self {
        Self::Failed(String::new())
    }

    /// The message for the user.
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

/// Rejects arguments that a command does not accept.
pub(crate) fn no_more(arguments: &[String], usage: &str) -> Result<(), Stop> {
    match arguments.first() {
        None => Ok(()),
        Some(extra) => Err(Stop::usage(format!("`{extra}` means nothing here; usage: cargo xtask {usage}"))),
    }
}
