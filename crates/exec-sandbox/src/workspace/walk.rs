//! Walks directory trees of untrusted content: it follows no symlinks, has no limit on depth or number of entries, and also reads
//! directories that their owner may not list.
//!
//! Each directory is opened from its parent's descriptor, so a long path costs no more than a short one. In very deep trees, the
//! oldest descriptors are closed, and reopened by `..` if that still refers to the same directory.

#![expect(clippy::disallowed_methods, reason = "goes through folders and opens them")]

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, RawDir, ResolveFlags, StatxFlags, chmod, openat, openat2, statx,
};
use rustix::io::Errno;
use stockade_files::{FolderStamp, UnchangedFolders};

use crate::host::{FileIdentity, Searched, Stamp};

/// Maximum number of open nested directories.
const MAX_OPEN: usize = 128;

/// Bytes for the entries of a directory: enough for nearly all, so that two calls of the kernel list it.
const LISTING: usize = 32 << 10;

/// A name in a directory.
#[derive(Debug)]
pub(crate) struct Listed {
    pub(crate) name: OsString,
    pub(crate) kind: FileType,
}

/// The current directory of a walk.
pub(crate) struct Here<'w> {
    pub(crate) folder: BorrowedFd<'w>,
    /// Its path, relative to the start of the walk.
    pub(crate) path: &'w Path,
    /// The number of directories on the path, including this one.
    pub(crate) depth: usize,
    /// A hash of their identities, which changes when one of them is replaced.
    pub(crate) around: u64,
    /// Its entries; nothing if it cannot be listed.
    pub(crate) names: Option<&'w [Listed]>,
}

/// A visitor of directories.
pub(crate) trait Visit {
    /// Whether a directory is listed once, as long as it does not change and [`Visit::found_nothing`] in it. Only one implementation
    /// may say so, since others would find other names.
    const LISTS_ONCE: bool = false;

    /// Visits a directory, and returns the indexes of entries not to enter.
    fn folder(&mut self, here: &Here<'_>) -> BTreeSet<usize>;

    /// Whether nothing in the last directory matters, except for what is in the directories in it.
    fn found_nothing(&self) -> bool {
        false
    }
}

struct Level {
    folder: Option<OwnedFd>,
    identity: FileIdentity,
    around: u64,
    /// Directories that are still to be entered.
    left: Vec<OsString>,
}

/// Visits a directory and all below it.
pub(crate) fn walk(root: &Path, visit: &mut impl Visit) -> Searched {
    open_root(root).map_or(Searched::InPart, |folder| walk_from(folder, visit))
}

/// The same for an open directory.
pub(crate) fn walk_from(folder: OwnedFd, visit: &mut impl Visit) -> Searched {
    let Ok(stamp) = stamp_of(folder.as_fd(), Path::new("")) else { return Searched::InPart };
    let mut walk = Walk { levels: Vec::new(), path: PathBuf::new(), searched: Searched::Fully };
    walk.enter(Opened::ByPath(folder), &stamp, 0, visit);
    while let Some(level) = walk.levels.last_mut() {
        match level.left.pop() {
            Some(name) => walk.descend(&name, visit),
            None => walk.leave(),
        }
    }
    walk.searched
}

/// Opens the first directory of a walk. Its path must not contain symlinks.
pub(crate) fn open_root(root: &Path) -> rustix::io::Result<OwnedFd> {
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    openat2(CWD, root, flags, Mode::empty(), resolve)
}

/// Returns the identity and state of a file, without following a symlink.
pub(crate) fn stamp_of(folder: BorrowedFd<'_>, path: &Path) -> rustix::io::Result<Stamp> {
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::EMPTY_PATH;
    let found = statx(folder, path, flags, StatxFlags::BASIC_STATS | StatxFlags::BTIME)?;
    let born = match found.stx_mask & StatxFlags::BTIME.bits() {
        0 => (0, 0),
        _ => (found.stx_btime.tv_sec, found.stx_btime.tv_nsec),
    };
    let device = rustix::fs::makedev(found.stx_dev_major, found.stx_dev_minor);
    Ok(Stamp {
        file: FileIdentity { device, number: found.stx_ino, born },
        size: found.stx_size,
        modified: (found.stx_mtime.tv_sec, i64::from(found.stx_mtime.tv_nsec)),
        changed: (found.stx_ctime.tv_sec, i64::from(found.stx_ctime.tv_nsec)),
    })
}

/// A directory that was opened.
enum Opened {
    /// To be listed by this descriptor.
    ToList(OwnedFd),
    /// Without access to what is in it.
    ByPath(OwnedFd),
}

impl Opened {
    /// Opens a directory in another one, without following a symlink. One that its owner may not list is opened by its path.
    fn below(folder: BorrowedFd<'_>, name: &OsStr) -> rustix::io::Result<Self> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match openat(folder, name, flags | OFlags::RDONLY, Mode::empty()) {
            Err(Errno::ACCESS) => {}
            opened => return opened.map(Self::ToList),
        }
        let open = |folder: BorrowedFd<'_>| openat(folder, name, flags | OFlags::PATH, Mode::empty());
        in_an_open_folder(folder, open).map(Self::ByPath)
    }

    const fn folder(&self) -> &OwnedFd {
        match self {
            Self::ToList(folder) | Self::ByPath(folder) => folder,
        }
    }

    fn list(&self) -> Option<Vec<Listed>> {
        match self {
            Self::ToList(folder) => entries_of(folder),
            Self::ByPath(folder) => list(folder.as_fd()),
        }
    }

    fn into_folder(self) -> OwnedFd {
        match self {
            Self::ToList(folder) | Self::ByPath(folder) => folder,
        }
    }
}

/// The directories in directories in which nothing else matters: a workspace is searched before a command and after it.
static KNOWN: LazyLock<Mutex<UnchangedFolders>> = LazyLock::new(Mutex::default);

/// Returns the directories in a directory that did not change since it was remembered.
pub(super) fn known_folders(stamp: &Stamp) -> Option<Vec<Listed>> {
    let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let listed = |name: &OsString| Listed { name: name.clone(), kind: FileType::Directory };
    Some(known.names(&folder_stamp(stamp))?.iter().map(listed).collect())
}

const fn folder_stamp(stamp: &Stamp) -> FolderStamp {
    let FileIdentity { device, number, born } = stamp.file;
    FolderStamp { device, number, born, modified: stamp.modified, changed: stamp.changed }
}

struct Walk {
    levels: Vec<Level>,
    path: PathBuf,
    searched: Searched,
}

impl Walk {
    fn enter<V: Visit>(&mut self, opened: Opened, stamp: &Stamp, around: u64, visit: &mut V) {
        let known = if V::LISTS_ONCE { known_folders(stamp) } else { None };
        let is_new = known.is_none();
        let listed = known.or_else(|| opened.list());
        let (folder, identity) = (opened.into_folder(), stamp.file);
        if listed.is_none() {
            self.searched = Searched::InPart;
        }
        let (depth, names) = (self.levels.len(), listed.as_deref());
        let here = Here { folder: folder.as_fd(), path: &self.path, depth, around, names };
        let passed = visit.folder(&here);
        if let Some(names) = names.filter(|_| V::LISTS_ONCE && is_new && visit.found_nothing()) {
            let folders = names.iter().filter(|entry| entry.kind == FileType::Directory);
            let folders = folders.map(|entry| entry.name.clone());
            KNOWN.lock().unwrap_or_else(PoisonError::into_inner).remember(
                folder.as_fd(),
                folder_stamp(stamp),
                folders,
            );
        }
        let folders = listed.into_iter().flatten().enumerate();
        let left = folders
            .filter(|(at, entry)| entry.kind == FileType::Directory && !passed.contains(at))
            .map(|(_, entry)| entry.name)
            .collect();
        self.levels.push(Level { folder: Some(folder), identity, around, left });
        if let Some(old) = self.levels.len().checked_sub(MAX_OPEN + 1).and_then(|at| self.levels.get_mut(at))
        {
            old.folder = None;
        }
    }

    fn descend(&mut self, name: &OsStr, visit: &mut impl Visit) {
        let Some(Level { folder: Some(folder), around, .. }) = self.levels.last() else { return };
        let entered = Opened::below(folder.as_fd(), name).and_then(|inner| {
            let stamp = stamp_of(inner.folder().as_fd(), Path::new(""))?;
            Ok((inner, stamp))
        });
        match entered {
            Ok((inner, stamp)) => {
                let around = and_then(*around, stamp.file);
                self.path.push(name);
                self.enter(inner, &stamp, around, visit);
            }
            // It was deleted or replaced meanwhile.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {}
            Err(_) => self.searched = Searched::InPart,
        }
    }

    /// Returns to the parent directory. If it was closed, it is reopened by `..`; if that fails, the walk ends.
    fn leave(&mut self) {
        let Some(inner) = self.levels.pop() else { return };
        self.path.pop();
        let Some(outer) = self.levels.last_mut() else { return };
        if outer.folder.is_some() {
            return;
        }
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let found = inner.folder.and_then(|inner| openat(&inner, "..", flags, Mode::empty()).ok());
        let is_same = |found: &OwnedFd| {
            stamp_of(found.as_fd(), Path::new("")).is_ok_and(|stamp| stamp.file == outer.identity)
        };
        match found.filter(is_same) {
            Some(found) => outer.folder = Some(found),
            None => {
                self.searched = Searched::InPart;
                self.levels.clear();
            }
        }
    }
}

/// Extends the hash of parent directories by those on a path.
pub(crate) fn around(mut around: u64, folder: BorrowedFd<'_>, path: &Path) -> Option<u64> {
    let mut inner: Option<OwnedFd> = None;
    for part in path.parent().into_iter().flat_map(Path::components) {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let outer = inner.as_ref().map_or(folder, |inner| inner.as_fd());
        let open = |outer: BorrowedFd<'_>| openat(outer, part.as_os_str(), flags, Mode::empty());
        let opened = in_an_open_folder(outer, open).ok()?;
        around = and_then(around, stamp_of(opened.as_fd(), Path::new("")).ok()?.file);
        inner = Some(opened);
    }
    Some(around)
}

/// Extends the hash by one directory.
fn and_then(around: u64, identity: FileIdentity) -> u64 {
    let mut hasher = DefaultHasher::new();
    (around, identity.device, identity.number, identity.born).hash(&mut hasher);
    hasher.finish()
}

/// Lists a directory; nothing if that is impossible.
pub(crate) fn list(folder: BorrowedFd<'_>) -> Option<Vec<Listed>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let open = || openat(folder, ".", flags, Mode::empty());
    entries_of(&in_an_open_folder(folder, |_| open()).ok()?)
}

/// Reads the entries of a directory that was opened to be listed, and nothing was read of it yet.
fn entries_of(folder: &OwnedFd) -> Option<Vec<Listed>> {
    let mut room = Vec::with_capacity(LISTING);
    let mut entries = RawDir::new(folder, room.spare_capacity_mut());
    let mut listed = Vec::new();
    while let Some(entry) = entries.next() {
        let entry = entry.ok()?;
        let name = entry.file_name().to_bytes();
        if matches!(name, b"." | b"..") {
            continue;
        }
        let name = OsStr::from_bytes(name).to_os_string();
        let kind = match entry.file_type() {
            FileType::Unknown => kind_of(folder.as_fd(), &name),
            kind => kind,
        };
        listed.push(Listed { name, kind });
    }
    Some(listed)
}

/// Returns the type of an entry, for file systems that do not report it in directory listings.
fn kind_of(folder: BorrowedFd<'_>, name: &OsStr) -> FileType {
    let found = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
    found.map_or(FileType::Unknown, |data| FileType::from_raw_mode(data.st_mode))
}

/// Calls a function on a directory; if permission is denied, again while the owner has all permissions.
pub(crate) fn in_an_open_folder<T>(
    folder: BorrowedFd<'_>,
    mut with: impl FnMut(BorrowedFd<'_>) -> rustix::io::Result<T>,
) -> rustix::io::Result<T> {
    match with(folder) {
        Err(Errno::ACCESS) => {}
        result => return result,
    }
    let mode = Mode::from_raw_mode(rustix::fs::fstat(folder)?.st_mode);
    let own = PathBuf::from("/proc/self/fd").join(folder.as_raw_fd().to_string());
    chmod(&own, mode | Mode::RWXU)?;
    let result = with(folder);
    chmod(&own, mode).ok();
    result
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "makes folders to walk through")]

    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    struct Count {
        folders: usize,
        names: usize,
        deepest: usize,
    }

    impl Visit for Count {
        fn folder(&mut self, here: &Here<'_>) -> BTreeSet<usize> {
            self.folders += 1;
            self.names += here.names.map_or(0, <[_]>::len);
            self.deepest = self.deepest.max(here.depth);
            BTreeSet::new()
        }
    }

    fn count(root: &Path) -> (Count, Searched) {
        let mut count = Count { folders: 0, names: 0, deepest: 0 };
        let searched = walk(root, &mut count);
        (count, searched)
    }

    #[test]
    fn folders_lie_as_deep_as_they_like() {
        const DEPTH: usize = 5 * MAX_OPEN;
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let mut at = open_root(&root).unwrap();
        for _ in 0..DEPTH {
            rustix::fs::mkdirat(&at, "d", Mode::RWXU).unwrap();
            at = openat(&at, "d", OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).unwrap();
        }
        let (count, searched) = count(&root);
        assert_eq!((count.folders, count.deepest, searched), (DEPTH + 1, DEPTH, Searched::Fully));
    }

    #[test]
    fn an_unlistable_directory_is_listed_and_keeps_its_mode() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let inner = root.join("a/b");
        fs::create_dir_all(&inner).unwrap();
        fs::write(inner.join("x"), "").unwrap();
        for (path, mode) in [(&inner, 0o311), (&root.join("a"), 0o000)] {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        }
        let (count, searched) = count(&root);
        assert_eq!((count.folders, count.names, searched), (3, 3, Searched::Fully));
        let mode = fs::metadata(root.join("a")).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0);
        fs::set_permissions(root.join("a"), fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(fs::metadata(&inner).unwrap().permissions().mode() & 0o7777, 0o311);
    }

    #[test]
    fn links_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::os::unix::fs::symlink("/usr", root.join("out")).unwrap();
        let (count, _) = count(&root);
        assert_eq!((count.folders, count.names), (1, 1));
    }
}
