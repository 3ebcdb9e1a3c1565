//! Files and folders that their owner alone may read, where a user keeps the state of programs (the XDG state folder).
#![expect(clippy::disallowed_methods, reason = "creates them")]

use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

#[cfg(feature = "sqlite")]
use stockade_files::{OwnAccess, open_own};
use stockade_files::{OwnedPath, check_owned_once};

/// Returns the folder for what is kept between runs, from the variables of the environment: `stockade` in
/// `$XDG_STATE_HOME` or in `~/.local/state`. Relative paths are not accepted: they would change with the current folder,
/// and an agent may have put one there.
#[must_use]
pub fn state_folder(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let absolute = |name| variable(name).filter(|path| path.is_absolute());
    let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")))?;
    Some(state.join("stockade"))
}

/// Returns the folder for what is kept between runs, and creates it where it is missing.
///
/// # Errors
/// When neither variable holds an absolute path, or the folder cannot be created.
pub fn default_state_folder() -> io::Result<PathBuf> {
    let folder = state_folder(|name| std::env::var_os(name).map(PathBuf::from)).ok_or_else(|| {
        io::Error::other(
            "neither XDG_STATE_HOME nor HOME is an absolute path; open a file of your choice instead",
        )
    })?;
    if check(&folder)? != OwnedPath::Folder {
        create_private_folder(&folder)?;
    }
    Ok(folder)
}

/// Checks that what is kept at a path is this user's own, before anything is created there.
fn check(path: &Path) -> io::Result<OwnedPath> {
    check_owned_once(path)
        .map_err(|error| io::Error::new(io::ErrorKind::PermissionDenied, format!("{error}: {}", error.fix())))
}

/// Returns the folder of the register of audit trails, in the folder for what is kept between runs.
#[must_use]
pub fn register_folder(state: &Path) -> PathBuf {
    state.join("trails")
}

/// Returns the folder of the register of this user, see [`register_folder`]; nothing where no variable says where states are
/// kept.
#[must_use]
pub fn default_register_folder() -> Option<PathBuf> {
    state_folder(|name| std::env::var_os(name).map(PathBuf::from)).map(|state| register_folder(&state))
}

/// Creates a folder and its parents for their owner alone, unless they are there.
///
/// # Errors
/// When one of them cannot be created.
pub fn create_private_folder(folder: &Path) -> io::Result<()> {
    // Usually it is there: one call of the kernel, where creating it takes two to find that out.
    if folder.is_dir() {
        return Ok(());
    }
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Creates a file if it is not there.
#[cfg(feature = "sqlite")]
pub(crate) fn create_private(path: &Path) -> io::Result<()> {
    open_own(path, OwnAccess::Keep).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_kept_where_the_user_keeps_them() {
        for (state, home, expected) in [
            (None, Some("/home/me"), Some("/home/me/.local/state/stockade")),
            (Some("/var/state"), Some("/home/me"), Some("/var/state/stockade")),
            (Some("state"), Some("/home/me"), Some("/home/me/.local/state/stockade")),
            (Some(""), None, None),
            (None, Some("."), None),
            (None, None, None),
        ] {
            let folder = state_folder(|name| match name {
                "XDG_STATE_HOME" => state.map(PathBuf::from),
                _ => home.map(PathBuf::from),
            });
            assert_eq!(folder.as_deref(), expected.map(Path::new), "{state:?} {home:?}");
        }
    }
}
