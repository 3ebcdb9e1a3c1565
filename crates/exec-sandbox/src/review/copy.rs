//! Copies files with all that belongs to them: mode, owner, times, attributes of the user, holes, and other names of the same file. Where
//! the file system can share content between files, nothing is copied but the name.

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

/// How much the kernel copies in one call.
const PIECE: usize = 1 << 30;
const BY_HAND: usize = 1 << 20;

/// Copies what lies at a path to another one. Of a folder, what is in it is left out.
pub(super) fn copy_one(from: (&Tree, &Path), to: (&Tree, &Path)) -> io::Result<()> {
    let (source, name) = from.0.parent(from.1)?;
    let (target, new) = to.0.parent(to.1)?;
    let found = look(source.as_fd(), name)?.ok_or(io::ErrorKind::NotFound)?;
    crash::point()?;
    made((source.as_fd(), name), (target.as_fd(), new), &found, Closed::Opened)?;
    dressed((source.as_fd(), name), (target.as_fd(), new), &found)
}

/// What is done with a file that its owner may not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Closed {
    /// It is ours: it is opened for a moment.
    Opened,
    /// It stays as it is, and is not copied.
    Left,
}

/// A name in a folder that is open.
type NameAt<'p> = (BorrowedFd<'p>, &'p OsStr);

/// Makes something like what is there, which nobody else may open yet.
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

/// Gives a copy what belongs to the file beside its content.
fn dressed(from: NameAt<'_>, to: NameAt<'_>, found: &Look) -> io::Result<()> {
    let path = own_path_of(to.0, to.1);
    if found.kind != FileType::Symlink {
        // Attributes of a file that cannot be read are not seen either.
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

/// Says when something was written last.
pub(super) fn timed(at: NameAt<'_>, modified: (i64, u64)) -> io::Result<()> {
    let last_access = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };
    let last_modification = Timespec { tv_sec: modified.0, tv_nsec: modified.1.cast_signed() };
    let times = Timestamps { last_access, last_modification };
    Ok(utimensat(at.0, at.1, &times, AtFlags::SYMLINK_NOFOLLOW)?)
}

/// Lets one file hold what another does; where there are holes, there are holes.
fn content(source: &OwnedFd, target: &OwnedFd, size: u64) -> io::Result<()> {
    if ioctl_ficlone(target, source).is_ok() {
        return Ok(());
    }
    let mut at = 0;
    loop {
        let data = match seek(source, SeekFrom::Data(at)) {
            // Nothing is left but a hole.
            Err(Errno::NXIO) => break,
            // The file system does not know of holes.
            Err(_) => at,
            Ok(data) => data,
        };
        let end = seek(source, SeekFrom::Hole(data)).unwrap_or(size).max(data);
        let (mut from, mut to) = (data, data);
        while from < end {
            let length = usize::try_from(end - from).unwrap_or(PIECE).min(PIECE);
            let copied = match copy_file_range(source, Some(&mut from), target, Some(&mut to), length) {
                // The kernel does it between file systems of one kind alone.
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

/// Copies a part of a file, no more than so much, and returns how much that was.
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

/// Copies a whole workspace, and writes down in its manifest what stands for each file. What cannot be read is left out.
pub(super) fn copy_all(workspace: &Path, base: &mut Manifest, copy: &Path) -> io::Result<()> {
    let to = Tree::open(copy)?;
    let mut visit = Copying { to: &to, base, known: BTreeMap::new(), folders: Vec::new(), error: None };
    walk(workspace, &mut visit);
    let Copying { folders, error, .. } = visit;
    if let Some(error) = error {
        return Err(error);
    }
    // The innermost first: what is put into a folder changes its time, and its mode may forbid it.
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
    /// Where files lie that have several names.
    known: BTreeMap<Identity, PathBuf>,
    folders: Vec<(PathBuf, Look)>,
    error: Option<io::Error>,
}

impl Visit for Copying<'_> {
    fn folder(&mut self, here: &Here<'_>) -> BTreeSet<usize> {
        let mut passed = BTreeSet::new();
        for (at, listed) in here.names.unwrap_or_default().iter().enumerate() {
            let path = here.path.join(&listed.name);
            // What appeared since the workspace was looked at is none of the view's.
            let Some(found) = self.base.look(&path).copied() else {
                passed.insert(at);
                continue;
            };
            if let Err(error) = self.copy(here, &listed.name, &path, &found) {
                passed.insert(at);
                // It cannot be read, is gone already, or is no file.
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
        // Who may not give files to others keeps the copy, but none that runs as somebody else.
        if own.owner != found.owner && !rustix::process::geteuid().is_root() {
            found = Look { owner: own.owner, mode: found.mode & !0o6000, ..found };
        }
        dressed((here.folder, name), (to.as_fd(), new), &found)
    }
}
