//! A layer: the changes of one command, and their states.

#![expect(clippy::disallowed_methods, reason = "reads the files of a layer")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{FileType, Mode, OFlags, openat};

use super::about::{About, JOURNAL, ReviewView, SLOTS, identity_at, is_locked, made, still_runs};
use super::at::{Look, Tree, link_text, look};
use super::attributes;
use super::change::{ChangeKind, ChangeState, FileChange, changes};
use super::crash;
use super::error::ReviewError;
use super::judge::{self, Guarded, Judged};
use super::manifest::Manifest;
use super::record::{Rows, bytes_of, look_of, look_text, number_of, path_of, read, text_of};
use crate::native::c_string;
use crate::protect::SLOTS_BESIDE;
use crate::workspace::walk::{Here, Visit, walk};

/// The changes of a command in its overlay of a workspace.
#[derive(Debug)]
pub struct ReviewLayer {
    id: String,
    pub(super) path: PathBuf,
    pub(super) folder: OwnedFd,
    pub(super) about: About,
}

/// The state of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LayerState {
    /// The command still runs.
    Running,
    /// The supervisor was killed before it read the changes. They are read when a caller asks for them.
    Interrupted,
    /// Some changes are pending.
    Waiting,
    /// All changes that may be applied were applied.
    Applied,
    /// No change can be applied or undone any more.
    Settled,
}

impl LayerState {
    /// Its stable name, for machines.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Interrupted => "interrupted",
            Self::Waiting => "waiting",
            Self::Applied => "applied",
            Self::Settled => "settled",
        }
    }
}

/// The content of a path, before or after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// The path does not exist.
    Nothing,
    /// A directory, whose entries have changes of their own.
    Folder,
    /// The content of a file.
    File(Vec<u8>),
    /// The target of a symlink.
    Link(Vec<u8>),
    /// The file is too large, unreadable, or a special file.
    Unread,
}

const CHANGES: &str = "changes";
const CHANGE_FIELDS: usize = 5;
const STATUS: &str = "status";
const STATUS_FIELDS: usize = 3;
const SIZE: &str = "size";
const JUDGED: &str = "judged";
const JUDGED_FIELDS: usize = 2;
const WAS: &[u8] = b"was";
const IS: &[u8] = b"is";
const SETTLED: &str = "settled";

/// The status of decided changes, by number.
pub(super) type Status = BTreeMap<usize, Settled>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Settled {
    /// Applied, with the resulting state of the file; nothing for a deletion.
    Applied(Option<Look>),
    Discarded,
}

impl ReviewLayer {
    pub(super) const fn new(id: String, path: PathBuf, folder: OwnedFd, about: About) -> Self {
        Self { id, path, folder, about }
    }

    /// Returns the identifier.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the workspace of the command.
    #[must_use]
    pub fn workspace(&self) -> &Path {
        &self.about.workspace
    }

    /// Returns the command as text.
    #[must_use]
    pub fn command(&self) -> &str {
        &self.about.command
    }

    /// Returns how the overlay was created.
    #[must_use]
    pub const fn view(&self) -> ReviewView {
        self.about.view
    }

    /// Returns when the command started.
    #[must_use]
    pub fn made(&self) -> Option<SystemTime> {
        made(&self.id)
    }

    pub(super) fn age(&self) -> Option<Duration> {
        self.made()?.elapsed().ok()
    }

    /// Whether all processes of the command have ended.
    #[must_use]
    pub fn is_over(&self) -> bool {
        !is_locked(&self.folder) && !still_runs(&self.folder)
    }

    /// Returns the state.
    #[must_use]
    pub fn state(&self) -> LayerState {
        if !self.is_over() {
            return LayerState::Running;
        }
        let Ok(Some(changes)) = self.read_changes() else { return LayerState::Interrupted };
        let may_be = |change: &&FileChange| change.refused.is_none();
        let is = |state| changes.iter().filter(may_be).any(|change| change.state == state);
        match (is(ChangeState::Waiting), is(ChangeState::Applied)) {
            (true, _) => LayerState::Waiting,
            (false, true) => LayerState::Applied,
            (false, false) => LayerState::Settled,
        }
    }

    /// Whether a merge was interrupted after it was committed.
    pub(super) fn has_journal(&self) -> bool {
        look(self.folder.as_fd(), JOURNAL.as_ref()).is_ok_and(|found| found.is_some())
    }

    /// Whether a merge was interrupted, before or after it was committed.
    pub(super) fn is_unfinished(&self) -> bool {
        self.has_journal() || self.workspace().join(self.slots_beside()).symlink_metadata().is_ok()
    }

    /// Whether an interrupted merge can be completed, because the workspace exists.
    pub(super) fn is_half_done(&self) -> bool {
        let is_there = || identity_at(self.workspace()).ok() == Some(self.about.workspace_identity);
        self.is_unfinished() && is_there()
    }

    /// Returns the name of the directory through which changes reach a workspace on another file system.
    pub(super) fn slots_beside(&self) -> String {
        format!("{SLOTS_BESIDE}{}", self.id)
    }

    /// Whether changes are pending.
    pub(super) fn waits(&self) -> bool {
        matches!(self.state(), LayerState::Waiting | LayerState::Interrupted)
    }

    pub(super) fn waiting(&self) -> usize {
        let changes = self.read_changes().ok().flatten().unwrap_or_default();
        changes.iter().filter(|change| change.state == ChangeState::Waiting).count()
    }

    /// Returns the size in bytes, as measured when the command ended, or now if that was not done.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let row = read(&self.folder, SIZE, 1).ok().flatten().and_then(|rows| rows.into_iter().next());
        row.and_then(|row| number_of(row.first()?).ok()).unwrap_or_else(|| measured(&self.path))
    }

    /// Returns all changes, by path.
    ///
    /// # Errors
    /// When the command still runs, or its changes cannot be judged.
    pub fn changes(&self) -> Result<Vec<FileChange>, ReviewError> {
        if !self.is_over() {
            return Err(ReviewError::Running(self.id.clone()));
        }
        match self.read_changes() {
            Ok(Some(changes)) => Ok(changes),
            // The supervisor was killed before it recorded the changes.
            Ok(None) => self.close(&self.guarded_now()),
            Err(source) => Err(self.unreadable(source)),
        }
    }

    pub(super) fn unreadable(&self, source: io::Error) -> ReviewError {
        ReviewError::Unreadable { id: self.id.clone(), source }
    }

    /// Returns the currently protected files of the workspace.
    pub(super) fn guarded_now(&self) -> Guarded {
        let found = crate::workspace::look(&crate::workspace::roots::roots(Some(self.workspace()), &[]));
        Guarded { protected: found.protected, git_targets: found.git_targets, plans: found.plans }
    }

    /// Reads, judges and records the changes. All processes of the command must have ended.
    pub(super) fn close(&self, guarded: &Guarded) -> Result<Vec<FileChange>, ReviewError> {
        let view = self.path.join(self.view().folder());
        let workspace = Tree::open(self.workspace())
            .map_err(|_| ReviewError::OtherWorkspace(self.workspace().to_path_buf()))?;
        let base = Manifest::load(&self.folder).map_err(|source| self.unreadable(source))?;
        let base = base.ok_or_else(|| self.unreadable(io::ErrorKind::NotFound.into()))?;
        let mut found = changes(self.view(), &view, &workspace, &base).map_err(ReviewError::Unjudged)?;
        if !found.is_empty() {
            let seen = whole(self).map_err(ReviewError::Unjudged)?;
            let judged = judge::refuse(&mut found, guarded, self.workspace(), seen);
            self.write_judged(&judged).map_err(ReviewError::Store)?;
        }
        self.write_changes(&found, &base).map_err(ReviewError::Store)?;
        // After reading the changes, because that needs the overlayfs attributes.
        self.settle_view().map_err(ReviewError::Store)?;
        Ok(found)
    }

    fn write_judged(&self, judged: &Judged) -> io::Result<()> {
        let mut rows = Rows::default();
        for (paths, when) in [(&judged.was, WAS), (&judged.is, IS)] {
            paths.iter().for_each(|path| rows.row([bytes_of(path), when]));
        }
        rows.write(&self.folder, JUDGED)
    }

    /// Returns the recorded paths that other programs obey.
    pub(super) fn judged(&self) -> io::Result<Judged> {
        let mut judged = Judged::default();
        for row in read(&self.folder, JUDGED, JUDGED_FIELDS)?.unwrap_or_default() {
            let [path, when] = row.as_slice() else { return Err(io::ErrorKind::InvalidData.into()) };
            let paths = if when == WAS { &mut judged.was } else { &mut judged.is };
            paths.insert(path_of(path));
        }
        Ok(judged)
    }

    /// Prepares the written files for being moved, unless that is done already.
    pub(super) fn settle_view(&self) -> io::Result<()> {
        if read(&self.folder, SETTLED, 1)?.is_some() {
            return Ok(());
        }
        settle(&self.path.join(self.view().folder()))?;
        Rows::default().write(&self.folder, SETTLED)
    }

    fn write_changes(&self, changes: &[FileChange], base: &Manifest) -> io::Result<()> {
        let sizes = changes.iter().filter_map(|change| change.after).map(|look| look.size);
        let copied = base.entries.values().filter(|entry| entry.copy.is_some()).map(|entry| entry.look.size);
        let mut size = Rows::default();
        size.row([sizes.chain(copied).fold(0, u64::saturating_add).to_string().as_bytes()]);
        size.write(&self.folder, SIZE)?;
        let mut rows = Rows::default();
        for change in changes {
            let text = |look: &Option<Look>| look.as_ref().map(look_text).unwrap_or_default();
            rows.row([
                bytes_of(&change.path),
                change.kind.name().as_bytes(),
                change.refused.as_deref().unwrap_or_default().as_bytes(),
                text(&change.before).as_bytes(),
                text(&change.after).as_bytes(),
            ]);
        }
        rows.write(&self.folder, CHANGES)
    }

    pub(super) fn read_changes(&self) -> io::Result<Option<Vec<FileChange>>> {
        let Some(rows) = read(&self.folder, CHANGES, CHANGE_FIELDS)? else { return Ok(None) };
        let status = self.status()?;
        let look = |bytes: &Vec<u8>| match bytes.is_empty() {
            true => Ok(None),
            false => look_of(bytes).map(Some),
        };
        let mut changes = Vec::with_capacity(rows.len());
        for (number, row) in rows.iter().enumerate() {
            let bad = || io::Error::from(io::ErrorKind::InvalidData);
            let [path, kind, refused, before, after] = row.as_slice() else { return Err(bad()) };
            let known = ChangeKind::ALL.iter().find(|known| known.name().as_bytes() == kind);
            changes.push(FileChange {
                path: path_of(path),
                kind: *known.ok_or_else(bad)?,
                state: match status.get(&number) {
                    None => ChangeState::Waiting,
                    Some(Settled::Applied(_)) => ChangeState::Applied,
                    Some(Settled::Discarded) => ChangeState::Discarded,
                },
                refused: (!refused.is_empty()).then(|| text_of(refused)),
                before: look(before)?,
                after: look(after)?,
            });
        }
        Ok(Some(changes))
    }

    pub(super) fn status(&self) -> io::Result<Status> {
        let rows = read(&self.folder, STATUS, STATUS_FIELDS)?.unwrap_or_default();
        let mut status = Status::new();
        for row in rows {
            let [number, state, look] = row.as_slice() else { continue };
            let settled = match (state.as_slice(), look.is_empty()) {
                (b"applied", true) => Settled::Applied(None),
                (b"applied", false) => Settled::Applied(Some(look_of(look)?)),
                _ => Settled::Discarded,
            };
            status.insert(number_of(number)?, settled);
        }
        Ok(status)
    }

    pub(super) fn write_status(&self, status: &Status) -> io::Result<()> {
        let mut rows = Rows::default();
        for (number, settled) in status {
            let (state, look) = match settled {
                Settled::Applied(look) => ("applied", look.as_ref().map(look_text).unwrap_or_default()),
                Settled::Discarded => ("discarded", String::new()),
            };
            rows.row([number.to_string().as_bytes(), state.as_bytes(), look.as_bytes()]);
        }
        rows.write(&self.folder, STATUS)
    }

    /// Returns the content before and after a change, of files up to `most` bytes.
    ///
    /// # Errors
    /// When the workspace or the layer cannot be opened.
    pub fn contents(&self, change: &FileChange, most: u64) -> Result<(Content, Content), ReviewError> {
        let workspace = Tree::open(self.workspace())
            .map_err(|_| ReviewError::OtherWorkspace(self.workspace().to_path_buf()))?;
        let view = Tree::open(&self.path.join(self.view().folder())).map_err(ReviewError::Store)?;
        let slots = Tree::open(&self.path.join(SLOTS)).ok();
        let number = self.number_of(change)?;
        let slot = PathBuf::from(number.to_string());
        let in_slot = slots.as_ref().map_or(Content::Nothing, |slots| content(slots, &slot, most));
        Ok(match change.state {
            ChangeState::Applied => (
                if change.before.is_some() { in_slot } else { Content::Nothing },
                content(&workspace, &change.path, most),
            ),
            ChangeState::Waiting | ChangeState::Discarded => {
                let after = change.after.map(|_| content(&view, &change.path, most));
                let before = change.before.map(|_| content(&workspace, &change.path, most));
                (before.unwrap_or(Content::Nothing), after.unwrap_or(Content::Nothing))
            }
        })
    }

    /// Returns the target of a symlink that a change creates; `None` for other changes.
    #[must_use]
    pub fn leads_to(&self, change: &FileChange) -> Option<Vec<u8>> {
        change.after.filter(|look| look.kind == FileType::Symlink)?;
        let tree = match change.state {
            ChangeState::Applied => Tree::open(self.workspace()),
            ChangeState::Waiting | ChangeState::Discarded => {
                Tree::open(&self.path.join(self.view().folder()))
            }
        };
        let tree = tree.ok()?;
        let (folder, name) = tree.parent(&change.path).ok()?;
        link_text(folder.as_fd(), name).ok()
    }

    fn number_of(&self, change: &FileChange) -> Result<usize, ReviewError> {
        let changes = self.changes()?;
        let found = changes.iter().position(|other| other.path == change.path);
        found.ok_or_else(|| ReviewError::NoSuchPath(change.path.clone()))
    }
}

fn content(tree: &Tree, path: &Path, most: u64) -> Content {
    let read = || -> io::Result<Content> {
        let (folder, name) = tree.parent(path)?;
        let Some(found) = look(folder.as_fd(), name)? else { return Ok(Content::Nothing) };
        Ok(match found.kind {
            FileType::Directory => Content::Folder,
            FileType::Symlink => Content::Link(link_text(folder.as_fd(), name)?),
            FileType::RegularFile if found.size <= most => {
                let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
                let mut bytes = Vec::new();
                File::from(openat(&*folder, name, flags, Mode::empty())?)
                    .take(most)
                    .read_to_end(&mut bytes)?;
                Content::File(bytes)
            }
            _ => Content::Unread,
        })
    };
    read().unwrap_or(Content::Unread)
}

/// Returns the size of a directory tree in bytes.
fn measured(folder: &Path) -> u64 {
    let mut measuring = Measuring(0);
    walk(folder, &mut measuring);
    measuring.0
}

struct Measuring(u64);

impl Visit for Measuring {
    fn folder(&mut self, here: &Here<'_>) -> BTreeSet<usize> {
        let names = here.names.unwrap_or_default().iter();
        let looks = names.filter_map(|listed| look(here.folder, &listed.name).ok().flatten());
        let files = looks.filter(|look| !look.is_folder()).map(|look| look.size);
        self.0 = files.fold(self.0, u64::saturating_add);
        BTreeSet::new()
    }
}

/// Removes overlayfs attributes, and gives the owner all permissions on each directory, whose final mode is recorded.
fn settle(view: &Path) -> io::Result<()> {
    let mut visit = Settling { error: None };
    walk(view, &mut visit);
    visit.error.map_or(Ok(()), Err)
}

struct Settling {
    error: Option<io::Error>,
}

impl Visit for Settling {
    fn folder(&mut self, here: &Here<'_>) -> BTreeSet<usize> {
        for listed in here.names.unwrap_or_default() {
            let done = (|| {
                crash::point()?;
                let Some(found) = look(here.folder, &listed.name)? else { return Ok(()) };
                if found.kind == FileType::Symlink {
                    return Ok(());
                }
                attributes::strip(here.folder, &listed.name, &found)?;
                if found.is_folder() && found.mode & 0o700 != 0o700 {
                    let path = super::at::own_path_of(here.folder, &listed.name);
                    rustix::fs::chmod(path, Mode::from_raw_mode(found.mode | 0o700))?;
                }
                Ok(())
            })();
            if let Err(error) = done {
                self.error.get_or_insert(error);
            }
        }
        BTreeSet::new()
    }
}

/// Opens the complete overlay of an ended command.
fn whole(layer: &ReviewLayer) -> io::Result<OwnedFd> {
    let view = layer.path.join(layer.view().folder());
    match layer.view() {
        ReviewView::Copy => Ok(rustix::fs::open(&view, super::at::FOLDER | OFlags::PATH, Mode::empty())?),
        ReviewView::Overlay => crate::sys::overlay::read_view(
            &c_string(layer.workspace().as_os_str())?,
            &c_string(view.as_os_str())?,
        ),
    }
}
