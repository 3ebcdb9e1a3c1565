//! Changes, for programs: one JSON document. The server answers with the same.

use std::time::{Duration, SystemTime};

use schemars::JsonSchema;
use serde::Serialize;
use stockade_guard::exec::{Content, FileChange, Merged, ReviewLayer, Reviewed};

use super::{Decided, Decision};
use stockade_text::to_printable_json;

/// What a command changed, as a whole: where, by which command, and how far it has come.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ChangeSet")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Layer {
    pub(crate) id: String,
    pub(crate) state: &'static str,
    workspace: String,
    command: String,
    /// What the view was made of.
    view: &'static str,
    /// Seconds since 1970.
    made: Option<u64>,
    bytes: u64,
}

impl Layer {
    pub(crate) fn of(layer: &ReviewLayer) -> Self {
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
#[schemars(rename = "PathChange")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Changed {
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
    pub(crate) diff: Option<String>,
}

impl Changed {
    pub(crate) fn of(change: &FileChange) -> Self {
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

    pub(crate) fn with_diff(change: &FileChange, before: &Content, after: &Content) -> Self {
        Self { diff: Some(super::unified::diff(change, before, after)), ..Self::of(change) }
    }
}

/// A layer, and its changes.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Shown {
    #[serde(flatten)]
    pub(crate) layer: Layer,
    pub(crate) changes: Vec<Changed>,
}

/// What was done, and what was not.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Done {
    pub(crate) id: String,
    /// `applied`, `undone` or `discarded`.
    pub(crate) decision: &'static str,
    /// How many paths that is.
    pub(crate) count: usize,
    pub(crate) paths: Vec<String>,
    pub(crate) conflicts: Vec<Against>,
    /// What is never applied.
    pub(crate) refused: Vec<Against>,
}

/// What stands against a path.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "BlockedPath")]
pub(crate) struct Against {
    path: String,
    why: String,
    /// The repository of which nothing was changed for that; empty for the workspace without its repositories.
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<String>,
}

impl Done {
    pub(crate) fn of(layer: &ReviewLayer, decision: Decision, decided: &Decided) -> Self {
        let text = |path: &std::path::Path| path.to_string_lossy().into_owned();
        let merged = match decided {
            Decided::Merged(merged) => merged,
            Decided::Discarded(_) => &Merged::default(),
        };
        let conflicts = merged.conflicts.iter().map(|conflict| Against {
            path: text(&conflict.path),
            why: conflict.why.clone(),
            group: Some(text(&conflict.group)),
        });
        let refused = merged.refused.iter();
        Self {
            id: layer.id().to_owned(),
            decision: decision.name(),
            count: match decided {
                Decided::Merged(merged) => merged.done.len(),
                Decided::Discarded(count) => *count,
            },
            paths: merged.done.iter().map(|path| text(path)).collect(),
            conflicts: conflicts.collect(),
            refused: refused
                .map(|(path, why)| Against { path: text(path), why: why.clone(), group: None })
                .collect(),
        }
    }
}

fn line(document: &impl Serialize) -> String {
    format!("{}\n", to_printable_json(document))
}

pub(crate) fn list(layers: &[ReviewLayer]) -> String {
    line(&layers.iter().map(Layer::of).collect::<Vec<_>>())
}

pub(crate) fn show(layer: &ReviewLayer, changes: &[FileChange]) -> String {
    line(&Shown { layer: Layer::of(layer), changes: changes.iter().map(Changed::of).collect() })
}

pub(crate) fn diff(layer: &ReviewLayer, changes: &[FileChange], diffs: &[String]) -> String {
    let changed = changes.iter().zip(diffs);
    let changed = changed.map(|(change, diff)| Changed { diff: Some(diff.clone()), ..Changed::of(change) });
    line(&Shown { layer: Layer::of(layer), changes: changed.collect() })
}

pub(crate) fn decided(layer: &ReviewLayer, decision: Decision, decided: &Decided) -> String {
    line(&Done::of(layer, decision, decided))
}

/// What became of what a command changed in its view, in the outcome of that.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ReviewOutcome")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Review {
    /// What the changes are called.
    id: String,
    /// What the view was made of: `overlay` or `copy`.
    view: &'static str,
    /// How many paths are different in it.
    changed: usize,
    /// How many of these are in the workspace.
    applied: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    conflicts: Vec<Against>,
    /// What is never applied.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    refused: Vec<Against>,
    /// Why the changes could not be looked at or applied, if they could not.
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<String>,
}

impl Review {
    pub(crate) fn of(reviewed: &Reviewed) -> Self {
        let against = |rows: &[(std::path::PathBuf, String)]| -> Vec<Against> {
            let row = |(path, why): &(std::path::PathBuf, String)| Against {
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
