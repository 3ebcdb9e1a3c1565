//! The store of layers, which contain the changes of commands.
//!
//! ```text
//!  reviews/                 0700
//!    lock                   held while changes are applied, discarded or undone
//!    1ylw9v2k3x4a/          one layer per command; the name is its time in base 36
//!      lock                 held while the command runs
//!      about                the command, the workspace, and the kind of overlay
//!      base                 the manifest of the workspace when the command started
//!      upper/ work/         directories of an overlayfs, or
//!      copy/                a copy of the workspace
//!      changes              the judged changes; written when the command ends
//!      judged               obeyed paths, when the command started and when it ended
//!      status               applied and discarded changes, with the state of their files
//!      slots/               replaced and deleted files, by the number of the change
//!      journal              the merge in progress
//! ```

#![expect(clippy::disallowed_methods, reason = "keeps the layers of this user")]

use std::fs::{DirBuilder, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::Duration;

use rustix::fs::{Dir, FlockOperation, Mode, fcntl_lock, flock, mkdirat, openat};

use super::about::{About, existing_lock, is_lock_of, made, open_lock};
use super::at::FOLDER;
use super::error::ReviewError;
use super::layer::ReviewLayer;
use crate::moment::moment;

/// Maximum number of layers.
pub const MAX_LAYERS: usize = 64;

/// Maximum disk usage of all layers together.
pub const MAX_LAYER_BYTES: u64 = 16 << 30;

/// Maximum age of a layer.
pub const MAX_LAYER_AGE: Duration = Duration::from_secs(30 * 24 * 3600);

/// The layers of one user.
#[derive(Debug)]
pub struct ReviewStore {
    folder: OwnedFd,
    path: PathBuf,
}

/// Number of attempts to take a held lock, and the delay in between: half a second in total.
const TRIES: usize = 50;
const BETWEEN: Duration = Duration::from_millis(10);

/// How long a directory without a lock may be one that is being created.
const UNLOCKED: Duration = Duration::from_secs(10);

/// A locked store. The lock of fcntl(2) is one of this process: a sandbox that another thread forks at this moment does not hold a
/// copy, as it would of a lock of flock(2). Threads exclude each other by the second part, which is released last, because
/// closing any descriptor of the file releases the first.
pub(super) struct StoreLock {
    _file: File,
    _thread: MutexGuard<'static, ()>,
}

impl ReviewStore {
    /// Opens the store of this user; nothing if it does not exist.
    ///
    /// # Errors
    /// When it exists and cannot be read.
    pub fn of_user() -> io::Result<Option<Self>> {
        let Some(state) = crate::state::folder(&[]) else { return Ok(None) };
        Self::of_state(&state)
    }

    /// Opens the store of a state directory; nothing if it does not exist.
    pub(super) fn of_state(state: &Path) -> io::Result<Option<Self>> {
        match Self::open(state) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            opened => opened.map(Some),
        }
    }

    fn open(state: &Path) -> io::Result<Self> {
        let path = state.join("reviews");
        let folder = rustix::fs::open(&path, FOLDER, Mode::empty())?;
        Ok(Self { folder, path })
    }

    /// Opens the store of a state directory, and creates it if necessary, readable for this user only.
    pub(super) fn make(state: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(state.join("reviews"))?;
        Self::open(state)
    }

    /// Returns all layers, newest first. Layers without readable metadata are skipped.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn layers(&self) -> Result<Vec<ReviewLayer>, ReviewError> {
        let names = self.names().map_err(ReviewError::Store)?;
        let layers = names.iter().rev().filter_map(|name| self.open_layer(name).ok().flatten());
        Ok(layers.collect())
    }

    /// Returns a layer by its identifier, or a unique prefix of it.
    ///
    /// # Errors
    /// When it does not exist, or cannot be read.
    pub fn layer(&self, id: &str) -> Result<ReviewLayer, ReviewError> {
        let names = self.names().map_err(ReviewError::Store)?;
        let mut fitting = names.iter().filter(|name| name.starts_with(id) && !id.is_empty());
        let (Some(name), None) = (fitting.next(), fitting.next()) else {
            return Err(ReviewError::Unknown(id.to_owned()));
        };
        let layer = self.open_layer(name);
        let unreadable = |source| ReviewError::Unreadable { id: name.clone(), source };
        layer.map_err(unreadable)?.ok_or_else(|| ReviewError::Unknown(id.to_owned()))
    }

    /// Locks the store until the result is dropped. A lock that is held is retried for a while.
    pub(super) fn lock(&self) -> Result<StoreLock, ReviewError> {
        for _ in 0..TRIES {
            if let Some(lock) = self.try_lock().map_err(ReviewError::Store)? {
                return Ok(lock);
            }
            std::thread::sleep(BETWEEN);
        }
        Err(ReviewError::Busy)
    }

    fn try_lock(&self) -> io::Result<Option<StoreLock>> {
        static THREAD: Mutex<()> = Mutex::new(());
        let thread = match THREAD.try_lock() {
            Ok(thread) => thread,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Ok(None),
        };
        let file = open_lock(&self.folder)?;
        let is_locked = fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive).is_ok();
        Ok(is_locked.then(|| StoreLock { _file: file, _thread: thread }))
    }

    /// Returns the state directory.
    pub(super) fn state(&self) -> &Path {
        self.path.parent().unwrap_or(&self.path)
    }

    fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.folder)? {
            let name = String::from_utf8_lossy(entry?.file_name().to_bytes()).into_owned();
            if name.len() == ID_LENGTH && name.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
                names.push(name);
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    fn open_layer(&self, id: &str) -> io::Result<Option<ReviewLayer>> {
        let folder = openat(&self.folder, id, FOLDER, Mode::empty())?;
        let Some(about) = About::load(&folder)? else { return Ok(None) };
        Ok(Some(ReviewLayer::new(id.to_owned(), self.path.join(id), folder, about)))
    }

    /// Creates the directory of a new layer, and locks it.
    pub(super) fn new_layer(&self) -> io::Result<(String, PathBuf, OwnedFd, File)> {
        for _ in 0..TRIES {
            let id = id_of(moment());
            if let Some((folder, lock)) = self.made_and_locked(&id)? {
                return Ok((id.clone(), self.path.join(&id), folder, lock));
            }
        }
        Err(io::ErrorKind::ResourceBusy.into())
    }

    /// The same with this identifier; nothing if another command took it in the same nanosecond, or removed the layer: until it is
    /// locked, it looks like one whose creator was killed.
    fn made_and_locked(&self, id: &str) -> io::Result<Option<(OwnedFd, File)>> {
        use io::ErrorKind::{AlreadyExists, NotFound, WouldBlock};
        let make = || -> io::Result<_> {
            mkdirat(&self.folder, id, Mode::RWXU)?;
            let folder = openat(&self.folder, id, FOLDER, Mode::empty())?;
            let lock = open_lock(&folder)?;
            flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
            Ok((folder, lock))
        };
        match make() {
            Err(error) if matches!(error.kind(), AlreadyExists | NotFound | WouldBlock) => Ok(None),
            made => made.map(|(folder, lock)| is_lock_of(&folder, &lock).then_some((folder, lock))),
        }
    }

    /// Deletes the oldest layers until the rest is within the limits, first those without pending changes, and returns them.
    /// Layers of running commands and of interrupted merges stay.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn clean(&self) -> Result<Vec<DroppedLayer>, ReviewError> {
        let _lock = self.lock()?;
        self.remove_leftovers();
        let mut layers = self.layers()?;
        layers.reverse();
        let mut sizes: Vec<u64> = layers.iter().map(ReviewLayer::bytes).collect();
        let mut dropped = Vec::new();
        for is_waiting in [false, true] {
            let mut at = 0;
            while let Some(layer) = layers.get(at) {
                let sum = sizes.iter().fold(0_u64, |sum, size| sum.saturating_add(*size));
                let is_old = layer.age().is_some_and(|age| age > MAX_LAYER_AGE);
                let is_too_much = sum > MAX_LAYER_BYTES || layers.len() > MAX_LAYERS;
                let may_go = layer.is_over() && !layer.is_half_done();
                if !may_go || layer.waits() != is_waiting || !(is_old || is_too_much) {
                    at += 1;
                    continue;
                }
                let waiting = layer.waiting();
                dropped.push(DroppedLayer { id: layer.id().to_owned(), waiting });
                self.remove(layer.id()).map_err(ReviewError::Store)?;
                layers.remove(at);
                sizes.remove(at);
            }
        }
        Ok(dropped)
    }

    /// Deletes layers without metadata, whose creator was killed.
    fn remove_leftovers(&self) {
        let is_empty = |folder: &OwnedFd| About::load(folder).is_ok_and(|about| about.is_none());
        for id in self.names().unwrap_or_default() {
            let folder = openat(&self.folder, &id, FOLDER, Mode::empty()).ok().filter(is_empty);
            let Some(folder) = folder else { continue };
            // Held until it is removed, so that a creator that is about to lock it finds it gone. One that has not come so far makes
            // its lock within milliseconds.
            let lock = existing_lock(&folder);
            let is_free = match &lock {
                Some(lock) => flock(lock, FlockOperation::NonBlockingLockExclusive).is_ok(),
                None => made(&id).and_then(|made| made.elapsed().ok()).is_some_and(|age| age > UNLOCKED),
            };
            if is_free && is_empty(&folder) {
                self.remove(&id).ok();
            }
        }
    }

    /// Deletes a layer.
    pub(super) fn remove(&self, id: &str) -> io::Result<()> {
        crate::quarantine::remove_all(&self.folder, id.as_ref())
    }
}

/// A layer that was deleted because it exceeded the limits.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DroppedLayer {
    /// The identifier.
    pub id: String,
    /// The number of its pending changes.
    pub waiting: usize,
}

const ID_LENGTH: usize = 12;
const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";

/// Returns an identifier for a time. Identifiers sort by time.
fn id_of(moment: u128) -> String {
    let mut left = moment;
    let mut digits = vec![b'0'; ID_LENGTH];
    for place in digits.iter_mut().rev() {
        *place = DIGITS.get((left % 36) as usize).copied().unwrap_or(b'0');
        left /= 36;
    }
    String::from_utf8(digits).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    /// A new layer looks like one whose creator was killed until it is locked.
    #[test]
    fn layers_that_are_created_meanwhile_are_no_leftovers() {
        let state = tempfile::tempdir().unwrap();
        let (store, other) =
            (ReviewStore::make(state.path()).unwrap(), ReviewStore::make(state.path()).unwrap());
        let is_done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_done.load(Ordering::Relaxed) {
                    other.remove_leftovers();
                }
            });
            let made: Vec<io::Result<()>> = (0..2000)
                .map(|_| {
                    let (id, path, folder, lock) = store.new_layer()?;
                    assert!(path.is_dir() && is_lock_of(&folder, &lock), "{id} is gone");
                    store.remove(&id)
                })
                .collect();
            is_done.store(true, Ordering::Relaxed);
            assert!(made.iter().all(Result::is_ok), "{:?}", made.iter().find(|made| made.is_err()));
        });
    }
}
