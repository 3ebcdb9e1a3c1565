//! Modes and times of directories: made writable during a merge, and set to their final values at the end.

#![expect(clippy::disallowed_methods, reason = "opens folders of workspaces by descriptors")]

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags, chmod, fstat, openat, unlinkat};
use rustix::io::Errno;

use super::Merging;
use super::journal::{Op, Step};
use crate::review::at::{FOLDER, Look, own_path};
use crate::review::change::{ChangeKind, FileChange};
use crate::review::copy::timed;
use crate::review::crash;
use crate::review::record::{Rows, bytes_of, look_of, look_text, path_of, read};

const FOLDERS: &str = "folders";

/// The file of directories that are writable during a merge, with their previous states.
const OPENED: &str = "opened";
const FOLDERS_FIELDS: usize = 2;

impl Merging<'_> {
    /// Makes changed directories writable during the merge, outermost first.
    pub(super) fn open_folders(&self, changes: &[FileChange], steps: &[Step]) -> io::Result<()> {
        let is_meant = |change: &&FileChange| {
            [change.before, change.after].into_iter().flatten().any(|look| look.is_folder())
        };
        let changed = steps.iter().filter_map(|step| changes.get(step.number)).filter(is_meant);
        let paths: BTreeSet<&Path> = changed.map(|change| change.path.as_path()).collect();
        self.open_around(changes, steps, &paths)?;
        for path in paths {
            let now = self.workspace.look(path)?;
            if let Some(now) = now.filter(|now| now.is_folder() && now.mode & 0o700 != 0o700) {
                self.set_mode(path, now.mode | 0o700)?;
            }
        }
        Ok(())
    }

    /// Makes unchanged parent directories of changes writable. Their modes are recorded before, so that they are restored
    /// even after an interruption.
    fn open_around(&self, changes: &[FileChange], steps: &[Step], own: &BTreeSet<&Path>) -> io::Result<()> {
        let mut opened = self.looks_in(OPENED)?;
        let paths = steps.iter().filter_map(|step| changes.get(step.number)?.path.parent());
        let paths: BTreeSet<&Path> =
            paths.filter(|path| !path.as_os_str().is_empty() && !own.contains(path)).collect();
        for path in paths {
            let is_known = opened.iter().any(|(known, _)| known == path);
            let now = self.workspace.look(path)?.filter(|now| now.is_folder() && now.mode & 0o700 != 0o700);
            opened.extend(now.filter(|_| !is_known).map(|now| (path.to_path_buf(), now)));
        }
        if opened.is_empty() {
            return Ok(());
        }
        let mut rows = Rows::default();
        opened.iter().for_each(|(path, look)| rows.row([bytes_of(path), look_text(look).as_bytes()]));
        rows.write(&self.layer.folder, OPENED)?;
        for (path, look) in &opened {
            self.set_mode_of(path, look, look.mode | 0o700)?;
        }
        Ok(())
    }

    /// Restores the modes of parent directories.
    pub(super) fn close_around(&self) -> io::Result<()> {
        for (path, look) in self.looks_in(OPENED)?.iter().rev() {
            self.set_mode_of(path, look, look.mode)?;
        }
        crash::point()?;
        match unlinkat(&self.layer.folder, OPENED, AtFlags::empty()) {
            Err(Errno::NOENT) => Ok(()),
            removed => Ok(removed?),
        }
    }

    /// Changes the mode of a directory, if its identity is unchanged.
    fn set_mode_of(&self, path: &Path, look: &Look, mode: u32) -> io::Result<()> {
        let now = self.workspace.look(path)?.filter(|now| now.identity == look.identity && now.mode != mode);
        now.map_or(Ok(()), |_| self.set_mode(path, mode))
    }

    /// Sets the final modes of directories, innermost first.
    pub(super) fn modes(&self, op: Op, changes: &[FileChange], steps: &[Step]) -> io::Result<()> {
        let mut changed: Vec<&FileChange> =
            steps.iter().filter_map(|step| changes.get(step.number)).collect();
        changed.sort_by(|one, other| other.path.cmp(&one.path));
        for change in changed {
            let meant = match op {
                Op::Apply => change.after,
                Op::Undo => change.before,
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
        // Through a descriptor, which does not follow a symlink in its place.
        let opened = openat(&*folder, name, FOLDER | OFlags::PATH, Mode::empty())?;
        crash::point()?;
        Ok(chmod(own_path(opened.as_fd()), Mode::from_raw_mode(mode))?)
    }

    fn set_time(&self, path: &Path, modified: (i64, u64)) -> io::Result<()> {
        let folder;
        let (at, name): (&OwnedFd, &OsStr) = match path.file_name() {
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

    /// Records the modification times of directories, to restore them on undo.
    pub(super) fn remember_folders(&self, changes: &[FileChange], order: &[usize]) -> io::Result<()> {
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
        self.looks_in(FOLDERS)
    }

    fn looks_in(&self, file: &str) -> io::Result<Vec<(PathBuf, Look)>> {
        let rows = read(&self.layer.folder, file, FOLDERS_FIELDS)?.unwrap_or_default();
        let row = |row: Vec<Vec<u8>>| {
            let [path, look] = row.as_slice() else { return Err(io::ErrorKind::InvalidData.into()) };
            Ok((path_of(path), look_of(look)?))
        };
        rows.into_iter().map(row).collect()
    }

    /// Restores the times of directories in which changes were undone.
    pub(super) fn times(&self, changes: &[FileChange], steps: &[Step]) -> io::Result<()> {
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
}
