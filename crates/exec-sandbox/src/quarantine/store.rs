//! The quarantine of one user: lists, restores and deletes what was taken away.

use std::fs::DirBuilder;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, RenameFlags, fchmod, openat, renameat_with, unlinkat};

use super::entry::{Item, QuarantineEntry, items_in};
use super::error::QuarantineError;
use super::folder::{FOLDER, names};
use super::origin::{self, ORIGINS, Origin};
use super::remove;

/// The quarantine of one user.
#[derive(Debug)]
pub struct QuarantineStore {
    pub(super) folder: OwnedFd,
    pub(super) path: PathBuf,
}

impl QuarantineStore {
    /// Opens the quarantine of this user; nothing if it does not exist.
    ///
    /// # Errors
    /// When it exists and cannot be read.
    pub fn of_user() -> io::Result<Option<Self>> {
        let Some(state) = crate::state::folder(&[]) else { return Ok(None) };
        match Self::open(&state) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            opened => opened.map(Some),
        }
    }

    /// Opens the quarantine of a state directory.
    pub(super) fn open(state: &Path) -> io::Result<Self> {
        let path = state.join("quarantine");
        let folder = rustix::fs::open(&path, FOLDER, Mode::empty())?;
        Ok(Self { folder, path })
    }

    /// Opens the store of a state directory, and creates it if necessary, readable for this user only.
    pub(super) fn make(state: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(state.join("quarantine"))?;
        let store = Self::open(state)?;
        // An earlier version created it readable for all users.
        fchmod(&store.folder, Mode::RWXU)?;
        Ok(store)
    }

    /// Returns the entries, oldest first.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn entries(&self) -> io::Result<Vec<QuarantineEntry>> {
        Ok(self.items()?.into_iter().map(QuarantineEntry::of).collect())
    }

    /// Restores an entry to its original path, and returns that path. It overwrites no file and follows no symlink.
    ///
    /// # Errors
    /// When the entry does not exist, its original path is unknown or occupied, the workspace is another directory than it was,
    /// or a command runs in it.
    pub fn restore(&self, id: &str) -> Result<PathBuf, QuarantineError> {
        let item = self.find(id)?;
        let origin = item.origin.as_ref().ok_or_else(|| QuarantineError::Unrecorded(item.place()))?;
        self.is_left_alone(origin)?;
        let (parent, name) = origin.parent()?;
        let (from, kept) = self.source(&item)?;
        let back = origin.workspace.join(&origin.path);
        match renameat_with(&from, &kept, &parent, name, RenameFlags::NOREPLACE) {
            Ok(()) => {}
            Err(rustix::io::Errno::EXIST | rustix::io::Errno::NOTEMPTY) => {
                return Err(QuarantineError::Occupied(back));
            }
            Err(error) => {
                return Err(QuarantineError::Move { to: back, from: item.place(), source: error.into() });
            }
        }
        self.forget_empty(&item.group);
        Ok(back)
    }

    /// Deletes an entry, and returns its original path, if it is known.
    ///
    /// # Errors
    /// When the entry does not exist or cannot be deleted.
    pub fn discard(&self, id: &str) -> Result<PathBuf, QuarantineError> {
        let item = self.find(id)?;
        item.origin
            .iter()
            .filter(|origin| origin.in_place)
            .try_for_each(|origin| self.is_left_alone(origin))?;
        let (from, kept) = self.source(&item)?;
        remove::remove(&from, &kept)
            .map_err(|source| QuarantineError::Remove { path: item.place(), source })?;
        self.forget_empty(&item.group);
        Ok(item.origin.as_ref().map_or_else(|| item.place(), |origin| origin.workspace.join(&origin.path)))
    }

    /// Checks that no command runs in the workspace.
    fn is_left_alone(&self, origin: &Origin) -> Result<(), QuarantineError> {
        match self.path.parent() {
            Some(state) if crate::journal::is_at_work(state, &origin.workspace) => {
                Err(QuarantineError::AtWork(origin.workspace.clone()))
            }
            _ => Ok(()),
        }
    }

    /// Returns all entries, oldest first.
    fn items(&self) -> io::Result<Vec<Item>> {
        let groups = self.groups()?;
        // A group that goes away meanwhile holds nothing.
        Ok(groups.iter().flat_map(|group| self.items_of(group).unwrap_or_default()).collect())
    }

    /// Returns the entries of one group.
    pub(super) fn items_of(&self, group: &str) -> io::Result<Vec<Item>> {
        items_in(group, &self.group(group)?, &self.path.join(group))
    }

    fn find(&self, id: &str) -> Result<Item, QuarantineError> {
        let items = self.items().map_err(QuarantineError::Read)?;
        items.into_iter().find(|item| item.id() == id).ok_or_else(|| QuarantineError::Unknown(id.to_owned()))
    }

    /// Returns the current directory and name of an entry, after checking its identity.
    fn source(&self, item: &Item) -> Result<(OwnedFd, std::ffi::OsString), QuarantineError> {
        let from = match item.origin.as_ref().filter(|origin| origin.in_place) {
            Some(origin) => origin.parent()?.0,
            None => self.group(&item.group).map_err(QuarantineError::Read)?,
        };
        let is_it = item
            .origin
            .as_ref()
            .is_none_or(|origin| origin::identity(&from, &item.name) == Some(origin.thing));
        match is_it {
            true => Ok((from, item.name.clone())),
            false => Err(QuarantineError::Gone(item.place())),
        }
    }

    pub(super) fn group(&self, name: &str) -> io::Result<OwnedFd> {
        Ok(openat(&self.folder, name, FOLDER, Mode::empty())?)
    }

    /// Removes a group that contains no entry but the file of origins.
    fn forget_empty(&self, name: &str) {
        let Ok(group) = self.group(name) else { return };
        let is_empty = self.items_of(name).is_ok_and(|items| items.is_empty());
        if is_empty && names(&group).is_ok_and(|names| names.iter().all(|name| name == ORIGINS)) {
            unlinkat(&group, ORIGINS, AtFlags::empty()).ok();
            unlinkat(&self.folder, name, AtFlags::REMOVEDIR).ok();
        }
    }

    /// Returns the names of all groups, oldest first.
    pub(super) fn groups(&self) -> io::Result<Vec<String>> {
        let all = names(&self.folder)?;
        let mut groups: Vec<String> = all.into_iter().filter_map(|name| name.into_string().ok()).collect();
        // Names of an earlier version have another length and are older, so they come first.
        groups.sort_unstable_by_key(|name| (name.len() == origin::GROUP_LENGTH, name.clone()));
        Ok(groups)
    }
}
