//! The changes of a command in its overlay, one per path.

#![expect(clippy::disallowed_methods, reason = "reads the files of a view")]

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags, openat};

use super::about::ReviewView;
use super::at::{Look, Tree, link_text, own_path_of};
use super::attributes;
use super::manifest::Manifest;
use crate::workspace::walk::{Here, Visit, walk};

/// The kind of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChangeKind {
    /// A path that is new.
    Created,
    /// A changed content or type.
    Modified,
    /// A path that was deleted.
    Deleted,
    /// A changed mode of a directory.
    Mode,
}

impl ChangeKind {
    /// All kinds of changes.
    pub const ALL: &'static [Self] = &[Self::Created, Self::Modified, Self::Deleted, Self::Mode];

    /// Its stable name, for machines.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Modified => "modified",
            Self::Deleted => "deleted",
            Self::Mode => "mode",
        }
    }
}

/// The state of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ChangeState {
    /// It is only in the overlay.
    #[default]
    Waiting,
    /// It was applied to the workspace.
    Applied,
    /// The user discarded it, so that it is not applied with others.
    Discarded,
}

impl ChangeState {
    /// Its stable name, for machines.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Applied => "applied",
            Self::Discarded => "discarded",
        }
    }
}

/// A change of one path.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FileChange {
    /// The path below the workspace.
    pub path: PathBuf,
    /// The kind of change.
    pub kind: ChangeKind,
    /// The state.
    pub state: ChangeState,
    /// Why it is never applied, if it is not.
    pub refused: Option<String>,
    pub(super) before: Option<Look>,
    pub(super) after: Option<Look>,
}

impl FileChange {
    /// Returns the file type after the change, or before a deletion: `file`, `folder`, `link`, or another name.
    #[must_use]
    pub fn what(&self) -> &'static str {
        self.after.or(self.before).map_or("nothing", |look| word(look.kind))
    }

    /// Returns the size after the change.
    #[must_use]
    pub fn size(&self) -> Option<u64> {
        self.after.filter(|look| look.kind == FileType::RegularFile).map(|look| look.size)
    }

    /// Returns the mode before and after the change.
    #[must_use]
    pub fn modes(&self) -> (Option<u32>, Option<u32>) {
        (self.before.map(|look| look.mode), self.after.map(|look| look.mode))
    }

    pub(super) fn makes_a_folder(&self) -> bool {
        self.kind != ChangeKind::Mode && self.after.is_some_and(|look| look.is_folder())
    }

    pub(super) fn takes_a_folder(&self) -> bool {
        self.kind != ChangeKind::Mode && self.before.is_some_and(|look| look.is_folder())
    }
}

/// Returns the name of a file type.
pub(super) fn word(kind: FileType) -> &'static str {
    match kind {
        FileType::RegularFile => "file",
        FileType::Directory => "folder",
        FileType::Symlink => "link",
        FileType::Fifo => "named pipe",
        FileType::Socket => "socket",
        FileType::CharacterDevice | FileType::BlockDevice => "device",
        FileType::Unknown => "something unknown",
    }
}

/// Returns the changes in an overlay, by path. `view` is the directory that the command wrote to: the upper layer of an
/// overlayfs, or the whole copy.
pub(super) fn changes(
    kind: ReviewView,
    view: &Path,
    workspace: &Tree,
    base: &Manifest,
) -> io::Result<Vec<FileChange>> {
    let mut visit = Comparing {
        base,
        workspace,
        is_overlay: kind == ReviewView::Overlay,
        found: BTreeMap::new(),
        seen: BTreeSet::new(),
        hidden: None,
        error: None,
    };
    walk(view, &mut visit);
    if let Some(error) = visit.error.take() {
        return Err(error);
    }
    visit.what_is_gone();
    Ok(visit.found.into_values().collect())
}

struct Comparing<'c> {
    base: &'c Manifest,
    workspace: &'c Tree,
    is_overlay: bool,
    found: BTreeMap<PathBuf, FileChange>,
    /// Workspace paths that were found in a copy, or in an opaque directory.
    seen: BTreeSet<PathBuf>,
    /// The depth of the outermost opaque directory, below which no lower entries are visible.
    hidden: Option<usize>,
    error: Option<io::Error>,
}

impl Visit for Comparing<'_> {
    fn folder(&mut self, here: &Here<'_>) -> BTreeSet<usize> {
        self.hidden = self.hidden.filter(|depth| *depth < here.depth);
        if self.is_overlay && (self.hidden.is_some() || self.hides(here)) {
            self.hidden.get_or_insert(here.depth);
            self.delete_below(here);
        }
        let mut passed = BTreeSet::new();
        for (at, listed) in here.names.unwrap_or_default().iter().enumerate() {
            match self.compare(here, &listed.name) {
                Ok(true) => {}
                Ok(false) => drop(passed.insert(at)),
                Err(error) => {
                    self.error.get_or_insert(error);
                }
            }
        }
        passed
    }
}

impl Comparing<'_> {
    /// Whether a directory of the overlay hides the workspace's entries.
    fn hides(&self, here: &Here<'_>) -> bool {
        // Through `.`, because the magic link itself has no attributes.
        here.depth > 0 && attributes::is_opaque(&own_path_of(here.folder, OsStr::new(".")))
    }

    /// Records deletions of the workspace's entries below an opaque directory.
    fn delete_below(&mut self, here: &Here<'_>) {
        let names: BTreeSet<&OsStr> =
            here.names.unwrap_or_default().iter().map(|listed| listed.name.as_os_str()).collect();
        let is_there = |path: &Path| {
            let below = path.strip_prefix(here.path).ok().and_then(|below| below.components().next());
            below.is_some_and(|first| names.contains(first.as_os_str()))
        };
        let base = self.base;
        let gone: Vec<&PathBuf> =
            base.below(here.path).map(|(path, _)| path).filter(|path| !is_there(path)).collect();
        gone.into_iter().for_each(|path| self.delete(path));
    }

    fn delete(&mut self, path: &Path) {
        let Some(before) = self.base.look(path).copied() else { return };
        self.note(path, ChangeKind::Deleted, Some(before), None);
    }

    fn note(&mut self, path: &Path, kind: ChangeKind, before: Option<Look>, after: Option<Look>) {
        let state = ChangeState::Waiting;
        let change = FileChange { path: path.to_path_buf(), kind, state, refused: None, before, after };
        self.found.insert(path.to_path_buf(), change);
    }

    /// Compares a name in the overlay with the workspace, and returns whether it is a directory to enter.
    fn compare(&mut self, here: &Here<'_>, name: &OsStr) -> io::Result<bool> {
        let path = here.path.join(name);
        let Some(after) = super::at::look(here.folder, name)? else { return Ok(false) };
        let base = self.base.entries.get(&path).copied();
        let before = base.map(|entry| entry.look);
        if self.is_overlay && is_whiteout(&after, here, name) {
            self.delete(&path);
            let below: Vec<PathBuf> = self.base.below(&path).map(|(path, _)| path.clone()).collect();
            below.iter().for_each(|path| self.delete(path));
            return Ok(false);
        }
        self.seen.insert(path.clone());
        let Some(old) = before else {
            self.note(&path, ChangeKind::Created, None, Some(after));
            return Ok(after.is_folder());
        };
        match (old.is_folder(), after.is_folder()) {
            (true, true) => {
                if old.mode != after.mode {
                    self.note(&path, ChangeKind::Mode, before, Some(after));
                }
            }
            (true, false) => {
                let below: Vec<PathBuf> = self.base.below(&path).map(|(path, _)| path.clone()).collect();
                below.iter().for_each(|path| self.delete(path));
                self.note(&path, ChangeKind::Modified, before, Some(after));
            }
            (false, true) => self.note(&path, ChangeKind::Modified, before, Some(after)),
            (false, false) => {
                let is_untouched = base
                    .and_then(|entry| entry.copy)
                    .is_some_and(|copy| copy == (after.identity, after.changed));
                if !is_untouched && !self.is_same(here, name, &path, &old, &after)? {
                    self.note(&path, ChangeKind::Modified, before, Some(after));
                }
            }
        }
        Ok(after.is_folder())
    }

    /// Whether a file was written with the same content.
    fn is_same(
        &self,
        here: &Here<'_>,
        name: &OsStr,
        path: &Path,
        old: &Look,
        new: &Look,
    ) -> io::Result<bool> {
        let outside = |look: &Look| (look.kind, look.mode, look.size, look.modified);
        if outside(old) != outside(new) {
            return Ok(false);
        }
        // If the user changed the file meanwhile, it counts as changed, which leads to a conflict when it is applied.
        let Ok((folder, _)) = self.workspace.parent(path) else { return Ok(false) };
        match old.kind {
            FileType::Symlink => {
                let before = link_text(folder.as_fd(), name);
                Ok(before.is_ok_and(|before| link_text(here.folder, name).is_ok_and(|after| before == after)))
            }
            FileType::RegularFile => {
                let attributes = |path: PathBuf| attributes::of_users(&path).unwrap_or_default();
                let is_alike = attributes(own_path_of(folder.as_fd(), name))
                    == attributes(own_path_of(here.folder, name));
                let open = |folder| {
                    openat(folder, name, OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
                };
                match (open(folder.as_fd()), open(here.folder)) {
                    (Ok(before), Ok(after)) => Ok(is_alike && hold_the_same(before.into(), after.into())?),
                    _ => Ok(false),
                }
            }
            _ => Ok(true),
        }
    }

    /// Records deletions in a copy: paths that were copied and do not exist any more.
    fn what_is_gone(&mut self) {
        if self.is_overlay {
            return;
        }
        let base = self.base;
        let gone = base.entries.iter().filter(|(_, entry)| entry.copy.is_some()).map(|(path, _)| path);
        let gone: Vec<&PathBuf> = gone.filter(|path| !self.seen.contains(*path)).collect();
        gone.into_iter().for_each(|path| self.delete(path));
    }
}

/// Whether this is a whiteout, which marks a deleted name.
fn is_whiteout(look: &Look, here: &Here<'_>, name: &OsStr) -> bool {
    look.kind == FileType::CharacterDevice
        && rustix::fs::statat(here.folder, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|found| found.st_rdev == 0)
}

fn hold_the_same(mut one: File, mut other: File) -> io::Result<bool> {
    let (mut left, mut right) = (vec![0; 64 << 10], vec![0; 64 << 10]);
    loop {
        let length = one.read(&mut left)?;
        let Some(read) = left.get(..length) else { return Ok(false) };
        let Some(room) = right.get_mut(..length.max(1)) else { return Ok(false) };
        if length == 0 {
            return Ok(other.read(room)? == 0);
        }
        if other.read_exact(room).is_err() || read != room {
            return Ok(false);
        }
    }
}
