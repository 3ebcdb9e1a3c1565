//! Carries changes into a workspace and back, by renames that are written down before the first of them: a change is made or it
//! is not, and which of the two shows by the number of the file that lies there. Whoever is killed on the way leaves a journal, and
//! the next one goes on from it.
//!
//! What is replaced or deleted goes into the slot of its change and is kept there as it was, with its mode, times, attributes and
//! other names. Where the layer lies on another file system than the workspace, slots are made in a folder of the workspace for as
//! long as it takes, and what was in them is copied.

mod finish;
mod folders;
mod journal;
mod slots;
mod stage;

use std::io;
use std::os::fd::AsFd as _;
use std::path::PathBuf;

use self::journal::{JOURNAL, Way};
use self::slots::Slots;
use super::about::identity_at;
use super::at::{Tree, look};
use super::change::{ChangeState, FileChange};
use super::error::ReviewError;
use super::indexes::{Indexes, When};
use super::layer::{ReviewLayer, Settled};
use super::manifest::Manifest;
use super::select::{ChangeSelection, Changes, Chosen, Conflict, to_apply, to_undo};
use super::store::ReviewStore;

/// What came of applying or undoing changes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Merged {
    /// The paths that are as they were to be.
    pub done: Vec<PathBuf>,
    /// What stood against others; nothing was done in its group.
    pub conflicts: Vec<Conflict>,
    /// What is never applied, and why.
    pub refused: Vec<(PathBuf, String)>,
}

impl ReviewStore {
    /// Applies changes of a layer to its workspace. What is in conflict with what the user did meanwhile is not, and with it
    /// nothing in the same repository.
    ///
    /// # Errors
    /// When the command is not over, the workspace is another one, or something stopped it on the way.
    pub fn apply(&self, layer: &ReviewLayer, selection: &ChangeSelection) -> Result<Merged, ReviewError> {
        let _lock = self.lock()?;
        let merging = Merging::begin(layer)?;
        let changes = layer.changes()?;
        layer.settle_view().map_err(ReviewError::Stopped)?;
        let by_path = Changes::new(&changes);
        let meant = by_path.meant(selection, ChangeState::Waiting)?;
        let indexes = Indexes::load(&layer.folder, When::Base).map_err(|source| layer.unreadable(source))?;
        let chosen = to_apply(&by_path, &meant, (&merging.base, &indexes), &merging.workspace);
        let chosen = chosen.map_err(ReviewError::Stopped)?;
        merging.carry_out(Way::Apply, &changes, chosen)
    }

    /// Takes changes of a layer back that were applied. They wait again then.
    ///
    /// # Errors
    /// As [`apply`](Self::apply).
    pub fn undo(&self, layer: &ReviewLayer, selection: &ChangeSelection) -> Result<Merged, ReviewError> {
        let _lock = self.lock()?;
        let merging = Merging::begin(layer)?;
        let changes = layer.changes()?;
        let status = layer.status().map_err(|source| layer.unreadable(source))?;
        let by_path = Changes::new(&changes);
        let meant = by_path.meant(selection, ChangeState::Applied)?;
        let indexes =
            Indexes::load(&layer.folder, When::Applied).map_err(|source| layer.unreadable(source))?;
        let chosen = to_undo(&by_path, &meant, (&merging.base, &indexes), &status, &merging.workspace);
        let chosen = chosen.map_err(ReviewError::Stopped)?;
        merging.carry_out(Way::Undo, &changes, chosen)
    }

    /// Gives changes up that wait, and returns how many. A layer in which nothing is left is removed.
    ///
    /// # Errors
    /// When the command is not over, or what is written about it cannot be read.
    pub fn discard(&self, layer: &ReviewLayer, selection: &ChangeSelection) -> Result<usize, ReviewError> {
        let _lock = self.lock()?;
        if !layer.is_over() {
            return Err(ReviewError::Running(layer.id().to_owned()));
        }
        // What was begun is completed first, where that is possible. Nobody needs the workspace to give the rest up.
        if let Ok(merging) = Merging::begin(layer) {
            drop(merging);
        }
        let changes = layer.read_changes().map_err(|source| layer.unreadable(source))?;
        let Some(changes) = changes.filter(|_| !is_unfinished(layer)) else {
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

    /// Goes on with what somebody was killed in.
    ///
    /// # Errors
    /// When something stands in the way still.
    pub fn resume(&self) -> Result<(), ReviewError> {
        let _lock = self.lock()?;
        for layer in self.layers()?.iter().filter(|layer| is_unfinished(layer)) {
            Merging::begin(layer)?;
        }
        Ok(())
    }
}

/// Whether somebody was killed while changes of a layer were carried out.
fn is_unfinished(layer: &ReviewLayer) -> bool {
    look(layer.folder.as_fd(), JOURNAL.as_ref()).is_ok_and(|found| found.is_some())
}

struct Merging<'m> {
    layer: &'m ReviewLayer,
    workspace: Tree,
    base: Manifest,
    slots: Slots,
}

impl<'m> Merging<'m> {
    /// Opens a workspace and its layer, and goes on with what somebody was killed in.
    fn begin(layer: &'m ReviewLayer) -> Result<Self, ReviewError> {
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
        let slots = Slots::open(layer, &workspace).map_err(ReviewError::Stopped)?;
        let merging = Self { layer, workspace, base, slots };
        merging.recover().map_err(ReviewError::Stopped)?;
        Ok(merging)
    }

    /// Completes what was begun; where it was not written down to its end, nothing was changed, and what was made ready goes back.
    fn recover(&self) -> io::Result<()> {
        let Some(changes) = self.layer.read_changes()? else { return Ok(()) };
        match self.journal()? {
            Some((way, steps)) => self.finish(way, &changes, &steps),
            None => self.unstage(&changes),
        }
    }

    fn carry_out(mut self, way: Way, changes: &[FileChange], chosen: Chosen) -> Result<Merged, ReviewError> {
        let done = chosen.order.iter().filter_map(|number| changes.get(*number));
        let done = done.map(|change| change.path.clone()).collect();
        if !chosen.order.is_empty() {
            // Where slots lie in the workspace, those that something was completed in are gone.
            self.slots = Slots::open(self.layer, &self.workspace).map_err(ReviewError::Stopped)?;
            let carried = || -> io::Result<()> {
                let steps = self.stage(way, changes, &chosen.order)?;
                self.commit(way, &steps)?;
                self.finish(way, changes, &steps)
            };
            carried().map_err(ReviewError::Stopped)?;
        }
        Ok(Merged { done, conflicts: chosen.conflicts, refused: chosen.refused })
    }
}
