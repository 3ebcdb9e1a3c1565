//! Files that the index of a repository marks as unchanged, although their content differs from it.
//!
//! Git reads a file only if its times, size or inode number differ from those in the index. A command can write both, so that
//! `git status` and `git diff` do not show its change.

#![expect(clippy::disallowed_methods, reason = "compares files with the index")]

use std::ffi::OsStr;
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{AtFlags, statat};
use stockade_git::{ObjectId, StatedFile, blob_id, files_stated_since};

use super::entry::read_below;
use super::walk::Here;

/// The largest index that is read; a larger one is reported when it changes.
const MAX_INDEX: usize = 64 << 20;

/// Attributes by which the content in the index differs from that in the worktree.
const CONVERTING: &[&str] = &["filter", "ident", "working-tree-encoding"];

/// What such a file is, in a few words.
pub(crate) const LABEL: &str =
    "a file that git takes for unchanged, and whose content is not that of the index";

/// Returns such files, among those that changed at this second or later: only the kernel sets the time of the change, so that of
/// an older file cannot be in the index. `top` is the top of the worktree, and `here` its repository.
pub(crate) fn hidden_changes(here: &Here<'_>, top: BorrowedFd<'_>, since: u32) -> Vec<Vec<u8>> {
    let name = Path::new("index");
    let is_recent = statat(here.folder, name, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|data| u32::try_from(data.st_ctime).is_ok_and(|changed| changed >= since));
    if !is_recent {
        return Vec::new();
    }
    let index = read_below(here.folder, name, MAX_INDEX).unwrap_or_default();
    let stated = files_stated_since(&index, ObjectId::Sha1, since).unwrap_or_default();
    if stated.is_empty() || converts(here, top) {
        return Vec::new();
    }
    stated.into_iter().filter(|file| differs(top, file)).map(|file| file.path).collect()
}

/// Whether the content of some files is converted, so that that in the worktree may differ. The files that say so are reported
/// when they change.
fn converts(here: &Here<'_>, top: BorrowedFd<'_>) -> bool {
    let says = |folder, path: &str| {
        let text = read_below(folder, Path::new(path), super::MAX_TEXT).unwrap_or_default();
        CONVERTING.iter().any(|word| text.windows(word.len()).any(|part| part == word.as_bytes()))
    };
    says(top, ".gitattributes") || says(here.folder, "info/attributes")
}

/// Whether git takes a file for unchanged, and its content is another. Line ends may be converted.
fn differs(top: BorrowedFd<'_>, file: &StatedFile) -> bool {
    let path = Path::new(OsStr::from_bytes(&file.path));
    let Ok(data) = statat(top, path, AtFlags::SYMLINK_NOFOLLOW) else { return false };
    let is_lower = |number: u64, half: u32| number & u64::from(u32::MAX) == u64::from(half);
    let is_stated = u32::try_from(data.st_ctime) == Ok(file.changed)
        && u32::try_from(data.st_mtime) == Ok(file.modified)
        && is_lower(data.st_ino, file.inode)
        && is_lower(u64::try_from(data.st_size).unwrap_or_default(), file.size);
    let Some(content) = is_stated.then(|| read_below(top, path, usize::MAX >> 1)).flatten() else {
        return false;
    };
    if blob_id(&content)[..] == *file.blob {
        return false;
    }
    let mut unix = Vec::with_capacity(content.len());
    let ends = content.windows(2).map(|pair| pair == b"\r\n").chain([false]);
    unix.extend(content.iter().zip(ends).filter(|(_, is_end)| !is_end).map(|(byte, _)| *byte));
    blob_id(&unix)[..] != *file.blob
}
