//! What decided on a request for access.

use std::fmt;

use stockade_text::Shown;

use crate::paths::facts::ResolveError;

/// What decided on a request for access.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PolicyRule {
    /// Absolute paths are refused.
    AbsolutePaths,
    /// It cannot be told where the path leads.
    Unresolvable(ResolveError),
    /// The workspace is a jail, and the path lies outside.
    Jail,
    /// The jail: the file has further names, and none of them is in the workspace.
    HardLink,
    /// The jail: the file has further names, and not all of the workspace was searched for them.
    HardLinkNotFound,
    /// The jail: a device, a socket or a pipe.
    SpecialFile,
    /// A glob that nothing can override.
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
    /// The name of the file is dangerous.
    DangerousName {
        /// The stable name of what it is, as commands that touch it have it.
        id: &'static str,
        /// What touching it does.
        reason: &'static str,
    },
    /// The rules for commands.
    Command {
        /// The rule or the hazard that decided.
        id: String,
        /// Why, in a sentence.
        reason: String,
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

impl fmt::Display for PolicyRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AbsolutePaths => formatter.write_str("absolute paths are not accepted here: use one relative to the workspace"),
            Self::Unresolvable(error) => error.fmt(formatter),
            Self::Jail => formatter.write_str("it is outside of the workspace, to which tools are confined"),
            Self::HardLink => formatter.write_str(
                "the file has hard links that were not found in the workspace, so it may also be outside",
            ),
            Self::HardLinkNotFound => formatter.write_str(
                "the file has more names (hard links) than were found, and the workspace is too large or too deep to \
                 search all of it or has folders that may not be read, so the file may lie outside as well",
            ),
            Self::SpecialFile => formatter.write_str("it is a device, a socket or a pipe, not a file or folder"),
            Self::ForbiddenGlob { glob } => {
                write!(formatter, "the forbidden glob `{}` matches it, which nothing overrides", Shown(glob))
            }
            Self::DenyGlob { policy, glob } => write!(formatter, "{policy} denies `{}`", Shown(glob)),
            Self::AllowGlob { policy, glob } => write!(formatter, "{policy} allows `{}`", Shown(glob)),
            Self::Default { policy } => write!(formatter, "no glob of {policy} matches it, so its default applies"),
            Self::CommandPattern { policy, pattern } => write!(formatter, "{policy} names `{}`", Shown(pattern)),
            Self::Custom { policy } => write!(formatter, "decided by the policy {policy}"),
            Self::DangerousName { id, reason } => write!(formatter, "{id}: it {reason}"),
            Self::Command { reason, .. } => formatter.write_str(reason),
            Self::NothingDecided => formatter.write_str("no policy decides it"),
            Self::Answer => formatter.write_str("the user was asked"),
            Self::SessionAnswer => formatter.write_str("the user was asked earlier in this run"),
            Self::UnknownAnswer => {
                formatter.write_str("the answer was not allow, deny, allow-session or deny-session")
            }
        }
    }
}
