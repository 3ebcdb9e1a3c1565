//! `exec`: runs a command in a sandbox.

mod guarded;
mod streamed;

pub(crate) use streamed::OutputPiece;

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stockade_guard::admission::ToolResult;
use stockade_guard::audit::{AuditEvent, EventKind, field};
use stockade_guard::exec::patch::SpecPatch;
use stockade_guard::exec::run::{Cancellation, Input, RunControl, Signals, Stream, Streams};
use stockade_guard::exec::{End, Limit, RunError, SandboxMode, SandboxSpec};
use stockade_guard::{Decision, NotRun, PreparedRun, RunRecord, RunReport};

use streamed::Streamed;

use super::answers::Said;
use super::command::{Evaluated, text};
use super::sandbox::spec::{Unsaid, spec_of};
use super::sandbox::{Enforced, refused};
use super::trail::unrecorded;
use super::{AskedBy, Json, Lane, Parameters, base64_of, bytes_of};
use crate::Server;
use crate::connection_queue::KeptOutput;
use crate::fault::{self, Fault};
use stockade_state::changes::ReviewOutcome;
use stockade_state::command_check;

/// The default time limit of a command.
const TIMEOUT: Duration = Duration::from_secs(120);

/// The default output limit of a command.
const OUTPUT: u64 = 1 << 20;

/// Maximum output limit, because the answer contains all output.
const MAX_OUTPUT: u64 = 8 << 20;

/// Maximum output limit with streaming, which does not keep the output in memory.
const STREAMED: u64 = 32 << 20;
const MAX_STREAMED: u64 = 1 << 30;

/// Signals that are reported for exceeded limits.
const SIGKILL: i32 = 9;
const SIGXCPU: i32 = 24;

/// The warning for a command that ran without a sandbox.
const UNSANDBOXED: &str = "the command ran WITHOUT A SANDBOX, with all rights of the server";

/// Run a command in a sandbox. By default it has no network and sees the workspace and the toolchains of the home; `spec` allows
/// more. A command that `command.evaluate` denies is refused. With `agent`, the configuration of that agent decides, and every
/// decision is recorded.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Exec {
    /// The command, as text for bash.
    command: Option<String>,
    /// The command as a program and its arguments, without a shell.
    argv: Option<Vec<String>>,
    /// The workspace; that of the session or of the server by default. Short for `workspace` of `spec`.
    workspace: Option<PathBuf>,
    /// The sandbox spec.
    #[serde(default)]
    spec: SpecPatch,
    /// Its standard input, in Base64; empty by default.
    stdin_base64: Option<String>,
    /// Whether the built-in rules decide first, and denied commands are refused; true by default. With false, only the sandbox
    /// restricts the command, except for rules of the server, which always apply.
    #[serde(default = "always")]
    evaluate: bool,
    /// The time limit; two minutes by default.
    timeout_ms: Option<u64>,
    /// The output limit; 1 MiB by default, 8 MiB at most. With `stream`, 32 MiB by default, 1 GiB at most.
    max_output_bytes: Option<u64>,
    /// The form of the output in the answer: `bytes` (in Base64, the default) or `text`.
    #[serde(default)]
    output: OutputForm,
    /// Whether to send the output while the command runs, in notifications `exec.output`, instead of in the answer; false by
    /// default. A client that does not read blocks the command.
    #[serde(default)]
    stream: bool,
    /// The agent of the command. Its configuration then decides whether and where the command runs, and what it sees; `spec` may
    /// only contain the workspace and a mode.
    agent: Option<String>,
    /// The user's answer, after a request without one was refused with a question. An answer that applies to more than this
    /// request needs `question`, and `session` if it is for the session.
    answer: Option<Said>,
    /// The `id` of the question that was shown to the user, from `data.question` of the refusal. If the command or a file that it
    /// names has changed since, nothing runs.
    question: Option<String>,
    /// A session of an agent: its answers apply, and the command counts as one of its steps.
    session: Option<String>,
    /// The task of which the command is a step; the session's by default. Without either, no step is counted.
    #[serde(default)]
    execution: String,
}

/// The form of output.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum OutputForm {
    #[default]
    Bytes,
    Text,
}

const fn always() -> bool {
    true
}

/// The result of a command.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Ended {
    /// Exit code of the command; or 123 when files were quarantined, or a changed link resolves to the home directory or to files
    /// that other programs obey; 124 when it timed out, 126 when the program cannot be run, 127 when the program was not found,
    /// 128 plus the signal number when a signal ended it.
    exit_code: i32,
    /// The command's own exit code, regardless of what it left behind.
    command_exit_code: i32,
    /// How it ended: `exited`, `signalled`, `timed-out`, `out-of-memory`, `out-of-cpu-time`, `out-of-disk`, `cancelled`,
    /// `not-found` or `not-executable`.
    end: &'static str,
    /// The signal that ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    /// The output in Base64; empty with `stream` or if `output` is `text`.
    stdout_base64: String,
    stderr_base64: String,
    /// The output as text, if `output` is `text`. Bytes that are not UTF-8 are replaced by U+FFFD.
    #[serde(skip_serializing_if = "Option::is_none")]
    stdout: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stderr: Option<String>,
    /// Whether output was dropped.
    truncated: bool,
    /// How many bytes were dropped, because they exceeded the limit or the client did not read them in time.
    dropped_bytes: u64,
    /// With `stream`: the number of notifications. The `seq` of the last one is one less.
    #[serde(skip_serializing_if = "Option::is_none")]
    pieces: Option<u64>,
    timed_out: bool,
    duration_ms: u64,
    /// The backend of the sandbox.
    backend: String,
    /// A warning to show to the user: the command ran without a sandbox.
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<&'static str>,
    enforcement: Enforced,
    usage: Used,
    /// Refused hosts, each once: `id`, `layer`, `effect`, `subject`, `rule`, `reason`, `fix`.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    #[schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>")]
    hosts_refused: Vec<Decision>,
    /// Why it lost its network, if its shared proxy ended before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    broker_lost: Option<String>,
    /// Files that other programs would obey, which it left in the workspace and which were quarantined.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    quarantine: Vec<Moved>,
    /// Older quarantined files that were deleted, because of their age or for space.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    quarantine_dropped: Vec<String>,
    /// Changed files that other programs or agents obey, and new symlinks that point out of the workspace.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    changed: Vec<Altered>,
    /// Readable files that contain secrets, because programs need the rest of their content.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    exposed: Vec<Altered>,
    /// Its changes, if it ran on an overlay of the workspace: `changes.diff` shows them.
    #[serde(skip_serializing_if = "Option::is_none")]
    review: Option<ReviewOutcome>,
    /// For an agent: the decision, with `id`, `layer`, `effect`, `subject`, `rule`, `reason`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    decision: Option<Decision>,
    /// For an agent without `stream`: the output for a model, by the profile `bash` of the configuration: `text`, `truncated`,
    /// `originalBytes`, `removed`, `hidden`, `findings`, `worst`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    result: Option<ToolResult>,
}

/// The resource usage of a command.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ResourceUsage")]
#[serde(rename_all = "camelCase")]
struct Used {
    wall_time_ms: u64,
    /// CPU time of all processes; missing with bubblewrap, which does not report it.
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu_time_ms: Option<u64>,
    /// Peak memory; missing with bubblewrap, which does not report it.
    #[serde(skip_serializing_if = "Option::is_none")]
    peak_memory_bytes: Option<u64>,
    /// Bytes written to disk, including deleted data; missing with bubblewrap, which does not report them.
    #[serde(skip_serializing_if = "Option::is_none")]
    written_bytes: Option<u64>,
    /// Growth of the file systems that it may write to, including what other programs wrote meanwhile.
    disk_bytes: u64,
    /// Growth of the number of files and directories, likewise.
    disk_files: u64,
}

/// A file that was quarantined.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "QuarantinedFile")]
#[serde(rename_all = "camelCase")]
struct Moved {
    path: String,
    /// Where it was moved; missing if it could not be moved.
    moved_to: Option<String>,
    /// The ID for `stockade quarantine`.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// `this-command`, or `earlier-command` if it was found only now.
    left_by: &'static str,
}

/// A changed or readable file of interest.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ChangedFile")]
#[serde(rename_all = "camelCase")]
struct Altered {
    path: String,
    /// The kind of file: `agent instructions`.
    what: String,
}

impl Altered {
    fn of(path: &Path, what: &str) -> Self {
        Self { path: path.to_string_lossy().into_owned(), what: what.to_owned() }
    }
}

impl Parameters for Exec {
    const METHOD: &'static str = "exec";
    const LANE: Lane = Lane::Run;
    type Answer = Ended;

    fn answer(self, server: &Server, caller: &AskedBy<'_>) -> Result<Json, Fault> {
        let mut control = RunControl { cancellation: caller.cancellation.clone(), ..RunControl::default() };
        if caller.cancellation.as_ref().is_some_and(Cancellation::is_cancelled) {
            return Err(Fault::new(fault::CANCELLED, "it was cancelled before it began, and nothing ran"));
        }
        if !self.stream {
            let _kept = kept(server, caller, self.max_output())?;
            return self.ran(server, control).map(|ended| Json::of(&ended));
        }
        let streamed = Streamed::begin(caller, &mut control)?;
        // No other descriptor of the pipes is open when this returns, so that their readers end.
        let ended = self.ran(server, control);
        let sent = streamed.end();
        let ended = ended?;
        Ok(Json::of(&Ended {
            truncated: ended.truncated || sent.lost > 0,
            dropped_bytes: ended.dropped_bytes + sent.lost,
            pieces: Some(sent.pieces),
            ..ended
        }))
    }
}

/// Reserves memory for output that is kept until the answer.
fn kept<'c>(server: &Server, caller: &AskedBy<'c>, bytes: u64) -> Result<KeptOutput<'c>, Fault> {
    // Sized for the maximum number of commands, each with the default limit.
    let most = OUTPUT.saturating_mul(server.options.max_commands as u64).max(MAX_OUTPUT);
    caller.queue.keep(bytes, most).ok_or_else(|| {
        let message = format!(
            "the commands of this client that are under way may print {most} bytes together; wait for one, ask for a smaller \
             `maxOutputBytes`, or use `stream`"
        );
        Fault::new(fault::BUSY, message)
    })
}

impl Exec {
    /// The output limit.
    fn max_output(&self) -> u64 {
        let (usual, most) = if self.stream { (STREAMED, MAX_STREAMED) } else { (OUTPUT, MAX_OUTPUT) };
        self.max_output_bytes.unwrap_or(usual).min(most)
    }

    fn ran(mut self, server: &Server, control: RunControl) -> Result<Ended, Fault> {
        if let Some(workspace) = self.workspace.take() {
            if self.spec.workspace.as_ref().is_some_and(|other| *other != workspace) {
                return Err(Fault::parameters("`workspace` and `spec.workspace` differ: give one of them"));
            }
            self.spec.workspace = Some(workspace);
        }
        if self.stream && self.output == OutputForm::Text {
            return Err(Fault::parameters("the pieces of `stream` are bytes: leave out `output`"));
        }
        let shown = text(self.command.clone(), self.argv.as_deref())?;
        if let Some(session) = guarded::session(server, &self)? {
            return guarded::run(server, &session, self, control);
        }
        let is_told = self.answer.is_some() || self.question.is_some() || self.session.is_some();
        if is_told || !self.execution.is_empty() {
            return Err(Fault::parameters(
                "`answer`, `question`, `session` and `execution` need an `agent`; other commands never ask a question",
            ));
        }
        let (output, form, streams) = (self.max_output(), self.output, streams(self.stream));
        let words = match (&self.command, &self.argv) {
            (Some(command), None) => ["/bin/bash", "-c", command].map(str::to_owned).to_vec(),
            (_, Some(argv)) => argv.clone(),
            (None, None) => Vec::new(),
        };
        let (mut spec, _) = spec_of(self.spec, words, Unsaid::Closed)?;
        may_leave(server, &spec)?;
        let limits = &mut spec.limits;
        if let Some(millis) = self.timeout_ms {
            limits.wall_time = Limit::AtMost(Duration::from_millis(millis));
        } else if limits.wall_time == Limit::Unlimited {
            limits.wall_time = Limit::AtMost(TIMEOUT);
        }
        limits.output = Limit::AtMost(output);
        // Without a sandbox, at least the rules apply.
        let is_held = SandboxMode::of(&spec) != SandboxMode::DangerFullAccess;
        if self.evaluate || !is_held || server.rules.now()?.decide() {
            may_run(server, &shown, &spec)?;
        }
        // The reservation lasts until the command ends.
        let _input = self.stdin_base64.as_deref().map(|base64| feed(&mut spec, base64)).transpose()?;
        let record = RunRecord { trail: server.trail.get(None)?, agent: None };
        let prepared = PreparedRun::new(spec, None, record).map_err(|error| Fault::internal(&error))?;
        let started = AuditEvent::new(EventKind::SandboxStarted).with(field::COMMAND, shown);
        let prepared = prepared.pooled(Some(Arc::clone(&server.sandboxes))).controlled(control);
        let report = prepared.run(started, streams).map_err(|error| not_run(&error))?;
        match &report.unrecorded {
            Some(error) => Err(unrecorded(error)),
            None => Ok(Ended::of(&report, form)),
        }
    }
}

/// Refuses to run without a sandbox unless the operator of the server allowed it: the client may be the program that the sandbox
/// is meant to confine.
fn may_leave(server: &Server, spec: &SandboxSpec) -> Result<(), Fault> {
    if SandboxMode::of(spec) != SandboxMode::DangerFullAccess || server.options.may_leave_sandbox {
        return Ok(());
    }
    let fix = "start the server with `--allow-danger-full-access`, or ask for another mode";
    let message = format!("requests to this server may not ask for `danger-full-access`: {fix}");
    Err(Fault::new(fault::REFUSED, message)
        .with(serde_json::json!({"decision": "deny", "rule": "danger-full-access", "fix": fix})))
}

/// Refuses commands that must not run, even in a sandbox.
fn may_run(server: &Server, text: &str, spec: &SandboxSpec) -> Result<(), Fault> {
    let rules = server.rules.now()?;
    let Some(decision) = command_check::denied(rules.policy.all_rules(), text, spec) else { return Ok(()) };
    let verdict = Evaluated::of(&decision);
    let reason = decision.decisive().next().map(|part| part.cause.to_string()).unwrap_or_default();
    Err(Fault::new(fault::REFUSED, format!("the command is refused: {reason}"))
        .with(serde_json::to_value(&verdict).unwrap_or_default()))
}

/// Returns the rule of the server that denies a command of an agent, with its reason, if one does.
pub(super) fn denied_by_server(
    server: &Server,
    text: &str,
    spec: &SandboxSpec,
) -> Result<Option<(String, String)>, Fault> {
    let rules = server.rules.now()?;
    if !rules.decide() {
        return Ok(None);
    }
    let denied = command_check::denied(rules.policy.all_rules(), text, spec);
    Ok(denied.map(|decision| {
        let cause = decision.decisive().next().map(|part| &part.cause);
        cause.map(|cause| (cause.id().to_owned(), cause.to_string())).unwrap_or_default()
    }))
}

/// Redirects standard input from a file that the command can read but not change. A shell opens it and then executes the command.
#[expect(clippy::disallowed_methods, reason = "writes what the command is to read")]
fn feed(spec: &mut SandboxSpec, base64: &str) -> Result<tempfile::TempDir, Fault> {
    let bytes = bytes_of("stdinBase64", base64)?;
    let written = || {
        let folder = tempfile::Builder::new().prefix("stockade-stdin-").tempdir()?;
        let file = std::fs::canonicalize(folder.path())?.join("stdin");
        std::fs::write(&file, bytes)?;
        // The command may run as another user who must be able to read it; the directory keeps all other users out.
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o444))?;
        Ok::<_, std::io::Error>((folder, file))
    };
    let (folder, file) = written().map_err(|error| Fault::internal(&error))?;
    spec.read_only.push(file.clone());
    let shell = ["/bin/sh".into(), "-c".into(), "exec \"$@\" < \"$0\"".into(), file.into_os_string()];
    spec.command.splice(0..0, shell);
    Ok(folder)
}

/// Standard input and output of the server belong to the protocol, never to a command.
fn streams(is_streamed: bool) -> Streams {
    let stream = if is_streamed { Stream::Hand } else { Stream::Keep };
    Streams {
        stdin: Input::Empty,
        stdout: stream,
        stderr: stream,
        signals: Signals::Keep,
        ..Streams::default()
    }
}

fn not_run(error: &NotRun) -> Fault {
    match error {
        NotRun::Unrecorded(error) => unrecorded(error),
        NotRun::Sandbox { error: RunError::Refused(refusal), .. } => refused(refusal),
        _ => Fault { code: fault::NO_SANDBOX, ..Fault::of(error) },
    }
}

impl OutputForm {
    fn base64(self, bytes: &[u8]) -> String {
        if self == Self::Bytes { base64_of(bytes) } else { String::new() }
    }

    fn text(self, bytes: &[u8]) -> Option<String> {
        (self == Self::Text).then(|| String::from_utf8_lossy(bytes).into_owned())
    }
}

impl Ended {
    fn of(report: &RunReport, form: OutputForm) -> Self {
        let RunReport { plan, outcome, broker_lost, .. } = report;
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let moved = |found: &stockade_guard::exec::Quarantined| Moved {
            path: found.path.to_string_lossy().into_owned(),
            moved_to: found.moved_to.as_ref().map(|path| path.to_string_lossy().into_owned()),
            id: found.id.clone(),
            left_by: found.left_by.name(),
        };
        Self {
            exit_code: outcome.exit_code().into(),
            command_exit_code: outcome.end.exit_code().into(),
            end: outcome.end.name(),
            signal: signal(outcome.end),
            stdout_base64: form.base64(&outcome.output.stdout),
            stderr_base64: form.base64(&outcome.output.stderr),
            stdout: form.text(&outcome.output.stdout),
            stderr: form.text(&outcome.output.stderr),
            truncated: outcome.output.truncated(),
            dropped_bytes: outcome.output.dropped + outcome.output.untaken,
            pieces: None,
            timed_out: outcome.end == End::TimedOut,
            duration_ms: millis(outcome.usage.wall_time),
            backend: plan.provider.name().to_owned(),
            warning: report.is_unsandboxed().then_some(UNSANDBOXED),
            enforcement: Enforced::of(&outcome.enforcement),
            usage: Used {
                wall_time_ms: millis(outcome.usage.wall_time),
                cpu_time_ms: outcome.usage.cpu_time.map(millis),
                peak_memory_bytes: outcome.usage.peak_memory,
                written_bytes: outcome.usage.written,
                disk_bytes: outcome.usage.disk,
                disk_files: outcome.usage.files,
            },
            broker_lost: broker_lost.clone(),
            hosts_refused: report.distinct_refusals().into_iter().cloned().collect(),
            quarantine: outcome.quarantine.iter().map(moved).collect(),
            quarantine_dropped: outcome
                .quarantine_dropped
                .iter()
                .flat_map(|group| group.paths.iter().map(|path| path.to_string_lossy().into_owned()))
                .collect(),
            changed: outcome.changed.iter().map(|one| Altered::of(&one.path, &one.label)).collect(),
            exposed: outcome.exposed.iter().map(|one| Altered::of(&one.path, &one.label)).collect(),
            review: outcome.review.as_ref().map(ReviewOutcome::of),
            decision: None,
            result: None,
        }
    }
}

/// Returns the signal that ended a command.
fn signal(end: End) -> Option<i32> {
    match end {
        End::Signalled(signal) => Some(signal),
        End::TimedOut | End::OutOfMemory | End::OutOfDisk | End::Cancelled => Some(SIGKILL),
        End::OutOfCpuTime => Some(SIGXCPU),
        _ => None,
    }
}
