//! Where this program keeps what must outlast a command: what was taken away, and what it was about to take away.

#![expect(clippy::disallowed_methods, reason = "asks where this user keeps the state of programs")]

use std::path::{Path, PathBuf};

use stockade_files::check_owned;

use crate::mounts::{Mount, MountKind};
use crate::spec::MountAccess;

/// Returns the folder in which this user's state of the program is kept; nothing if there is no home, or if it belongs to another
/// user.
#[must_use]
pub fn state_folder() -> Option<PathBuf> {
    folder(&[])
}

/// Returns the folder; nothing if there is no home, or if the command can write there: it would say itself what is to be
/// taken away, and from where.
pub(crate) fn folder(mounts: &[Mount]) -> Option<PathBuf> {
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let state = state.or_else(|| std::env::home_dir().map(|home| home.join(".local/state")))?;
    let folder = state.join("stockade");
    // What exists of it may lead elsewhere through a link.
    let real = folder.ancestors().find_map(|path| path.canonicalize().ok())?;
    let written = |path: &Path| mounts.iter().filter_map(writable).any(|open| path.starts_with(open));
    // Another user's folder says nothing that is obeyed, and nothing is put there.
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
