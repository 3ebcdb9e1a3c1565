//! Finds directories that contain a file of a certain name.

use std::ffi::OsStr;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::folder::{EntryKind, FolderEntry, OpenFolder, OpenedPath, open_path};
use crate::gap::Gap;
use crate::link::leads_outside;
use crate::source::FileOptions;

/// Directories that were found, ordered by name.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct FoundFolders {
    /// The directories, or the file itself if the search started at one.
    pub folders: Vec<PathBuf>,
    /// Places that could not be searched, so that more directories may exist.
    pub gaps: Vec<(PathBuf, Gap)>,
}

/// Finds directories that contain a file of one of these names. Such a directory is not searched further. Links to
/// directories are not followed; any entry with the name counts, also a link. A file at `below` is its own result.
#[must_use]
pub fn folders_with(names: &[&str], below: &Path, options: &FileOptions) -> FoundFolders {
    let mut search = Search { names, options, budget: options.max_entries, found: FoundFolders::default() };
    match open_path(below) {
        Ok(OpenedPath::Folder(folder)) => {
            let _: ControlFlow<()> = search.folder(&folder, below, 0);
        }
        Ok(OpenedPath::File(_)) => search.found.folders.push(below.to_owned()),
        Ok(OpenedPath::Special) => search.gap(below, Gap::Special),
        Err(error) => search.gap(below, Gap::Unreadable(error)),
    }
    search.found
}

struct Search<'s> {
    names: &'s [&'s str],
    options: &'s FileOptions,
    /// Number of entries that may still be visited.
    budget: usize,
    found: FoundFolders,
}

impl Search<'_> {
    fn folder(&mut self, folder: &OpenFolder, path: &Path, depth: usize) -> ControlFlow<()> {
        let entries = match folder.entries(self.budget.saturating_add(1)) {
            Ok(entries) => entries,
            Err(error) => {
                self.gap(path, Gap::Unreadable(error));
                return ControlFlow::Continue(());
            }
        };
        let Some(budget) = self.budget.checked_sub(entries.len()) else {
            self.gap(path, Gap::TooMany { max_entries: self.options.max_entries });
            return ControlFlow::Break(());
        };
        self.budget = budget;
        if entries.iter().any(|entry| self.names.iter().any(|name| name.as_bytes() == entry.name.to_bytes()))
        {
            self.found.folders.push(path.to_owned());
            return ControlFlow::Continue(());
        }
        entries.iter().try_for_each(|entry| self.entry(folder, path, entry, depth))
    }

    fn entry(
        &mut self,
        folder: &OpenFolder,
        path: &Path,
        entry: &FolderEntry,
        depth: usize,
    ) -> ControlFlow<()> {
        let path = path.join(OsStr::from_bytes(entry.name.to_bytes()));
        match entry.kind {
            EntryKind::Folder if depth >= self.options.max_depth => {
                self.gap(&path, Gap::TooDeep { max_depth: self.options.max_depth });
            }
            EntryKind::Folder => match folder.enter(&entry.name) {
                Ok(inner) => return self.folder(&inner, &path, depth + 1),
                Err(error) => self.gap(&path, Gap::Unreadable(error)),
            },
            EntryKind::Link => match folder.link_target(&entry.name) {
                Ok(target) => {
                    let target = PathBuf::from(OsStr::from_bytes(target.as_bytes()));
                    if leads_outside(&target, depth) {
                        self.gap(&path, Gap::LinkOutside { target });
                    }
                }
                Err(error) => self.gap(&path, Gap::Unreadable(error)),
            },
            _ => {}
        }
        ControlFlow::Continue(())
    }

    /// Keeps a bounded number of gaps: one is enough to mark the result as incomplete.
    fn gap(&mut self, path: &Path, gap: Gap) {
        const MAX_GAPS: usize = 1000;
        if self.found.gaps.len() < MAX_GAPS {
            self.found.gaps.push((path.to_owned(), gap));
        }
    }
}
