//! Where things are kept that lay under a protected name after a command: taken there by the sweep, and listed, given back or
//! dropped by a person.
//!
//! ```text
//!  quarantine/              0700
//!    1ylw9v2k3x4a/          one group for each command that left something: when that was, in digits
//!      origins              what each thing is, where it lay, and which command left it
//!      1-.vscode            the things themselves, numbered
//! ```
//!
//! A thing is moved and never copied, so it keeps its identity, and no link in it is followed. Where it cannot be moved to
//! here, as from another disk, it stays in its folder under a name that no program obeys, and is listed all the same. Whatever
//! is done to it later is done below descriptors, to the thing of that identity and to no other.
//!
//! All of it is bounded: [`MAX_GROUPS`], [`MAX_BYTES`], [`MAX_AGE`]. What goes beyond is dropped, the oldest first, and that is
//! told.

#![expect(clippy::disallowed_methods, reason = "keeps what was taken away from workspaces")]

mod bounds;
mod entry;
mod error;
mod origin;
mod quarantine_move;
mod remove;

use std::fs::DirBuilder;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, Mode, OFlags, RenameFlags, fchmod, mkdirat, openat, renameat_with, unlinkat};

pub use bounds::{MAX_AGE, MAX_BYTES, MAX_GROUPS};
pub use entry::{HeldKind, QuarantineEntry};
pub use error::QuarantineError;
pub(crate) use quarantine_move::{Taken, Taker, Taking, as_text};
pub(crate) use remove::remove as remove_all;
pub use remove::remove_tree;

use entry::Held;
use origin::{ORIGINS, Origin};

/// How a folder of ours is opened: itself, and not what a link leads to.
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// The quarantine of one user.
#[derive(Debug)]
pub struct QuarantineStore {
    folder: OwnedFd,
    path: PathBuf,
}

impl QuarantineStore {
    /// Opens that of this user; nothing if nothing was ever taken away.
    ///
    /// # Errors
    /// When there is one and it cannot be read.
    pub fn of_user() -> io::Result<Option<Self>> {
        let Some(state) = crate::state::folder(&[]) else { return Ok(None) };
        match Self::open(&state) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            opened => opened.map(Some),
        }
    }

    /// Opens that of a folder of state.
    fn open(state: &Path) -> io::Result<Self> {
        let path = state.join("quarantine");
        let folder = rustix::fs::open(&path, FOLDER, Mode::empty())?;
        Ok(Self { folder, path })
    }

    /// Opens that of a folder of state, and makes what is missing. Nobody else sees into it.
    fn make(state: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(state.join("quarantine"))?;
        let store = Self::open(state)?;
        // An earlier version made it for all to read.
        fchmod(&store.folder, Mode::RWXU)?;
        Ok(store)
    }

    /// Returns what is kept, the oldest first.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn entries(&self) -> io::Result<Vec<QuarantineEntry>> {
        Ok(self.held()?.into_iter().map(QuarantineEntry::of).collect())
    }

    /// Puts a thing back where it lay, and returns that path. Nothing is overwritten, and no link is followed on the way.
    ///
    /// # Errors
    /// When there is no such thing, it is not known where it lay, something else lies there now, the workspace is another
    /// folder than then, or a command runs in it.
    pub fn restore(&self, id: &str) -> Result<PathBuf, QuarantineError> {
        let held = self.find(id)?;
        let origin = held.origin.as_ref().ok_or_else(|| QuarantineError::Unrecorded(held.place()))?;
        self.is_left_alone(origin)?;
        let (parent, name) = origin.parent()?;
        let (from, kept) = self.source(&held)?;
        let back = origin.workspace.join(&origin.path);
        match renameat_with(&from, &kept, &parent, name, RenameFlags::NOREPLACE) {
            Ok(()) => {}
            Err(rustix::io::Errno::EXIST | rustix::io::Errno::NOTEMPTY) => {
                return Err(QuarantineError::Occupied(back));
            }
            Err(error) => {
                return Err(QuarantineError::Move { to: back, from: held.place(), source: error.into() });
            }
        }
        self.forget_empty(&held.group);
        Ok(back)
    }

    /// Removes a thing for good, and returns where it had lain, as far as that is known.
    ///
    /// # Errors
    /// When there is no such thing, or it cannot be removed.
    pub fn discard(&self, id: &str) -> Result<PathBuf, QuarantineError> {
        let held = self.find(id)?;
        held.origin
            .iter()
            .filter(|origin| origin.in_place)
            .try_for_each(|origin| self.is_left_alone(origin))?;
        let (from, kept) = self.source(&held)?;
        remove::remove(&from, &kept)
            .map_err(|source| QuarantineError::Remove { path: held.place(), source })?;
        self.forget_empty(&held.group);
        Ok(held.origin.as_ref().map_or_else(|| held.place(), |origin| origin.workspace.join(&origin.path)))
    }

    /// Nothing is done in a workspace while a command is at work there.
    fn is_left_alone(&self, origin: &Origin) -> Result<(), QuarantineError> {
        match self.path.parent() {
            Some(state) if crate::journal::is_at_work(state, &origin.workspace) => {
                Err(QuarantineError::AtWork(origin.workspace.clone()))
            }
            _ => Ok(()),
        }
    }

    fn find(&self, id: &str) -> Result<Held, QuarantineError> {
        let held = self.held().map_err(QuarantineError::Read)?;
        held.into_iter().find(|held| held.id() == id).ok_or_else(|| QuarantineError::Unknown(id.to_owned()))
    }

    /// The folder that a thing lies in now, and its name there. It is the very thing that was taken.
    fn source(&self, held: &Held) -> Result<(OwnedFd, std::ffi::OsString), QuarantineError> {
        let from = match held.origin.as_ref().filter(|origin| origin.in_place) {
            Some(origin) => origin.parent()?.0,
            None => self.group(&held.group).map_err(QuarantineError::Read)?,
        };
        let is_it = held
            .origin
            .as_ref()
            .is_none_or(|origin| origin::identity(&from, &held.name) == Some(origin.thing));
        match is_it {
            true => Ok((from, held.name.clone())),
            false => Err(QuarantineError::Gone(held.place())),
        }
    }

    fn group(&self, name: &str) -> io::Result<OwnedFd> {
        Ok(openat(&self.folder, name, FOLDER, Mode::empty())?)
    }

    /// Removes a group in which nothing is left but the words about it.
    fn forget_empty(&self, name: &str) {
        let Ok(group) = self.group(name) else { return };
        let is_empty = self.held_of(name).is_ok_and(|held| held.is_empty());
        if is_empty && names(&group).is_ok_and(|names| names.iter().all(|name| name == ORIGINS)) {
            unlinkat(&group, ORIGINS, AtFlags::empty()).ok();
            unlinkat(&self.folder, name, AtFlags::REMOVEDIR).ok();
        }
    }

    /// The names of all groups, the oldest first.
    fn groups(&self) -> io::Result<Vec<String>> {
        let all = names(&self.folder)?;
        let mut groups: Vec<String> = all.into_iter().filter_map(|name| name.into_string().ok()).collect();
        // Those of an earlier version come first: their numbers are longer, and they are older.
        groups.sort_unstable_by_key(|name| (name.len() == origin::GROUP_LENGTH, name.clone()));
        Ok(groups)
    }
}

/// Makes a folder that nobody else sees into, and opens it.
fn make_folder(at: &OwnedFd, name: &str) -> io::Result<OwnedFd> {
    mkdirat(at, name, Mode::RWXU)?;
    Ok(openat(at, name, FOLDER, Mode::empty())?)
}

/// The names in a folder.
pub(crate) fn names(folder: &OwnedFd) -> io::Result<Vec<std::ffi::OsString>> {
    use std::os::unix::ffi::OsStringExt as _;
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let name = entry?.file_name().to_bytes().to_vec();
        if name != b"." && name != b".." {
            names.push(std::ffi::OsString::from_vec(name));
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests;
