//! `exec`: runs a command in a sandbox.

mod guarded;
mod streamed;

pub(crate) use streamed::OutputPiece;

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
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

/// How long a command may take that says nothing about it.
const TIMEOUT: Duration = Duration::from_secs(120);

/// How much a command may print that says nothing about it.
const OUTPUT: u64 = 1 << 20;

/// The most that a command may print, since the answer holds all of it.
const MAX_OUTPUT: u64 = 8 << 20;

/// The same where it is sent while the command runs, and nothing holds all of it.
const STREAMED: u64 = 32 << 20;
const MAX_STREAMED: u64 = 1 << 30;

/// The signals of a command that was ended for taking too much.
const SIGKILL: i32 = 9;
const SIGXCPU: i32 = 24;

/// What an answer says of a command that ran without a sandbox.
const UNSANDBOXED: &str = "the command ran WITHOUT A SANDBOX, with all rights of the server";

/// Run a command where it sees and reaches only what it was given. What `spec` does not name is closed: there is no
/// network, and of the home only toolchains are seen. What `command.evaluate` denies is refused. With `agent`, the configuration
/// of that agent decides about all of it, and every decision is put on record.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Exec {
    /// The command, as text for bash.
    command: Option<String>,
    /// The same as a program and its arguments, without a shell.
    argv: Option<Vec<String>>,
    /// What it may see and use.
    #[serde(default)]
    spec: SpecPatch,
    /// What it reads as its standard input, in Base64; nothing by default.
    stdin_base64: Option<String>,
    /// Whether the built-in rules decide first, and what they deny is refused; true by default. With false, the sandbox alone
    /// holds the command, unless the server has rules of its own: those always decide.
    #[serde(default = "always")]
    evaluate: bool,
    /// How long it may take; two minutes by default.
    timeout_ms: Option<u64>,
    /// How much it may print; 1 MiB by default, and at most 8 MiB. With `stream`, 32 MiB by default, and at most 1 GiB.
    max_output_bytes: Option<u64>,
    /// Whether what it prints is sent while it runs, in notifications `exec.output` before the answer, which then holds none of
    /// it; false by default. A client that does not read makes the command wait.
    #[serde(default)]
    stream: bool,
    /// The agent whose command it is. Its configuration then decides whether and where the command runs, and what it sees;
    /// `spec` names nothing but the workspace and a mode.
    agent: Option<String>,
    /// What a person has said to this command who was asked, where a request without was refused for want of that. What is to
    /// hold for more than this request needs `question`, and `session` where it is for that.
    answer: Option<Said>,
    /// The `id` of the question that the person was shown, which `data.question` of the refusal has. When the command or a file
    /// that it names has changed since, nothing runs.
    question: Option<String>,
    /// A session of an agent: the command is one of it, its answers count, and it takes a step of the session.
    session: Option<String>,
    /// The task whose step it is; that of the session by default. Without either, no step is counted.
    #[serde(default)]
    execution: String,
}

const fn always() -> bool {
    true
}

/// How a command ended.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Ended {
    /// Exit code of the command; or 123 when files were quarantined, or a changed link resolves to the home directory or to files
    /// that other programs obey; 124 when it timed out, 126 when the program cannot be run, 127 when the program was not found,
    /// 128 plus the signal number when a signal ended it.
    exit_code: i32,
    /// The same, whatever it left.
    command_exit_code: i32,
    /// How it ended, in a word: `exited`, `signalled`, `timed-out`, `out-of-memory`, `out-of-cpu-time`, `out-of-disk`,
    /// `cancelled`, `not-found` or `not-executable`.
    end: &'static str,
    /// The signal that ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    stdout_base64: String,
    stderr_base64: String,
    /// Whether something that it printed was dropped.
    truncated: bool,
    /// How many bytes were dropped, because they exceeded the limit or the client did not read them in time.
    dropped_bytes: u64,
    /// With `stream`: how many notifications there were. The last one has a `seq` that is one less.
    #[serde(skip_serializing_if = "Option::is_none")]
    pieces: Option<u64>,
    timed_out: bool,
    duration_ms: u64,
    /// What made the sandbox.
    backend: String,
    /// A warning to show to the user: the command ran without a sandbox.
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<&'static str>,
    enforcement: Enforced,
    usage: Used,
    /// The hosts that it was not let through to, each once: `id`, `layer`, `effect`, `subject`, `rule`, `reason`, `fix`.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    #[schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>")]
    hosts_refused: Vec<Decision>,
    /// Why it reached nothing any more, if the broker that served it ended before it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    broker_lost: Option<String>,
    /// What it left in the workspace that other programs would obey, and where that was put.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    quarantine: Vec<Moved>,
    /// What had been in quarantine and was dropped for want of room, or because it had been there for too long.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    quarantine_dropped: Vec<String>,
    /// Files that other programs or agents obey, and that it changed; and new links that lead out of the workspace.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    changed: Vec<Altered>,
    /// Files that it could read although secrets stand in them: programs need the rest.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    exposed: Vec<Altered>,
    /// What it changed, where it worked on a view of the workspace: `changes.diff` shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    review: Option<ReviewOutcome>,
    /// What was decided about it, for an agent: `id`, `layer`, `effect`, `subject`, `rule`, `reason`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    decision: Option<Decision>,
    /// For an agent, and without `stream`: what of its output is for a model, as the profile `bash` of its configuration has it:
    /// `text`, `truncated`, `originalBytes`, `removed`, `hidden`, `findings`, `worst`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    result: Option<ToolResult>,
}

/// What a command used up.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ResourceUsage")]
#[serde(rename_all = "camelCase")]
struct Used {
    wall_time_ms: u64,
    /// Time of processors of all processes; missing with bubblewrap, which does not say so.
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu_time_ms: Option<u64>,
    /// The most memory at once; missing with bubblewrap, which does not say so.
    #[serde(skip_serializing_if = "Option::is_none")]
    peak_memory_bytes: Option<u64>,
    /// Bytes that were written to disks, also what was removed again; missing with bubblewrap, which does not say so.
    #[serde(skip_serializing_if = "Option::is_none")]
    written_bytes: Option<u64>,
    /// Growth of the file systems that it may write to, including what other programs wrote meanwhile.
    disk_bytes: u64,
    /// By how many files and folders they grew, likewise.
    disk_files: u64,
}

/// Something that was moved away.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "QuarantinedFile")]
#[serde(rename_all = "camelCase")]
struct Moved {
    path: String,
    /// Nothing if it could not be moved.
    moved_to: Option<String>,
    /// What `stockade quarantine` calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// `this-command`, or `earlier-command` where that was found out only now.
    left_by: &'static str,
}

/// A file that counts for something: what was changed, or could be read.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ChangedFile")]
#[serde(rename_all = "camelCase")]
struct Altered {
    path: String,
    /// What it is: `agent instructions`.
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
            let _kept = kept(server, caller, self.output())?;
            return self.ran(server, control).map(|ended| Json::of(&ended));
        }
        let streamed = Streamed::begin(caller, &mut control)?;
        // Nothing else holds the pipes when this returns, so that what reads them comes to an end.
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

/// Takes note of output that will be held for a client until it is answered.
fn kept<'c>(server: &Server, caller: &AskedBy<'c>, bytes: u64) -> Result<KeptOutput<'c>, Fault> {
    // As many as may run at a time, each with what is usual.
    let most = OUTPUT.saturating_mul(server.options.max_commands as u64).max(MAX_OUTPUT);
    caller.traffic.keep(bytes, most).ok_or_else(|| {
        let message = format!(
            "the commands of this client that are under way may print {most} bytes together; wait for one, ask for a smaller \
             `maxOutputBytes`, or use `stream`"
        );
        Fault::new(fault::BUSY, message)
    })
}

impl Exec {
    /// How much it may print.
    fn output(&self) -> u64 {
        let (usual, most) = if self.stream { (STREAMED, MAX_STREAMED) } else { (OUTPUT, MAX_OUTPUT) };
        self.max_output_bytes.unwrap_or(usual).min(most)
    }

    fn ran(self, server: &Server, control: RunControl) -> Result<Ended, Fault> {
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
        let (output, streams) = (self.output(), streams(self.stream));
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
        // What nothing else holds is at least judged.
        let is_held = SandboxMode::of(&spec) != SandboxMode::DangerFullAccess;
        if self.evaluate || !is_held || server.rules.now()?.decide() {
            may_run(server, &shown, &spec)?;
        }
        // Held until the command is over.
        let _input = self.stdin_base64.as_deref().map(|base64| feed(&mut spec, base64)).transpose()?;
        let record = RunRecord { trail: server.trail.get(None)?, agent: None };
        let prepared = PreparedRun::new(spec, None, record).map_err(|error| Fault::internal(&error))?;
        let started = AuditEvent::new(EventKind::SandboxStarted).with(field::COMMAND, shown);
        let prepared = prepared.pooled(Some(Arc::clone(&server.sandboxes))).controlled(control);
        let report = prepared.run(started, streams).map_err(|error| not_run(&error))?;
        match &report.unrecorded {
            Some(error) => Err(unrecorded(error)),
            None => Ok(Ended::of(&report)),
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

/// Refuses what must not run anywhere.
fn may_run(server: &Server, text: &str, spec: &SandboxSpec) -> Result<(), Fault> {
    let rules = server.rules.now()?;
    let Some(decision) = command_check::denied(rules.policy.all_rules(), text, spec) else { return Ok(()) };
    let verdict = Evaluated::of(&decision);
    let reason = decision.decisive().next().map(|part| part.cause.to_string()).unwrap_or_default();
    Err(Fault::new(fault::REFUSED, format!("the command is refused: {reason}"))
        .with(serde_json::to_value(&verdict).unwrap_or_default()))
}

/// Has the command read from a file that it sees and cannot change. A shell opens it and becomes the command.
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

/// Standard input and output of the server are the client's line, and never a command's.
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

impl Ended {
    fn of(report: &RunReport) -> Self {
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
            stdout_base64: base64_of(&outcome.output.stdout),
            stderr_base64: base64_of(&outcome.output.stderr),
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

/// The signal that ended a command.
fn signal(end: End) -> Option<i32> {
    match end {
        End::Signalled(signal) => Some(signal),
        End::TimedOut | End::OutOfMemory | End::OutOfDisk | End::Cancelled => Some(SIGKILL),
        End::OutOfCpuTime => Some(SIGXCPU),
        _ => None,
    }
}
