//! The state directory: the quarantine, and the journal of files that were about to be quarantined.

#![expect(clippy::disallowed_methods, reason = "asks where this user keeps the state of programs")]

use std::path::{Path, PathBuf};

use stockade_files::real_owned_folder;

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
    let real = real_owned_folder(&folder)?;
    let written = |path: &Path| mounts.iter().filter_map(writable).any(|open| path.starts_with(open));
    (!written(&folder) && !written(&real)).then_some(folder)
}

/// Returns the canonical path of the state directory, or of its existing part.
pub(crate) fn real_folder() -> Option<PathBuf> {
    real_owned_folder(&named()?)
}

fn named() -> Option<PathBuf> {
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let state = state.or_else(|| std::env::home_dir().map(|home| home.join(".local/state")))?;
    Some(state.join("stockade"))
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
