//! Accesses files below a directory by descriptors, without following symlinks or entering other file systems.

#![expect(clippy::disallowed_methods, reason = "looks at files of workspaces and layers")]

use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, Stat, openat2, readlinkat, statat};
use rustix::io::Errno;

/// Flags to open a directory without following a symlink.
pub(super) const FOLDER: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Maximum length of a path per system call, below PATH_MAX.
const MAX_PART: usize = 3_000;

/// The identity of a file: its device and inode number.
pub(super) type Identity = (u64, u64);

/// The state of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) kind: FileType,
    /// The mode bits of chmod(2).
    pub(super) mode: u32,
    pub(super) owner: (u32, u32),
    pub(super) identity: Identity,
    pub(super) size: u64,
    pub(super) links: u64,
    pub(super) modified: (i64, u64),
    pub(super) changed: (i64, u64),
}

impl Look {
    pub(super) fn of(found: &Stat) -> Self {
        Self {
            kind: FileType::from_raw_mode(found.st_mode),
            mode: found.st_mode & 0o7777,
            owner: (found.st_uid, found.st_gid),
            identity: (found.st_dev, found.st_ino),
            size: u64::try_from(found.st_size).unwrap_or_default(),
            links: wide(found.st_nlink),
            modified: (found.st_mtime, found.st_mtime_nsec),
            changed: (found.st_ctime, found.st_ctime_nsec),
        }
    }

    pub(super) fn is_folder(&self) -> bool {
        self.kind == FileType::Directory
    }

    /// Whether this is the same file with the same content, as far as can be determined without reading it. The change time is
    /// ignored, because adding or removing a hard link changes it as well.
    pub(super) fn is_as(&self, other: &Self) -> bool {
        let plain = |look: &Self| (look.kind, look.mode, look.owner, look.identity);
        // The entries of a directory are compared individually.
        let content = |look: &Self| (!look.is_folder()).then_some((look.size, look.modified));
        plain(self) == plain(other) && content(self) == content(other)
    }
}

/// Converts an integer whose width depends on the architecture.
fn wide(number: impl Into<u64>) -> u64 {
    number.into()
}

/// Returns the state of a name in a directory; nothing if it does not exist.
pub(super) fn look(folder: BorrowedFd<'_>, name: &OsStr) -> io::Result<Option<Look>> {
    match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) => Ok(Some(Look::of(&found))),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Returns the target of a symlink.
pub(super) fn link_text(folder: BorrowedFd<'_>, name: &OsStr) -> io::Result<Vec<u8>> {
    Ok(readlinkat(folder, name, Vec::new())?.into_bytes())
}

/// Returns the path in procfs of an open file, which may be an O_PATH handle.
pub(super) fn own_path(open: BorrowedFd<'_>) -> PathBuf {
    PathBuf::from("/proc/self/fd").join(open.as_raw_fd().to_string())
}

/// Returns the path in procfs of a name in an open directory.
pub(super) fn own_path_of(folder: BorrowedFd<'_>, name: &OsStr) -> PathBuf {
    own_path(folder).join(name)
}

/// A tree of directories.
#[derive(Debug)]
pub(super) struct Tree {
    root: Rc<OwnedFd>,
    /// The last opened directory, cached because the next path is usually in the same one.
    last: RefCell<Option<(PathBuf, Rc<OwnedFd>)>>,
}

impl Tree {
    /// Opens a tree. The path must not contain symlinks.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        Ok(Self::of(openat2(CWD, path, FOLDER, Mode::empty(), resolve)?))
    }

    pub(super) fn of(root: OwnedFd) -> Self {
        Self { root: Rc::new(root), last: RefCell::new(None) }
    }

    pub(super) fn root(&self) -> BorrowedFd<'_> {
        self.root.as_fd()
    }

    /// Opens the parent directory of a path, and returns the name in it.
    pub(super) fn parent<'p>(&self, path: &'p Path) -> io::Result<(Rc<OwnedFd>, &'p OsStr)> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
        let above = path.parent().unwrap_or(Path::new(""));
        Ok((self.folder(above)?, name))
    }

    /// Opens a directory of the tree.
    pub(super) fn folder(&self, path: &Path) -> io::Result<Rc<OwnedFd>> {
        if path.as_os_str().is_empty() {
            return Ok(Rc::clone(&self.root));
        }
        if let Some((last, folder)) = &*self.last.borrow()
            && last == path
        {
            return Ok(Rc::clone(folder));
        }
        let mut folder = Rc::clone(&self.root);
        for part in parts(path) {
            folder = Rc::new(beneath(folder.as_fd(), &part)?);
        }
        *self.last.borrow_mut() = Some((path.to_path_buf(), Rc::clone(&folder)));
        Ok(folder)
    }

    /// Clears the cache, because another directory may have the name now.
    pub(super) fn forget(&self) {
        *self.last.borrow_mut() = None;
    }

    /// Returns the state of a path; nothing if it does not exist, or its parent is not a directory.
    pub(super) fn look(&self, path: &Path) -> io::Result<Option<Look>> {
        match self.parent(path) {
            Ok((folder, name)) => look(folder.as_fd(), name),
            Err(error) if is_gone(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Whether an error means that a directory is missing, or is a symlink.
pub(super) fn is_gone(error: &io::Error) -> bool {
    [Errno::NOENT, Errno::NOTDIR, Errno::LOOP]
        .iter()
        .any(|gone| error.raw_os_error() == Some(gone.raw_os_error()))
}

fn beneath(folder: BorrowedFd<'_>, path: &Path) -> io::Result<OwnedFd> {
    let resolve = ResolveFlags::BENEATH
        | ResolveFlags::NO_SYMLINKS
        | ResolveFlags::NO_MAGICLINKS
        | ResolveFlags::NO_XDEV;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(openat2(folder, path, flags, Mode::empty(), resolve)?)
}

/// Splits a path into parts that fit in a system call.
fn parts(path: &Path) -> Vec<PathBuf> {
    let mut parts = vec![PathBuf::new()];
    for name in path.components() {
        let name: OsString = name.as_os_str().to_os_string();
        let is_full = |part: &PathBuf| part.as_os_str().len() + name.as_bytes().len() > MAX_PART;
        match parts.last_mut() {
            Some(last) if last.as_os_str().is_empty() || !is_full(last) => last.push(&name),
            _ => parts.push(PathBuf::from(name)),
        }
    }
    parts
}
