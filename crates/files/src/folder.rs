//! One open directory and its sorted names.
#![expect(clippy::disallowed_methods, reason = "opens folders and files, each from the one above it")]

use std::ffi::{CStr, CString};
use std::io;
#[cfg(target_os = "linux")]
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, fstat, openat, statat};

/// Flags of every open: do not block on a pipe, do not acquire a controlling terminal.
const CAREFUL: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// An open directory. Names are opened relative to it, so a parent cannot be swapped for a link.
#[derive(Debug, Clone)]
pub struct OpenFolder(Arc<OwnedFd>);

/// An entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderEntry {
    /// Its name.
    pub name: CString,
    /// Its type as listed. By the time it is opened, it may be something else.
    pub kind: EntryKind,
}

/// Type of a directory entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// A regular file of any content.
    File,
    /// A directory, which has entries.
    Folder,
    /// A symbolic link. It is never followed.
    Link,
    /// A pipe, a socket or a device.
    Special,
    /// The file system reports no type, not even when asked; it is determined on open.
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
    /// Opens the subdirectory `name`, never through a link.
    ///
    /// # Errors
    /// When it is not a directory, or the system call fails.
    pub fn enter(&self, name: &CStr) -> io::Result<Self> {
        let flags = CAREFUL | OFlags::DIRECTORY | OFlags::NOFOLLOW;
        Ok(Self(Arc::new(openat(&self.0, name, flags, Mode::empty())?)))
    }

    /// Opens the file `name` of this directory, never through a link.
    ///
    /// # Errors
    /// When it is a link, or the system call fails.
    pub fn open(&self, name: &CStr) -> io::Result<OwnedFd> {
        Ok(openat(&self.0, name, CAREFUL | OFlags::NOFOLLOW, Mode::empty())?)
    }

    /// Returns the target of the link `name` of this directory.
    ///
    /// # Errors
    /// When it is not a link, or the system call fails.
    pub fn link_target(&self, name: &CStr) -> io::Result<CString> {
        Ok(rustix::fs::readlinkat(&self.0, name, Vec::new())?)
    }

    /// Returns the names, sorted by bytes; at most `limit` of them.
    ///
    /// # Errors
    /// When a system call fails.
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

    /// Passes each name with its type to `wanted`, until it returns `false`.
    #[cfg(target_os = "linux")]
    fn each_name(&self, mut wanted: impl FnMut(&CStr, FileType) -> bool) -> io::Result<()> {
        // Room for some twenty of the longest names; most directories need less.
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

    /// The same where directories are read only through a stream. The stream owns its descriptor, so it gets a
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

    /// Queries the types that the directory listing did not include.
    fn settle_kinds(&self, entries: &mut [FolderEntry]) {
        for entry in entries.iter_mut().filter(|entry| entry.kind == EntryKind::Unknown) {
            if let Ok(stat) = statat(&self.0, &entry.name, AtFlags::SYMLINK_NOFOLLOW) {
                entry.kind = FileType::from_raw_mode(stat.st_mode).into();
            }
        }
    }
}

/// What a path given by a user refers to.
#[derive(Debug)]
pub enum OpenedPath {
    /// A regular file, opened for reading.
    File(OwnedFd),
    /// A directory, opened for reading.
    Folder(OpenFolder),
    /// A pipe, a socket or a device, which was not opened.
    Special,
}

/// Opens a path given by a user. Only here links are followed: a user who names a link means its target.
///
/// # Errors
/// When the path does not exist, or a system call fails.
pub fn open_path(path: &Path) -> io::Result<OpenedPath> {
    // Check the type before the open: merely opening some devices makes them act.
    match FileType::from_raw_mode(statat(CWD, path, AtFlags::empty())?.st_mode) {
        FileType::RegularFile | FileType::Directory => {}
        _ => return Ok(OpenedPath::Special),
    }
    let fd = openat(CWD, path, CAREFUL, Mode::empty())?;
    // And again after it, in case the file was swapped in between.
    Ok(match kind_and_size_of(&fd)?.0 {
        FileType::RegularFile => OpenedPath::File(fd),
        FileType::Directory => OpenedPath::Folder(OpenFolder(Arc::new(fd))),
        _ => OpenedPath::Special,
    })
}

/// Returns the type of an open file, and its reported size.
pub(crate) fn kind_and_size_of<Fd: AsFd>(fd: Fd) -> io::Result<(FileType, u64)> {
    let stat = fstat(fd)?;
    Ok((FileType::from_raw_mode(stat.st_mode), stat.st_size.try_into().unwrap_or(0)))
}
