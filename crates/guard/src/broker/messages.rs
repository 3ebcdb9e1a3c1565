//! The protocol of the control socket: lines of JSON, one request and one answer each.

use std::io::{self, BufRead, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use stockade_command::Effect;

use crate::egress::PassedHandoff;
use crate::guard::{Decision, DecisionLayer, DecisionRule};

/// Maximum length of a line, which may contain all inputs of a command.
const MAX_LINE: u64 = 16 << 20;

/// A request to the control socket.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "camelCase", deny_unknown_fields)]
pub(super) enum Ask {
    /// The configuration and current runs of the proxy.
    Status,
    /// Create a run that ends with this connection.
    Run {
        /// The agent of the run.
        #[serde(default)]
        agent: Option<String>,
    },
    /// Return the placeholders for the run of this connection, whose command has these inputs.
    Lend {
        #[serde(default)]
        given: Vec<String>,
    },
    /// Set the name of this connection's run in the audit trail.
    Started {
        run: String,
        #[serde(default)]
        skill: Option<String>,
    },
    /// End this connection's run, and return its refused requests.
    End,
    /// Create a run with a token of this lifetime.
    Token { seconds: u64 },
    /// End the run of this name, and close its connections.
    Revoke { name: String },
}

/// An answer of the proxy.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "camelCase")]
pub(super) enum Answer {
    Status(BrokerStatus),
    /// Followed by a byte with a descriptor.
    Run {
        token: String,
        handoff: PassedHandoff,
        /// Files with secrets, by the names of the secrets.
        files: Vec<(String, PathBuf)>,
    },
    Lent {
        variables: Vec<(String, String)>,
    },
    Token {
        /// The name of its run in the audit trail.
        name: String,
        token: String,
        variables: Vec<(String, String)>,
        trust: Option<PathBuf>,
    },
    Noted,
    Ended {
        refused: Vec<RefusedHost>,
    },
    /// The request could not be carried out.
    Failed {
        why: String,
        fix: String,
    },
}

/// The status of a proxy. It contains no secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct BrokerStatus {
    /// The process of the proxy.
    pub pid: u32,
    /// Start time, in seconds since 1970.
    pub since: u64,
    /// The socket.
    pub socket: PathBuf,
    /// Additional users whose programs may connect.
    pub users: Vec<u32>,
    /// The host list, as written.
    pub hosts: Vec<String>,
    /// Names of the secrets.
    pub secrets: Vec<SecretStatus>,
    /// Current runs.
    pub runs: Vec<RunStatus>,
    /// Number of runs so far, including the current ones.
    pub all_runs: u64,
    /// Number of allowed requests.
    pub allowed: u64,
    /// Number of refused requests.
    pub refused: u64,
    /// Number of clients without a valid token.
    pub without_token: u64,
}

/// A secret that the proxy inserts into requests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SecretStatus {
    /// Its name.
    pub name: String,
    /// The hosts that receive it.
    pub to: String,
}

/// A run of the proxy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RunStatus {
    /// Its name in the audit trail: that of a sandbox run or of a token.
    pub name: String,
    /// Its agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Start time, in seconds since 1970.
    pub since: u64,
    /// Expiry of its token, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<u64>,
    /// Number of allowed requests.
    pub allowed: u64,
    /// Number of refused requests.
    pub refused: u64,
}

/// A recorded decision on a host.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RefusedHost {
    id: String,
    subject: String,
    rule: String,
    reason: String,
    fix: Option<String>,
}

impl From<Decision> for RefusedHost {
    fn from(decision: Decision) -> Self {
        let rule = decision.rule.name().to_owned();
        let Decision { id, subject, reason, fix, .. } = decision;
        Self { id, subject, rule, reason, fix }
    }
}

impl From<RefusedHost> for Decision {
    fn from(RefusedHost { id, subject, rule, reason, fix }: RefusedHost) -> Self {
        let (layer, effect, rule) = (DecisionLayer::Network, Effect::Deny, DecisionRule::Named(rule));
        Self { id, layer, effect, subject, rule, reason, fix }
    }
}

/// Writes a message as a line.
pub(super) fn say(mut to: &UnixStream, said: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(said)?;
    line.push(b'\n');
    to.write_all(&line)
}

/// Reads a message; nothing at the end of the stream.
pub(super) fn heard<T: DeserializeOwned>(from: &mut impl BufRead) -> io::Result<Option<T>> {
    let mut line = Vec::new();
    from.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Ok(None);
    }
    if line.last() != Some(&b'\n') {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "a line that is too long, or has no end"));
    }
    Ok(Some(serde_json::from_slice(&line)?))
}
