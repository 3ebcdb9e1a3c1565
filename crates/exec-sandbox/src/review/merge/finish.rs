//! Performs the remaining steps of a journal, and records the result of each change.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, RenameFlags, chmod, renameat_with, unlinkat};
use rustix::io::Errno;

use super::Merging;
use super::journal::{Op, Step};
use crate::review::about::{JOURNAL, SLOTS};
use crate::review::at::{Tree, is_gone, look, own_path_of};
use crate::review::change::{ChangeKind, FileChange};
use crate::review::copy::copy_one;
use crate::review::crash;
use crate::review::indexes::{Indexes, When, is_index};
use crate::review::layer::Settled;
use crate::review::manifest::Manifest;

impl Merging<'_> {
    /// Performs the remaining steps of the journal, records the results, and deletes the journal.
    pub(super) fn finish(&self, op: Op, changes: &[FileChange], steps: &[Step]) -> io::Result<()> {
        self.open_folders(changes, steps)?;
        for step in steps {
            if let Some(change) = changes.get(step.number) {
                self.take(op, change, *step)?;
            }
        }
        self.workspace.forget();
        if self.slots.beside && op == Op::Apply {
            self.keep_copies(changes, steps)?;
        }
        self.modes(op, changes, steps)?;
        let mut status = self.layer.status()?;
        let mut has_left = false;
        for step in steps {
            let Some(change) = changes.get(step.number) else { continue };
            let now = self.workspace.look(&change.path)?;
            let slot = self.slots.tree.look(Path::new(&step.number.to_string()))?.map(|look| look.identity);
            // Another file is at its path, or its parent directory is gone.
            if step.comes.is_some() && slot == step.comes {
                has_left = true;
                continue;
            }
            let is_swept = step.comes.is_some() && now.map(|look| look.identity) != step.comes;
            match op {
                // The replaced file can still be restored.
                Op::Apply if is_swept && (step.goes.is_none() || slot != step.goes) => {
                    status.insert(step.number, Settled::Discarded);
                }
                Op::Apply => drop(status.insert(step.number, Settled::Applied(now))),
                Op::Undo => drop(status.remove(&step.number)),
            }
        }
        if op == Op::Apply {
            let mut indexes = Indexes::load(&self.layer.folder, When::Applied)?;
            let paths = steps.iter().filter_map(|step| Some(changes.get(step.number)?.path.as_path()));
            paths.filter(|path| is_index(path)).for_each(|path| indexes.note(&self.workspace, path));
            indexes.save(&self.layer.folder, When::Applied)?;
        }
        self.layer.write_status(&status)?;
        if op == Op::Undo {
            self.times(changes, steps)?;
            if self.slots.beside {
                self.stand_for_the_old(changes, steps)?;
            }
        }
        if op == Op::Undo || self.slots.beside || has_left {
            self.unstage_these(changes, &status.keys().copied().collect())?;
        }
        self.close_around()?;
        crash::point()?;
        unlinkat(&self.layer.folder, JOURNAL, AtFlags::empty())?;
        self.slots.close(self.layer, &self.workspace)
    }

    /// Exchanges the files in the workspace and in the slot, unless that is done already.
    fn take(&self, op: Op, change: &FileChange, step: Step) -> io::Result<()> {
        if change.kind == ChangeKind::Mode {
            return Ok(());
        }
        let slot = step.number.to_string();
        let (to, name) = match self.workspace.parent(&change.path) {
            // Its parent directory was moved after it before the interruption, or was quarantined since.
            Err(error) if is_gone(&error) => return Ok(()),
            found => found?,
        };
        let found = look(to.as_fd(), name)?;
        let now = found.map(|look| look.identity);
        // The step is done, or another program created a file there since: that is kept.
        if now == step.comes || now != step.goes {
            return Ok(());
        }
        let slots = self.slots.tree.root();
        // It was quarantined since.
        if step.comes.is_some() && look(slots, slot.as_ref())?.map(|look| look.identity) != step.comes {
            return Ok(());
        }
        let is_folder = found.is_some_and(|look| look.is_folder());
        let comes_as_folder = match op {
            Op::Apply => change.makes_a_folder(),
            Op::Undo => change.takes_a_folder(),
        };
        crash::point()?;
        if comes_as_folder && op == Op::Undo {
            // Its entries are moved next.
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
            // Moving a directory to another parent needs write permission on the directory itself, because its `..` changes.
            Err(Errno::ACCESS) if is_folder || comes_as_folder => {
                let open =
                    |folder: BorrowedFd<'_>, name: &OsStr| chmod(own_path_of(folder, name), Mode::RWXU);
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

    /// Copies replaced files from the workspace's file system to the layer's.
    fn keep_copies(&self, changes: &[FileChange], steps: &[Step]) -> io::Result<()> {
        let kept = Tree::open(&self.layer.path.join(SLOTS))?;
        for step in steps.iter().filter(|step| step.goes.is_some()) {
            let is_mode = changes.get(step.number).is_none_or(|change| change.kind == ChangeKind::Mode);
            let slot = PathBuf::from(step.number.to_string());
            let old = self.slots.tree.look(&slot)?.filter(|old| Some(old.identity) == step.goes);
            if old.is_some() && !is_mode {
                // A copy of an interrupted merge is incomplete.
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

    /// Records that restored copies represent the original files.
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
}
