//! The canonical path of a directory in which this user keeps files: a command asks for it several times, before it starts and after
//! it ended.

#![expect(clippy::disallowed_methods, reason = "asks whose a directory is, and when that was asked last")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use crate::owned_path::{LASTING, Stamp, check_owned, stamp_of};
use crate::real_path::real_path;

/// A directory that was checked in this process, and the directory that exists on its path.
#[derive(Debug)]
struct RealFolder {
    path: PathBuf,
    existing: PathBuf,
    stamp: Stamp,
    real: PathBuf,
    at: Instant,
}

impl RealFolder {
    /// Whether the answer is the same now.
    fn holds_for(&self, folder: &Path) -> bool {
        self.path == folder
            && self.at.elapsed() < LASTING
            && stamp(&self.existing) == Some(self.stamp)
            && (self.existing == folder || stamp(folder).is_none())
    }
}

/// Returns the canonical path of the directory, or of its existing part; nothing if another user could have made or replaced it.
///
/// Within a second, the second answer takes one call or two instead of eight: where a directory above was replaced, the path leads
/// to another directory, and is checked anew.
#[must_use]
pub fn real_owned_folder(folder: &Path) -> Option<PathBuf> {
    static CHECKED: Mutex<Option<RealFolder>> = Mutex::new(None);
    let mut checked = CHECKED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(then) = checked.as_ref().filter(|then| then.holds_for(folder)) {
        return Some(then.real.clone());
    }
    // An existing part of the path may be a symlink to another directory.
    let found = folder.ancestors().find_map(|path| Some((path, stamp(path)?, real_path(path).ok()?)));
    let (existing, stamp, real) = found?;
    // A directory of another user is neither trusted nor written to.
    check_owned(folder).ok()?;
    let (path, existing, at) = (folder.to_path_buf(), existing.to_path_buf(), Instant::now());
    *checked = Some(RealFolder { path, existing, stamp, real: real.clone(), at });
    Some(real)
}

fn stamp(folder: &Path) -> Option<Stamp> {
    fs::metadata(folder).ok().map(|found| stamp_of(&found))
}
