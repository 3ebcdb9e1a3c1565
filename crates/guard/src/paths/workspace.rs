//! The workspace as it is on the disk.

#![expect(clippy::disallowed_methods, reason = "opens the workspace and asks where it really is")]

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, openat, statat};
use stockade_policy::Workspace;
use stockade_policy::paths::Case;

/// Opens the workspace and finds out what it really is.
pub(super) fn open(cwd: &Path) -> io::Result<(Workspace, OwnedFd)> {
    let cwd = std::path::absolute(cwd)?;
    let real = std::fs::canonicalize(&cwd)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = openat(CWD, &real, flags, Mode::empty())?;
    let case = case(&real);
    Ok((Workspace { cwd, real, case }, folder))
}

/// Whether the file system tells `A` from `a`: asks for the folder, or the nearest one above with a letter in its
/// name, in the other case.
fn case(folder: &Path) -> Case {
    let lettered =
        folder.ancestors().find(|path| path.file_name().is_some_and(|name| swapped(name).is_some()));
    let other = lettered.and_then(|path| Some((path, other_case(path)?)));
    let Some((path, other)) = other else { return Case::Sensitive };
    let stat = |path: &Path| statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW);
    match (stat(path), stat(&other)) {
        (Ok(one), Ok(two)) if one.st_dev == two.st_dev && one.st_ino == two.st_ino => Case::Insensitive,
        _ => Case::Sensitive,
    }
}

fn other_case(path: &Path) -> Option<PathBuf> {
    Some(path.with_file_name(swapped(path.file_name()?)?))
}

fn swapped(name: &std::ffi::OsStr) -> Option<String> {
    let name = name.to_str()?;
    let swap = |character: char| {
        if character.is_ascii_lowercase() {
            character.to_ascii_uppercase()
        } else {
            character.to_ascii_lowercase()
        }
    };
    let swapped: String = name.chars().map(swap).collect();
    (swapped != name).then_some(swapped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_swapped() {
        for (name, expected) in [("aB1", Some("Ab1")), ("123", None)] {
            assert_eq!(swapped(name.as_ref()).as_deref(), expected);
        }
    }

    #[test]
    fn a_workspace_behind_a_link_is_seen_through() {
        let base = tempfile::tempdir().unwrap();
        let (real, link) = (base.path().join("real"), base.path().join("link"));
        std::fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let (workspace, _folder) = open(&link).unwrap();
        assert_eq!(workspace.cwd, link);
        assert_eq!(workspace.real, real.canonicalize().unwrap());
    }
}
