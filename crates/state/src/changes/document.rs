//! Changes, for programs: one JSON document. The server answers with the same.

use std::time::{Duration, SystemTime};

use schemars::JsonSchema;
use serde::Serialize;
use stockade_guard::exec::Reviewed;
use stockade_guard::exec::review::{Content, FileChange, Merged, ReviewLayer};

use super::{ChangeDecision, DecidedChanges};
use stockade_text::to_printable_json;

/// What a command changed, as a whole: where, by which command, and how far it has come.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangeSet {
    id: String,
    state: &'static str,
    workspace: String,
    command: String,
    /// What the view was made of.
    view: &'static str,
    /// Seconds since 1970.
    made: Option<u64>,
    bytes: u64,
}

impl ChangeSet {
    /// The document of a layer.
    pub fn of(layer: &ReviewLayer) -> Self {
        let since = |time: SystemTime| time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
        Self {
            id: layer.id().to_owned(),
            state: layer.state().name(),
            workspace: layer.workspace().to_string_lossy().into_owned(),
            command: layer.command().to_owned(),
            view: layer.view().name(),
            made: layer.made().map(|made| since(made).as_secs()),
            bytes: layer.bytes(),
        }
    }
}

/// A change of one path.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PathChange {
    path: String,
    kind: &'static str,
    state: &'static str,
    what: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mode_before: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mode_after: Option<u32>,
    /// Why it is never applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    /// The lines that are different, as git writes them.
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
}

impl PathChange {
    /// The document of a change, without the lines that are different.
    pub fn of(change: &FileChange) -> Self {
        let (mode_before, mode_after) = change.modes();
        Self {
            path: change.path.to_string_lossy().into_owned(),
            kind: change.kind.name(),
            state: change.state.name(),
            what: change.what(),
            bytes: change.size(),
            mode_before,
            mode_after,
            why: change.refused.clone(),
            diff: None,
        }
    }

    /// The document of a change, with the lines that are different.
    pub fn with_diff(change: &FileChange, before: &Content, after: &Content) -> Self {
        Self { diff: Some(super::unified::diff(change, before, after)), ..Self::of(change) }
    }
}

/// A layer, and its changes.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Shown")]
pub struct ShownChanges {
    #[serde(flatten)]
    layer: ChangeSet,
    changes: Vec<PathChange>,
}

impl ShownChanges {
    /// The document of a layer with these of its changes.
    #[must_use]
    pub fn of(layer: &ReviewLayer, changes: Vec<PathChange>) -> Self {
        Self { layer: ChangeSet::of(layer), changes }
    }
}

/// What was done, and what was not.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Done")]
pub struct ChangesDecided {
    id: String,
    /// `applied`, `undone` or `discarded`.
    decision: &'static str,
    /// How many paths that is.
    count: usize,
    paths: Vec<String>,
    conflicts: Vec<BlockedPath>,
    /// What is never applied.
    refused: Vec<BlockedPath>,
}

/// A path that was not changed, and why.
#[derive(Debug, Serialize, JsonSchema)]
struct BlockedPath {
    path: String,
    why: String,
    /// The repository of which nothing was changed for that; empty for the workspace without its repositories.
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<String>,
}

impl ChangesDecided {
    /// The document of a decision that was carried out.
    pub fn of(layer: &ReviewLayer, decision: ChangeDecision, decided: &DecidedChanges) -> Self {
        let text = |path: &std::path::Path| path.to_string_lossy().into_owned();
        let merged = match decided {
            DecidedChanges::Merged(merged) => merged,
            DecidedChanges::Discarded(_) => &Merged::default(),
        };
        let conflicts = merged.conflicts.iter().map(|conflict| BlockedPath {
            path: text(&conflict.path),
            why: conflict.why.clone(),
            group: Some(text(&conflict.group)),
        });
        let refused = merged.refused.iter();
        Self {
            id: layer.id().to_owned(),
            decision: decision.name(),
            count: match decided {
                DecidedChanges::Merged(merged) => merged.done.len(),
                DecidedChanges::Discarded(count) => *count,
            },
            paths: merged.done.iter().map(|path| text(path)).collect(),
            conflicts: conflicts.collect(),
            refused: refused
                .map(|(path, why)| BlockedPath { path: text(path), why: why.clone(), group: None })
                .collect(),
        }
    }
}

fn line(document: &impl Serialize) -> String {
    format!("{}\n", to_printable_json(document))
}

/// Returns the JSON of the layers, as a line.
pub fn list_json(layers: &[ReviewLayer]) -> String {
    line(&layers.iter().map(ChangeSet::of).collect::<Vec<_>>())
}

/// Returns the JSON of a layer and its changes, as a line.
pub fn show_json(layer: &ReviewLayer, changes: &[FileChange]) -> String {
    line(&ShownChanges { layer: ChangeSet::of(layer), changes: changes.iter().map(PathChange::of).collect() })
}

/// Returns the JSON of a layer and its changes, each with its diff, as a line.
pub fn diff_json(layer: &ReviewLayer, changes: &[FileChange], diffs: &[String]) -> String {
    let changed = changes.iter().zip(diffs);
    let changed =
        changed.map(|(change, diff)| PathChange { diff: Some(diff.clone()), ..PathChange::of(change) });
    line(&ShownChanges { layer: ChangeSet::of(layer), changes: changed.collect() })
}

/// Returns the JSON of a decision that was carried out, as a line.
pub fn decided_json(layer: &ReviewLayer, decision: ChangeDecision, decided: &DecidedChanges) -> String {
    line(&ChangesDecided::of(layer, decision, decided))
}

/// What became of what a command changed in its view, in the outcome of that.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewOutcome {
    /// What the changes are called.
    id: String,
    /// What the view was made of: `overlay` or `copy`.
    view: &'static str,
    /// How many paths are different in it.
    changed: usize,
    /// How many of these are in the workspace.
    applied: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    conflicts: Vec<BlockedPath>,
    /// What is never applied.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    refused: Vec<BlockedPath>,
    /// Why the changes could not be looked at or applied, if they could not.
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<String>,
}

impl ReviewOutcome {
    /// The document of what a review left.
    pub fn of(reviewed: &Reviewed) -> Self {
        let against = |rows: &[(std::path::PathBuf, String)]| -> Vec<BlockedPath> {
            let row = |(path, why): &(std::path::PathBuf, String)| BlockedPath {
                path: path.to_string_lossy().into_owned(),
                why: why.clone(),
                group: None,
            };
            rows.iter().map(row).collect()
        };
        Self {
            id: reviewed.id.clone(),
            view: reviewed.view,
            changed: reviewed.changed,
            applied: reviewed.applied,
            conflicts: against(&reviewed.conflicts),
            refused: against(&reviewed.refused),
            failed: reviewed.failed.clone(),
        }
    }
}
