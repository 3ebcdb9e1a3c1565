//! The state directory: the quarantine, and the journal of files that were about to be quarantined.

#![expect(clippy::disallowed_methods, reason = "asks where this user keeps the state of programs")]

use std::path::{Path, PathBuf};

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
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let state = state.or_else(|| std::env::home_dir().map(|home| home.join(".local/state")))?;
    let folder = state.join("stockade");
    // An existing part of the path may be a symlink to another directory.
    let real = folder.ancestors().find_map(|path| real_path(path).ok())?;
    let written = |path: &Path| mounts.iter().filter_map(writable).any(|open| path.starts_with(open));
    // A directory of another user is neither trusted nor written to.
    (!written(&folder) && !written(&real) && check_owned(&folder).is_ok()).then_some(folder)
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
    fn a_command_has_no_say_in_it() {
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
