//! Refusals: what was refused, which rule refused it, and why.

use std::fmt;

use stockade_text::Escaped;

use super::fix::Fix;
use super::request::{Object, Operation};
use crate::paths::facts::Trouble;

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

/// What decided.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PolicyRule {
    /// Absolute paths are refused.
    AbsolutePaths,
    /// It cannot be told where the path leads.
    Unresolvable(Trouble),
    /// The jail.
    Jail,
    /// The jail: the file has further names, and none of them is in the workspace.
    HardLink,
    /// The jail: the file has further names, and not all of the workspace was searched for them.
    HardLinkNotFound,
    /// The jail: a device, a socket or a pipe.
    SpecialFile,
    /// A forbidden glob.
    ForbiddenGlob {
        /// The glob.
        glob: String,
    },
    /// A deny glob of a path policy.
    DenyGlob {
        /// The policy.
        policy: String,
        /// The glob.
        glob: String,
    },
    /// An allow glob of a path policy.
    AllowGlob {
        /// The policy.
        policy: String,
        /// The glob.
        glob: String,
    },
    /// The default of a path policy.
    Default {
        /// The policy.
        policy: String,
    },
    /// A pattern of a command policy.
    CommandPattern {
        /// The policy.
        policy: String,
        /// The pattern, or what the built-in check found.
        pattern: String,
    },
    /// A policy of the host's own.
    Custom {
        /// The policy.
        policy: String,
    },
    /// No policy said anything.
    NothingDecided,
    /// A person's answer, now.
    Answer,
    /// A person's answer, earlier in this run.
    SessionAnswer,
    /// The answer was none of the four that there are, which counts as no.
    UnknownAnswer,
}

/// A refusal.
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
    /// What decided.
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

impl fmt::Display for PolicyRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AbsolutePaths => formatter.write_str("only paths relative to the workspace are taken"),
            Self::Unresolvable(trouble) => trouble.fmt(formatter),
            Self::Jail => formatter.write_str("it lies outside the workspace, and the workspace is a jail"),
            Self::HardLink => formatter.write_str(
                "the file has more names (hard links) than were found in the workspace, so it may lie outside as well",
            ),
            Self::HardLinkNotFound => formatter.write_str(
                "the file has more names (hard links) than were found, and the workspace is too large or too deep to \
                 search all of it or has folders that may not be read, so the file may lie outside as well",
            ),
            Self::SpecialFile => formatter.write_str("it is a device, a socket or a pipe, not a file or folder"),
            Self::ForbiddenGlob { glob } => {
                write!(formatter, "the forbidden glob `{}` covers it, and nothing overrides that", Escaped(glob))
            }
            Self::DenyGlob { policy, glob } => write!(formatter, "{policy} denies `{}`", Escaped(glob)),
            Self::AllowGlob { policy, glob } => write!(formatter, "{policy} allows `{}`", Escaped(glob)),
            Self::Default { policy } => write!(formatter, "no glob of {policy} matches it, so its default holds"),
            Self::CommandPattern { policy, pattern } => write!(formatter, "{policy} names `{}`", Escaped(pattern)),
            Self::Custom { policy } => write!(formatter, "the policy {policy} says so"),
            Self::NothingDecided => formatter.write_str("no policy decides on it"),
            Self::Answer => formatter.write_str("a person was asked"),
            Self::SessionAnswer => formatter.write_str("a person was asked earlier in this run"),
            Self::UnknownAnswer => {
                formatter.write_str("the answer was none of allow, deny, allow-session, deny-session")
            }
        }
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
