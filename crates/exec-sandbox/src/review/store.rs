//! Where layers are kept: what commands changed in their views.
//!
//! ```text
//!  reviews/                 0700
//!    lock                   held by whoever applies, discards or undoes
//!    1ylw9v2k3x4a/          one layer for each command: when that was, in digits
//!      lock                 held while the command runs
//!      about                which command, in which workspace, and what the view is
//!      base                 what lay in the workspace when it began
//!      upper/ work/         what an overlay keeps, or
//!      copy/                the workspace once more
//!      changes              what is different, judged; written when the command is over
//!      judged               where something lies that others obey, when the command began and when it was over
//!      status               which changes are applied or discarded, and how they looked then
//!      slots/               what was replaced or deleted, by the number of the change
//!      journal              what is being done right now
//! ```

#![expect(clippy::disallowed_methods, reason = "keeps the layers of this user")]

use std::fs::{DirBuilder, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Dir, FlockOperation, Mode, flock, mkdirat, openat};

use super::about::{About, is_locked, open_lock};
use super::at::FOLDER;
use super::error::ReviewError;
use super::layer::ReviewLayer;
use crate::moment::moment;

/// The most layers that are kept.
pub const MAX_LAYERS: usize = 64;

/// The most bytes on the disk of all layers together.
pub const MAX_LAYER_BYTES: u64 = 16 << 30;

/// How long a layer is kept.
pub const MAX_LAYER_AGE: Duration = Duration::from_secs(30 * 24 * 3600);

/// The layers of one user.
#[derive(Debug)]
pub struct ReviewStore {
    folder: OwnedFd,
    path: PathBuf,
}

/// How often a lock is tried that somebody else has, and how long there is in between: half a second in all.
const TRIES: usize = 50;
const BETWEEN: Duration = Duration::from_millis(10);

impl ReviewStore {
    /// Opens that of this user; nothing if no command ever had a view.
    ///
    /// # Errors
    /// When there is one and it cannot be read.
    pub fn of_user() -> io::Result<Option<Self>> {
        let Some(state) = crate::state::folder(&[]) else { return Ok(None) };
        Self::of_state(&state)
    }

    /// Opens that of a folder of state; nothing if there is none.
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

    /// Opens that of a folder of state, and makes what is missing. Nobody else sees into it.
    pub(super) fn make(state: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(state.join("reviews"))?;
        Self::open(state)
    }

    /// Returns all layers, the newest first. One about which nothing can be read is left out.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn layers(&self) -> Result<Vec<ReviewLayer>, ReviewError> {
        let names = self.names().map_err(ReviewError::Store)?;
        let layers = names.iter().rev().filter_map(|name| self.open_layer(name).ok().flatten());
        Ok(layers.collect())
    }

    /// Returns the layer of a name, or of the beginning of one that no other shares.
    ///
    /// # Errors
    /// When there is none, or it cannot be read.
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

    /// Keeps all others from working on changes for as long as the file is open. A sandbox that begins at this moment in another thread
    /// holds a copy of what was open there, until its first process has closed it, so a lock that is taken is tried for a while.
    pub(super) fn lock(&self) -> Result<File, ReviewError> {
        let file = open_lock(&self.folder).map_err(ReviewError::Store)?;
        for _ in 0..TRIES {
            if flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
                return Ok(file);
            }
            std::thread::sleep(BETWEEN);
        }
        Err(ReviewError::Busy)
    }

    /// The folder of state that it lies in.
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

    /// Makes the folder of a new layer, and holds its lock.
    pub(super) fn new_layer(&self) -> io::Result<(String, PathBuf, OwnedFd, File)> {
        loop {
            let id = id_of(moment());
            match mkdirat(&self.folder, &id, Mode::RWXU) {
                // Another command was as quick.
                Err(rustix::io::Errno::EXIST) => continue,
                made => made?,
            }
            let folder = openat(&self.folder, &id, FOLDER, Mode::empty())?;
            let lock = open_lock(&folder)?;
            flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
            return Ok((id.clone(), self.path.join(&id), folder, lock));
        }
    }

    /// Drops the oldest layers until what is left is within the bounds, first those that wait for nobody, and returns what was
    /// dropped. What a command is at work in stays, and so does what somebody was killed in while it was applied or undone.
    ///
    /// # Errors
    /// When the folder cannot be read.
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

    /// Removes what nobody wrote about: whoever made it was killed before it began.
    fn remove_leftovers(&self) {
        for id in self.names().unwrap_or_default() {
            let is_left = openat(&self.folder, &id, FOLDER, Mode::empty()).is_ok_and(|folder| {
                About::load(&folder).is_ok_and(|about| about.is_none()) && !is_locked(&folder)
            });
            if is_left {
                self.remove(&id).ok();
            }
        }
    }

    /// Removes a layer with all that lies in it.
    pub(super) fn remove(&self, id: &str) -> io::Result<()> {
        crate::quarantine::remove_all(&self.folder, id.as_ref())
    }
}

/// A layer that was dropped: there is room for so many, and for so long.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DroppedLayer {
    /// What it was called.
    pub id: String,
    /// How many changes in it nobody had decided on.
    pub waiting: usize,
}

const ID_LENGTH: usize = 12;
const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";

/// A moment as a name, so that later ones come later.
fn id_of(moment: u128) -> String {
    let mut left = moment;
    let mut digits = vec![b'0'; ID_LENGTH];
    for place in digits.iter_mut().rev() {
        *place = DIGITS.get((left % 36) as usize).copied().unwrap_or(b'0');
        left /= 36;
    }
    String::from_utf8(digits).unwrap_or_default()
}
