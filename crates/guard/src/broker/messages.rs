//! What is said over the second socket: lines of JSON, one question and one answer each.

use std::io::{self, BufRead, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use stockade_command::Effect;

use crate::egress::PassedHandoff;
use crate::guard::{Decision, DecisionLayer, DecisionRule};

/// The longest line: all that a command is given may stand in one.
const MAX_LINE: u64 = 16 << 20;

/// A question of a program that has its commands served, or wants to know what is held.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "camelCase", deny_unknown_fields)]
pub(super) enum Ask {
    /// What the broker holds, and which runs are under way.
    Status,
    /// A run that lasts as long as this connection.
    Run {
        /// Whose it is.
        #[serde(default)]
        agent: Option<String>,
    },
    /// The dummies for the run of this connection, whose command would be given these texts.
    Lend {
        #[serde(default)]
        given: Vec<String>,
    },
    /// What the run of this connection is called on record.
    Started {
        run: String,
        #[serde(default)]
        skill: Option<String>,
    },
    /// What the run of this connection was not let through to. It is over.
    End,
    /// Starts a run for a token that is valid for so long.
    Token { seconds: u64 },
}

/// The answer of a broker to one question.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "camelCase")]
pub(super) enum Answer {
    Status(BrokerStatus),
    /// Behind this comes a byte with a descriptor.
    Run {
        token: String,
        handoff: PassedHandoff,
        /// Where secrets lie, by their names.
        files: Vec<(String, PathBuf)>,
    },
    Lent {
        variables: Vec<(String, String)>,
    },
    Token {
        token: String,
        variables: Vec<(String, String)>,
        trust: Option<PathBuf>,
    },
    Noted,
    Ended {
        refused: Vec<RefusedHost>,
    },
    /// It cannot be done.
    Failed {
        why: String,
        fix: String,
    },
}

/// What a broker holds. Nothing in it is secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct BrokerStatus {
    /// The process that serves.
    pub pid: u32,
    /// Since when, in seconds since 1970.
    pub since: u64,
    /// The socket.
    pub socket: PathBuf,
    /// Users whose programs may come beside those of its own.
    pub users: Vec<u32>,
    /// The list of hosts, as it was written.
    pub hosts: Vec<String>,
    /// The secrets, by their names.
    pub secrets: Vec<SecretStatus>,
    /// The runs that are under way.
    pub runs: Vec<RunStatus>,
    /// How many runs there were, with those.
    pub all_runs: u64,
    /// How many requests were let through.
    pub allowed: u64,
    /// How many were refused.
    pub refused: u64,
    /// How many clients had no token of a run.
    pub without_token: u64,
}

/// A secret that a broker puts into requests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SecretStatus {
    /// What it is called.
    pub name: String,
    /// To whom it goes.
    pub to: String,
}

/// A run that a broker serves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RunStatus {
    /// What it is called on record: a run of a sandbox, or a token.
    pub name: String,
    /// The agent whose it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Since when, in seconds since 1970.
    pub since: u64,
    /// When its token ends by itself, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<u64>,
    /// How many requests were let through.
    pub allowed: u64,
    /// How many were refused.
    pub refused: u64,
}

/// A decision about a host, as the broker put it on record.
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

/// Says something, in a line.
pub(super) fn say(mut to: &UnixStream, said: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(said)?;
    line.push(b'\n');
    to.write_all(&line)
}

/// Reads a line; nothing at the end.
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
