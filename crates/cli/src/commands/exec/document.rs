//! The outcome of a command as one JSON document on one line.

use std::path::Path;

use serde::Serialize;
use stockade_guard::admission::ToolResult;
use stockade_guard::egress::Observed;
use stockade_guard::exec::{Denial, End, Enforcement, Outcome, Plan};
use stockade_guard::{Decision, RunReport, network_held};

use super::hidden_programs;
use stockade_state::changes::ReviewOutcome;
use stockade_text::to_printable_json;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Ran<'a> {
    end: &'static str,
    /// Exit code of this program.
    exit_code: u8,
    /// Exit code of the command itself, which differs if something was quarantined.
    command_exit_code: u8,
    signal: Option<i32>,
    sandbox: &'a str,
    network: &'static str,
    stdout: Text,
    stderr: Text,
    dropped_bytes: u64,
    usage: Usage,
    enforced: Vec<EnforcedProperty>,
    gaps: Vec<Gap>,
    denials: Vec<Denied<'a>>,
    /// Programs of the command that exist on this machine but not in the sandbox.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hidden_programs: Vec<Unseen>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hosts_refused: Vec<Unreached<'a>>,
    /// Entries for --allow-host that the command needs, under --network observe.
    #[serde(skip_serializing_if = "Option::is_none")]
    hosts_observed: Option<Needed<'a>>,
    /// Why the egress proxy ended before the command, which then had no network.
    #[serde(skip_serializing_if = "Option::is_none")]
    broker_lost: Option<&'a str>,
    quarantine: Vec<Moved<'a>>,
    /// Older files that were deleted from the quarantine by age or for lack of room.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    quarantine_dropped: Vec<std::borrow::Cow<'a, str>>,
    /// Changed files that other programs or agents obey, and new links out of the workspace.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changed: Vec<Altered<'a>>,
    /// Files with secrets that the command could read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    exposed: Vec<Altered<'a>>,
    /// Changes of the command, if it ran on an overlay of the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    review: Option<ReviewOutcome>,
    /// Decision about a command of an agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'a Decision>,
    /// The part of the output that is passed to a model, by the agent's configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a ToolResult>,
}

/// A program that the sandbox hides, and the command that makes it visible.
#[derive(Serialize)]
struct Unseen {
    name: String,
    folder: String,
    fix: String,
}

/// A file that the command changed or could read.
#[derive(Serialize)]
struct Altered<'a> {
    path: std::borrow::Cow<'a, str>,
    what: &'a str,
}

/// Bytes as text, with a flag if they are not valid UTF-8.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Text {
    text: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_lossy: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Usage {
    wall_ms: u128,
    /// Missing if it cannot be measured.
    cpu_ms: Option<u128>,
    peak_memory: Option<u64>,
    written: Option<u64>,
    /// Growth of the writable file systems, including writes of other programs.
    disk: u64,
    files: u64,
}

#[derive(Serialize)]
struct EnforcedProperty {
    property: &'static str,
    by: &'static str,
}

#[derive(Serialize)]
struct Gap {
    property: &'static str,
    why: &'static str,
}

/// An access that was refused.
#[derive(Serialize)]
struct Denied<'a> {
    what: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<std::borrow::Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<&'a str>,
    /// The narrowest option that allows it, if one does.
    option: Option<String>,
    /// The same as a sentence.
    says: String,
}

impl<'a> Denied<'a> {
    fn new(denial: &'a Denial) -> Self {
        let (path, host) = match denial {
            Denial::Read(path)
            | Denial::Write(path)
            | Denial::Never(path, _)
            | Denial::Name(path, _)
            | Denial::Lock(path)
            | Denial::Socket(path) => (Some(path.to_string_lossy()), None),
            Denial::Reach(host) => (None, host.as_deref()),
            _ => (None, None),
        };
        let (option, says) = (super::report::option(denial), super::report::denied(denial));
        Self { what: denial.name(), path, host, option, says }
    }
}

/// Entries that allow the observed requests, and requests that no entry can express.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Needed<'a> {
    entries: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    unwritten: &'a [String],
    left_out: u64,
}

impl<'a> Needed<'a> {
    fn new(observed: &'a Observed) -> Self {
        let Observed { entries, unwritten, left_out, .. } = observed;
        Self { entries, unwritten, left_out: *left_out }
    }
}

/// A host that the command could not connect to.
#[derive(Serialize)]
struct Unreached<'a> {
    id: &'a str,
    target: &'a str,
    rule: &'a str,
    reason: &'a str,
    fix: Option<&'a str>,
}

impl<'a> Unreached<'a> {
    fn new(refused: &'a Decision) -> Self {
        let Decision { id, subject: target, rule, reason, fix, .. } = refused;
        Self { id, target, rule: rule.name(), reason, fix: fix.as_deref() }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Moved<'a> {
    path: std::borrow::Cow<'a, str>,
    moved_to: Option<std::borrow::Cow<'a, str>>,
    /// Its id in `stockade quarantine`.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    left_by: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct NotRun<'a> {
    end: &'static str,
    exit_code: u8,
    why: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'a Decision>,
}

fn unseen(plan: &Plan, outcome: &Outcome, agent: Option<&str>) -> Vec<Unseen> {
    let hidden = hidden_programs::find(plan, outcome.end).into_iter();
    let unseen = hidden.map(|program| Unseen {
        fix: program.fix(agent),
        folder: program.folder.to_string_lossy().into_owned(),
        name: program.name,
    });
    unseen.collect()
}

/// Returns the document of a command that ran.
pub(in crate::commands) fn ran(
    report: &RunReport,
    decision: Option<&Decision>,
    result: Option<&ToolResult>,
    agent: Option<&str>,
) -> String {
    let RunReport { plan, outcome, hosts_observed, broker_lost, .. } = report;
    let Enforcement { enforced, gaps, .. } = &outcome.enforcement;
    let moved = outcome.quarantine.iter().map(|found| Moved {
        path: found.path.to_string_lossy(),
        moved_to: found.moved_to.as_deref().map(Path::to_string_lossy),
        id: found.id.as_deref(),
        left_by: found.left_by.name(),
    });
    let altered =
        outcome.changed.iter().map(|one| Altered { path: one.path.to_string_lossy(), what: &one.label });
    let exposed =
        outcome.exposed.iter().map(|one| Altered { path: one.path.to_string_lossy(), what: &one.label });
    to_printable_json(&Ran {
        end: outcome.end.name(),
        exit_code: outcome.exit_code(),
        command_exit_code: outcome.end.exit_code(),
        signal: if let End::Signalled(signal) = outcome.end { Some(signal) } else { None },
        sandbox: plan.provider.name(),
        network: network_held(plan, outcome),
        stdout: text(&outcome.output.stdout),
        stderr: text(&outcome.output.stderr),
        dropped_bytes: outcome.output.dropped + outcome.output.untaken,
        usage: Usage {
            wall_ms: outcome.usage.wall_time.as_millis(),
            cpu_ms: outcome.usage.cpu_time.map(|time| time.as_millis()),
            peak_memory: outcome.usage.peak_memory,
            written: outcome.usage.written,
            disk: outcome.usage.disk,
            files: outcome.usage.files,
        },
        enforced: enforced
            .iter()
            .map(|(property, by)| EnforcedProperty { property: property.name(), by })
            .collect(),
        gaps: gaps.iter().map(|gap| Gap { property: gap.property.name(), why: gap.why }).collect(),
        denials: outcome.denials.iter().map(Denied::new).collect(),
        hidden_programs: unseen(plan, outcome, agent),
        broker_lost: broker_lost.as_deref(),
        hosts_refused: report.distinct_refusals().into_iter().map(Unreached::new).collect(),
        hosts_observed: hosts_observed.as_ref().map(Needed::new),
        quarantine: moved.collect(),
        quarantine_dropped: outcome
            .quarantine_dropped
            .iter()
            .flat_map(|group| group.paths.iter().map(|path| path.to_string_lossy()))
            .collect(),
        changed: altered.collect(),
        exposed: exposed.collect(),
        review: outcome.review.as_ref().map(ReviewOutcome::of),
        decision,
        result,
    })
}

/// Returns the document of a command that was refused: the reason, the fix, and the decision if it belongs to an agent.
pub(in crate::commands) fn not_let(
    why: &str,
    help: Option<&str>,
    decision: Option<&Decision>,
    exit_code: u8,
) -> String {
    to_printable_json(&NotRun { end: "refused", exit_code, why: why.to_owned(), help, decision })
}

/// Returns the document of a command whose sandbox could not be created.
pub(in crate::commands) fn failed(why: &dyn std::fmt::Display, exit_code: u8) -> String {
    to_printable_json(&NotRun { end: "failed", exit_code, why: why.to_string(), help: None, decision: None })
}

fn text(bytes: &[u8]) -> Text {
    match std::str::from_utf8(bytes) {
        Ok(text) => Text { text: text.to_owned(), is_lossy: false },
        Err(_) => Text { text: String::from_utf8_lossy(bytes).into_owned(), is_lossy: true },
    }
}
