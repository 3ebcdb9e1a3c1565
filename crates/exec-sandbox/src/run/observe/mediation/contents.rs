//! Queries about the content of a directory: repositories, stray symlinks, and names that other programs obey.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, openat, statat};
use stockade_names::{fits, fold};

use super::target::NameInFolder;
use crate::host::Searched;
use crate::protect::{Answer, IN_ANY_FOLDER, JUDGED_BY_CONTENT, answer};
use crate::workspace::entry::list_below;
use crate::workspace::links::{
    is_of_version_control, is_part_of_a_repository, stays_in_a_repository, text_of,
};
use crate::workspace::roots::Root;
use crate::workspace::walk::{Here, Visit, walk_from};

/// Names by which git recognizes a repository.
const COMPLETES: &[&str] = &["HEAD", "commondir", "objects", "refs"];

/// Whether git recognizes a directory as a repository, or as the directory of a linked worktree.
pub(super) fn is_repository(folder: BorrowedFd<'_>) -> bool {
    let has = |name: &str| is_there(folder, Path::new(name));
    (has("objects") && has("refs")) || (has("commondir") && has("HEAD"))
}

/// Whether a name may complete a repository.
pub(super) fn may_complete(place: &NameInFolder) -> bool {
    COMPLETES.iter().any(|name| place.name.eq_ignore_ascii_case(name))
}

/// Whether a directory becomes a repository by a new name.
pub(super) fn completes(place: &NameInFolder) -> bool {
    if !may_complete(place) {
        return false;
    }
    let own = |name: &str| place.name.eq_ignore_ascii_case(name);
    let folder = place.folder.as_fd();
    let has = |name: &str| own(name) || is_there(folder, Path::new(name));
    !is_repository(folder) && ((has("objects") && has("refs")) || (has("commondir") && has("HEAD")))
}

/// Whether a new name below a root is in a repository, or is one itself.
pub(super) fn is_in_a_repository(place: &NameInFolder, root: &Root, is_folder: bool) -> bool {
    let below = place.path.strip_prefix(&root.path).unwrap_or(Path::new(""));
    if below.iter().chain([&*place.name]).any(is_of_version_control) {
        return true;
    }
    // In a bare repository, directories other than git's own belong to worktrees.
    let mut inner = place.name.as_os_str();
    for (levels, around) in below.ancestors().enumerate() {
        let is_part = (levels == 0 && !is_folder) || is_part_of_a_repository(inner);
        let folder = if is_part { up(place.folder.as_fd(), levels) } else { None };
        let folder = folder.as_ref().map_or(place.folder.as_fd(), |folder| folder.as_fd());
        if is_part && is_repository(folder) {
            return true;
        }
        inner = around.file_name().unwrap_or_default();
    }
    false
}

/// Searches a directory for stray symlinks, through which git would write to another file.
#[derive(Default)]
struct Strays {
    are_there: bool,
}

impl Visit for Strays {
    fn folder(&mut self, here: &Here<'_>) -> BTreeSet<usize> {
        let links = here.names.unwrap_or_default().iter().filter(|entry| entry.kind == FileType::Symlink);
        let mut texts = links.map(|entry| text_of(here, &entry.name));
        self.are_there |= texts.any(|to| to.is_none_or(|to| !stays_in_a_repository(&to)));
        BTreeSet::new()
    }
}

/// Whether a directory contains stray symlinks, or cannot be read.
pub(super) fn holds_strays(folder: OwnedFd) -> bool {
    let mut strays = Strays::default();
    walk_from(folder, &mut strays) == Searched::InPart || strays.are_there
}

/// Whether a directory contains parts by which git selects programs or external objects.
pub(super) fn brings_parts(from: &NameInFolder) -> bool {
    let inner = ["attributes", "info/alternates"].map(|path| Path::new(&from.name).join(path));
    inner.iter().any(|path| is_there(from.folder.as_fd(), path))
}

/// Whether other programs obey a name in a directory, whatever its content is.
pub(super) fn is_obeyed_in(folder: BorrowedFd<'_>, name: &str) -> bool {
    let rows = IN_ANY_FOLDER.with(name).into_iter().filter(|row| answer(row.name) == Some(Answer::Protect));
    rows.into_iter().any(|row| match row.rest {
        None => !JUDGED_BY_CONTENT.contains(&name),
        Some(rest) => {
            let last = rest.rsplit('/').next().unwrap_or_default();
            !JUDGED_BY_CONTENT.contains(&last) && holds(folder, OsStr::new(name), rest)
        }
    })
}

/// Whether a subdirectory contains a path that matches a pattern. Only the last component may have wildcards.
pub(super) fn holds(folder: BorrowedFd<'_>, name: &OsStr, pattern: &str) -> bool {
    let (around, last) = pattern.rsplit_once('/').unwrap_or(("", pattern));
    let names = list_below(folder, &Path::new(name).join(around));
    names.iter().any(|name| fits(&fold(&name.to_string_lossy()), last))
}

pub(super) fn is_link(folder: BorrowedFd<'_>, path: &Path) -> bool {
    let found = statat(folder, path, AtFlags::SYMLINK_NOFOLLOW);
    found.is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Symlink)
}

pub(super) fn is_there(folder: BorrowedFd<'_>, path: &Path) -> bool {
    statat(folder, path, AtFlags::SYMLINK_NOFOLLOW).is_ok()
}

pub(super) fn has_live_hooks(folder: BorrowedFd<'_>, name: &OsStr) -> bool {
    let names = list_below(folder, Path::new(name));
    names.iter().any(|name| !name.as_encoded_bytes().ends_with(b".sample"))
}

/// Opens the directory this many levels up; nothing for 0.
pub(super) fn up(folder: BorrowedFd<'_>, levels: usize) -> Option<OwnedFd> {
    let path = vec![".."; levels].join("/");
    (levels > 0).then(|| openat(folder, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()).flatten()
}
