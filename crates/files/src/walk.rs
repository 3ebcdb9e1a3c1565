//! Visits every file of every source, one at a time, in an order that depends on names alone.

use std::ffi::OsStr;
use std::fmt;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::slice;
use std::vec;

use crate::folder::{EntryKind, FolderEntry, OpenFolder, OpenedPath, open_path};
use crate::gap::Gap;
use crate::link::leads_outside;
use crate::source::{FileOptions, Source};

/// The walk. It holds one open directory per level, and the names not yet visited there.
///
/// No name is left out: hidden files, ignored files and `.git` are all visited, since an agent could read any of
/// them. An exclusion by the caller is a stop with a gap.
#[derive(Debug)]
pub(crate) struct Walk<'s> {
    sources: slice::Iter<'s, Source>,
    exclude: Exclude<'s>,
    levels: Vec<Level>,
    /// Number of entries that may still be read.
    budget: usize,
    options: FileOptions,
}

/// Whether the caller excludes an entry and everything in it, by its path below the source.
#[derive(Clone, Copy)]
pub(crate) struct Exclude<'s>(pub(crate) &'s (dyn Fn(&Path, EntryKind) -> bool + Sync));

impl fmt::Debug for Exclude<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Exclude").finish_non_exhaustive()
    }
}

#[derive(Debug)]
struct Level {
    folder: OpenFolder,
    path: PathBuf,
    entries: vec::IntoIter<FolderEntry>,
}

/// One stop of the walk.
#[derive(Debug)]
pub(crate) struct Stop {
    pub(crate) path: PathBuf,
    pub(crate) what: ToRead,
}

/// How to read at a stop.
#[derive(Debug)]
pub(crate) enum ToRead {
    /// Open this name and read it.
    Entry(OpenFolder, FolderEntry),
    /// Read this open file.
    Open(OwnedFd),
    /// Read standard input to its end.
    Stdin,
    /// Nothing can be read here.
    Gap(Gap),
}

impl<'s> Walk<'s> {
    pub(crate) fn new(sources: &'s [Source], exclude: Exclude<'s>, options: &FileOptions) -> Self {
        let (sources, budget) = (sources.iter(), options.max_entries);
        Self { sources, exclude, levels: Vec::new(), budget, options: *options }
    }

    /// Starts the next source.
    fn start(&mut self, source: &Source) -> Option<Stop> {
        let path = match source {
            Source::Stdin { name } => return Some(Stop { path: name.clone(), what: ToRead::Stdin }),
            Source::Path(path) => path.clone(),
        };
        match open_path(&path) {
            Ok(OpenedPath::File(file)) => Some(Stop { path, what: ToRead::Open(file) }),
            Ok(OpenedPath::Folder(folder)) => self.descend(folder, path),
            Ok(OpenedPath::Special) => Some(Stop::gap(path, Gap::Special)),
            Err(error) => Some(Stop::gap(path, Gap::Unreadable(error))),
        }
    }

    /// Makes `folder` the current one, unless that fails or exceeds the depth limit.
    fn descend(&mut self, folder: OpenFolder, path: PathBuf) -> Option<Stop> {
        let entries = match folder.entries(self.budget.saturating_add(1)) {
            Ok(entries) => entries,
            Err(error) => return Some(Stop::gap(path, Gap::Unreadable(error))),
        };
        let Some(budget) = self.budget.checked_sub(entries.len()) else {
            self.levels.clear();
            self.sources = slice::Iter::default();
            return Some(Stop::gap(path, Gap::TooMany { max_entries: self.options.max_entries }));
        };
        self.budget = budget;
        self.levels.push(Level { folder, path, entries: entries.into_iter() });
        None
    }

    /// Visits one entry of the current directory.
    fn visit(&mut self, folder: OpenFolder, path: PathBuf, entry: FolderEntry) -> Option<Stop> {
        if self.is_excluded(&path, entry.kind) {
            return Some(Stop::gap(path, Gap::Excluded));
        }
        match entry.kind {
            // An entry of unknown type is opened like a file, which reveals its type.
            EntryKind::File | EntryKind::Unknown => Some(Stop { path, what: ToRead::Entry(folder, entry) }),
            EntryKind::Folder => self.visit_folder(&folder, path, &entry),
            EntryKind::Link => self.visit_link(&folder, path, &entry),
            EntryKind::Special => Some(Stop::gap(path, Gap::Special)),
        }
    }

    /// Whether an entry below the source is excluded. The source itself never is: it was asked for.
    fn is_excluded(&self, path: &Path, kind: EntryKind) -> bool {
        let named = self.levels.first().map(|level| level.path.as_path());
        let below = named.and_then(|named| path.strip_prefix(named).ok());
        below.is_some_and(|below| self.exclude.0(below, kind))
    }

    fn visit_folder(&mut self, folder: &OpenFolder, path: PathBuf, entry: &FolderEntry) -> Option<Stop> {
        if self.levels.len() > self.options.max_depth {
            return Some(Stop::gap(path, Gap::TooDeep { max_depth: self.options.max_depth }));
        }
        match folder.enter(&entry.name) {
            Ok(inner) => self.descend(inner, path),
            Err(error) => Some(Stop::gap(path, Gap::Unreadable(error))),
        }
    }

    /// A link inside the directory needs no stop: its target is visited under its own name.
    fn visit_link(&self, folder: &OpenFolder, path: PathBuf, entry: &FolderEntry) -> Option<Stop> {
        let target = match folder.link_target(&entry.name) {
            Ok(target) => PathBuf::from(OsStr::from_bytes(target.as_bytes())),
            Err(error) => return Some(Stop::gap(path, Gap::Unreadable(error))),
        };
        let depth = self.levels.len().saturating_sub(1);
        leads_outside(&target, depth).then(|| Stop::gap(path, Gap::LinkOutside { target }))
    }
}

impl Iterator for Walk<'_> {
    type Item = Stop;

    fn next(&mut self) -> Option<Stop> {
        loop {
            let stop = match self.levels.last_mut() {
                None => {
                    let source = self.sources.next()?;
                    self.start(source)
                }
                Some(level) => match level.entries.next() {
                    None => {
                        self.levels.pop();
                        None
                    }
                    Some(entry) => {
                        let path = join(&level.path, &entry);
                        let folder = level.folder.clone();
                        self.visit(folder, path, entry)
                    }
                },
            };
            if stop.is_some() {
                return stop;
            }
        }
    }
}

impl Stop {
    fn gap(path: PathBuf, gap: Gap) -> Self {
        Self { path, what: ToRead::Gap(gap) }
    }
}

/// Joins them with one allocation; `Path::join` needs two.
fn join(folder: &Path, entry: &FolderEntry) -> PathBuf {
    let name = OsStr::from_bytes(entry.name.as_bytes());
    let mut path = PathBuf::with_capacity(folder.as_os_str().len() + 1 + name.len());
    path.push(folder);
    path.push(name);
    path
}
