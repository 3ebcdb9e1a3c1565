//! Moves files to the quarantine from the directory in which they were found, even if its mode forbids that.

#![expect(clippy::disallowed_methods, reason = "asks for modes of what a command left, and changes them")]

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, chmod, fstat, openat2};

use crate::outcome::DroppedGroup;
use crate::quarantine::{Taken, Taker, Taking};
use crate::quarantined::{LeftBy, Quarantined};
use crate::workspace::entry::{Stopped, open_below, open_parent};
use crate::workspace::links::is_guarded;

/// Maximum number of listed files, and maximum length of a listed path.
const MAX_LISTED: usize = 10_000;
const MAX_SHOWN: usize = 4_096;

/// Quarantines files of one writable directory.
pub(super) struct RootTaking<'t> {
    root: &'t OwnedFd,
    taking: Taking<'t>,
    taken: &'t mut Vec<Quarantined>,
    /// Already quarantined paths: a file may be found in several ways.
    paths: HashSet<PathBuf>,
}

impl<'t> RootTaking<'t> {
    pub(super) fn new(whose: Taker<'t>, taken: &'t mut Vec<Quarantined>) -> Self {
        Self { root: whose.root, taking: Taking::new(whose), taken, paths: HashSet::new() }
    }

    /// Quarantines a path below an open directory, whose path below the root is `at`.
    pub(super) fn take(&mut self, folder: BorrowedFd<'_>, at: &Path, below: &Path, path: PathBuf) {
        if !self.paths.insert(path.clone()) {
            return;
        }
        let taken = self.move_away(folder, at, below).ok();
        let (moved_to, id) = taken.map_or((None, None), |taken| (Some(taken.place), taken.id));
        // A file that could not be moved is always listed.
        if self.taken.len() < MAX_LISTED || moved_to.is_none() {
            self.taken.push(Quarantined { path: shown(path), moved_to, id, left_by: LeftBy::ThisCommand });
        }
    }

    /// Quarantines a path below the root.
    pub(super) fn take_from_the_root(&mut self, below: &Path, path: PathBuf) {
        let root = self.root;
        self.take(root.as_fd(), Path::new(""), below, path);
    }

    /// Whether a symlink resolves to an existing path below the root that other programs do not obey. This is the common case.
    pub(super) fn leads_to_a_plain_file(&self, link: &Path) -> bool {
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        let end = openat2(self.root, link, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), resolve);
        let place = |open: &OwnedFd| std::fs::read_link(own_path(open)).ok();
        let (end, root) = (end.ok().and_then(|end| place(&end)), place(self.root));
        let below = end.as_deref().zip(root.as_deref()).and_then(|(end, root)| end.strip_prefix(root).ok());
        below.is_some_and(|below| !is_guarded(below))
    }

    pub(super) fn make_room(&self) -> Vec<DroppedGroup> {
        self.taking.make_room()
    }

    fn move_away(&mut self, folder: BorrowedFd<'_>, at: &Path, below: &Path) -> io::Result<Taken> {
        let stopped = |stopped| match stopped {
            Stopped::Error(error) => io::Error::from(error),
            Stopped::Link(_) => io::Error::from(io::ErrorKind::NotADirectory),
        };
        let (parent, name) = open_parent(folder, below).map_err(stopped)?;
        let parent = parent.map_or_else(|| folder.try_clone_to_owned(), Ok)?;
        let moving = open_below(parent.as_fd(), Path::new(name), OFlags::PATH).map_err(stopped)?;
        // Moving a directory to another parent needs write permission on the directory itself, because its `..` changes.
        if FileType::from_raw_mode(fstat(&moving)?.st_mode) == FileType::Directory {
            open_up(&moving)?;
        }
        let path = at.join(below);
        match self.taking.take(&parent, name, &path) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
            result => return result,
        }
        let mode = open_up(&parent)?;
        let taken = self.taking.take(&parent, name, &path);
        chmod(own_path(&parent), mode).ok();
        taken
    }
}

/// Adds all permissions of the owner to a directory, and returns its previous mode.
fn open_up(folder: &OwnedFd) -> io::Result<Mode> {
    let mode = Mode::from_raw_mode(fstat(folder)?.st_mode);
    if !mode.contains(Mode::RWXU) {
        // An error is ignored here, because the following operation then fails and is reported.
        chmod(own_path(folder), mode | Mode::RWXU).ok();
    }
    Ok(mode)
}

fn own_path(folder: &OwnedFd) -> PathBuf {
    PathBuf::from("/proc/self/fd").join(folder.as_raw_fd().to_string())
}

/// Shortens a path for the list.
fn shown(path: PathBuf) -> PathBuf {
    match path.as_os_str().as_bytes().get(..MAX_SHOWN) {
        Some(begin) => PathBuf::from(OsStr::from_bytes(begin)),
        None => path,
    }
}
