//! The other names of a file, as far as they are in the workspace.

#![expect(clippy::disallowed_methods, reason = "walks the workspace to find the other names of a file")]

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, openat, statat};
use stockade_policy::OtherNames;

use super::place::Identity;

/// The most entries that are looked at. A file whose names are not found by then counts as having others.
const MOST_ENTRIES: usize = 200_000;

/// The deepest folder that is looked into.
const DEEPEST: usize = 64;

/// Looks for the other names of a file in the workspace.
pub(super) fn other_names(
    identity: &Identity,
    real: &Path,
    workspace: &OwnedFd,
    workspace_path: &Path,
) -> OtherNames {
    let links = usize::try_from(identity.0.st_nlink).unwrap_or(usize::MAX);
    if links <= 1 {
        return OtherNames::None;
    }
    if !real.starts_with(workspace_path) {
        return OtherNames::Some(Vec::new());
    }
    let mut search = Search { identity, found: Vec::new(), wanted: links, left: MOST_ENTRIES };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    if let Ok(folder) = openat(workspace, ".", flags, Mode::empty()) {
        search.folder(&folder, workspace_path, DEEPEST);
    }
    let complete = search.found.len() == links;
    let mut names = search.found;
    names.retain(|name| name != real);
    if complete { OtherNames::All(names) } else { OtherNames::Some(names) }
}

struct Search<'i> {
    identity: &'i Identity,
    found: Vec<PathBuf>,
    wanted: usize,
    left: usize,
}

impl Search<'_> {
    fn folder(&mut self, folder: &OwnedFd, path: &Path, depth: usize) {
        let Ok(entries) = Dir::read_from(folder) else { return };
        let mut folders = Vec::new();
        for entry in entries.flatten() {
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            let Some(left) = self.left.checked_sub(1) else { return };
            self.left = left;
            match entry.file_type() {
                FileType::Directory => folders.push(name.to_owned()),
                // The number is compared first: most files need no look of their own.
                FileType::RegularFile | FileType::Unknown if entry.ino() == self.identity.0.st_ino => {
                    self.candidate(folder, path, name);
                }
                _ => {}
            }
        }
        for name in folders {
            let (Some(depth), false) = (depth.checked_sub(1), self.found.len() == self.wanted) else {
                return;
            };
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            if let Ok(below) = openat(folder, &name, flags, Mode::empty()) {
                self.folder(&below, &path.join(&name), depth);
            }
        }
    }

    fn candidate(&mut self, folder: &OwnedFd, path: &Path, name: &OsStr) {
        if statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).is_ok_and(|stat| self.identity.is(&stat)) {
            self.found.push(path.join(name));
        }
    }
}
