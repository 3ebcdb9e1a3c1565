//! Directories that need not be listed again: a program that walks a tree twice finds most of its directories as they were.
//!
//! A name appears in a directory, or vanishes from it, only with a new change time (ctime), which a program cannot set. Times are
//! those of the clock's last tick, so a directory that changed a moment before it was listed is listed again, like a file that git
//! calls "racily clean".

#![expect(clippy::disallowed_methods, reason = "compares the times of directories with the clock")]

use std::collections::HashMap;
use std::ffi::OsString;
use std::os::fd::BorrowedFd;
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::fstatfs;

/// A directory that changed less than this many seconds before it was listed could change again without another time.
const SETTLED: i64 = 2;

/// Maximum number of remembered directories.
const MAX_FOLDERS: usize = 50_000;

/// File systems whose directories get a change time from this kernel (statfs(2)): ext2 to ext4, XFS, Btrfs, F2FS and tmpfs.
const LOCAL: &[u32] = &[0xef53, 0x5846_5342, 0x9123_683e, 0xf2f5_2010, 0x0102_1994];

/// The identity and the times of a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct FolderStamp {
    /// The device.
    pub device: u64,
    /// The inode number.
    pub number: u64,
    /// The creation time in seconds and nanoseconds; zero where the file system does not record it.
    pub born: (i64, u32),
    /// The modification time in seconds and nanoseconds.
    pub modified: (i64, i64),
    /// The change time in seconds and nanoseconds.
    pub changed: (i64, i64),
}

/// What was found in directories, for as long as they do not change.
#[derive(Debug, Default)]
pub struct UnchangedFolders {
    names: HashMap<FolderStamp, Box<[OsString]>>,
}

impl UnchangedFolders {
    /// Returns the names that were remembered for a directory, if it is as it was.
    #[must_use]
    pub fn names(&self, stamp: &FolderStamp) -> Option<&[OsString]> {
        self.names.get(stamp).map(Box::as_ref)
    }

    /// Remembers names of a directory, unless it could change without another stamp. The stamp was taken before it was listed.
    pub fn remember(
        &mut self,
        folder: BorrowedFd<'_>,
        stamp: FolderStamp,
        names: impl Iterator<Item = OsString>,
    ) {
        let is_settled = stamp.changed.max(stamp.modified).0 <= now() - SETTLED;
        // Without a creation time, the number of a deleted directory may mean another one.
        if stamp.born == (0, 0) || !is_settled || !is_local(folder) {
            return;
        }
        if self.names.len() >= MAX_FOLDERS {
            self.names.clear();
        }
        self.names.insert(stamp, names.collect());
    }
}

/// Whether this kernel alone sets the times of a directory.
fn is_local(folder: BorrowedFd<'_>) -> bool {
    let kind = fstatfs(folder).ok().and_then(|found| u32::try_from(found.f_type).ok());
    kind.is_some_and(|kind| LOCAL.contains(&kind))
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd as _;

    #[test]
    fn a_directory_is_remembered_as_it_was() {
        let root = std::fs::File::open("/").unwrap();
        let mut known = UnchangedFolders::default();
        let long_ago = (now() - 100, 5);
        let stamp = FolderStamp {
            number: 7,
            born: (1, 1),
            modified: long_ago,
            changed: long_ago,
            ..FolderStamp::default()
        };
        let mut remember = |stamp: FolderStamp| {
            known.remember(root.as_fd(), stamp, ["a".into()].into_iter());
            known.names(&stamp).is_some()
        };
        assert_eq!(remember(stamp), is_local(root.as_fd()));
        assert!(!remember(FolderStamp { changed: (now(), 0), ..stamp }), "it changed a moment ago");
        assert!(!remember(FolderStamp { modified: (now() + 9, 0), ..stamp }), "it changes in the future");
        assert!(!remember(FolderStamp { born: (0, 0), ..stamp }));
        assert_eq!(known.names(&FolderStamp { changed: (now() - 99, 5), ..stamp }), None, "it changed");
    }
}
