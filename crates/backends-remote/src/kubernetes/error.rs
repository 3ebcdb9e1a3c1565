//! Why something did not happen in a cluster, and what would change that.

use std::time::Duration;

use ureq::http::StatusCode;

use crate::remote::{RemoteError, shown};

/// Why something did not happen. No message has a key, a token or the value of a variable in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KubernetesError {
    /// There is no kubeconfig, or it cannot be used.
    #[error("the kubeconfig cannot be used: {why}")]
    Config {
        /// What is wrong, and where.
        why: String,
        /// What mends it.
        fix: &'static str,
    },
    /// The server does not know who asks.
    #[error("the cluster does not accept the certificate or the token")]
    Unauthorised,
    /// Who asks may not do this.
    #[error("the cluster does not let this user do it: {0}")]
    Forbidden(String),
    /// The object does not exist.
    #[error("the cluster does not have it: {0}")]
    NotFound(String),
    /// There is one of that name already.
    #[error("the cluster has one of that name: {0}")]
    Exists(String),
    /// Another client changed it meanwhile.
    #[error("another client changed it meanwhile: {0}")]
    Conflict(String),
    /// What was known of the cluster is too old to go on from there.
    #[error("the cluster has forgotten what was seen last")]
    Expired,
    /// What was asked for is wrong, or a rule of the cluster stands against it.
    #[error("the cluster refused it: {0}")]
    Refused(String),
    /// The cluster is asked too often; it was asked again as often as was agreed on.
    #[error("the cluster is asked too often")]
    TooMany,
    /// The server did not answer, or broke off.
    #[error("the cluster did not answer: {0}")]
    Away(String),
    /// The server answered, and not as it is documented.
    #[error("the cluster answered otherwise than Kubernetes says it does: {0}")]
    Unexpected(String),
    /// It took too long.
    #[error("the cluster took longer than {} seconds", .0.as_secs())]
    TimedOut(Duration),
    /// The caller has no reason to wait any longer.
    #[error("it was cancelled")]
    Stopped,
    /// A name cannot be one of an object.
    #[error("{0:?} cannot be the name of a run")]
    Name(String),
    /// Another run has this name.
    #[error("there is another run of the name {0}, which is not the same")]
    AnotherRun(String),
    /// The command never began.
    #[error("the command never began: {0}")]
    NeverBegan(String),
    /// The cluster gave the pod up, and how far the command came is unknown.
    #[error("the cluster gave the pod up: {0}")]
    Lost(String),
    /// What was removed is still there.
    #[error("the run is still there after it was removed")]
    StillThere,
    /// The journal of a fleet cannot be read or written.
    #[error("the journal of the fleet cannot be used: {0}")]
    Journal(String),
}

impl KubernetesError {
    /// Returns the narrowest change that would help.
    #[must_use]
    pub const fn fix(&self) -> &'static str {
        match self {
            Self::Config { fix, .. } => fix,
            Self::Unauthorised => {
                "log in to the cluster again, and let the kubeconfig have what that gives: `kubectl auth whoami` shows who asks"
            }
            Self::Forbidden(_) => {
                "let an administrator of the cluster grant it in this namespace: the page CLUSTER.md has the Role"
            }
            Self::NotFound(_) => {
                "look at the names of the namespace and of the claim: `kubectl get namespaces,pvc`"
            }
            Self::Exists(_) | Self::AnotherRun(_) => {
                "give the run a name of its own, or remove the other one"
            }
            Self::Expired | Self::Conflict(_) => "ask again",
            Self::Refused(_) => "change what the message names, or the rule of the namespace that it names",
            Self::TooMany => "run fewer at a time, or try again later",
            Self::Away(_) => {
                "look whether this machine reaches the server of the kubeconfig: `kubectl version`"
            }
            Self::Unexpected(_) => "look whether the server is one of Kubernetes, 1.24 or later",
            Self::TimedOut(_) | Self::Stopped => "give it more time",
            Self::Name(_) => {
                "name it by at most 40 lower-case letters, digits and `-`, with a letter or digit at both ends"
            }
            Self::NeverBegan(_) => "mend what the message names: `kubectl describe pod` shows more",
            Self::Lost(_) => "run it again under another name, if it may run twice",
            Self::StillThere => {
                "look why the node does not answer: `kubectl get nodes,pods --selector app.kubernetes.io/managed-by=stockade`"
            }
            Self::Journal(_) => "look at the file and its folder, or name another one",
        }
    }
}

impl From<RemoteError> for KubernetesError {
    fn from(error: RemoteError) -> Self {
        match error {
            RemoteError::Away(why) => Self::Away(why),
            RemoteError::Unexpected(why) => Self::Unexpected(why),
            RemoteError::TooLong(most) => Self::Unexpected(format!("there are more than {most} bytes")),
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
