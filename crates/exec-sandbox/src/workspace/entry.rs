//! Opens paths below an open directory component by component, without following symlinks.

#![expect(clippy::disallowed_methods, reason = "opens and reads what lies in folders")]

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{Dir, FileType, Mode, OFlags, fstat, openat, readlinkat};
use rustix::io::Errno;

use super::walk::{in_an_open_folder, stamp_of};
use crate::host::{Entry, Stamp};

/// A file that exists.
#[derive(Debug)]
pub(crate) struct Lying {
    pub(crate) kind: Entry,
    pub(crate) stamp: Stamp,
}

/// The result of looking up a path.
#[derive(Debug)]
pub(crate) enum At {
    There(Lying),
    /// This component is a symlink, and the file behind it exists.
    BehindALink(PathBuf, Lying),
}

/// Looks up a path below a directory; nothing if it does not exist.
pub(crate) fn at(folder: BorrowedFd<'_>, path: &Path) -> Option<At> {
    match open_below(folder, path, OFlags::PATH) {
        Ok(found) => lying(&found).map(At::There),
        Err(Stopped::Link(link)) => {
            // Followed to check whether the file exists; the symlink itself is reported.
            let behind = openat(folder, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty());
            behind.ok()?;
            let found = open_below(folder, &link, OFlags::PATH).ok()?;
            lying(&found).map(|found| At::BehindALink(link, found))
        }
        Err(Stopped::Error(_)) => None,
    }
}

fn lying(found: &OwnedFd) -> Option<Lying> {
    let stamp = stamp_of(found.as_fd(), Path::new("")).ok()?;
    let kind = match FileType::from_raw_mode(fstat(found).ok()?.st_mode) {
        FileType::Directory => Entry::Folder,
        FileType::RegularFile => Entry::File,
        FileType::Socket => Entry::Socket,
        FileType::Symlink => {
            let to = readlinkat(found, c"", Vec::new()).ok();
            Entry::Link {
                to: to.map(|to| PathBuf::from(OsString::from_vec(to.into_bytes()))),
                resolved: None,
            }
        }
        _ => Entry::Other,
    };
    Some(Lying { kind, stamp })
}

/// Why a path was not opened.
#[derive(Debug)]
pub(crate) enum Stopped {
    /// This component is a symlink.
    Link(PathBuf),
    Error(Errno),
}

/// Opens a path below a directory; with O_PATH, a symlink itself.
pub(crate) fn open_below(folder: BorrowedFd<'_>, path: &Path, flags: OFlags) -> Result<OwnedFd, Stopped> {
    let (parent, name) = open_parent(folder, path)?;
    let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let parent = parent.as_ref().map_or(folder, |parent| parent.as_fd());
    in_an_open_folder(parent, |folder| openat(folder, name, flags, Mode::empty())).map_err(Stopped::Error)
}

/// Opens the parent directory of a path; nothing if that is the directory itself.
pub(crate) fn open_parent<'p>(
    folder: BorrowedFd<'_>,
    path: &'p Path,
) -> Result<(Option<OwnedFd>, &'p OsStr), Stopped> {
    let name = path.file_name().ok_or(Stopped::Error(Errno::INVAL))?;
    let mut parent: Option<OwnedFd> = None;
    let mut so_far = PathBuf::new();
    for part in path.parent().into_iter().flat_map(Path::components) {
        so_far.push(part);
        let around = parent.as_ref().map_or(folder, |parent| parent.as_fd());
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened =
            in_an_open_folder(around, |folder| openat(folder, part.as_os_str(), flags, Mode::empty()));
        let opened = opened.map_err(Stopped::Error)?;
        let kind =
            fstat(&opened).map(|data| FileType::from_raw_mode(data.st_mode)).map_err(Stopped::Error)?;
        match kind {
            FileType::Directory => parent = Some(opened),
            FileType::Symlink => return Err(Stopped::Link(so_far)),
            _ => return Err(Stopped::Error(Errno::NOTDIR)),
        }
    }
    Ok((parent, name))
}

/// Lists a directory below a directory; empty if it cannot be listed.
pub(crate) fn list_below(folder: BorrowedFd<'_>, path: &Path) -> Vec<OsString> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let opened = open_below(folder, path, OFlags::PATH).ok().and_then(|found| {
        in_an_open_folder(found.as_fd(), |found| openat(found, ".", flags | OFlags::CLOEXEC, Mode::empty()))
            .ok()
    });
    let Some(entries) = opened.and_then(|opened| Dir::new(opened).ok()) else { return Vec::new() };
    let names = entries.flatten().map(|entry| OsStr::from_bytes(entry.file_name().to_bytes()).to_os_string());
    names.filter(|name| name != "." && name != "..").collect()
}

/// Reads a file below a directory, up to a maximum size.
pub(crate) fn read_below(folder: BorrowedFd<'_>, path: &Path, most: usize) -> Option<Vec<u8>> {
    let file = File::from(open_below(folder, path, OFlags::RDONLY).ok()?);
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = Vec::new();
    file.take(most as u64 + 1).read_to_end(&mut text).ok()?;
    (text.len() <= most).then_some(text)
}
