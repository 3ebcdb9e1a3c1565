//! What is said to a backend that is a program, and what it says.

use std::collections::BTreeMap;
use std::ffi::OsStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::mounts::MountKind;
use crate::outcome::End;
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
    limits: Bounds,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Bounds {
    wall_time_ms: Option<u64>,
    memory_bytes: Option<u64>,
    processes: Option<u64>,
    output_bytes: Option<u64>,
}

impl Request {
    fn of(request: &'static str, options: BTreeMap<String, String>) -> Self {
        Self { stockade: VERSION, request, run: None, command: None, options }
    }

    pub(super) fn probe(options: BTreeMap<String, String>) -> Self {
        Self::of("probe", options)
    }

    pub(super) fn cleanup() -> Self {
        Self::of("cleanup", BTreeMap::new())
    }

    pub(super) fn kill(run: &str, options: BTreeMap<String, String>) -> Self {
        Self { run: Some(run.to_owned()), ..Self::of("kill", options) }
    }

    /// The request to run what was planned, or why it cannot be written in JSON.
    pub(super) fn run(run: &str, plan: &Plan, options: BTreeMap<String, String>) -> Result<Self, String> {
        let network = match plan.network {
            Network::None => "none",
            Network::Open => "open",
            Network::Broker { .. } | Network::Proxy(_) => {
                return Err("it cannot be held to a broker; close its network, or open it".to_owned());
            }
        };
        let argv = std::iter::once(&plan.program).chain(&plan.arguments);
        let hidden = plan.mounts.iter().filter(|mount| matches!(mount.kind, MountKind::Hidden { .. }));
        let workspace_access = match plan.workspace_access() {
            MountAccess::ReadOnly => "read-only",
            MountAccess::ReadWrite => "read-write",
        };
        let environment = plan.environment.iter().map(|(name, value)| Ok((text(name)?, text(value)?)));
        let limits = Bounds {
            wall_time_ms: plan.limits.wall_time.bound().and_then(|time| u64::try_from(time.as_millis()).ok()),
            memory_bytes: plan.limits.memory.bound(),
            processes: plan.limits.processes.bound(),
            output_bytes: plan.limits.output.bound(),
        };
        let command = Command {
            argv: argv.map(|word| text(word)).collect::<Result<_, _>>()?,
            env: environment.collect::<Result<_, String>>()?,
            workspace: text(plan.workspace.as_os_str())?,
            workspace_access,
            cwd: text(plan.cwd.as_os_str())?,
            hidden: hidden.map(|mount| text(mount.target.as_os_str())).collect::<Result<_, _>>()?,
            network,
            no_spawn: plan.spawn == Spawn::Threads,
            limits,
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

fn text(text: &OsStr) -> Result<String, String> {
    text.to_str()
        .map(str::to_owned)
        .ok_or_else(|| format!("{text:?} is no text, and JSON has no other words"))
}

/// What is read of standard input, as the line that hands it on; nothing read is its end.
pub(super) fn stdin_line(bytes: &[u8]) -> Vec<u8> {
    match bytes {
        [] => b"{\"event\":\"stdin-end\"}\n".to_vec(),
        bytes => format!("{{\"event\":\"stdin\",\"data\":\"{}\"}}\n", STANDARD.encode(bytes)).into_bytes(),
    }
}

/// What a program says that it can.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Claims {
    /// The names of what it holds.
    pub(super) holds: Vec<String>,
    /// Whether commands see the workspace itself.
    pub(super) sees_itself: bool,
}

/// A line that a program says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Capabilities(Claims),
    Unavailable { why: String, fix: String },
    Stdout(Vec<u8>),
    Stderr(Vec<u8>),
    End(End),
    Gone,
    Cleaned { count: u64 },
    Failed { why: String },
}

#[derive(Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case", deny_unknown_fields)]
enum Line {
    Capabilities { holds: Vec<String>, workspace: Workspace },
    Unavailable { why: String, fix: String },
    Stdout { data: String },
    Stderr { data: String },
    End { cause: Cause, code: Option<i32> },
    Gone {},
    Cleaned { count: u64 },
    Error { message: String },
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Workspace {
    Itself,
    Copy,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Cause {
    Exited,
    Signalled,
    OutOfMemory,
    NotFound,
    NotExecutable,
}

/// The longest text of a program that is repeated to a person.
const MAX_SAID: usize = 500;

fn said(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(MAX_SAID).collect()
}

impl Answer {
    /// Reads a line, or says why it is none of this protocol.
    pub(super) fn read(line: &[u8]) -> Result<Self, String> {
        let line: Line = serde_json::from_slice(line)
            .map_err(|error| format!("a line of it is none of the protocol: {error}"))?;
        let bytes = |data: String| {
            STANDARD
                .decode(data)
                .map_err(|error| format!("a line of it has bytes that are no base64: {error}"))
        };
        Ok(match line {
            Line::Capabilities { holds, workspace } => {
                Self::Capabilities(Claims { holds, sees_itself: matches!(workspace, Workspace::Itself) })
            }
            Line::Unavailable { why, fix } => Self::Unavailable { why: said(&why), fix: said(&fix) },
            Line::Stdout { data } => Self::Stdout(bytes(data)?),
            Line::Stderr { data } => Self::Stderr(bytes(data)?),
            Line::End { cause, code } => Self::End(end(&cause, code)?),
            Line::Gone {} => Self::Gone,
            Line::Cleaned { count } => Self::Cleaned { count },
            Line::Error { message } => Self::Failed { why: said(&message) },
        })
    }

    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Capabilities(_) => "capabilities",
            Self::Unavailable { .. } => "unavailable",
            Self::Stdout(_) => "stdout",
            Self::Stderr(_) => "stderr",
            Self::End(_) => "end",
            Self::Gone => "gone",
            Self::Cleaned { .. } => "cleaned",
            Self::Failed { .. } => "error",
        }
    }
}

fn end(cause: &Cause, code: Option<i32>) -> Result<End, String> {
    match (cause, code) {
        (Cause::Exited, Some(code @ 0..=255)) => Ok(End::Exited(code)),
        (Cause::Signalled, Some(signal @ 1..=64)) => Ok(End::Signalled(signal)),
        (Cause::OutOfMemory, _) => Ok(End::OutOfMemory),
        (Cause::NotFound, _) => Ok(End::NotFound),
        (Cause::NotExecutable, _) => Ok(End::NotExecutable),
        (Cause::Exited | Cause::Signalled, _) => Err("an end of it has no code that there is".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_of_the_protocol_or_an_error() {
        let rows: [(&str, Option<Answer>); 17] = [
            (r#"{"event":"stdout","data":"aGk="}"#, Some(Answer::Stdout(b"hi".to_vec()))),
            (r#"{"event":"stderr","data":""}"#, Some(Answer::Stderr(Vec::new()))),
            (r#"{"event":"end","cause":"exited","code":3}"#, Some(Answer::End(End::Exited(3)))),
            (r#"{"event":"end","cause":"signalled","code":9}"#, Some(Answer::End(End::Signalled(9)))),
            (r#"{"event":"end","cause":"out-of-memory"}"#, Some(Answer::End(End::OutOfMemory))),
            (r#"{"event":"gone"}"#, Some(Answer::Gone)),
            (r#"{"event":"cleaned","count":2}"#, Some(Answer::Cleaned { count: 2 })),
            (
                r#"{"event":"error","message":"no\u001b[2J"}"#,
                Some(Answer::Failed { why: "no[2J".to_owned() }),
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
