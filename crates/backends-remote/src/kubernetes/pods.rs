//! What a cluster says of a pod.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::remote::shown;
use stockade_exec_sandbox::End;

/// A pod, as far as it is of interest. Servers say more each year, and that is passed over.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Pod {
    pub(super) metadata: Metadata,
    #[serde(default)]
    status: Status,
}

#[derive(Debug, Clone, Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Metadata {
    pub(super) name: String,
    pub(super) resource_version: String,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) annotations: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Status {
    phase: String,
    reason: String,
    message: String,
    conditions: Vec<Condition>,
    container_statuses: Vec<ContainerStatus>,
}

#[derive(Debug, Clone, Deserialize, Default)]
#[serde(default)]
struct Condition {
    #[serde(rename = "type")]
    kind: String,
    status: String,
    message: String,
}

#[derive(Debug, Clone, Deserialize, Default)]
#[serde(default)]
struct ContainerStatus {
    state: ContainerState,
}

#[derive(Debug, Clone, Deserialize, Default)]
#[serde(default)]
struct ContainerState {
    waiting: Option<Waiting>,
    running: Option<Running>,
    terminated: Option<Terminated>,
}

#[derive(Debug, Clone, Deserialize, Default)]
#[serde(default)]
struct Waiting {
    reason: String,
    message: String,
}

#[derive(Debug, Clone, Deserialize, Default)]
struct Running {}

#[derive(Debug, Clone, Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Terminated {
    exit_code: i32,
    reason: String,
    message: String,
}

/// How far a pod is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PodState {
    /// Its command did not begin yet, for this reason.
    Waiting(String),
    /// Its command will never begin, for this reason.
    Never(String),
    /// Its node has begun the command.
    Running,
    /// Its node says how the command came to its end.
    Ended(PodEnd),
    /// The cluster gave it up, for this reason.
    Lost(String),
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PodEnd {
    pub(super) end: End,
    /// Whether memory ran out, be it for the command or for something that it had started.
    pub(super) memory_ran_out: bool,
}

/// Reasons to wait that do not pass.
const NEVER: &[&str] = &["InvalidImageName", "ErrImageNeverPull"];

impl Pod {
    pub(super) fn state(&self) -> PodState {
        let status = &self.status;
        if status.reason == "DeadlineExceeded" {
            return PodState::Ended(PodEnd { end: End::TimedOut, memory_ran_out: false });
        }
        if status.reason == "Evicted" {
            return self.evicted();
        }
        let state = status.container_statuses.first().map(|one| &one.state);
        match state {
            Some(ContainerState { terminated: Some(ended), .. }) => ended.state(),
            Some(ContainerState { running: Some(_), .. }) => PodState::Running,
            // The phase is final, and no container has ended: its node is gone, or never accepted it.
            _ if status.phase == "Failed" => PodState::Lost(said(&status.reason, &status.message)),
            Some(ContainerState { waiting: Some(waiting), .. }) => {
                let said = said(&waiting.reason, &waiting.message);
                let never = NEVER.contains(&waiting.reason.as_str());
                if never { PodState::Never(said) } else { PodState::Waiting(said) }
            }
            _ => PodState::Waiting(
                self.unscheduled().unwrap_or_else(|| "not scheduled to a node yet".to_owned()),
            ),
        }
    }

    /// A node evicts pods that use too much of its disk.
    fn evicted(&self) -> PodState {
        let message = self.status.message.to_ascii_lowercase();
        let is_disk = ["ephemeral", "emptydir", "disk", "storage"].iter().any(|word| message.contains(word));
        let begun = self
            .status
            .container_statuses
            .iter()
            .any(|one| one.state.terminated.is_some() || one.state.running.is_some());
        match is_disk && (begun || message.contains("exceeds")) {
            true => PodState::Ended(PodEnd { end: End::OutOfDisk, memory_ran_out: false }),
            false => PodState::Lost(said(&self.status.reason, &self.status.message)),
        }
    }

    fn unscheduled(&self) -> Option<String> {
        let conditions = self.status.conditions.iter();
        let mut refused = conditions.filter(|one| one.kind == "PodScheduled" && one.status == "False");
        Some(shown(&refused.next()?.message))
    }
}

impl Terminated {
    fn state(&self) -> PodState {
        let message = self.message.to_ascii_lowercase();
        let begins_not =
            ["StartError", "ContainerCannotRun", "RunContainerError"].contains(&self.reason.as_str());
        let end = match self.exit_code {
            _ if begins_not && is_missing(&message) => End::NotFound,
            _ if begins_not && is_forbidden(&message) => End::NotExecutable,
            _ if begins_not => return PodState::Never(said(&self.reason, &self.message)),
            137 if self.reason == "OOMKilled" => End::OutOfMemory,
            code => End::Exited(code),
        };
        PodState::Ended(PodEnd { end, memory_ran_out: self.reason == "OOMKilled" })
    }
}

/// What runtimes say of a program that is not there.
fn is_missing(message: &str) -> bool {
    ["executable file not found", "no such file or directory"].iter().any(|words| message.contains(words))
}

/// What they say of one that cannot be run.
fn is_forbidden(message: &str) -> bool {
    ["permission denied", "exec format error", "is a directory"].iter().any(|words| message.contains(words))
}

fn said(reason: &str, message: &str) -> String {
    let all = if message.is_empty() { reason.to_owned() } else { format!("{reason}: {message}") };
    if all.is_empty() { "no reason reported".to_owned() } else { shown(&all) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(status: &str) -> PodState {
        let text = format!(r#"{{"metadata":{{"name":"p"}},"status":{status}}}"#);
        serde_json::from_str::<Pod>(&text).unwrap().state()
    }

    fn ended(code: i32, reason: &str, message: &str) -> PodState {
        state(&format!(
            r#"{{"phase":"Failed","containerStatuses":[{{"state":{{"terminated":{{"exitCode":{code},"reason":"{reason}","message":"{message}"}}}}}}]}}"#
        ))
    }

    #[test]
    fn the_end_of_a_run_is_read_from_the_pod_status() {
        let end = |end, memory_ran_out| PodState::Ended(PodEnd { end, memory_ran_out });
        let rows = [
            (ended(0, "Completed", ""), end(End::Exited(0), false)),
            (ended(7, "Error", ""), end(End::Exited(7), false)),
            (ended(137, "OOMKilled", ""), end(End::OutOfMemory, true)),
            // What it had started was ended, and the command went on.
            (ended(0, "OOMKilled", ""), end(End::Exited(0), true)),
            (ended(137, "Error", ""), end(End::Exited(137), false)),
            (
                ended(128, "StartError", "exec: x: executable file not found in $PATH: unknown"),
                end(End::NotFound, false),
            ),
            (ended(126, "ContainerCannotRun", "exec /x: permission denied"), end(End::NotExecutable, false)),
            (
                ended(128, "StartError", "cgroup is broken"),
                PodState::Never("StartError: cgroup is broken".to_owned()),
            ),
            (
                state(r#"{"phase":"Failed","reason":"DeadlineExceeded","message":"Pod was active"}"#),
                end(End::TimedOut, false),
            ),
            (
                state(
                    r#"{"phase":"Failed","reason":"Evicted","message":"Usage of EmptyDir volume \"workspace\" exceeds the limit"}"#,
                ),
                end(End::OutOfDisk, false),
            ),
            (
                state(
                    r#"{"phase":"Failed","reason":"Evicted","message":"The node was low on resource: memory."}"#,
                ),
                PodState::Lost("Evicted: The node was low on resource: memory.".to_owned()),
            ),
            (state(r#"{"phase":"Failed","reason":"NodeLost"}"#), PodState::Lost("NodeLost".to_owned())),
            (
                state(
                    r#"{"phase":"Running","containerStatuses":[{"state":{"running":{"startedAt":"2026-11-25T00:00:00Z"}}}]}"#,
                ),
                PodState::Running,
            ),
            (
                state(
                    r#"{"phase":"Pending","containerStatuses":[{"state":{"waiting":{"reason":"ErrImageNeverPull"}}}]}"#,
                ),
                PodState::Never("ErrImageNeverPull".to_owned()),
            ),
            (
                state(
                    r#"{"phase":"Pending","containerStatuses":[{"state":{"waiting":{"reason":"ImagePullBackOff","message":"Back-off"}}}]}"#,
                ),
                PodState::Waiting("ImagePullBackOff: Back-off".to_owned()),
            ),
            (
                state(
                    r#"{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","message":"0/3 nodes are available"}]}"#,
                ),
                PodState::Waiting("0/3 nodes are available".to_owned()),
            ),
            (state("{}"), PodState::Waiting("not scheduled to a node yet".to_owned())),
        ];
        for (found, wanted) in rows {
            assert_eq!(found, wanted);
        }
    }
}
