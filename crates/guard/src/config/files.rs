//! Whether the files of a configuration are still as they were.
#![expect(clippy::disallowed_methods, reason = "asks when files were changed")]

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::layer::files_of_folder;
use super::sources::{ConfigSources, project_folders};

/// The files and folders that a configuration was read from, or would be if they were there, and what they were like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigFiles(Vec<(PathBuf, Option<FileVersion>)>);

/// What tells one version of a file from the next. A program can set the first time of a file, and not the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileVersion {
    device: u64,
    inode: u64,
    size: u64,
    mode: u32,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl ConfigFiles {
    /// Returns whether nothing was changed, added or removed since.
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

impl ConfigSources {
    /// Returns the files that are read now, and the folders in which others would be.
    #[must_use]
    pub fn files(&self) -> ConfigFiles {
        let projects = self.project.as_deref().map(project_folders).into_iter().flatten();
        let folders = self.system.iter().chain(&self.user).cloned().chain(projects);
        let mut paths: Vec<PathBuf> = self.file.iter().cloned().collect();
        for folder in folders {
            // A file that appears or goes changes its folder; one that is written to does not.
            paths.extend(files_of_folder(&folder));
            paths.push(folder);
        }
        let version = |path: PathBuf| (FileVersion::of(&path), path);
        ConfigFiles(paths.into_iter().map(version).map(|(version, path)| (path, version)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_happens_to_a_file_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("a/b");
        std::fs::create_dir_all(&project).unwrap();
        let sources = ConfigSources { project: Some(project.clone()), ..ConfigSources::default() };
        let file = folder.path().join(".stockade/config.toml");
        let nearer = project.join(".stockade");
        let steps: [&dyn Fn(); 6] = [
            &|| std::fs::create_dir(file.parent().unwrap()).unwrap(),
            &|| std::fs::write(&file, "x = 1\n").unwrap(),
            &|| std::fs::write(&file, "x = 22\n").unwrap(),
            &|| std::fs::rename(&file, file.with_extension("json")).unwrap(),
            &|| std::fs::create_dir(&nearer).unwrap(),
            &|| std::fs::write(nearer.join("config.yaml"), "").unwrap(),
        ];
        for (number, step) in steps.into_iter().enumerate() {
            let files = sources.files();
            assert!(files.are_unchanged());
            step();
            assert!(!files.are_unchanged(), "step {number}");
        }
    }
}
