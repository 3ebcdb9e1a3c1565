//! Copies files with their mode, owner, times, user attributes, holes and hard links. Where the file system supports
//! reflinks, the content is shared instead of copied.

#![expect(clippy::disallowed_methods, reason = "copies workspaces and what lay in them")]

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, SeekFrom, Timespec, Timestamps, UTIME_OMIT, chmod, chownat,
    copy_file_range, ftruncate, ioctl_ficlone, linkat, mkdirat, openat, seek, symlinkat, utimensat,
};
use rustix::io::{Errno, pread, pwrite};
use rustix::process::{Gid, Uid};

use super::at::{Identity, Look, Tree, link_text, look, own_path_of};
use super::attributes;
use super::crash;
use super::manifest::Manifest;
use crate::workspace::walk::{Here, Visit, walk};

/// Maximum number of bytes per copy_file_range(2).
const PIECE: usize = 1 << 30;
const BY_HAND: usize = 1 << 20;

/// Copies a file to another path. A directory is copied without its entries.
pub(super) fn copy_one(from: (&Tree, &Path), to: (&Tree, &Path)) -> io::Result<()> {
    let (source, name) = from.0.parent(from.1)?;
    let (target, new) = to.0.parent(to.1)?;
    let found = look(source.as_fd(), name)?.ok_or(io::ErrorKind::NotFound)?;
    crash::point()?;
    made((source.as_fd(), name), (target.as_fd(), new), &found, Closed::Opened)?;
    dressed((source.as_fd(), name), (target.as_fd(), new), &found)
}

/// The handling of a file that its owner cannot read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Closed {
    /// Its mode is changed for a moment, because it is in a layer of this program.
    Opened,
    /// It is not copied.
    Left,
}

/// A name in an open directory.
type NameAt<'p> = (BorrowedFd<'p>, &'p OsStr);

/// Creates a copy that other users cannot open yet.
fn made(from: NameAt<'_>, to: NameAt<'_>, found: &Look, closed: Closed) -> io::Result<()> {
    match found.kind {
        FileType::Directory => Ok(mkdirat(to.0, to.1, Mode::RWXU)?),
        FileType::Symlink => {
            let text = link_text(from.0, from.1)?;
            Ok(symlinkat(text.as_slice(), to.0, to.1)?)
        }
        FileType::RegularFile => {
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let source = match openat(from.0, from.1, flags, Mode::empty()) {
                Err(Errno::ACCESS) if closed == Closed::Opened => {
                    let path = own_path_of(from.0, from.1);
                    chmod(&path, Mode::from_raw_mode(found.mode) | Mode::RUSR)?;
                    let opened = openat(from.0, from.1, flags, Mode::empty());
                    chmod(&path, Mode::from_raw_mode(found.mode))?;
                    opened?
                }
                opened => opened?,
            };
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let target = openat(to.0, to.1, flags, Mode::RUSR | Mode::WUSR)?;
            content(&source, &target, found.size)
        }
        _ => Err(io::ErrorKind::Unsupported.into()),
    }
}

/// Copies the metadata of a file.
fn dressed(from: NameAt<'_>, to: NameAt<'_>, found: &Look) -> io::Result<()> {
    let path = own_path_of(to.0, to.1);
    if found.kind != FileType::Symlink {
        // Attributes of an unreadable file are not readable either.
        match attributes::copy(&own_path_of(from.0, from.1), &path) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
            copied => copied?,
        }
    }
    let now = look(to.0, to.1)?.ok_or(io::ErrorKind::NotFound)?;
    if now.owner != found.owner {
        let (user, group) = (Uid::from_raw(found.owner.0), Gid::from_raw(found.owner.1));
        chownat(to.0, to.1, Some(user), Some(group), AtFlags::SYMLINK_NOFOLLOW)?;
    }
    if found.kind != FileType::Symlink {
        chmod(&path, Mode::from_raw_mode(found.mode))?;
    }
    timed(to, found.modified)
}

/// Sets the modification time.
pub(super) fn timed(at: NameAt<'_>, modified: (i64, u64)) -> io::Result<()> {
    let last_access = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };
    let last_modification = Timespec { tv_sec: modified.0, tv_nsec: modified.1.cast_signed() };
    let times = Timestamps { last_access, last_modification };
    Ok(utimensat(at.0, at.1, &times, AtFlags::SYMLINK_NOFOLLOW)?)
}

/// Copies the content of a file, keeping holes.
fn content(source: &OwnedFd, target: &OwnedFd, size: u64) -> io::Result<()> {
    if ioctl_ficlone(target, source).is_ok() {
        return Ok(());
    }
    let mut at = 0;
    loop {
        let data = match seek(source, SeekFrom::Data(at)) {
            // The rest of the file is a hole.
            Err(Errno::NXIO) => break,
            // The file system does not support SEEK_DATA.
            Err(_) => at,
            Ok(data) => data,
        };
        let end = seek(source, SeekFrom::Hole(data)).unwrap_or(size).max(data);
        let (mut from, mut to) = (data, data);
        while from < end {
            let length = usize::try_from(end - from).unwrap_or(PIECE).min(PIECE);
            let copied = match copy_file_range(source, Some(&mut from), target, Some(&mut to), length) {
                // copy_file_range(2) does not work between different kinds of file systems.
                Err(Errno::XDEV | Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                    let copied = by_hand(source, target, from, length)?;
                    (from, to) = (from + copied as u64, to + copied as u64);
                    copied
                }
                copied => copied?,
            };
            if copied == 0 {
                return Ok(ftruncate(target, from)?);
            }
        }
        if end >= size {
            break;
        }
        at = end;
    }
    Ok(ftruncate(target, size)?)
}

/// Copies up to `most` bytes by read and write, and returns how many.
fn by_hand(source: &OwnedFd, target: &OwnedFd, at: u64, most: usize) -> io::Result<usize> {
    let mut room = vec![0; most.min(BY_HAND)];
    let read = pread(source, &mut room[..], at)?;
    let mut left = room.get(..read).unwrap_or_default();
    let mut to = at;
    while !left.is_empty() {
        let written = pwrite(target, left, to)?;
        left = left.get(written..).unwrap_or_default();
        to += written as u64;
    }
    Ok(read)
}

/// Copies a whole workspace, and records the copy of each file in its manifest. Unreadable files are skipped.
pub(super) fn copy_all(workspace: &Path, base: &mut Manifest, copy: &Path) -> io::Result<()> {
    let to = Tree::open(copy)?;
    let mut visit = Copying { to: &to, base, known: BTreeMap::new(), folders: Vec::new(), error: None };
    walk(workspace, &mut visit);
    let Copying { folders, error, .. } = visit;
    if let Some(error) = error {
        return Err(error);
    }
    // Innermost directories first, because adding entries changes the time of a directory, and its mode may forbid it.
    for (path, found) in folders.iter().rev() {
        let (folder, name) = to.parent(path)?;
        let own = own_path_of(folder.as_fd(), name);
        chmod(own, Mode::from_raw_mode(found.mode))?;
        timed((folder.as_fd(), name), found.modified)?;
    }
    let copied = Manifest::of(copy);
    for (path, entry) in &mut base.entries {
        entry.copy = copied.look(path).map(|look| (look.identity, look.changed));
    }
    Ok(())
}

struct Copying<'c> {
    to: &'c Tree,
    base: &'c Manifest,
    /// The paths of files with hard links.
    known: BTreeMap<Identity, PathBuf>,
    folders: Vec<(PathBuf, Look)>,
    error: Option<io::Error>,
}

impl Visit for Copying<'_> {
    fn folder(&mut self, here: &Here<'_>) -> BTreeSet<usize> {
        let mut passed = BTreeSet::new();
        for (at, listed) in here.names.unwrap_or_default().iter().enumerate() {
            let path = here.path.join(&listed.name);
            // Files that appeared after the manifest was created are not part of the overlay.
            let Some(found) = self.base.look(&path).copied() else {
                passed.insert(at);
                continue;
            };
            if let Err(error) = self.copy(here, &listed.name, &path, &found) {
                passed.insert(at);
                // It is unreadable, deleted, or not a regular file.
                let is_left =
                    [io::ErrorKind::PermissionDenied, io::ErrorKind::NotFound, io::ErrorKind::Unsupported];
                if !is_left.contains(&error.kind()) {
                    self.error.get_or_insert(error);
                }
            }
        }
        passed
    }
}

impl Copying<'_> {
    fn copy(&mut self, here: &Here<'_>, name: &OsStr, path: &Path, found: &Look) -> io::Result<()> {
        let (to, new) = self.to.parent(path)?;
        let has_names = found.links > 1 && !found.is_folder();
        if has_names && let Some(known) = self.known.get(&found.identity) {
            let (from, old) = self.to.parent(known)?;
            return Ok(linkat(&*from, old, &*to, new, AtFlags::empty())?);
        }
        made((here.folder, name), (to.as_fd(), new), found, Closed::Left)?;
        if found.is_folder() {
            attributes::copy(&own_path_of(here.folder, name), &own_path_of(to.as_fd(), new)).ok();
            if rustix::process::geteuid().is_root() {
                let (user, group) = (Uid::from_raw(found.owner.0), Gid::from_raw(found.owner.1));
                chownat(&*to, new, Some(user), Some(group), AtFlags::SYMLINK_NOFOLLOW)?;
            }
            self.folders.push((path.to_path_buf(), *found));
            return Ok(());
        }
        if has_names {
            self.known.insert(found.identity, path.to_path_buf());
        }
        let mut found = *found;
        let own = look(to.as_fd(), new)?.ok_or(io::ErrorKind::NotFound)?;
        // Without the right to change owners, the copy keeps this user as owner, and loses set-user-ID bits.
        if own.owner != found.owner && !rustix::process::geteuid().is_root() {
            found = Look { owner: own.owner, mode: found.mode & !0o6000, ..found };
        }
        dressed((here.folder, name), (to.as_fd(), new), &found)
    }
}
