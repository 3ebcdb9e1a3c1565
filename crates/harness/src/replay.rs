//! Test calls: starts a hook as its harness does, with a call that it has to refuse.
#![expect(
    clippy::disallowed_methods,
    reason = "starts hooks as their harness would, and ends those that do not end"
)]

use std::io::{Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::heartbeat::REPLAY;
use super::line::BROKEN;
use super::tools::ToolKind;
use super::{Answers, Harness, Payload, Probe};

/// Timeout of a hook: shorter than any harness's.
const PATIENCE: Duration = Duration::from_secs(10);

/// Interval of checking whether a hook has ended.
const PAUSE: Duration = Duration::from_millis(5);

/// Maximum output of a hook that is read.
const MAX_OUTPUT: u64 = 1 << 20;

/// The command of test calls, which no rule allows.
pub const TEST_COMMAND: &str = "rm -rf / --no-preserve-root";

/// A hook, as registered in settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Hook {
    /// A line that a shell runs.
    Line(String),
    /// A program and its arguments.
    Program(Vec<String>),
}

/// Result of a test call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Replayed {
    /// The harness would not use the tool, for Stockade's reason.
    Refused,
    /// The harness would not use the tool, but for another reason than Stockade's decision.
    RefusedOtherwise(String),
    /// The harness would use the tool, for this reason.
    Open(String),
}

/// Makes a test call about a tool.
pub(crate) fn replay(harness: &Harness, probe: Probe, hook: &Hook, folder: &Path) -> Replayed {
    let asked = payload(harness, probe, folder).to_string();
    match ran(hook, &asked, folder) {
        Ok(ended) => judged(harness, probe.kind, &ended),
        Err(why) => Replayed::Open(why),
    }
}

/// How a hook ended.
#[derive(Debug)]
struct Ended {
    /// `None` if a signal ended it.
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

/// Returns how a harness would read an answer: as measured, and otherwise the less strict way.
fn judged(harness: &Harness, kind: ToolKind, ended: &Ended) -> Replayed {
    let Ended { code, stdout, stderr } = ended;
    let said: Option<Value> = serde_json::from_str(stdout.trim()).ok();
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().trim().to_owned();
    let (is_no, reason) = match (&said, harness.answers) {
        (_, Answers::ExitCode) => (*code == Some(2), stderr.trim().to_owned()),
        (Some(said), Answers::Specific) => {
            let said = said.get("hookSpecificOutput");
            let member = |name: &str| text(said.and_then(|said| said.get(name)));
            (member("permissionDecision") == "deny", member("permissionDecisionReason"))
        }
        (Some(said), Answers::Decision | Answers::Plugin | Answers::Merged | Answers::Required) => {
            (text(said.get("decision")) == "deny", text(said.get("reason")))
        }
        (Some(said), Answers::Block) => (text(said.get("decision")) == "block", text(said.get("reason"))),
        (Some(said), Answers::Permission) => {
            (text(said.get("permissionDecision")) == "deny", text(said.get("permissionDecisionReason")))
        }
        (Some(said), Answers::Cancel) => {
            (said.get("cancel") == Some(&json!(true)), text(said.get("errorMessage")))
        }
        (Some(said), Answers::Cursor) => {
            (text(said.get("permission")) == "deny", text(said.get("user_message")))
        }
        (None, _) => (false, String::new()),
    };
    let is_in_form = is_no && (harness.answers == Answers::ExitCode || *code == Some(0));
    let is_by_code = *code == Some(2) && !stderr.trim().is_empty() && harness.answers != Answers::Cancel;
    match (is_in_form, is_by_code) {
        (true, _) if reason.contains(BROKEN) => Replayed::RefusedOtherwise(
            "the hook refuses everything, because its program is missing or has failed".to_owned(),
        ),
        (true, _) if reason.starts_with("stockade: ") => Replayed::Refused,
        // The right answer to invalid arguments, and the wrong one to a command.
        (true, _) if reason.starts_with("stockade could not decide") && kind != ToolKind::Shell => {
            Replayed::Refused
        }
        (true, _) if reason.starts_with("stockade could not decide") => {
            Replayed::RefusedOtherwise(format!("the hook refuses everything: {}", short(&reason)))
        }
        (true, _) if !reason.is_empty() => {
            Replayed::RefusedOtherwise(format!("something else refuses it: {}", short(&reason)))
        }
        (_, true) => Replayed::RefusedOtherwise(format!("something else refuses it: {}", short(stderr))),
        _ => Replayed::Open(found(ended)),
    }
}

fn found(ended: &Ended) -> String {
    match ended.code {
        None => "the hook was killed".to_owned(),
        Some(126) => "the program of the hook cannot be executed".to_owned(),
        Some(127) => "the program of the hook is missing".to_owned(),
        Some(0) if ended.stdout.trim().is_empty() => "the hook has no objection".to_owned(),
        Some(0) => format!("the hook answered: {}", short(&ended.stdout)),
        Some(code) => format!("the hook ends with {code}: {}", short(&ended.stderr)),
    }
}

fn short(text: &str) -> String {
    text.trim().chars().take(200).collect()
}

/// Starts a hook as its harness does, with this input.
fn ran(hook: &Hook, asked: &str, folder: &Path) -> Result<Ended, String> {
    let mut command = match hook {
        Hook::Line(line) => {
            let mut shell = Command::new("/bin/sh");
            shell.args(["-c", line]);
            shell
        }
        Hook::Program(words) => {
            let (program, arguments) = words.split_first().ok_or("the hook has no command")?;
            let mut command = Command::new(program);
            command.args(arguments);
            command
        }
    };
    command.current_dir(folder).process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child =
        command.spawn().map_err(|error| format!("the program of the hook cannot be started: {error}"))?;
    let (input, asked) = (child.stdin.take(), asked.to_owned());
    // A hook need not read its input.
    thread::spawn(move || input.map(|mut input| input.write_all(asked.as_bytes())));
    let (stdout, stderr) = (read(child.stdout.take()), read(child.stderr.take()));
    let code = ended(&mut child);
    // A background process that it left behind may keep the pipes open.
    let patience = if code.is_ok() { PATIENCE } else { PAUSE };
    let printed = stdout.recv_timeout(patience).and_then(|out| Ok((out, stderr.recv_timeout(patience)?)));
    end(&child);
    let code = code?;
    let left = |_| "a process that the hook started does not exit".to_owned();
    let (stdout, stderr) = printed.map_err(left)?;
    Ok(Ended { code, stdout, stderr })
}

/// Reads the output of a hook on a thread.
fn read(out: Option<impl std::io::Read + Send + 'static>) -> mpsc::Receiver<String> {
    let (send, receive) = mpsc::sync_channel(1);
    thread::spawn(move || {
        let mut bytes = Vec::new();
        out.map(|out| out.take(MAX_OUTPUT).read_to_end(&mut bytes));
        send.send(String::from_utf8_lossy(&bytes).into_owned()).ok();
    });
    receive
}

/// Kills a hook and all of its processes.
fn end(child: &Child) {
    let group = rustix::process::Pid::from_child(child);
    rustix::process::kill_process_group(group, rustix::process::Signal::KILL).ok();
}

/// Waits for a hook to end, with a timeout.
fn ended(child: &mut Child) -> Result<Option<i32>, String> {
    let begin = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status.code()),
            Ok(None) if begin.elapsed() < PATIENCE => thread::sleep(PAUSE),
            Ok(None) => {
                end(child);
                child.wait().ok();
                return Err("the hook takes too long".to_owned());
            }
            Err(error) => return Err(error.to_string()),
        }
    }
}

/// Returns a test call: a command that no rule allows, or invalid arguments.
fn payload(harness: &Harness, probe: Probe, folder: &Path) -> Value {
    let Probe { kind, event, tool } = probe;
    let input = match (kind, harness.payload) {
        (ToolKind::Shell, Payload::Cline) => json!({"commands": [TEST_COMMAND]}),
        (ToolKind::Shell, Payload::Windsurf) => json!({"command_line": TEST_COMMAND, "cwd": folder}),
        (ToolKind::Shell, _) => json!({"command": TEST_COMMAND}),
        _ => json!(["stockade"]),
    };
    match harness.payload {
        Payload::Named => json!({
            "session_id": REPLAY, "cwd": folder, "hook_event_name": event, "tool_name": tool, "tool_input": input
        }),
        Payload::Event => json!({
            "session_id": REPLAY, "cwd": folder, "event": event, "tool_name": tool, "tool_input": input
        }),
        Payload::Antigravity => json!({
            "conversationId": REPLAY, "workspacePaths": [folder], "toolCall": {"name": tool, "args": input}
        }),
        Payload::Camel => json!({"sessionId": REPLAY, "cwd": folder, "toolName": tool, "toolArgs": input}),
        Payload::Cline => json!({
            "taskId": REPLAY, "workspaceRoots": [folder], "hookName": "tool_call",
            "tool_call": {"id": "probe", "name": tool, "input": input}
        }),
        Payload::Cursor => {
            let roots = json!([folder]);
            match kind {
                ToolKind::Shell => json!({
                    "conversation_id": REPLAY, "hook_event_name": event, "workspace_roots": roots, "cwd": folder,
                    "command": TEST_COMMAND
                }),
                ToolKind::Read => json!({
                    "conversation_id": REPLAY, "hook_event_name": event, "workspace_roots": roots,
                    "file_path": {"stockade": true}
                }),
                _ => json!({
                    "conversation_id": REPLAY, "hook_event_name": event, "workspace_roots": roots, "tool_name": tool,
                    "tool_input": input
                }),
            }
        }
        Payload::Windsurf if event == "pre_mcp_tool_use" => json!({
            "trajectory_id": REPLAY, "agent_action_name": event,
            "tool_info": {"mcp_server_name": "stockade", "mcp_tool_name": tool, "mcp_tool_arguments": input}
        }),
        Payload::Windsurf => json!({"trajectory_id": REPLAY, "agent_action_name": event, "tool_info": input}),
    }
}
