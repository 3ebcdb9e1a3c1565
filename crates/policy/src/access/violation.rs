//! Refusals: what was refused, which rule refused it, and why.

use std::fmt;

use super::fix::Fix;
use super::request::{Object, Operation};
use super::rule::PolicyRule;

/// Why access was refused, in the words of the documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The path really lies outside the workspace.
    Jail,
    /// Reading it is not allowed.
    ReadDenied,
    /// Writing it is not allowed.
    WriteDenied,
    /// A person would have to be asked, and there is no way to ask.
    AskNoHandler,
    /// A person was asked, and the run ended before the answer.
    AskAborted,
    /// The path is one that is never touched.
    ForbiddenGlob,
    /// The request names an absolute path where only relative ones are taken.
    AbsolutePath,
    /// Running the command is not allowed. The documents have no name for this one.
    CommandDenied,
}

/// A request that was refused: what decided against it, and what would permit it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct Violation {
    /// Why, in the words of the documents.
    pub reason: Reason,
    /// What was to be done.
    pub operation: Operation,
    /// To what, as the request named it: an absolute path, or the command.
    pub object: Object,
    /// Where that really leads, when it leads elsewhere.
    pub real: Option<Object>,
    /// What decided against the request.
    pub rule: PolicyRule,
    /// The narrowest change that would take this obstacle away. There may be another behind it. Nothing when no
    /// change of the configuration would help.
    pub fix: Option<Fix>,
}

impl Reason {
    /// Returns the name that the documents use, like `forbidden-glob`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Jail => "jail",
            Self::ReadDenied => "read-denied",
            Self::WriteDenied => "write-denied",
            Self::AskNoHandler => "ask-no-handler",
            Self::AskAborted => "ask-aborted",
            Self::ForbiddenGlob => "forbidden-glob",
            Self::AbsolutePath => "absolute-path",
            Self::CommandDenied => "command-denied",
        }
    }

    /// The reason of a refusal that has no other name.
    pub(crate) fn denied(operation: Operation) -> Self {
        match operation {
            Operation::Read => Self::ReadDenied,
            Operation::Write => Self::WriteDenied,
            Operation::Execute => Self::CommandDenied,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { operation, object, reason, rule, .. } = self;
        write!(formatter, "{} `{object}` refused ({reason})", operation.name())?;
        if let Some(real) = &self.real {
            write!(formatter, ", which is really `{real}`")?;
        }
        write!(formatter, ": {rule}")
    }
}
