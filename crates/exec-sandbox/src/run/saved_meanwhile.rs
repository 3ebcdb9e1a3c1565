//! Hides and protects files that other programs save while a command runs.
//!
//! What hides or protects a file is mounted on it. An editor that saves creates a new file and renames it over the old one; the
//! kernel then removes the mount. So the directories of such files, and the top of each writable directory, are watched by inotify(7),
//! and a new file is treated by its name like one that existed before the command. Until then, which takes a few milliseconds, the
//! command can read a secret, so it is reported as well; writing a protected name is refused by mediation all the time. Files that the
//! command created or wrote itself stay as they are.

#![expect(clippy::disallowed_methods, reason = "watches what other programs save")]

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ffi::{CStr, CString, OsStr};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat, openat, statat};
use stockade_credentials::contains_secret;

use super::memory::children;
use super::poll::wait;
use crate::choices::ReviewMode;
use crate::host::{Entry, ProtectedEntry, ProtectionMode};
use crate::mounts::MountKind;
use crate::plan::Plan;
use crate::sys::mask::{Cover, cover_in};
use crate::workspace::MAX_TEXT;
use crate::workspace::entry::read_below;
use crate::workspace::new_names::{TreatedName, treated_name};
use crate::workspace::roots::{Root, roots};

/// Number and interval of attempts to enter the namespaces of a command that is being started.
const ATTEMPTS: usize = 50;
const INTERVAL: Duration = Duration::from_millis(1);

/// The events of a file that is new, moved here, or completely written.
const EVENTS: WatchFlags = WatchFlags::CREATE.union(WatchFlags::MOVED_TO).union(WatchFlags::CLOSE_WRITE);

/// The watched directories of a command.
pub(super) struct SavedMeanwhile {
    roots: Vec<Root>,
    /// Paths that the operator chose to show.
    shown: Vec<PathBuf>,
    queue: OwnedFd,
    folders: Vec<(i32, PathBuf)>,
    /// Hidden and protected files that were replaced before their directory was watched.
    replaced: Vec<PathBuf>,
    /// The process whose children are the command.
    first: i32,
}

impl SavedMeanwhile {
    /// Watches the directories of a plan; nothing if new names in it are not decided, or if the command works on an overlay.
    pub(super) fn of(plan: &Plan, first: i32) -> Option<Self> {
        if !plan.decides_names() || plan.review != ReviewMode::Off {
            return None;
        }
        let (workspace, others) = plan.guarded();
        let roots = roots(workspace, &others);
        let queue = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()?;
        let folders = folders(plan, &roots);
        let watched = folders.into_iter().filter_map(|path| {
            let flags = EVENTS | WatchFlags::ONLYDIR | WatchFlags::DONT_FOLLOW;
            inotify::add_watch(&queue, &path, flags).ok().map(|number| (number, path))
        });
        let folders = watched.collect();
        let is_root = |path: &PathBuf| roots.iter().any(|root| root.path == *path);
        let is_treated = |path: &PathBuf| {
            // What is mounted on a hidden file is no bind mount, unless the operator chose to show the file.
            let mut treated = plan.protected.iter().filter(|entry| entry.mode != ProtectionMode::Hide);
            treated.any(|entry| plan.workspace.join(&entry.path) == *path)
        };
        let shown = plan.mounts.iter().filter(|mount| matches!(mount.kind, MountKind::Bind { .. }));
        let shown = shown.map(|mount| mount.target.clone());
        let shown = shown.filter(|path| !is_root(path) && !is_treated(path)).collect();
        let is_replaced = |entry: &&ProtectedEntry| {
            let found = statat(CWD, plan.workspace.join(&entry.path), AtFlags::SYMLINK_NOFOLLOW);
            found.is_ok_and(|found| {
                (found.st_dev, found.st_ino) != (entry.stamp.file.device, entry.stamp.file.number)
            })
        };
        let replaced = treated_files(plan).filter(is_replaced).map(|entry| plan.workspace.join(&entry.path));
        let replaced = replaced.collect();
        Some(Self { roots, shown, queue, folders, replaced, first })
    }

    /// Whether a hidden or protected file was replaced before its directory was watched.
    pub(super) fn is_late(&self) -> bool {
        !self.replaced.is_empty()
    }

    /// Returns a descriptor that is readable when there is a new file.
    pub(super) fn news(&self) -> BorrowedFd<'_> {
        self.queue.as_fd()
    }

    /// Hides and protects new files until `ends` is readable, except for those that `is_own` recognizes as the command's.
    pub(super) fn watch(&self, ends: &OwnedFd, is_own: impl Fn(&Stat) -> bool) {
        self.replaced.iter().for_each(|path| self.treat(path, &is_own));
        loop {
            let mut fds = [PollFd::new(&self.queue, PollFlags::IN), PollFd::new(ends, PollFlags::IN)];
            if wait(&mut fds, None).is_err() || !fds[1].revents().is_empty() {
                return;
            }
            for path in self.new_names() {
                self.treat(&path, &is_own);
            }
        }
    }

    /// Returns the paths of new files that are treated by their name.
    fn new_names(&self) -> BTreeSet<PathBuf> {
        let mut buffer = [MaybeUninit::uninit(); 16 << 10];
        let mut events = inotify::Reader::new(&self.queue, &mut buffer);
        let mut found = BTreeSet::new();
        while let Ok(event) = events.next() {
            // The command can fill the queue, so that events are lost.
            if event.events().contains(ReadFlags::QUEUE_OVERFLOW) {
                self.folders.iter().for_each(|(_, folder)| found.extend(self.names_in(folder)));
                continue;
            }
            let folder = self.folders.iter().find(|(number, _)| *number == event.wd());
            let (Some((_, folder)), Some(name)) = (folder, event.file_name()) else { continue };
            let path = folder.join(OsStr::from_bytes(name.to_bytes()));
            if !self.kinds(&path).is_empty() {
                found.insert(path);
            }
        }
        found
    }

    fn names_in(&self, folder: &Path) -> Vec<PathBuf> {
        let paths = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        paths.filter(|path| !self.kinds(path).is_empty()).collect()
    }

    /// Returns how a path is treated, unless the operator chose to show it.
    fn kinds(&self, path: &Path) -> BTreeSet<Reverse<TreatedName>> {
        let is_shown = self.shown.iter().any(|shown| path.starts_with(shown));
        let below = self.roots.iter().find_map(|root| path.strip_prefix(&root.path).ok());
        below.filter(|_| !is_shown).map(treated_name).unwrap_or_default()
    }

    fn treat(&self, path: &Path, is_own: &impl Fn(&Stat) -> bool) {
        let Ok(found) = statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW) else { return };
        let kind = FileType::from_raw_mode(found.st_mode);
        let mut covers = self.kinds(path).into_iter().filter_map(|Reverse(treated)| match (treated, kind) {
            (TreatedName::Hidden, FileType::RegularFile) => Some(Cover::Device),
            (TreatedName::HiddenWithSecret, FileType::RegularFile) if holds_secret(path) => {
                Some(Cover::Device)
            }
            (TreatedName::Protected, FileType::RegularFile | FileType::Directory) => Some(Cover::ReadOnly),
            _ => None,
        });
        let Some(cover) = covers.next().filter(|_| !is_own(&found)) else { return };
        let Ok(text) = CString::new(path.as_os_str().as_bytes()) else { return };
        for _ in 0..ATTEMPTS {
            if self.covered(&text, (found.st_dev, found.st_ino), cover).is_ok() {
                return;
            }
            // Before it executes its program, the command's namespaces cannot be entered.
            std::thread::sleep(INTERVAL);
        }
    }

    fn covered(&self, path: &CStr, file: (u64, u64), cover: Cover) -> io::Result<bool> {
        let gone = || io::Error::from(io::ErrorKind::NotFound);
        let command = children(self.first).into_iter().next().ok_or_else(gone)?;
        cover_in(command, path, file, cover)
    }
}

/// Whether a file contains a secret. One that cannot be read counts as containing one.
fn holds_secret(path: &Path) -> bool {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return true };
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let Ok(folder) = openat(CWD, parent, flags, Mode::empty()) else { return true };
    read_below(folder.as_fd(), Path::new(name), MAX_TEXT).is_none_or(|text| contains_secret(&text))
}

/// Returns the directories to watch: the roots, and those of treated files. A plan has a maximum number of these.
fn folders(plan: &Plan, roots: &[Root]) -> BTreeSet<PathBuf> {
    let around = treated_files(plan);
    let around = around.filter_map(|entry| Some(plan.workspace.join(&entry.path).parent()?.to_path_buf()));
    roots.iter().map(|root| root.path.clone()).chain(around).collect()
}

/// Returns the mounted files that are treated by their name; parts of repositories are not.
fn treated_files(plan: &Plan) -> impl Iterator<Item = &ProtectedEntry> {
    let is_one = |entry: &&ProtectedEntry| {
        matches!(entry.mode, ProtectionMode::Hide | ProtectionMode::ReadOnly)
            && matches!(entry.kind, Entry::File | Entry::Folder)
            && !treated_name(&entry.path).is_empty()
    };
    plan.protected.iter().filter(is_one)
}
