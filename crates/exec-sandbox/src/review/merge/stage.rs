//! Moves new files into slots before a merge, and unused ones back to the overlay. The workspace is unchanged meanwhile.

#![expect(clippy::disallowed_methods, reason = "opens the folders of a layer")]

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, RenameFlags, chownat, linkat, mkdirat, openat, renameat_with, unlinkat};
use rustix::io::Errno;
use rustix::process::{Gid, Uid};

use super::Merging;
use super::journal::{Op, Step};
use crate::review::about::SLOTS;
use crate::review::at::{FOLDER, Identity, Tree, look, own_path_of};
use crate::review::change::{ChangeKind, FileChange};
use crate::review::copy::copy_one;
use crate::review::{attributes, crash};

impl Merging<'_> {
    /// Moves new files into their slots, without changing the workspace.
    pub(super) fn stage(&self, op: Op, changes: &[FileChange], order: &[usize]) -> io::Result<Vec<Step>> {
        if op == Op::Apply {
            self.remember_folders(changes, order)?;
        }
        let mut order = order.to_vec();
        if op == Op::Undo {
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
                && match op {
                    Op::Apply => change.after.is_some(),
                    Op::Undo => change.before.is_some(),
                };
            if brings && self.slots.tree.look(&slot)?.is_none() {
                match (op, self.slots.beside) {
                    (Op::Apply, beside) => {
                        self.bring(change, &view, &slot, beside.then_some(&mut copied))?;
                    }
                    (Op::Undo, true) => copy_one((&kept, &slot), (&self.slots.tree, &slot))?,
                    (Op::Undo, false) => return Err(io::ErrorKind::NotFound.into()),
                }
            }
            let comes = self.slots.tree.look(&slot)?.filter(|_| brings).map(|look| look.identity);
            let goes = self.workspace.look(&change.path)?.map(|look| look.identity);
            steps.push(Step { number, comes, goes });
        }
        Ok(steps)
    }

    /// Moves a file from the overlay into a slot. A directory is created empty, because its entries have changes of their own.
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

    /// Moves files in slots of unapplied changes back to the overlay.
    pub(super) fn unstage(&self, changes: &[FileChange]) -> io::Result<()> {
        let applied = self.layer.status()?.into_keys().collect();
        self.unstage_these(changes, &applied)?;
        self.slots.close(self.layer, &self.workspace)
    }

    pub(super) fn unstage_these(&self, changes: &[FileChange], applied: &BTreeSet<usize>) -> io::Result<()> {
        let view = Tree::open(&self.layer.path.join(self.layer.view().folder()))?;
        let kept = openat(&self.layer.folder, SLOTS, FOLDER, Mode::empty())?;
        for name in crate::quarantine::names(&kept)? {
            let number = name.to_str().and_then(|name| name.parse::<usize>().ok());
            let Some(number) = number.filter(|number| !applied.contains(number)) else { continue };
            let Some((change, found)) = changes.get(number).zip(look(kept.as_fd(), &name)?) else { continue };
            crash::point()?;
            // Directories are still in the overlay, and replaced files of another file system are copies.
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
}

/// Sets the owner that a file has in the overlay.
fn owned(folder: BorrowedFd<'_>, name: &OsStr, (user, group): (u32, u32)) -> io::Result<()> {
    let now = look(folder, name)?.map(|look| look.owner);
    if now == Some((user, group)) {
        return Ok(());
    }
    let (user, group) = (Uid::from_raw(user), Gid::from_raw(group));
    Ok(chownat(folder, name, Some(user), Some(group), AtFlags::SYMLINK_NOFOLLOW)?)
}
