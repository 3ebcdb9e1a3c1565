//! The narrowest change of a configuration that takes one obstacle away.

use std::fmt;
use std::path::Path;

use stockade_text::Shown;

use super::rule::PolicyRule;
use crate::paths::config::{AbsolutePaths, Answer, HardLinks, Jail, SandboxConfig};
use crate::paths::facts::{ResolvedPath, names};
use crate::paths::globs;
use crate::paths::jail::Workspace;
use stockade_names::Access;

/// One change of a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fix {
    /// Name the path relative to the workspace; no change of the configuration is needed.
    UseRelativePath {
        /// The path from the workspace.
        path: String,
    },
    /// Accept absolute paths in requests.
    AcceptAbsolutePaths,
    /// Let paths lead out of the workspace.
    TurnJailOff,
    /// Accept files with further names.
    AcceptHardLinks,
    /// Take a forbidden glob away.
    RemoveForbiddenGlob {
        /// The glob.
        glob: String,
    },
    /// Take a deny glob away.
    RemoveDenyGlob {
        /// Of which path policy.
        access: Access,
        /// The glob.
        glob: String,
    },
    /// Allow one path by a glob of its own.
    AddAllowGlob {
        /// In which path policy.
        access: Access,
        /// A glob that matches the path and nothing else.
        glob: String,
    },
    /// Take a pattern out of the command policy that has it.
    RemoveCommandPattern {
        /// The policy.
        policy: String,
        /// The pattern.
        pattern: String,
    },
    /// Change or remove a policy that the host added.
    ChangePolicy {
        /// The policy.
        policy: String,
    },
    /// Allow commands on which no policy decides.
    AllowCommandsByDefault,
    /// Use a client that answers questions.
    ConnectAsker,
}

impl Fix {
    /// Makes the change. Returns whether it is one that a configuration can hold.
    pub fn apply(&self, config: &mut SandboxConfig) -> bool {
        match self {
            Self::AcceptAbsolutePaths => config.absolute_paths = AbsolutePaths::Accepted,
            Self::TurnJailOff => config.jail = Jail::Off,
            Self::AcceptHardLinks => config.hard_links = HardLinks::Accepted,
            Self::RemoveForbiddenGlob { glob } => config.forbidden_globs.retain(|other| other != glob),
            Self::RemoveDenyGlob { access, glob } => {
                policy(config, *access).deny.retain(|other| other != glob);
            }
            Self::AddAllowGlob { access, glob } => policy(config, *access).allow.push(glob.clone()),
            Self::AllowCommandsByDefault => config.execute = Answer::Allow,
            Self::UseRelativePath { .. }
            | Self::RemoveCommandPattern { .. }
            | Self::ChangePolicy { .. }
            | Self::ConnectAsker => return false,
        }
        true
    }

    /// The change for a path that a rule did not let through.
    pub(crate) fn for_path(
        rule: &PolicyRule,
        access: Access,
        located: &Path,
        found: Option<&ResolvedPath>,
        allowed: impl Fn(&Path) -> bool,
        workspace: &Workspace,
    ) -> Option<Self> {
        Some(match rule {
            PolicyRule::AbsolutePaths => match workspace.locate(located).inside {
                Some(path) => Self::UseRelativePath { path: path.to_str()?.to_owned() },
                None => Self::AcceptAbsolutePaths,
            },
            PolicyRule::Jail => Self::TurnJailOff,
            PolicyRule::HardLink | PolicyRule::HardLinkNotFound => Self::AcceptHardLinks,
            PolicyRule::ForbiddenGlob { glob } => Self::RemoveForbiddenGlob { glob: glob.clone() },
            PolicyRule::DenyGlob { glob, .. } => Self::RemoveDenyGlob { access, glob: glob.clone() },
            PolicyRule::Default { .. } | PolicyRule::DangerousName { .. } => {
                let others = found.into_iter().flat_map(|found| names(located, found)).skip(1);
                let missing = std::iter::once(located).chain(others).find(|name| !allowed(name))?;
                let seen = workspace.locate(missing);
                let path = seen.inside.as_deref().unwrap_or(missing);
                Self::AddAllowGlob { access, glob: globs::escape(path.to_str()?) }
            }
            PolicyRule::Custom { policy } => Self::ChangePolicy { policy: policy.clone() },
            _ => return None,
        })
    }

    /// The change for a command that a rule did not let through.
    pub(crate) fn for_command(rule: &PolicyRule) -> Option<Self> {
        Some(match rule {
            PolicyRule::CommandPattern { policy, pattern } => {
                Self::RemoveCommandPattern { policy: policy.clone(), pattern: pattern.clone() }
            }
            PolicyRule::Custom { policy } => Self::ChangePolicy { policy: policy.clone() },
            PolicyRule::NothingDecided => Self::AllowCommandsByDefault,
            _ => return None,
        })
    }
}

fn policy(config: &mut SandboxConfig, access: Access) -> &mut crate::paths::config::PathPolicy {
    match access {
        Access::Read => &mut config.read,
        Access::Write => &mut config.write,
    }
}

fn list(access: Access) -> &'static str {
    match access {
        Access::Read => "read",
        Access::Write => "write",
    }
}

impl fmt::Display for Fix {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UseRelativePath { path } => write!(formatter, "name it relative to the workspace: `{}`", Shown(path)),
            Self::AcceptAbsolutePaths => formatter.write_str("accept absolute paths (allowAbsolutePaths: true)"),
            Self::TurnJailOff => formatter.write_str(
                "copy the file into the workspace, or turn the jail off (jail: false), which opens the whole disk to the \
                 other rules",
            ),
            Self::AcceptHardLinks => formatter.write_str("accept files with hard links (hardLinks: accepted)"),
            Self::RemoveForbiddenGlob { glob } => {
                write!(formatter, "remove `{}` from forbiddenGlobs", Shown(glob))
            }
            Self::RemoveDenyGlob { access, glob } => {
                write!(formatter, "remove `{}` from {}.deny", Shown(glob), list(*access))
            }
            Self::AddAllowGlob { access, glob } => write!(formatter, "add `{}` to {}.allow", Shown(glob), list(*access)),
            Self::RemoveCommandPattern { policy, pattern } => {
                write!(formatter, "remove `{}` from {policy}", Shown(pattern))
            }
            Self::ChangePolicy { policy } => write!(formatter, "change or remove the policy {policy}"),
            Self::AllowCommandsByDefault => {
                formatter.write_str("allow commands on which no policy decides (execute: allow)")
            }
            Self::ConnectAsker => formatter.write_str("use a client that answers questions"),
        }
    }
}
