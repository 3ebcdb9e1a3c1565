//! One open folder and its names, in order.
#![expect(clippy::disallowed_methods, reason = "opens folders and files, each from the one above it")]

use std::ffi::{CStr, CString};
use std::io;
#[cfg(target_os = "linux")]
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, fstat, openat, statat};

/// What every open here asks for: no waiting for the other end of a pipe, no becoming the controlling terminal.
const CAREFUL: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// An open folder. Names are opened relative to it, so that nobody can swap a folder above for a link.
#[derive(Debug, Clone)]
pub struct OpenFolder(Arc<OwnedFd>);

/// One name in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderEntry {
    /// Its name.
    pub name: CString,
    /// What it stands for, as the folder says. What is opened under the name may be something else by then.
    pub kind: EntryKind,
}

/// What a name in a folder stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// A regular file, which can be read to its end.
    File,
    /// A folder, which has names of its own.
    Folder,
    /// A symbolic link, which nothing here follows.
    Link,
    /// A pipe, a socket or a device.
    Special,
    /// The file system did not tell, and does not tell when asked: what it is shows when it is opened.
    Unknown,
}

impl From<FileType> for EntryKind {
    fn from(kind: FileType) -> Self {
        match kind {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Folder,
            FileType::Symlink => Self::Link,
            FileType::Unknown => Self::Unknown,
            _ => Self::Special,
        }
    }
}

impl OpenFolder {
    /// Opens the folder `name` of this one, never through a link.
    ///
    /// # Errors
    /// When it is no folder, or the system refuses.
    pub fn enter(&self, name: &CStr) -> io::Result<Self> {
        let flags = CAREFUL | OFlags::DIRECTORY | OFlags::NOFOLLOW;
        Ok(Self(Arc::new(openat(&self.0, name, flags, Mode::empty())?)))
    }

    /// Opens the file `name` of this folder, never through a link.
    ///
    /// # Errors
    /// When it is a link, or the system refuses.
    pub fn open(&self, name: &CStr) -> io::Result<OwnedFd> {
        Ok(openat(&self.0, name, CAREFUL | OFlags::NOFOLLOW, Mode::empty())?)
    }

    /// Returns what the link `name` of this folder says.
    ///
    /// # Errors
    /// When it is no link, or the system refuses.
    pub fn link_target(&self, name: &CStr) -> io::Result<CString> {
        Ok(rustix::fs::readlinkat(&self.0, name, Vec::new())?)
    }

    /// Returns the names, sorted by their bytes; only some `limit` of them where there are more.
    ///
    /// # Errors
    /// When the system refuses, or gives up on the way.
    pub fn entries(&self, limit: usize) -> io::Result<Vec<FolderEntry>> {
        let mut entries = Vec::new();
        self.each_name(|name, kind| {
            if matches!(name.to_bytes(), b"." | b"..") {
                return true;
            }
            let is_wanted = entries.len() < limit;
            if is_wanted {
                entries.push(FolderEntry { name: name.to_owned(), kind: kind.into() });
            }
            is_wanted
        })?;
        self.settle_kinds(&mut entries);
        entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    /// Hands out each name with what it stands for, until `wanted` says no.
    #[cfg(target_os = "linux")]
    fn each_name(&self, mut wanted: impl FnMut(&CStr, FileType) -> bool) -> io::Result<()> {
        // Some twenty times the longest name, and more than most folders need.
        let mut buffer = [MaybeUninit::uninit(); 8 << 10];
        let mut names = rustix::fs::RawDir::new(&self.0, &mut buffer);
        while let Some(entry) = names.next() {
            let entry = entry?;
            if !wanted(entry.file_name(), entry.file_type()) {
                break;
            }
        }
        Ok(())
    }

    /// The same where folders can be read only through a stream, which owns what it reads from: so it reads from a
    /// duplicate.
    #[cfg(not(target_os = "linux"))]
    fn each_name(&self, mut wanted: impl FnMut(&CStr, FileType) -> bool) -> io::Result<()> {
        let mut names = rustix::fs::Dir::new(rustix::io::fcntl_dupfd_cloexec(&self.0, 0)?)?;
        while let Some(entry) = names.read() {
            let entry = entry?;
            if !wanted(entry.file_name(), entry.file_type()) {
                break;
            }
        }
        Ok(())
    }

    /// Asks for the kinds that the file system did not tell with the names.
    fn settle_kinds(&self, entries: &mut [FolderEntry]) {
        for entry in entries.iter_mut().filter(|entry| entry.kind == EntryKind::Unknown) {
            if let Ok(stat) = statat(&self.0, &entry.name, AtFlags::SYMLINK_NOFOLLOW) {
                entry.kind = FileType::from_raw_mode(stat.st_mode).into();
            }
        }
    }
}

/// What a path that a person named turned out to be.
#[derive(Debug)]
pub enum OpenedPath {
    /// A regular file, open for reading.
    File(OwnedFd),
    /// A folder, whose names can be read.
    Folder(OpenFolder),
    /// A pipe, a socket or a device, which was not opened.
    Special,
}

/// Opens a path that a person named. Here alone links are followed: whoever names a link means what it leads to.
///
/// # Errors
/// When nothing is there, or the system refuses.
pub fn open_path(path: &Path) -> io::Result<OpenedPath> {
    // A look before the open, since merely opening some devices makes them act.
    match FileType::from_raw_mode(statat(CWD, path, AtFlags::empty())?.st_mode) {
        FileType::RegularFile | FileType::Directory => {}
        _ => return Ok(OpenedPath::Special),
    }
    let fd = openat(CWD, path, CAREFUL, Mode::empty())?;
    // And again after it, in case somebody swapped the file in between.
    Ok(match kind_and_size_of(&fd)?.0 {
        FileType::RegularFile => OpenedPath::File(fd),
        FileType::Directory => OpenedPath::Folder(OpenFolder(Arc::new(fd))),
        _ => OpenedPath::Special,
    })
}

/// Returns the kind of an open file, and how many bytes it says it has.
pub(crate) fn kind_and_size_of<Fd: AsFd>(fd: Fd) -> io::Result<(FileType, u64)> {
    let stat = fstat(fd)?;
    Ok((FileType::from_raw_mode(stat.st_mode), stat.st_size.try_into().unwrap_or(0)))
}
