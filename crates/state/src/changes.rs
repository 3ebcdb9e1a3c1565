//! Changes in overlay workspaces: selecting them, and deciding about them. In every front end, changes are selected first, then
//! the decision is recorded, and only then it is carried out.

mod document;
mod unified;

pub use document::{
    ChangeSet, ChangesDecided, PathChange, ReviewOutcome, ShownChanges, decided_json, diff_json, list_json,
    show_json,
};
pub use unified::{MAX_DIFFED_FILE, diff};

use std::path::{Component, Path, PathBuf};

use stockade_guard::audit::{AuditEvent, EventKind, field};
use stockade_guard::exec::review::{
    ChangeSelection, FileChange, Merged, ResumedLayer, ReviewError, ReviewLayer, ReviewStore,
};

/// A decision about changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeDecision {
    /// Apply them to the workspace.
    Applied,
    /// Revert them after they were applied.
    Undone,
    /// Delete pending changes without applying them.
    Discarded,
}

impl ChangeDecision {
    /// Returns its stable name, for JSON and records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::Undone => "undone",
            Self::Discarded => "discarded",
        }
    }
}

/// Result of a decision.
#[derive(Debug)]
pub enum DecidedChanges {
    /// Changes were applied or undone.
    Merged(Merged),
    /// This number of changes was discarded.
    Discarded(usize),
}

/// The changes of this user, or only those of one workspace.
#[derive(Debug)]
pub struct Reviews {
    store: Option<ReviewStore>,
    workspace: Option<PathBuf>,
    /// Operations that were interrupted, and the results of completing them.
    pub resumed: Vec<ResumedLayer>,
}

impl Reviews {
    /// Opens the changes, and completes interrupted operations. An operation that cannot be completed is reported each time.
    pub fn open(workspace: Option<&Path>) -> Result<Self, ReviewError> {
        let store = ReviewStore::of_user().map_err(ReviewError::Store)?;
        let resumed = store.as_ref().and_then(|store| store.resume().ok()).unwrap_or_default();
        Ok(Self { store, workspace: workspace.map(Path::to_path_buf), resumed })
    }

    /// Returns the layers, the newest first.
    pub fn layers(&self) -> Result<Vec<ReviewLayer>, ReviewError> {
        let Some(store) = &self.store else { return Ok(Vec::new()) };
        let mut layers = store.layers()?;
        layers.retain(|layer| self.is_shown(layer));
        Ok(layers)
    }

    /// Returns the layer with this id or a unique prefix of it.
    pub fn layer(&self, id: &str) -> Result<ReviewLayer, ReviewError> {
        let unknown = || ReviewError::Unknown(id.to_owned());
        let store = self.store.as_ref().ok_or_else(unknown)?;
        if self.workspace.is_none() {
            return store.layer(id);
        }
        // Layers of other workspaces do not make a prefix ambiguous.
        let mut fitting = self.layers()?.into_iter().filter(|layer| layer.id().starts_with(id));
        match (fitting.next(), fitting.next()) {
            (Some(layer), None) if !id.is_empty() => Ok(layer),
            _ => Err(unknown()),
        }
    }

    fn is_shown(&self, layer: &ReviewLayer) -> bool {
        self.workspace.as_ref().is_none_or(|workspace| layer.workspace() == workspace)
    }

    /// Carries out a decision, after the changes are selected and the decision is recorded.
    pub fn decide<E: From<ReviewError>>(
        &self,
        layer: &ReviewLayer,
        decision: ChangeDecision,
        paths: &[PathBuf],
        record: impl FnOnce(AuditEvent) -> Result<(), E>,
    ) -> Result<DecidedChanges, E> {
        let store = self.store.as_ref().filter(|_| self.is_shown(layer));
        let store = store.ok_or_else(|| ReviewError::Unknown(layer.id().to_owned()))?;
        if !layer.is_over() {
            return Err(ReviewError::Running(layer.id().to_owned()).into());
        }
        let selection = selection(layer, paths)?;
        if !paths.is_empty() {
            all_meant(layer, &selection)?;
        }
        record(event(layer, decision, paths))?;
        Ok(match decision {
            ChangeDecision::Applied => DecidedChanges::Merged(store.apply(layer, &selection)?),
            ChangeDecision::Undone => DecidedChanges::Merged(store.undo(layer, &selection)?),
            ChangeDecision::Discarded => DecidedChanges::Discarded(store.discard(layer, &selection)?),
        })
    }
}

/// Returns the changes at and below these paths; without paths, all changes.
pub fn meant(layer: &ReviewLayer, paths: &[PathBuf]) -> Result<Vec<FileChange>, ReviewError> {
    all_meant(layer, &selection(layer, paths)?)
}

/// The selected changes, at most one for each path.
fn all_meant(layer: &ReviewLayer, selection: &ChangeSelection) -> Result<Vec<FileChange>, ReviewError> {
    let mut changes = layer.changes()?;
    let ChangeSelection::Paths(paths) = selection else { return Ok(changes) };
    let is_at = |path: &PathBuf| changes.iter().any(|change| change.path.starts_with(path));
    if let Some(path) = paths.iter().find(|path| !is_at(path)) {
        return Err(ReviewError::NoSuchPath(path.clone()));
    }
    changes.retain(|change| paths.iter().any(|path| change.path.starts_with(path)));
    Ok(changes)
}

fn selection(layer: &ReviewLayer, paths: &[PathBuf]) -> Result<ChangeSelection, ReviewError> {
    if paths.is_empty() {
        return Ok(ChangeSelection::All);
    }
    let below = paths.iter().map(|path| below(layer.workspace(), path));
    Ok(ChangeSelection::Paths(below.collect::<Result<_, _>>()?))
}

/// Returns a path relative to the workspace.
fn below(workspace: &Path, path: &Path) -> Result<PathBuf, ReviewError> {
    let below = path.strip_prefix(workspace).unwrap_or(path);
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if below.components().all(is_plain) {
        return Ok(below.components().filter(|part| matches!(part, Component::Normal(_))).collect());
    }
    Err(ReviewError::NoSuchPath(path.to_path_buf()))
}

/// Returns the record of a decision.
fn event(layer: &ReviewLayer, decision: ChangeDecision, paths: &[PathBuf]) -> AuditEvent {
    let paths: Vec<String> = paths.iter().map(|path| path.to_string_lossy().into_owned()).collect();
    let event = AuditEvent::new(EventKind::ChangesDecided).with(field::CHANGES, layer.id());
    let event = event.with(field::DECISION, decision.name()).with(field::COMMAND, layer.command());
    event.with(field::WORKSPACE, layer.workspace().to_string_lossy().into_owned()).with(field::PATHS, paths)
}
