//! Walks a directory tree and records the inode and name of every file.

#![expect(clippy::disallowed_methods, reason = "walks a folder")]

use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Dir, FileType, Mode, OFlags, Stat, fstat, openat};

/// Maximum number of entries: some ten megabytes of names.
pub(super) const MAX_ENTRIES: usize = 200_000;

/// Maximum depth of the walk.
const MAX_DEPTH: usize = 64;

/// Flags to open a directory for reading, never through a link.
pub(super) const FOLDER: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Files below a directory by inode.
#[derive(Debug)]
pub(super) struct Index {
    folders: Vec<Folder>,
    /// The files, sorted.
    files: Vec<File>,
    /// Whether the walk was complete.
    pub(super) is_finished: bool,
}

#[derive(Debug)]
struct Folder {
    /// Relative to the root of the walk.
    path: PathBuf,
    stat: Stat,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct File {
    number: u64,
    folder: usize,
    name: OsString,
}

impl Index {
    /// Walks a directory tree, up to `max_entries` entries.
    pub(super) fn walk(top: &OwnedFd, max_entries: usize) -> Self {
        #[cfg(test)]
        work::count();
        let mut walk = Walk {
            index: Self { folders: Vec::new(), files: Vec::new(), is_finished: true },
            left: max_entries,
        };
        // Reopened: reading moves the offset, and the descriptor is shared.
        match openat(top, ".", FOLDER, Mode::empty()) {
            Ok(folder) => walk.folder(&folder, Path::new(""), MAX_DEPTH),
            Err(_) => walk.index.is_finished = false,
        }
        walk.index.files.sort_unstable();
        walk.index
    }

    /// Returns the recorded names of a file, each as its directory and name.
    pub(super) fn names<'i>(&'i self, stat: &'i Stat) -> impl Iterator<Item = (&'i Path, &'i OsStr)> {
        let first = self.files.partition_point(|file| file.number < stat.st_ino);
        let numbered = self.files.iter().skip(first).take_while(|file| file.number == stat.st_ino);
        numbered.filter_map(|file| {
            let folder = self.folders.get(file.folder)?;
            // Files of another file system that is mounted below may have the same inode numbers.
            (folder.stat.st_dev == stat.st_dev).then_some((folder.path.as_path(), file.name.as_os_str()))
        })
    }
}

struct Walk {
    index: Index,
    left: usize,
}

impl Walk {
    fn folder(&mut self, folder: &OwnedFd, path: &Path, depth: usize) {
        let (Ok(entries), Ok(stat)) = (Dir::read_from(folder), fstat(folder)) else {
            self.index.is_finished = false;
            return;
        };
        let mut below = Vec::new();
        let number_of_folder = self.index.folders.len();
        for entry in entries {
            let (Ok(entry), Some(left)) = (entry, self.left.checked_sub(1)) else {
                self.index.is_finished = false;
                break;
            };
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            self.left = left;
            match entry.file_type() {
                FileType::Directory => below.push(name.to_owned()),
                FileType::RegularFile | FileType::Unknown => self.index.files.push(File {
                    number: entry.ino(),
                    folder: number_of_folder,
                    name: name.to_owned(),
                }),
                _ => {}
            }
        }
        self.index.folders.push(Folder { path: path.to_owned(), stat });
        for name in below {
            let (Some(depth), Ok(opened)) =
                (depth.checked_sub(1), openat(folder, &name, FOLDER, Mode::empty()))
            else {
                self.index.is_finished = false;
                continue;
            };
            self.folder(&opened, &path.join(&name), depth);
        }
    }
}

/// Counts walks in tests.
#[cfg(test)]
pub(super) mod work {
    use std::cell::Cell;

    thread_local!(static WALKS: Cell<usize> = const { Cell::new(0) });

    pub(super) fn count() {
        WALKS.set(WALKS.get() + 1);
    }

    /// Returns the number of walks during `work`.
    pub(in crate::hard_links) fn walks(work: impl FnOnce()) -> usize {
        WALKS.set(0);
        work();
        WALKS.get()
    }
}
