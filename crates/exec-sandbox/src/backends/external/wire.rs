//! What is said to a backend that is a program, and what it says.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use super::printable::printable;
use super::program::Trust;
use super::refused::RefusedRequest;
use super::sandbox_request::{SandboxRequest, text};
use crate::mounts::MountKind;
use crate::outcome::End;
use crate::patch::LimitsPatch;
use crate::plan::Plan;
use crate::spec::{MountAccess, Network, Spawn};

/// The version of the protocol.
const VERSION: u32 = 1;

/// The longest line that is read.
pub(super) const MAX_LINE: usize = 1 << 20;

/// What is asked of the program: the one line that it reads first.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Request {
    stockade: u32,
    request: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<String>,
    #[serde(flatten)]
    command: Option<Command>,
    /// The whole request, for a program of a release.
    #[serde(skip_serializing_if = "Option::is_none")]
    sandbox: Option<SandboxRequest>,
    /// Whether it is to run something before it answers.
    #[serde(rename = "try", skip_serializing_if = "std::ops::Not::not")]
    tries: bool,
    options: BTreeMap<String, String>,
}

/// The command of a run.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Command {
    argv: Vec<String>,
    env: BTreeMap<String, String>,
    workspace: String,
    workspace_access: &'static str,
    /// Where it starts, below the workspace.
    cwd: String,
    /// What of the workspace it must not see.
    hidden: Vec<String>,
    network: &'static str,
    no_spawn: bool,
    limits: LimitsPatch,
}

impl Request {
    fn of(request: &'static str, options: BTreeMap<String, String>) -> Self {
        Self { stockade: VERSION, request, run: None, command: None, sandbox: None, tries: false, options }
    }

    pub(super) fn probe(options: BTreeMap<String, String>) -> Self {
        Self::of("probe", options)
    }

    /// The same, for a program of a release.
    pub(super) fn about(self, sandbox: SandboxRequest) -> Self {
        Self { sandbox: Some(sandbox), ..self }
    }

    /// The same, to be answered by what running something shows.
    pub(super) fn by_trying(self) -> Self {
        Self { tries: true, ..self }
    }

    pub(super) fn cleanup() -> Self {
        Self::of("cleanup", BTreeMap::new())
    }

    pub(super) fn kill(run: &str, options: BTreeMap<String, String>) -> Self {
        Self { run: Some(run.to_owned()), ..Self::of("kill", options) }
    }

    /// The request to run what was planned, or why it cannot be written in JSON.
    pub(super) fn run(
        run: &str,
        plan: &Plan,
        options: BTreeMap<String, String>,
        trust: Trust,
    ) -> Result<Self, String> {
        let network = match plan.network {
            Network::None => "none",
            Network::Open => "open",
            // It has said which gap that leaves.
            Network::Broker { .. } | Network::Proxy(_) if trust == Trust::Release => "none",
            Network::Broker { .. } | Network::Proxy(_) => {
                return Err(
                    "it cannot use an egress proxy; use `--network none` or `--network open`".to_owned()
                );
            }
        };
        let argv = std::iter::once(&plan.program).chain(&plan.arguments);
        let hidden = plan.mounts.iter().filter(|mount| matches!(mount.kind, MountKind::Hidden { .. }));
        let workspace_access = match plan.workspace_access() {
            MountAccess::ReadOnly => "read-only",
            MountAccess::ReadWrite => "read-write",
        };
        let environment = plan.environment.iter().map(|(name, value)| Ok((text(name)?, text(value)?)));
        let command = Command {
            argv: argv.map(|word| text(word)).collect::<Result<_, _>>()?,
            env: environment.collect::<Result<_, String>>()?,
            workspace: text(plan.workspace.as_os_str())?,
            workspace_access,
            cwd: text(plan.cwd.as_os_str())?,
            hidden: hidden.map(|mount| text(mount.target.as_os_str())).collect::<Result<_, _>>()?,
            network,
            no_spawn: plan.spawn == Spawn::Threads,
            limits: LimitsPatch::of(&plan.limits),
        };
        Ok(Self { run: Some(run.to_owned()), command: Some(command), ..Self::of("run", options) })
    }

    /// As the line that it is sent as.
    pub(super) fn line(&self) -> Vec<u8> {
        let mut line = serde_json::to_vec(self).unwrap_or_default();
        line.push(b'\n');
        line
    }
}

/// What is read of standard input, as the line that hands it on; nothing read is its end.
pub(super) fn stdin_line(bytes: &[u8]) -> Vec<u8> {
    match bytes {
        [] => b"{\"event\":\"stdin-end\"}\n".to_vec(),
        bytes => format!("{{\"event\":\"stdin\",\"data\":\"{}\"}}\n", STANDARD.encode(bytes)).into_bytes(),
    }
}

/// What a program claims to enforce.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Claims {
    /// The names of what it holds.
    pub(super) holds: Vec<String>,
    /// Whether commands see the workspace itself.
    pub(super) sees_itself: bool,
    /// By what means, where it says so: a program of a release does.
    pub(super) enforced: Vec<NamedMeans>,
    /// What does not hold, or only in part.
    pub(super) gaps: Vec<NamedGap>,
}

/// A line that a program says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Capabilities(Claims),
    Unavailable { why: String, fix: String },
    Refused(RefusedRequest),
    Stdout(Vec<u8>),
    Stderr(Vec<u8>),
    End { end: End, ran_out_of_memory: bool },
    Gone,
    Cleaned { count: u64 },
    Failed { why: String, doing: Option<String> },
}

/// An answer of a program, as the line that it writes.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case", deny_unknown_fields)]
#[expect(missing_docs, reason = "EXTERNAL.md documents the members")]
pub enum BackendLine {
    /// What it enforces for such a request.
    Capabilities {
        holds: Vec<String>,
        workspace: WorkspaceSeen,
        #[serde(default)]
        enforced: Vec<NamedMeans>,
        #[serde(default)]
        gaps: Vec<NamedGap>,
    },
    /// It cannot make a sandbox at all.
    Unavailable { why: String, fix: String },
    /// It refuses this request.
    Refused(RefusedRequest),
    /// Bytes of standard output, in base64.
    Stdout { data: String },
    /// Bytes of standard error, in base64.
    Stderr { data: String },
    /// The command has ended, and nothing of it is left.
    End {
        cause: EndCause,
        code: Option<i32>,
        #[serde(default, rename = "memoryRanOut")]
        memory_ran_out: bool,
    },
    /// Nothing of a run is left.
    Gone {},
    /// How much was removed that killed runs had left.
    Cleaned { count: u64 },
    /// The program could not answer the request.
    Error {
        message: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        doing: Option<String>,
    },
}

/// A property that holds, by its name, and by what means.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedMeans {
    /// The name of the property.
    pub property: String,
    /// The means.
    pub by: String,
}

/// A property that does not hold, or only in part, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedGap {
    /// The name of the property.
    pub property: String,
    /// The reason.
    pub why: String,
}

/// What the command sees of the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkspaceSeen {
    /// The directory itself, whose files it changes.
    Itself,
    /// A copy of it.
    Copy,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndCause {
    /// With an exit code.
    Exited,
    /// By a signal, whose number is its code.
    Signalled,
    /// It ran out of memory.
    OutOfMemory,
    /// The program was not found.
    NotFound,
    /// The program cannot be started.
    NotExecutable,
    /// It put more on disks than it may. Only programs of a release say so.
    OutOfDisk,
    /// Its time was up. Only programs of a release say so.
    TimedOut,
    /// It was ended from outside. Only programs of a release say so.
    Cancelled,
}

impl Answer {
    /// Parses a line, or returns why it is not of this protocol.
    pub(super) fn read(line: &[u8]) -> Result<Self, String> {
        let line: BackendLine = serde_json::from_slice(line)
            .map_err(|error| format!("one of its lines is not part of the protocol: {error}"))?;
        let bytes = |data: String| {
            STANDARD.decode(data).map_err(|error| format!("one of its lines has invalid base64: {error}"))
        };
        Ok(match line {
            BackendLine::Capabilities { holds, workspace, enforced, gaps } => {
                let sees_itself = workspace == WorkspaceSeen::Itself;
                Self::Capabilities(Claims { holds, sees_itself, enforced, gaps })
            }
            BackendLine::Unavailable { why, fix } => {
                Self::Unavailable { why: printable(&why), fix: printable(&fix) }
            }
            BackendLine::Refused(refused) => Self::Refused(refused),
            BackendLine::Stdout { data } => Self::Stdout(bytes(data)?),
            BackendLine::Stderr { data } => Self::Stderr(bytes(data)?),
            BackendLine::End { cause, code, memory_ran_out } => {
                Self::End { end: end(cause, code)?, ran_out_of_memory: memory_ran_out }
            }
            BackendLine::Gone {} => Self::Gone,
            BackendLine::Cleaned { count } => Self::Cleaned { count },
            BackendLine::Error { message, doing } => {
                Self::Failed { why: printable(&message), doing: doing.map(|doing| printable(&doing)) }
            }
        })
    }

    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Capabilities(_) => "capabilities",
            Self::Unavailable { .. } => "unavailable",
            Self::Refused(_) => "refused",
            Self::Stdout(_) => "stdout",
            Self::Stderr(_) => "stderr",
            Self::End { .. } => "end",
            Self::Gone => "gone",
            Self::Cleaned { .. } => "cleaned",
            Self::Failed { .. } => "error",
        }
    }
}

fn end(cause: EndCause, code: Option<i32>) -> Result<End, String> {
    match (cause, code) {
        (EndCause::Exited, Some(code @ 0..=255)) => Ok(End::Exited(code)),
        (EndCause::Signalled, Some(signal @ 1..=64)) => Ok(End::Signalled(signal)),
        (EndCause::OutOfMemory, _) => Ok(End::OutOfMemory),
        (EndCause::NotFound, _) => Ok(End::NotFound),
        (EndCause::NotExecutable, _) => Ok(End::NotExecutable),
        (EndCause::OutOfDisk, _) => Ok(End::OutOfDisk),
        (EndCause::TimedOut, _) => Ok(End::TimedOut),
        (EndCause::Cancelled, _) => Ok(End::Cancelled),
        (EndCause::Exited | EndCause::Signalled, _) => {
            Err("its `end` line has no valid exit code or signal".to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_protocol_lines_are_errors() {
        let ended = |end| Some(Answer::End { end, ran_out_of_memory: false });
        let rows: [(&str, Option<Answer>); 17] = [
            (r#"{"event":"stdout","data":"aGk="}"#, Some(Answer::Stdout(b"hi".to_vec()))),
            (r#"{"event":"stderr","data":""}"#, Some(Answer::Stderr(Vec::new()))),
            (r#"{"event":"end","cause":"exited","code":3}"#, ended(End::Exited(3))),
            (r#"{"event":"end","cause":"signalled","code":9}"#, ended(End::Signalled(9))),
            (r#"{"event":"end","cause":"out-of-memory"}"#, ended(End::OutOfMemory)),
            (r#"{"event":"gone"}"#, Some(Answer::Gone)),
            (r#"{"event":"cleaned","count":2}"#, Some(Answer::Cleaned { count: 2 })),
            (
                r#"{"event":"error","message":"no\u001b[2J"}"#,
                Some(Answer::Failed { why: "no[2J".to_owned(), doing: None }),
            ),
            (r#"{"event":"end","cause":"exited"}"#, None),
            (r#"{"event":"end","cause":"exited","code":-1}"#, None),
            (r#"{"event":"end","cause":"exited","code":256}"#, None),
            (r#"{"event":"end","cause":"well","code":0}"#, None),
            (r#"{"event":"stdout","data":"?"}"#, None),
            (r#"{"event":"stdout","data":"","more":1}"#, None),
            (r#"{"event":"sudo"}"#, None),
            ("hello", None),
            ("", None),
        ];
        for (line, wanted) in rows {
            assert_eq!(Answer::read(line.as_bytes()).ok(), wanted, "{line}");
        }
    }
}
