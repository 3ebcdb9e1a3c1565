//! Reasons to end without success.

use std::process::ExitCode;

/// The exit code of a command that this machine cannot run.
pub const SKIPPED: u8 = 77;

/// The reason why a command stops, with its exit code.
#[derive(Debug)]
pub enum Stop {
    /// The command line is invalid: exit code 2.
    Usage(String),
    /// A check failed: exit code 1. The message is empty if a report has already explained it.
    Failed(String),
    /// This machine lacks what the command needs: exit code 77, which automake and meson read the same way.
    Skipped(String),
}

impl Stop {
    /// A mistake on the command line.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::Usage(message.into())
    }

    /// A failure with a message.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::Failed(message.into())
    }

    /// A failure which a printed report has explained.
    pub fn reported() -> Self {
        Self::Failed(String::new())
    }

    /// A command that this machine cannot run.
    pub fn skipped(reason: impl Into<String>) -> Self {
        Self::Skipped(reason.into())
    }

    /// The message for the user.
    pub fn message(&self) -> &str {
        match self {
            Self::Usage(message) | Self::Failed(message) | Self::Skipped(message) => message,
        }
    }

    /// The exit code of the process.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) => ExitCode::from(2),
            Self::Failed(_) => ExitCode::FAILURE,
            Self::Skipped(_) => ExitCode::from(SKIPPED),
        }
    }
}

/// Rejects arguments that a command does not accept.
pub fn no_more(arguments: &[String], usage: &str) -> Result<(), Stop> {
    match arguments.first() {
        None => Ok(()),
        Some(extra) => Err(Stop::usage(format!("`{extra}` means nothing here; usage: cargo xtask {usage}"))),
    }
}
