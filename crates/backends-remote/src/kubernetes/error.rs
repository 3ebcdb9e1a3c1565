//! Why something did not happen in a cluster, and what would change that.

use std::time::Duration;

use ureq::http::StatusCode;

use crate::remote::{RemoteError, shown};

/// Why something did not happen. No message has a key, a token or the value of a variable in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KubernetesError {
    /// There is no kubeconfig, or it cannot be used.
    #[error("cannot use the kubeconfig: {why}")]
    Config {
        /// What is wrong, and where.
        why: String,
        /// What mends it.
        fix: &'static str,
    },
    /// The server does not know who asks.
    #[error("the cluster rejected the certificate or the token")]
    Unauthorised,
    /// Who asks may not do this.
    #[error("the cluster denied permission: {0}")]
    Forbidden(String),
    /// The object does not exist.
    #[error("not found in the cluster: {0}")]
    NotFound(String),
    /// There is one of that name already.
    #[error("already exists in the cluster: {0}")]
    Exists(String),
    /// Another client changed it meanwhile.
    #[error("changed by another client: {0}")]
    Conflict(String),
    /// What was known of the cluster is too old to go on from there.
    #[error("the watched version has expired in the cluster")]
    Expired,
    /// What was asked for is wrong, or a rule of the cluster stands against it.
    #[error("the cluster refused the request: {0}")]
    Refused(String),
    /// The cluster is asked too often; it was asked again as often as was agreed on.
    #[error("rate limit of the cluster")]
    TooMany,
    /// The server did not answer, or broke off.
    #[error("no response from the cluster: {0}")]
    Away(String),
    /// The server answered, and not as it is documented.
    #[error("unexpected response from the cluster: {0}")]
    Unexpected(String),
    /// It took too long.
    #[error("timeout after {} seconds", .0.as_secs())]
    TimedOut(Duration),
    /// The caller has no reason to wait any longer.
    #[error("cancelled")]
    Stopped,
    /// A name cannot be one of an object.
    #[error("invalid name of a run: {0:?}")]
    Name(String),
    /// Another run has this name.
    #[error("a different run has the name {0}")]
    AnotherRun(String),
    /// The command never began.
    #[error("the command did not start: {0}")]
    NeverBegan(String),
    /// The cluster gave the pod up, and how far the command came is unknown.
    #[error("the cluster failed the pod: {0}")]
    Lost(String),
    /// What was removed is still there.
    #[error("the run still exists after it was deleted")]
    StillThere,
    /// The journal of a fleet cannot be read or written.
    #[error("cannot use the journal of the fleet: {0}")]
    Journal(String),
}

impl KubernetesError {
    /// Returns the narrowest change that would help.
    #[must_use]
    pub const fn fix(&self) -> &'static str {
        match self {
            Self::Config { fix, .. } => fix,
            Self::Unauthorised => {
                "log in to the cluster again, and update the kubeconfig; `kubectl auth whoami` shows the current user"
            }
            Self::Forbidden(_) => "ask an administrator of the cluster for the Role in CLUSTER.md",
            Self::NotFound(_) => {
                "check the names of the namespace and the claim: `kubectl get namespaces,pvc`"
            }
            Self::Exists(_) | Self::AnotherRun(_) => "use a unique name, or delete the other run",
            Self::Expired | Self::Conflict(_) => "ask again",
            Self::Refused(_) => "change the request as the message describes, or the policy of the namespace",
            Self::TooMany => "run fewer commands at a time, or try again later",
            Self::Away(_) => "check that the server of the kubeconfig is reachable: `kubectl version`",
            Self::Unexpected(_) => "check that the server is Kubernetes 1.24 or later",
            Self::TimedOut(_) | Self::Stopped => "raise the time limit",
            Self::Name(_) => {
                "use at most 40 lower-case letters, digits and `-`, with a letter or digit at both ends"
            }
            Self::NeverBegan(_) => "fix the cause in the message; `kubectl describe pod` shows details",
            Self::Lost(_) => "run it again under another name, if running it twice is safe",
            Self::StillThere => {
                "check the node: `kubectl get nodes,pods --selector app.kubernetes.io/managed-by=stockade`"
            }
            Self::Journal(_) => "check the file and its directory, or use another file",
        }
    }
}

impl From<RemoteError> for KubernetesError {
    fn from(error: RemoteError) -> Self {
        match error {
            RemoteError::Away(why) => Self::Away(why),
            RemoteError::Unexpected(why) => Self::Unexpected(why),
            RemoteError::TooLong(most) => Self::Unexpected(format!("more than {most} bytes")),
            RemoteError::TimedOut(time) => Self::TimedOut(time),
            RemoteError::Stopped => Self::Stopped,
            RemoteError::Plain(why) => Self::Unexpected(why.to_owned()),
            RemoteError::Status(status, said) => meaning(status, &said),
        }
    }
}

/// What a server says of a request that it does not carry out.
#[derive(serde::Deserialize, Default)]
#[serde(default)]
pub(super) struct Status {
    pub(super) message: String,
    pub(super) reason: String,
    pub(super) code: u16,
}

fn meaning(status: StatusCode, said: &[u8]) -> KubernetesError {
    let said: Status = serde_json::from_slice(said).unwrap_or_default();
    let message = if said.message.is_empty() { status.to_string() } else { shown(&said.message) };
    match (status.as_u16(), said.reason.as_str()) {
        (401, _) => KubernetesError::Unauthorised,
        (403, _) => KubernetesError::Forbidden(message),
        (404, _) => KubernetesError::NotFound(message),
        (409, "AlreadyExists") => KubernetesError::Exists(message),
        (409, _) => KubernetesError::Conflict(message),
        (410, _) => KubernetesError::Expired,
        (429, _) => KubernetesError::TooMany,
        (400..=499, _) => KubernetesError::Refused(message),
        (500..=599, _) => KubernetesError::Away(message),
        _ => KubernetesError::Unexpected(message),
    }
}
