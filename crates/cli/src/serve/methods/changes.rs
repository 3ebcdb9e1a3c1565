//! `changes.…`: what commands changed in their views of a workspace, and what becomes of it.

use std::path::{Component, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use stockade_guard::audit::{AuditEvent, EventKind};
use stockade_guard::exec::{ChangeSelection, FileChange, Merged, ReviewError, ReviewLayer, ReviewStore};

use super::trail::unrecorded;
use super::{AskedBy, Json, Lane, Parameters};
use crate::commands::changes::document::{Changed, Done, Layer, Shown};
use crate::commands::changes::unified::MAX_FILE;
use crate::serve::Server;
use crate::serve::fault::{self, Fault};

/// The most changes that one answer holds line by line.
const MAX_DIFFS: usize = 1_000;

/// List the commands that changed something in a view of their workspace, the newest first.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct List {}

/// The commands that changed something in a view, with how far each has come.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Layers {
    changes: Vec<Layer>,
}

/// Show what a command changed, path by path; `lines` shows it line by line.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Diff {
    /// What the list calls it, or the beginning of that.
    id: String,
    /// Files and folders below the workspace; all by default.
    #[serde(default)]
    paths: Vec<PathBuf>,
    /// Whether what is different in files is shown line by line, for the first thousand of them; true by default.
    #[serde(default = "always")]
    lines: bool,
}

const fn always() -> bool {
    true
}

/// Put changes into the workspace. What the user changed meanwhile is not overwritten, and nothing of the same repository is applied
/// then: `conflicts` names it. What other programs obey is never applied: `refused` names it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Apply {
    /// What the list calls it, or the beginning of that.
    id: String,
    /// Files and folders below the workspace; all by default.
    #[serde(default)]
    paths: Vec<PathBuf>,
}

/// Take changes back that were applied. They wait again then.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Undo {
    /// What the list calls it, or the beginning of that.
    id: String,
    /// Files and folders below the workspace; all by default.
    #[serde(default)]
    paths: Vec<PathBuf>,
}

/// Give changes up that wait.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Discard {
    /// What the list calls it, or the beginning of that.
    id: String,
    /// Files and folders below the workspace; all by default.
    #[serde(default)]
    paths: Vec<PathBuf>,
}

impl Parameters for List {
    const METHOD: &'static str = "changes.list";
    const LANE: Lane = Lane::Work;
    type Answer = Layers;

    fn answer(self, _: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        let store = ReviewStore::of_user().map_err(|error| failed(&ReviewError::Store(error)))?;
        let layers = store.map_or_else(|| Ok(Vec::new()), |store| store.layers());
        let layers = layers.map_err(|error| failed(&error))?;
        Ok(Json::of(&Layers { changes: layers.iter().map(Layer::of).collect() }))
    }
}

impl Parameters for Diff {
    const METHOD: &'static str = "changes.diff";
    const LANE: Lane = Lane::Work;
    type Answer = Shown;

    fn answer(self, _: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        let (_, layer) = opened(&self.id)?;
        let selection = selection(&layer, self.paths)?;
        let is_meant = |change: &&FileChange| match &selection {
            ChangeSelection::Paths(paths) => paths.iter().any(|path| change.path.starts_with(path)),
            ChangeSelection::All => true,
        };
        let changes = layer.changes().map_err(|error| failed(&error))?;
        let shown = changes.iter().filter(is_meant).enumerate().map(|(at, change)| {
            if !self.lines || at >= MAX_DIFFS {
                return Ok(Changed::of(change));
            }
            let (before, after) = layer.contents(change, MAX_FILE).map_err(|error| failed(&error))?;
            Ok(Changed::with_diff(change, &before, &after))
        });
        let changes = shown.collect::<Result<Vec<_>, Fault>>()?;
        Ok(Json::of(&Shown { layer: Layer::of(&layer), changes }))
    }
}

impl Parameters for Apply {
    const METHOD: &'static str = "changes.apply";
    const LANE: Lane = Lane::Work;
    type Answer = Done;

    fn answer(self, server: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        merged(server, &self.id, self.paths, "applied", ReviewStore::apply)
    }
}

impl Parameters for Undo {
    const METHOD: &'static str = "changes.undo";
    const LANE: Lane = Lane::Work;
    type Answer = Done;

    fn answer(self, server: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        merged(server, &self.id, self.paths, "undone", ReviewStore::undo)
    }
}

impl Parameters for Discard {
    const METHOD: &'static str = "changes.discard";
    const LANE: Lane = Lane::Work;
    type Answer = Done;

    fn answer(self, server: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        let (store, layer) = opened(&self.id)?;
        record(server, &layer, "discarded", &self.paths)?;
        let selection = selection(&layer, self.paths)?;
        let count = store.discard(&layer, &selection).map_err(|error| failed(&error))?;
        Ok(Json::of(&Done::discarded(&layer, count)))
    }
}

type Act = fn(&ReviewStore, &ReviewLayer, &ChangeSelection) -> Result<Merged, ReviewError>;

fn merged(
    server: &Server,
    id: &str,
    paths: Vec<PathBuf>,
    decision: &'static str,
    act: Act,
) -> Result<Json, Fault> {
    let (store, layer) = opened(id)?;
    record(server, &layer, decision, &paths)?;
    let selection = selection(&layer, paths)?;
    let merged = act(&store, &layer, &selection).map_err(|error| failed(&error))?;
    Ok(Json::of(&Done::of(&layer, decision, &merged)))
}

fn opened(id: &str) -> Result<(ReviewStore, ReviewLayer), Fault> {
    let store = ReviewStore::of_user().map_err(|error| failed(&ReviewError::Store(error)))?;
    let store = store.ok_or_else(|| failed(&ReviewError::Unknown(id.to_owned())))?;
    let layer = store.layer(id).map_err(|error| failed(&error))?;
    Ok((store, layer))
}

fn selection(layer: &ReviewLayer, paths: Vec<PathBuf>) -> Result<ChangeSelection, Fault> {
    if paths.is_empty() {
        return Ok(ChangeSelection::All);
    }
    let below = |path: PathBuf| {
        let below = path.strip_prefix(layer.workspace()).map(PathBuf::from).unwrap_or(path);
        let is_plain = below.components().all(|part| matches!(part, Component::Normal(_)));
        if is_plain { Ok(below) } else { Err(failed(&ReviewError::NoSuchPath(below))) }
    };
    Ok(ChangeSelection::Paths(paths.into_iter().map(below).collect::<Result<_, _>>()?))
}

/// Puts on record what is decided, before it is done.
fn record(
    server: &Server,
    layer: &ReviewLayer,
    decision: &'static str,
    paths: &[PathBuf],
) -> Result<(), Fault> {
    let Some(trail) = server.trail.get(None)? else { return Ok(()) };
    let paths: Vec<String> = paths.iter().map(|path| path.to_string_lossy().into_owned()).collect();
    let event = AuditEvent::new(EventKind::ChangesDecided).with("changes", layer.id());
    let event = event.with("decision", decision).with("command", layer.command()).with("paths", paths);
    let event = event.with("workspace", layer.workspace().to_string_lossy().into_owned());
    trail.record(event).map(drop).map_err(|error| unrecorded(&error))
}

/// What is answered where nothing was done: the reason, and what helps.
fn failed(error: &ReviewError) -> Fault {
    let code = match error {
        ReviewError::Unknown(_) | ReviewError::Nothing | ReviewError::NoSuchPath(_) => fault::PARAMETERS,
        ReviewError::Busy | ReviewError::Running(_) => fault::BUSY,
        _ => fault::INTERNAL,
    };
    Fault::new(code, error.to_string()).with(json!({"help": error.help()}))
}
