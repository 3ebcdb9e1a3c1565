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

/// A guard could not be built or could not decide. Callers treat that as a no.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum GuardError {
    /// No such agent is known.
    #[error("{0}; {fix}", fix = .0.fix())]
    Agent(#[from] UnknownAgent),
    /// The policy for tools has a slip in it.
    #[error(transparent)]
    Tools(#[from] ToolPolicyError),
    /// The workspace or the policy for paths cannot be used.
    #[error(transparent)]
    Paths(#[from] PathGuardError),
    /// A rule for commands cannot be used.
    #[error(transparent)]
    Commands(#[from] CommandRuleError),
    /// A command that is to run outside of the sandbox cannot be meant.
    #[error("`execSandbox.excludedCommands`: {0}")]
    Exclusions(#[from] ExclusionError),
    /// A skill cannot be read.
    #[error(transparent)]
    Skill(#[from] AdmitError),
    /// It cannot be put on record.
    #[error(transparent)]
    Audit(#[from] AuditError),
    /// The answers that were kept cannot be used.
    #[error(transparent)]
    Answers(#[from] stockade_admission::answers::AnswerStoreError),
    /// It cannot be known what was used.
    #[error(transparent)]
    Limits(#[from] StoreError),
    /// A host in the list of those that commands may talk to cannot be meant.
    #[error("`security.permission.allowedNetHosts`: {0}; {fix}", fix = .0.fix)]
    Hosts(HostListError),
    /// A secret in the list of those that commands use cannot be meant.
    #[error("`security.permission.secrets`: {0}; {fix}", fix = .0.fix)]
    Secrets(SecretError),
    /// What is to hold commands to single hosts cannot be started.
    #[error("cannot hold commands to single hosts: {0}")]
    Broker(#[source] io::Error),
    /// What the configuration denies of the workspace could not be found, and would be open.
    #[error("cannot keep back what `files` of the configuration denies: {0}")]
    DeniedFiles(#[source] io::Error),
    /// Single hosts are named, and nothing could hold commands to them.
    #[error("commands cannot be held to single hosts ({}) by this program, which was built without sandboxes: take them out of `security.permission.allowedNetHosts`", hosts.join(", "))]
    HostsWithoutBroker {
        /// The hosts.
        hosts: Vec<String>,
    },
    /// The system gave no random number to name a decision by.
    #[error("cannot name a decision: {0}")]
    Nameless(#[source] io::Error),
    /// The folder of a graph run cannot be made or removed.
    #[error("cannot use the folder of the graph run {}", path.display())]
    GraphRun {
        /// The folder.
        path: std::path::PathBuf,
        /// Why not.
        source: io::Error,
    },
}

// Their text holds that of these two with what to do, so they are no causes of it besides: each is said once.
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
    /// Returns what to do about it, as far as its text does not say it.
    #[must_use]
    pub const fn fix(&self) -> Option<&'static str> {
        match self {
            Self::Paths(PathGuardError::Workspace { .. }) => {
                Some("name a workspace that is there: a folder that this user may open")
            }
            _ => None,
        }
    }
}
