//! Detects changes of files.

#![expect(clippy::disallowed_methods, reason = "asks when files were changed")]

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Versions of files and directories at one point in time, including missing ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileVersions(Vec<(PathBuf, Option<FileVersion>)>);

/// Identifies a version of a file. A program can set the modification time, but not the change time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileVersion {
    device: u64,
    inode: u64,
    size: u64,
    mode: u32,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl FileVersions {
    /// Records the current versions. Adding or removing an entry changes its directory's version; writing to a file
    /// does not.
    #[must_use]
    pub fn of(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        let versions = paths.into_iter().map(|path| {
            let version = FileVersion::of(&path);
            (path, version)
        });
        Self(versions.collect())
    }

    /// Adds the current versions of other files.
    #[must_use]
    pub fn with(mut self, paths: impl IntoIterator<Item = PathBuf>) -> Self {
        self.0.extend(Self::of(paths).0);
        self
    }

    /// Whether none of them was changed, added or removed since.
    #[must_use]
    pub fn are_unchanged(&self) -> bool {
        self.0.iter().all(|(path, version)| FileVersion::of(path) == *version)
    }
}

impl FileVersion {
    fn of(path: &Path) -> Option<Self> {
        let found = std::fs::metadata(path).ok()?;
        Some(Self {
            device: found.dev(),
            inode: found.ino(),
            size: found.size(),
            mode: found.mode(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_happens_to_a_file_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        let paths = || FileVersions::of([folder.path().to_owned(), file.clone()]);
        let steps: [&dyn Fn(); 4] = [
            &|| std::fs::write(&file, "x").unwrap(),
            &|| std::fs::write(&file, "xy").unwrap(),
            &|| std::fs::rename(&file, folder.path().join("b")).unwrap(),
            &|| std::fs::create_dir(&file).unwrap(),
        ];
        for (number, step) in steps.into_iter().enumerate() {
            let before = paths();
            assert!(before.are_unchanged());
            step();
            assert!(!before.are_unchanged(), "step {number}");
        }
    }
}
