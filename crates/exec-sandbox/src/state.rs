//! The state directory: the quarantine, and the journal of files that were about to be quarantined.

#![expect(
    clippy::disallowed_methods,
    reason = "asks where this user keeps the state of programs, and when it did so last"
)]

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use stockade_files::{check_owned, real_path};

use crate::mounts::{Mount, MountKind};
use crate::spec::MountAccess;

/// Returns the state directory of this user; nothing if there is no home, or if the directory belongs to another user.
#[must_use]
pub fn state_folder() -> Option<PathBuf> {
    folder(&[])
}

/// Returns the state directory; nothing if there is no home, or if the command can write to the directory: it could then choose
/// which files are moved, and from where.
pub(crate) fn folder(mounts: &[Mount]) -> Option<PathBuf> {
    let folder = named()?;
    let real = owned(&folder)?;
    let written = |path: &Path| mounts.iter().filter_map(writable).any(|open| path.starts_with(open));
    (!written(&folder) && !written(&real)).then_some(folder)
}

/// Returns the canonical path of the state directory, or of its existing part.
pub(crate) fn real_folder() -> Option<PathBuf> {
    owned(&named()?)
}

fn named() -> Option<PathBuf> {
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let state = state.or_else(|| std::env::home_dir().map(|home| home.join(".local/state")))?;
    Some(state.join("stockade"))
}

/// How long an answer is good for: a command asks several times, before it starts and after it ended.
const LASTING: Duration = Duration::from_secs(1);

/// A state directory that was checked in this process, and the directory that exists on its path.
struct CheckedFolder {
    path: PathBuf,
    existing: PathBuf,
    stamp: FolderStamp,
    real: PathBuf,
    at: Instant,
}

impl CheckedFolder {
    /// Whether the answer is the same now.
    fn holds_for(&self, folder: &Path) -> bool {
        self.path == folder
            && self.at.elapsed() < LASTING
            && stamp(&self.existing) == Some(self.stamp)
            && (self.existing == folder || stamp(folder).is_none())
    }
}

/// Device, inode, owner, group and mode of a directory.
type FolderStamp = (u64, u64, u32, u32, u32);

/// Returns the canonical path of the directory, or of its existing part; nothing if another user could have made or replaced it.
///
/// Within [`LASTING`], the second answer takes one call or two instead of eight: where a directory above was replaced, the path leads
/// to another directory, and is checked anew.
fn owned(folder: &Path) -> Option<PathBuf> {
    static CHECKED: Mutex<Option<CheckedFolder>> = Mutex::new(None);
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
    *checked = Some(CheckedFolder { path, existing, stamp, real: real.clone(), at });
    Some(real)
}

fn stamp(folder: &Path) -> Option<FolderStamp> {
    let data = std::fs::metadata(folder).ok()?;
    Some((data.dev(), data.ino(), data.uid(), data.gid(), data.mode()))
}

fn writable(mount: &Mount) -> Option<&Path> {
    match &mount.kind {
        MountKind::Bind { source, access: MountAccess::ReadWrite, .. } => Some(source),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mounts::{MountPoint, Owner};

    #[test]
    fn a_writable_state_directory_is_not_used() {
        let shared = |path: &str| Mount {
            target: path.into(),
            kind: MountKind::Bind {
                source: path.into(),
                access: MountAccess::ReadWrite,
                point: MountPoint::Folder,
                owner: Owner::User,
            },
            reason: "the workspace",
        };
        assert!(folder(&[]).is_some());
        assert_eq!(folder(&[shared("/")]), None);
        assert!(folder(&[shared("/no/such")]).is_some());
    }
}
