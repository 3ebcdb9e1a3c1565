//! Applies and undoes changes by renames, with a write-ahead journal: each change is either done or not, which the inode
//! number of the file shows. If the program is killed, the next one continues from the journal.
//!
//! Replaced and deleted files are moved to the slot of their change, and keep their mode, times, attributes and hard links. Files
//! that would run a program together with existing files are quarantined afterwards. If the layer is on another file system than
//! the workspace, slots are created in a directory of the workspace during the merge, and their content is copied.

mod finish;
mod folders;
mod guard;
mod journal;
mod slots;
mod stage;

use std::io;
use std::path::{Path, PathBuf};

use self::guard::{Guard, why_taken};
use self::journal::Op;
use self::slots::Slots;
use super::about::identity_at;
use super::at::Tree;
use super::change::{ChangeState, FileChange};
use super::error::ReviewError;
use super::indexes::{Indexes, When};
use super::layer::{ReviewLayer, Settled};
use super::manifest::Manifest;
use super::select::{ChangeSelection, Changes, Chosen, Conflict, to_apply, to_undo};
use super::store::ReviewStore;
use crate::quarantined::Quarantined;

/// The result of applying or undoing changes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Merged {
    /// The processed paths.
    pub done: Vec<PathBuf>,
    /// Conflicts; no change of their groups was processed.
    pub conflicts: Vec<Conflict>,
    /// Changes that are never applied, with the reason.
    pub refused: Vec<(PathBuf, String)>,
}

/// A layer with an interrupted merge that was continued.
#[derive(Debug)]
#[non_exhaustive]
pub struct ResumedLayer {
    /// The identifier of the changes.
    pub id: String,
    /// The quarantined paths with the reason, or why the merge still cannot be completed.
    pub swept: Result<Vec<(PathBuf, String)>, ReviewError>,
}

impl ReviewStore {
    /// Applies changes of a layer to its workspace. A conflict with the user's later changes prevents all changes of the same
    /// repository.
    ///
    /// # Errors
    /// When the command still runs, the workspace was replaced, or the merge was interrupted.
    pub fn apply(&self, layer: &ReviewLayer, selection: &ChangeSelection) -> Result<Merged, ReviewError> {
        let _lock = self.lock()?;
        let merging = Merging::begin(self, layer)?;
        let mut changes = layer.changes()?;
        layer.settle_view().map_err(ReviewError::Stopped)?;
        let guard = Guard::begin(self.state(), layer, Op::Apply).map_err(ReviewError::Store)?;
        guard.refuse(&mut changes);
        let by_path = Changes::new(&changes);
        let meant = by_path.meant(selection, ChangeState::Waiting)?;
        let indexes = Indexes::load(&layer.folder, When::Base).map_err(|source| layer.unreadable(source))?;
        let chosen = to_apply(&by_path, &meant, (&merging.base, &indexes), &merging.workspace);
        let chosen = chosen.map_err(ReviewError::Stopped)?;
        merging.carry_out(Op::Apply, &changes, chosen, guard)
    }

    /// Undoes applied changes of a layer, which are pending again then.
    ///
    /// # Errors
    /// As [`apply`](Self::apply).
    pub fn undo(&self, layer: &ReviewLayer, selection: &ChangeSelection) -> Result<Merged, ReviewError> {
        let _lock = self.lock()?;
        let merging = Merging::begin(self, layer)?;
        let mut changes = layer.changes()?;
        let guard = Guard::begin(self.state(), layer, Op::Undo).map_err(ReviewError::Store)?;
        guard.refuse(&mut changes);
        let status = layer.status().map_err(|source| layer.unreadable(source))?;
        let by_path = Changes::new(&changes);
        let meant = by_path.meant(selection, ChangeState::Applied)?;
        let indexes =
            Indexes::load(&layer.folder, When::Applied).map_err(|source| layer.unreadable(source))?;
        let chosen = to_undo(&by_path, &meant, (&merging.base, &indexes), &status, &merging.workspace);
        let chosen = chosen.map_err(ReviewError::Stopped)?;
        merging.carry_out(Op::Undo, &changes, chosen, guard)
    }

    /// Discards pending changes, and returns how many. An empty layer is deleted.
    ///
    /// # Errors
    /// When the command still runs, or its record cannot be read.
    pub fn discard(&self, layer: &ReviewLayer, selection: &ChangeSelection) -> Result<usize, ReviewError> {
        let _lock = self.lock()?;
        if !layer.is_over() {
            return Err(ReviewError::Running(layer.id().to_owned()));
        }
        // An interrupted merge is completed first, if possible. Discarding the rest does not need the workspace.
        if let Ok(merging) = Merging::begin(self, layer) {
            drop(merging);
        }
        let changes = layer.read_changes().map_err(|source| layer.unreadable(source))?;
        let Some(changes) = changes.filter(|_| !layer.has_journal()) else {
            self.remove(layer.id()).map_err(ReviewError::Store)?;
            return Ok(0);
        };
        let by_path = Changes::new(&changes);
        let meant = by_path.meant(selection, ChangeState::Waiting)?;
        let mut status = layer.status().map_err(|source| layer.unreadable(source))?;
        status.extend(meant.iter().map(|number| (*number, Settled::Discarded)));
        if status.values().all(|settled| *settled == Settled::Discarded) && status.len() == changes.len() {
            self.remove(layer.id()).map_err(ReviewError::Store)?;
        } else {
            layer.write_status(&status).map_err(ReviewError::Store)?;
        }
        Ok(meant.len())
    }

    /// Continues interrupted merges, and returns their results.
    ///
    /// # Errors
    /// When the layers cannot be read, or another program is working on one.
    pub fn resume(&self) -> Result<Vec<ResumedLayer>, ReviewError> {
        if !self.layers()?.iter().any(ReviewLayer::is_unfinished) {
            return Ok(Vec::new());
        }
        let _lock = self.lock()?;
        let unfinished = self.layers()?.into_iter().filter(ReviewLayer::is_unfinished);
        let resumed = |layer: ReviewLayer| ResumedLayer {
            id: layer.id().to_owned(),
            swept: Merging::begin(self, &layer).map(|merging| merging.swept),
        };
        Ok(unfinished.map(resumed).collect())
    }
}

struct Merging<'m> {
    layer: &'m ReviewLayer,
    workspace: Tree,
    base: Manifest,
    slots: Slots,
    /// Quarantined paths of an interrupted merge, with the reason.
    swept: Vec<(PathBuf, String)>,
}

impl<'m> Merging<'m> {
    /// Opens a workspace and its layer, and continues an interrupted merge.
    fn begin(store: &ReviewStore, layer: &'m ReviewLayer) -> Result<Self, ReviewError> {
        if !layer.is_over() {
            return Err(ReviewError::Running(layer.id().to_owned()));
        }
        let path = layer.workspace();
        let other = || ReviewError::OtherWorkspace(path.to_path_buf());
        if identity_at(path).ok() != Some(layer.about.workspace_identity) {
            return Err(other());
        }
        let workspace = Tree::open(path).map_err(|_| other())?;
        let base = Manifest::load(&layer.folder).map_err(|source| layer.unreadable(source))?;
        let base = base.ok_or_else(|| layer.unreadable(io::ErrorKind::NotFound.into()))?;
        let slots = Slots::open(layer, &workspace, true).map_err(ReviewError::Stopped)?;
        let mut merging = Self { layer, workspace, base, slots, swept: Vec::new() };
        merging.swept = merging.recover(store).map_err(ReviewError::Stopped)?;
        Ok(merging)
    }

    /// Completes a committed merge, or rolls back one that was interrupted before the commit, when the workspace was unchanged.
    fn recover(&self, store: &ReviewStore) -> io::Result<Vec<(PathBuf, String)>> {
        let Some(changes) = self.layer.read_changes()? else {
            self.slots.close(self.layer, &self.workspace)?;
            return Ok(Vec::new());
        };
        let Some((op, steps)) = journal::load(&self.layer.folder)? else {
            self.unstage(&changes)?;
            return Ok(Vec::new());
        };
        let guard = Guard::go_on(store.state(), self.layer, (op, &steps), &changes)?;
        let finished = self.finish(op, &changes, &steps);
        let taken = guard.end();
        // The cached directory may have been moved.
        self.workspace.forget();
        finished?;
        self.give_up(&changes, &taken)?;
        Ok(told(taken))
    }

    fn carry_out(
        mut self,
        op: Op,
        changes: &[FileChange],
        chosen: Chosen,
        guard: Guard<'_>,
    ) -> Result<Merged, ReviewError> {
        let done = chosen.order.iter().filter_map(|number| changes.get(*number));
        let done = done.map(|change| change.path.clone()).collect();
        let mut merged = Merged { done, conflicts: chosen.conflicts, refused: chosen.refused };
        let taken = if chosen.order.is_empty() {
            guard.leave()
        } else {
            // Slots in the workspace were deleted when the merge was completed.
            self.slots = Slots::open(self.layer, &self.workspace, false).map_err(ReviewError::Stopped)?;
            let carried = || -> io::Result<()> {
                let steps = self.stage(op, changes, &chosen.order)?;
                journal::write(&self.layer.folder, op, &steps)?;
                self.finish(op, changes, &steps)
            };
            let carried = carried();
            // Sweep even after an error.
            let taken = guard.end();
            carried.and_then(|()| self.give_up(changes, &taken)).map_err(ReviewError::Stopped)?;
            taken
        };
        merged.done.retain(|path| !is_taken(&taken, path));
        merged.refused.extend(self.swept.into_iter().chain(told(taken)));
        Ok(merged)
    }

    /// Marks quarantined changes as settled: only the files that they replaced can still be restored.
    fn give_up(&self, changes: &[FileChange], taken: &[Quarantined]) -> io::Result<()> {
        if taken.is_empty() {
            return Ok(());
        }
        let mut status = self.layer.status()?;
        for (number, settled) in &mut status {
            let change = changes.get(*number).filter(|change| is_taken(taken, &change.path));
            if let (Some(change), Settled::Applied(_)) = (change, *settled) {
                *settled = if change.before.is_some() { Settled::Applied(None) } else { Settled::Discarded };
            }
        }
        self.layer.write_status(&status)
    }
}

/// Whether a path, or one of its parents, was quarantined.
fn is_taken(taken: &[Quarantined], path: &Path) -> bool {
    taken.iter().any(|taken| taken.moved_to.is_some() && path.starts_with(&taken.path))
}

fn told(taken: Vec<Quarantined>) -> Vec<(PathBuf, String)> {
    taken.into_iter().map(|taken| (taken.path.clone(), why_taken(&taken))).collect()
}
