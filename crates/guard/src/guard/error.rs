//! Why a guard could not decide.

use std::io;

use stockade_command::{CommandRuleError, ExclusionError};
use stockade_limits::store::StoreError;
use stockade_policy::ToolPolicyError;
use thiserror::Error;

use crate::audit::AuditError;
use crate::egress::{HostListError, SecretError};
use stockade_admission::AdmitError;
use stockade_admission::PathGuardError;
use stockade_config::UnknownAgent;

/// An error of building a guard or of deciding. Callers treat it as a denial.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum GuardError {
    /// The agent is unknown.
    #[error("{0}; {fix}", fix = .0.fix())]
    Agent(#[from] UnknownAgent),
    /// The tool policy is invalid.
    #[error(transparent)]
    Tools(#[from] ToolPolicyError),
    /// The workspace or the path policy is invalid.
    #[error(transparent)]
    Paths(#[from] PathGuardError),
    /// A command rule is invalid.
    #[error(transparent)]
    Commands(#[from] CommandRuleError),
    /// An excluded command is invalid.
    #[error("`execSandbox.excludedCommands`: {0}")]
    Exclusions(#[from] ExclusionError),
    /// A skill cannot be read.
    #[error(transparent)]
    Skill(#[from] AdmitError),
    /// The decision cannot be recorded.
    #[error(transparent)]
    Audit(#[from] AuditError),
    /// The stored answers cannot be used.
    #[error(transparent)]
    Answers(#[from] stockade_admission::answers::AnswerStoreError),
    /// The usage is unknown.
    #[error(transparent)]
    Limits(#[from] StoreError),
    /// An entry of the host list is invalid.
    #[error("`security.permission.allowedNetHosts`: {0}; {fix}", fix = .0.fix)]
    Hosts(HostListError),
    /// An entry of the secrets is invalid.
    #[error("`security.permission.secrets`: {0}; {fix}", fix = .0.fix)]
    Secrets(SecretError),
    /// A login file cannot be used.
    #[error("`security.permission.logins`: {0}; {fix}", fix = .0.fix)]
    Logins(SecretError),
    /// The egress proxy cannot be started.
    #[error("cannot restrict commands to listed hosts: {0}")]
    Broker(#[source] io::Error),
    /// The denied files of the workspace could not be searched, and would be visible.
    #[error("cannot hide the paths that `files` denies: {0}")]
    DeniedFiles(#[source] io::Error),
    /// A host list is configured, but cannot be enforced.
    #[error("this program was built without sandboxes and cannot restrict commands to listed hosts ({}): remove them from `security.permission.allowedNetHosts`", hosts.join(", "))]
    HostsWithoutBroker {
        /// The hosts.
        hosts: Vec<String>,
    },
    /// The system has no random numbers for an ID.
    #[error("cannot generate the ID of a decision: {0}")]
    Nameless(#[source] io::Error),
    /// The directory of a graph run cannot be created or removed.
    #[error("cannot use the directory of the graph run {}", path.display())]
    GraphRun {
        /// The directory.
        path: std::path::PathBuf,
        /// The reason.
        source: io::Error,
    },
}

// The texts of these two are already part of the message, so they are not sources: each would be printed twice.
impl From<HostListError> for GuardError {
    fn from(error: HostListError) -> Self {
        Self::Hosts(error)
    }
}

impl From<SecretError> for GuardError {
    fn from(error: SecretError) -> Self {
        Self::Secrets(error)
    }
}

impl GuardError {
    /// Returns the fix, unless the message contains it.
    #[must_use]
    pub const fn fix(&self) -> Option<&'static str> {
        match self {
            Self::Paths(PathGuardError::Workspace { .. }) => {
                Some("use a workspace that exists and that this user can open")
            }
            _ => None,
        }
    }
}
