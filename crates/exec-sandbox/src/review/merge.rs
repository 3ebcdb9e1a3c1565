//! Carries changes into a workspace and back, by renames that are written down before the first of them: a change is made or it
//! is not, and which of the two shows by the number of the file that lies there. Whoever is killed on the way leaves a journal, and
//! the next one goes on from it.
//!
//! What is replaced or deleted goes into the slot of its change and is kept there as it was, with its mode, times, attributes and
//! other names. Where the layer lies on another file system than the workspace, slots are made in a folder of the workspace for as
//! long as it takes, and what was in them is copied.

#![expect(clippy::disallowed_methods, reason = "changes files of workspaces, as a person wants it")]

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, Mode, OFlags, RenameFlags, StatxFlags, chmod, chownat, fstat, linkat, mkdirat, openat,
    renameat_with, statx, unlinkat,
};
use rustix::io::Errno;
use rustix::process::{Gid, Uid};

use super::about::{SLOTS, identity_at};
use super::at::{FOLDER, Identity, Look, Tree, is_gone, look, own_path_of};
use super::attributes;
use super::change::{ChangeKind, ChangeState, FileChange};
use super::copy::{copy_one, timed};
use super::crash;
use super::error::ReviewError;
use super::indexes::{Indexes, When, is_index};
use super::layer::{ReviewLayer, Settled};
use super::manifest::Manifest;
use super::record::{
    Rows, bytes_of, identity_of, identity_text, look_of, look_text, number_of, path_of, read,
};
use super::select::{ChangeSelection, Changes, Chosen, Conflict, to_apply, to_undo};
use super::store::ReviewStore;

/// How the folder in a workspace is called that stands in for it on another file system.
const SLOTS_BESIDE: &str = ".stockade-changes-";

const JOURNAL: &str = "journal";
const JOURNAL_FIELDS: usize = 4;
const FOLDERS: &str = "folders";
const FOLDERS_FIELDS: usize = 2;

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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Apply,
    Undo,
}

impl Way {
    const fn name(self) -> &'static str {
        match self {
            Self::Apply => "apply",
            Self::Undo => "undo",
        }
    }
}

/// One step: the change with this number, and which files change places.
#[derive(Debug, Clone, Copy)]
struct Step {
    number: usize,
    /// What comes to lie in the workspace.
    comes: Option<Identity>,
    /// What lies there before.
    goes: Option<Identity>,
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

/// Where things change places.
struct Slots {
    tree: Tree,
    /// Whether that is in the workspace, since the layer lies on another file system.
    beside: bool,
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

    /// Puts what is to come into its slots. The workspace is as it was.
    fn stage(&self, way: Way, changes: &[FileChange], order: &[usize]) -> io::Result<Vec<Step>> {
        if way == Way::Apply {
            self.remember_folders(changes, order)?;
        }
        let mut order = order.to_vec();
        if way == Way::Undo {
            order.reverse();
        }
        let view = Tree::open(&self.layer.path.join(self.layer.view().folder()))?;
        let kept = Tree::open(&self.layer.path.join(SLOTS))?;
        let mut steps = Vec::with_capacity(order.len());
        let mut copied = BTreeMap::new();
        for number in order {
            let Some(change) = changes.get(number) else { continue };
            let slot = PathBuf::from(number.to_string());
            let brings = change.kind != ChangeKind::Mode
                && match way {
                    Way::Apply => change.after.is_some(),
                    Way::Undo => change.before.is_some(),
                };
            if brings && self.slots.tree.look(&slot)?.is_none() {
                match (way, self.slots.beside) {
                    (Way::Apply, beside) => {
                        self.bring(change, &view, &slot, beside.then_some(&mut copied))?;
                    }
                    (Way::Undo, true) => copy_one((&kept, &slot), (&self.slots.tree, &slot))?,
                    (Way::Undo, false) => return Err(io::ErrorKind::NotFound.into()),
                }
            }
            let comes = self.slots.tree.look(&slot)?.filter(|_| brings).map(|look| look.identity);
            let goes = self.workspace.look(&change.path)?.map(|look| look.identity);
            steps.push(Step { number, comes, goes });
        }
        Ok(steps)
    }

    /// Brings what a command made from its view into a slot. A folder is made anew: what lies in it comes by itself.
    /// What is copied, and has several names, keeps them.
    fn bring(
        &self,
        change: &FileChange,
        view: &Tree,
        slot: &Path,
        copied: Option<&mut BTreeMap<Identity, PathBuf>>,
    ) -> io::Result<()> {
        let Some(after) = change.after else { return Ok(()) };
        let (from, name) = view.parent(&change.path)?;
        let (to, slot_name) = self.slots.tree.parent(slot)?;
        crash::point()?;
        if after.is_folder() {
            mkdirat(&*to, slot_name, Mode::RWXU)?;
            let made = own_path_of(to.as_fd(), slot_name);
            attributes::copy(&own_path_of(from.as_fd(), name), &made)?;
            return owned(to.as_fd(), slot_name, after.owner);
        }
        attributes::strip(from.as_fd(), name, &after)?;
        if let Some(copied) = copied {
            let has_names = after.links > 1;
            if has_names && let Some(known) = copied.get(&after.identity) {
                return Ok(linkat(&*to, known, &*to, slot_name, AtFlags::empty())?);
            }
            copied.insert(after.identity, slot.to_path_buf());
            return copy_one((view, &change.path), (&self.slots.tree, slot));
        }
        Ok(renameat_with(&*from, name, &*to, slot_name, RenameFlags::NOREPLACE)?)
    }

    /// Writes down what will be done. From here on it is done, whoever does it.
    fn commit(&self, way: Way, steps: &[Step]) -> io::Result<()> {
        let mut rows = Rows::default();
        for step in steps {
            let (comes, goes) = (identity_text(step.comes), identity_text(step.goes));
            rows.row([
                way.name().as_bytes(),
                step.number.to_string().as_bytes(),
                comes.as_bytes(),
                goes.as_bytes(),
            ]);
        }
        rows.write(&self.layer.folder, JOURNAL)
    }

    fn journal(&self) -> io::Result<Option<(Way, Vec<Step>)>> {
        let Some(rows) = read(&self.layer.folder, JOURNAL, JOURNAL_FIELDS)? else { return Ok(None) };
        let mut way = Way::Apply;
        let mut steps = Vec::with_capacity(rows.len());
        for row in &rows {
            let [name, number, comes, goes] = row.as_slice() else { continue };
            way = if name == b"undo" { Way::Undo } else { Way::Apply };
            let (comes, goes) = (identity_of(comes), identity_of(goes));
            steps.push(Step { number: number_of(number)?, comes, goes });
        }
        Ok(Some((way, steps)))
    }

    /// Does what is written down, as far as it is not done, and forgets it.
    fn finish(&self, way: Way, changes: &[FileChange], steps: &[Step]) -> io::Result<()> {
        self.open_folders(changes, steps)?;
        for step in steps {
            if let Some(change) = changes.get(step.number) {
                self.take(way, change, *step)?;
            }
        }
        self.workspace.forget();
        if self.slots.beside && way == Way::Apply {
            self.keep_copies(changes, steps)?;
        }
        self.modes(way, changes, steps)?;
        let mut status = self.layer.status()?;
        for step in steps {
            let Some(change) = changes.get(step.number) else { continue };
            match way {
                Way::Apply => {
                    status.insert(step.number, Settled::Applied(self.workspace.look(&change.path)?));
                }
                Way::Undo => drop(status.remove(&step.number)),
            }
        }
        if way == Way::Apply {
            let mut indexes = Indexes::load(&self.layer.folder, When::Applied)?;
            let paths = steps.iter().filter_map(|step| Some(changes.get(step.number)?.path.as_path()));
            paths.filter(|path| is_index(path)).for_each(|path| indexes.note(&self.workspace, path));
            indexes.save(&self.layer.folder, When::Applied)?;
        }
        self.layer.write_status(&status)?;
        if way == Way::Undo {
            self.times(changes, steps)?;
            if self.slots.beside {
                self.stand_for_the_old(changes, steps)?;
            }
        }
        if way == Way::Undo || self.slots.beside {
            self.unstage_these(changes, &status.keys().copied().collect())?;
        }
        crash::point()?;
        unlinkat(&self.layer.folder, JOURNAL, AtFlags::empty())?;
        self.slots.close(self.layer, &self.workspace)
    }

    /// Lets what lies in the workspace and what lies in the slot change places, unless they have.
    fn take(&self, way: Way, change: &FileChange, step: Step) -> io::Result<()> {
        if change.kind == ChangeKind::Mode {
            return Ok(());
        }
        let slot = step.number.to_string();
        let (to, name) = match self.workspace.parent(&change.path) {
            // The folder around it went after it, before whoever did that was killed.
            Err(error) if is_gone(&error) && step.comes.is_none() => return Ok(()),
            found => found?,
        };
        let found = look(to.as_fd(), name)?;
        let now = found.map(|look| look.identity);
        // It is done, or somebody put something else there since it was begun: that is left alone.
        if now == step.comes || now != step.goes {
            return Ok(());
        }
        let slots = self.slots.tree.root();
        let is_folder = found.is_some_and(|look| look.is_folder());
        let comes_as_folder = match way {
            Way::Apply => change.makes_a_folder(),
            Way::Undo => change.takes_a_folder(),
        };
        crash::point()?;
        if comes_as_folder && way == Way::Undo {
            // What lay in it comes next.
            chmod(own_path_of(slots, slot.as_ref()), Mode::RWXU)?;
        }
        let moved = || -> rustix::io::Result<()> {
            match (step.comes, step.goes) {
                (Some(_), Some(_)) => renameat_with(slots, &slot, &*to, name, RenameFlags::EXCHANGE),
                (Some(_), None) => renameat_with(slots, &slot, &*to, name, RenameFlags::NOREPLACE),
                (None, Some(_)) => renameat_with(&*to, name, slots, &slot, RenameFlags::NOREPLACE),
                (None, None) => Ok(()),
            }
        };
        match moved() {
            // A folder is moved to another only by who may write it: its `..` changes.
            Err(Errno::ACCESS) if is_folder || comes_as_folder => {
                let open = |folder: std::os::fd::BorrowedFd<'_>, name: &std::ffi::OsStr| {
                    chmod(own_path_of(folder, name), Mode::RWXU)
                };
                if is_folder {
                    open(to.as_fd(), name)?;
                }
                if comes_as_folder {
                    open(slots, slot.as_ref())?;
                }
                moved()?;
            }
            moved => moved?,
        }
        if is_folder || comes_as_folder {
            self.workspace.forget();
        }
        Ok(())
    }

    /// Lets the owner of folders write to them that change themselves, for as long as it takes. The outermost come first.
    fn open_folders(&self, changes: &[FileChange], steps: &[Step]) -> io::Result<()> {
        let is_meant = |change: &&FileChange| {
            [change.before, change.after].into_iter().flatten().any(|look| look.is_folder())
        };
        let changed = steps.iter().filter_map(|step| changes.get(step.number)).filter(is_meant);
        let paths: BTreeSet<&Path> = changed.map(|change| change.path.as_path()).collect();
        for path in paths {
            let now = self.workspace.look(path)?;
            if let Some(now) = now.filter(|now| now.is_folder() && now.mode & 0o700 != 0o700) {
                self.set_mode(path, now.mode | 0o700)?;
            }
        }
        Ok(())
    }

    /// Gives folders the modes that they have in the end, the innermost first.
    fn modes(&self, way: Way, changes: &[FileChange], steps: &[Step]) -> io::Result<()> {
        let mut changed: Vec<&FileChange> =
            steps.iter().filter_map(|step| changes.get(step.number)).collect();
        changed.sort_by(|one, other| other.path.cmp(&one.path));
        for change in changed {
            let meant = match way {
                Way::Apply => change.after,
                Way::Undo => change.before,
            };
            let Some(meant) = meant.filter(Look::is_folder) else { continue };
            let Some(now) = self.workspace.look(&change.path)?.filter(Look::is_folder) else {
                continue;
            };
            if now.mode != meant.mode {
                self.set_mode(&change.path, meant.mode)?;
            }
            if change.kind != ChangeKind::Mode {
                self.set_time(&change.path, meant.modified)?;
            }
        }
        Ok(())
    }

    fn set_mode(&self, path: &Path, mode: u32) -> io::Result<()> {
        let (folder, name) = self.workspace.parent(path)?;
        // By an open descriptor: a link in its place is none of ours.
        let opened = openat(&*folder, name, FOLDER | OFlags::PATH, Mode::empty())?;
        crash::point()?;
        Ok(chmod(super::at::own_path(opened.as_fd()), Mode::from_raw_mode(mode))?)
    }

    fn set_time(&self, path: &Path, modified: (i64, u64)) -> io::Result<()> {
        let folder;
        let (at, name): (&OwnedFd, &std::ffi::OsStr) = match path.file_name() {
            Some(_) => {
                let (parent, name) = self.workspace.parent(path)?;
                folder = parent;
                (&folder, name)
            }
            None => {
                folder = self.workspace.folder(path)?;
                (&folder, ".".as_ref())
            }
        };
        timed((at.as_fd(), name), modified)
    }

    /// Writes down when something was last put into the folders that change: undone, they say it again.
    fn remember_folders(&self, changes: &[FileChange], order: &[usize]) -> io::Result<()> {
        let mut known = self.folders()?;
        let paths: BTreeSet<&Path> = order
            .iter()
            .filter_map(|number| changes.get(*number)?.path.parent())
            .filter(|path| !known.iter().any(|(known, _)| known == path))
            .collect();
        for path in paths {
            let found = match path.file_name() {
                Some(_) => self.workspace.look(path)?,
                None => Some(Look::of(&fstat(self.workspace.root())?)),
            };
            known.extend(found.map(|found| (path.to_path_buf(), found)));
        }
        let mut rows = Rows::default();
        known.iter().for_each(|(path, look)| rows.row([bytes_of(path), look_text(look).as_bytes()]));
        rows.write(&self.layer.folder, FOLDERS)
    }

    fn folders(&self) -> io::Result<Vec<(PathBuf, Look)>> {
        let rows = read(&self.layer.folder, FOLDERS, FOLDERS_FIELDS)?.unwrap_or_default();
        let row = |row: Vec<Vec<u8>>| {
            let [path, look] = row.as_slice() else { return Err(io::ErrorKind::InvalidData.into()) };
            Ok((path_of(path), look_of(look)?))
        };
        rows.into_iter().map(row).collect()
    }

    /// Gives the folders their times back in which something was undone.
    fn times(&self, changes: &[FileChange], steps: &[Step]) -> io::Result<()> {
        let around: BTreeSet<&Path> =
            steps.iter().filter_map(|step| changes.get(step.number)?.path.parent()).collect();
        for (path, then) in self.folders()?.into_iter().filter(|(path, _)| around.contains(path.as_path())) {
            let now = match path.file_name() {
                Some(_) => self.workspace.look(&path)?,
                None => Some(Look::of(&fstat(self.workspace.root())?)),
            };
            if now.is_some_and(|now| now.identity == then.identity && now.modified != then.modified) {
                crash::point()?;
                self.set_time(&path, then.modified)?;
            }
        }
        Ok(())
    }

    /// What was copied back is what there was from now on.
    fn stand_for_the_old(&self, changes: &[FileChange], steps: &[Step]) -> io::Result<()> {
        let Some(mut base) = Manifest::load(&self.layer.folder)? else { return Ok(()) };
        for change in steps.iter().filter_map(|step| changes.get(step.number)) {
            if let Some((entry, now)) =
                base.entries.get_mut(&change.path).zip(self.workspace.look(&change.path)?)
            {
                entry.look = now;
            }
        }
        base.save(&self.layer.folder)
    }

    /// Puts everything back into the view that lies in the slot of a change that is not applied.
    fn unstage(&self, changes: &[FileChange]) -> io::Result<()> {
        let applied = self.layer.status()?.into_keys().collect();
        self.unstage_these(changes, &applied)?;
        self.slots.close(self.layer, &self.workspace)
    }

    fn unstage_these(&self, changes: &[FileChange], applied: &BTreeSet<usize>) -> io::Result<()> {
        let view = Tree::open(&self.layer.path.join(self.layer.view().folder()))?;
        let kept = openat(&self.layer.folder, SLOTS, FOLDER, Mode::empty())?;
        for name in crate::quarantine::names(&kept)? {
            let number = name.to_str().and_then(|name| name.parse::<usize>().ok());
            let Some(number) = number.filter(|number| !applied.contains(number)) else { continue };
            let Some((change, found)) = changes.get(number).zip(look(kept.as_fd(), &name)?) else { continue };
            crash::point()?;
            // Folders stand in the view still, and of what was replaced on another file system this is a copy.
            if found.is_folder() {
                unlinkat(&kept, &name, AtFlags::REMOVEDIR)?;
                continue;
            }
            if change.after.is_none() {
                unlinkat(&kept, &name, AtFlags::empty())?;
                continue;
            }
            let (to, own) = view.parent(&change.path)?;
            match renameat_with(&kept, &name, &*to, own, RenameFlags::NOREPLACE) {
                Err(Errno::EXIST) => unlinkat(&kept, &name, AtFlags::empty())?,
                moved => moved?,
            }
        }
        Ok(())
    }

    /// Copies what was replaced from the workspace's file system to the layer's.
    fn keep_copies(&self, changes: &[FileChange], steps: &[Step]) -> io::Result<()> {
        let kept = Tree::open(&self.layer.path.join(SLOTS))?;
        for step in steps.iter().filter(|step| step.goes.is_some()) {
            let is_mode = changes.get(step.number).is_none_or(|change| change.kind == ChangeKind::Mode);
            let slot = PathBuf::from(step.number.to_string());
            let old = self.slots.tree.look(&slot)?.filter(|old| Some(old.identity) == step.goes);
            if old.is_some() && !is_mode {
                // One that was begun is not complete.
                unlinkat(kept.root(), &slot, AtFlags::empty()).or_else(|error| match error {
                    Errno::NOENT => Ok(()),
                    Errno::ISDIR => unlinkat(kept.root(), &slot, AtFlags::REMOVEDIR),
                    error => Err(error),
                })?;
                crash::point()?;
                copy_one((&self.slots.tree, &slot), (&kept, &slot))?;
            }
        }
        Ok(())
    }
}

impl Slots {
    fn open(layer: &ReviewLayer, workspace: &Tree) -> io::Result<Self> {
        match mkdirat(&layer.folder, SLOTS, Mode::RWXU) {
            Err(Errno::EXIST) => {}
            made => made?,
        }
        let own = openat(&layer.folder, SLOTS, FOLDER, Mode::empty())?;
        if is_same_mount(own.as_fd(), workspace.root())? {
            return Ok(Self { tree: Tree::of(own), beside: false });
        }
        let name = Self::beside(layer);
        let before = Look::of(&fstat(workspace.root())?).modified;
        match mkdirat(workspace.root(), &name, Mode::RWXU) {
            Err(Errno::EXIST) => {}
            made => {
                made?;
                timed((workspace.root(), ".".as_ref()), before)?;
            }
        }
        let beside = openat(workspace.root(), &name, FOLDER, Mode::empty())?;
        // One that somebody else laid out is none of ours.
        let found = Look::of(&fstat(&beside)?);
        if found.owner.0 != rustix::process::geteuid().as_raw() || found.mode != 0o700 {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        Ok(Self { tree: Tree::of(beside), beside: true })
    }

    fn beside(layer: &ReviewLayer) -> String {
        format!("{SLOTS_BESIDE}{}", layer.id())
    }

    /// Removes slots that stood in the workspace.
    fn close(&self, layer: &ReviewLayer, workspace: &Tree) -> io::Result<()> {
        if !self.beside {
            return Ok(());
        }
        let before = Look::of(&fstat(workspace.root())?).modified;
        for name in crate::quarantine::names(&openat(self.tree.root(), ".", FOLDER, Mode::empty())?)? {
            crash::point()?;
            crate::quarantine::remove_all(&openat(self.tree.root(), ".", FOLDER, Mode::empty())?, &name)?;
        }
        let beside = Self::beside(layer);
        match unlinkat(workspace.root(), &beside, AtFlags::REMOVEDIR) {
            Err(Errno::NOENT) => {}
            removed => removed?,
        }
        timed((workspace.root(), ".".as_ref()), before)
    }
}

/// Whether things may be moved from one folder to the other.
fn is_same_mount(one: std::os::fd::BorrowedFd<'_>, other: std::os::fd::BorrowedFd<'_>) -> io::Result<bool> {
    let mount = |folder| -> io::Result<(u64, u64)> {
        let found = statx(folder, "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID)?;
        Ok((found.stx_mnt_id, rustix::fs::makedev(found.stx_dev_major, found.stx_dev_minor)))
    };
    Ok(mount(one)? == mount(other)?)
}

/// Gives something the owner that it has in the view.
fn owned(
    folder: std::os::fd::BorrowedFd<'_>,
    name: &std::ffi::OsStr,
    (user, group): (u32, u32),
) -> io::Result<()> {
    let now = look(folder, name)?.map(|look| look.owner);
    if now == Some((user, group)) {
        return Ok(());
    }
    let (user, group) = (Uid::from_raw(user), Gid::from_raw(group));
    Ok(chownat(folder, name, Some(user), Some(group), AtFlags::SYMLINK_NOFOLLOW)?)
}
