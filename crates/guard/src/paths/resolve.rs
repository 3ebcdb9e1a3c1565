//! Where a path really leads, found by holding on to every folder on the way.

#![expect(clippy::disallowed_methods, reason = "looks at what is on the disk")]

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat, openat, readlinkat, statat};
use rustix::io::Errno;
use stockade_policy::paths::{ResolveError, ResolvedPath, Target};
use stockade_policy::{PathFacts, Workspace};

use super::hard_links::HardLinks;
use super::place::{Identity, Place};

mod kernel;

/// How paths are resolved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Resolver {
    /// By the kernel in one step where it can (`openat2`, Linux 5.6), component by component where a link is on the
    /// way or the kernel cannot. The result is the same.
    #[default]
    Kernel,
    /// Component by component, always.
    Walk,
}

/// The most links on the way of one path, as in the kernel.
const MOST_LINKS: usize = 40;

/// The most folders that are opened for one path. Links that lead up and down again can ask for very many.
const MOST_STEPS: usize = 10_000;

/// Enough to pass through a folder; reading it is not needed.
#[cfg(target_os = "linux")]
const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// What was found out about a path.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) facts: PathFacts,
    /// Nothing when it cannot be told where the path leads.
    pub(super) place: Option<Place>,
}

/// The folders that everything starts from.
#[derive(Debug)]
pub(super) struct Disk {
    root: OwnedFd,
    workspace: OwnedFd,
    cwd: PathBuf,
    real: PathBuf,
    hard_links: HardLinks,
    resolver: Resolver,
}

impl Found {
    pub(super) fn unresolvable(error: ResolveError) -> Self {
        Self { facts: PathFacts::Unresolvable(error), place: None }
    }
}

impl Disk {
    pub(super) fn new(workspace: &Workspace, folder: OwnedFd, resolver: Resolver) -> io::Result<Self> {
        let root = openat(CWD, "/", FOLDER, Mode::empty())?;
        let (cwd, real) = (workspace.cwd.clone(), workspace.real.clone());
        let hard_links = HardLinks::new(folder.try_clone()?, real.clone());
        Ok(Self { root, workspace: folder, cwd, real, hard_links, resolver })
    }

    /// Finds out where an absolute path leads, that has been resolved by text.
    pub(super) fn find(&self, located: &Path) -> Found {
        let short = match self.resolver {
            Resolver::Kernel => self.find_by_kernel(located),
            Resolver::Walk => None,
        };
        match short.map_or_else(|| Walk::new(self).run(located), Ok) {
            Ok(end) => self.found(end),
            Err(error) => Found::unresolvable(error),
        }
    }

    /// A path in the workspace without any link, which is nearly every one. Nothing when it is not that simple.
    fn find_by_kernel(&self, located: &Path) -> Option<End> {
        let inside = located.strip_prefix(&self.real).or_else(|_| located.strip_prefix(&self.cwd)).ok()?;
        let name = inside.file_name()?.to_owned();
        let folder = match inside.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            Some(folder) => kernel::open_below(&self.workspace, folder).ok()?,
            None => self.workspace.try_clone().ok()?,
        };
        let identity = match statat(&folder, &name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if kind(&stat) == FileType::Symlink => return None,
            Ok(stat) => Some(Identity(stat)),
            Err(Errno::NOENT) => None,
            Err(_) => return None,
        };
        let place = Place { folder, name, below: Vec::new(), identity };
        Some(End { real: self.real.join(inside), through: Vec::new(), place })
    }

    fn found(&self, end: End) -> Found {
        let target = match &end.place.identity {
            None => Target::Missing,
            Some(identity) => match kind(&identity.0) {
                FileType::RegularFile => Target::File(self.hard_links.other_names(identity, &end.real)),
                FileType::Directory => Target::Folder,
                _ => Target::Special,
            },
        };
        let facts = PathFacts::Resolved(ResolvedPath { real: end.real, through: end.through, target });
        Found { facts, place: Some(end.place) }
    }
}

/// Where a path ends.
struct End {
    real: PathBuf,
    through: Vec<PathBuf>,
    place: Place,
}

/// A walk from the root of the disk to the end of a path.
struct Walk<'d> {
    disk: &'d Disk,
    /// The real path so far, and its folder; no folder after a step up, which is opened again from the root when it
    /// is needed. (`..` from an open folder leads wherever somebody has moved it.)
    real: PathBuf,
    folder: Option<OwnedFd>,
    /// Names still to go, the next one last.
    ahead: Vec<OsString>,
    through: Vec<PathBuf>,
    steps: usize,
}

impl<'d> Walk<'d> {
    fn new(disk: &'d Disk) -> Self {
        Self {
            disk,
            real: "/".into(),
            folder: None,
            ahead: Vec::new(),
            through: Vec::new(),
            steps: MOST_STEPS,
        }
    }

    fn run(mut self, path: &Path) -> Result<End, ResolveError> {
        self.push_ahead(path);
        while let Some(name) = self.ahead.pop() {
            if name == ".." {
                self.real.pop();
                self.folder = None;
                continue;
            }
            match statat(self.folder()?, &name, AtFlags::SYMLINK_NOFOLLOW) {
                Err(Errno::NOENT) => return self.end_missing(name),
                Err(errno) => return Err(resolve_error(errno)),
                Ok(stat) if kind(&stat) == FileType::Symlink => self.follow(&name)?,
                Ok(stat) if self.ahead.is_empty() => return self.end(name, Some(Identity(stat)), Vec::new()),
                Ok(stat) if kind(&stat) == FileType::Directory => self.enter(&name)?,
                Ok(_) => return Err(ResolveError::NotAFolder),
            }
        }
        self.end_in_folder()
    }

    /// Puts a path before what is still ahead.
    fn push_ahead(&mut self, path: &Path) {
        if path.is_absolute() {
            self.real = "/".into();
            self.folder = None;
        }
        let names = path.components().rev().filter_map(|component| match component {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some("..".into()),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
        });
        self.ahead.extend(names);
    }

    fn enter(&mut self, name: &OsStr) -> Result<(), ResolveError> {
        let below = self.open(None, name)?;
        self.real.push(name);
        self.folder = Some(below);
        Ok(())
    }

    fn follow(&mut self, name: &OsStr) -> Result<(), ResolveError> {
        if self.through.len() == MOST_LINKS {
            return Err(ResolveError::Loop);
        }
        let target = readlinkat(self.folder()?, name, Vec::new()).map_err(resolve_error)?;
        let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
        if kernel::is_magic(self.folder()?, &target) {
            return Err(ResolveError::MagicLink);
        }
        self.through.push(self.real.join(name));
        self.push_ahead(&target);
        Ok(())
    }

    /// The folder that the walk has come to.
    fn folder(&mut self) -> Result<BorrowedFd<'_>, ResolveError> {
        if self.folder.is_none() {
            let mut folder = None;
            for component in self.real.clone().components() {
                if let Component::Normal(name) = component {
                    folder = Some(self.open(folder.as_ref(), name)?);
                }
            }
            self.folder = folder;
        }
        Ok(self.folder.as_ref().map_or(self.disk.root.as_fd(), AsFd::as_fd))
    }

    /// Opens a folder in the given one, or in the one that the walk has come to.
    fn open(&mut self, folder: Option<&OwnedFd>, name: &OsStr) -> Result<OwnedFd, ResolveError> {
        self.steps = self.steps.checked_sub(1).ok_or(ResolveError::Loop)?;
        let folder = folder.or(self.folder.as_ref()).unwrap_or(&self.disk.root);
        match openat(folder, name, FOLDER, Mode::empty()) {
            Ok(below) => Ok(below),
            // It was a folder a moment ago.
            Err(Errno::LOOP | Errno::NOTDIR | Errno::NOENT) => Err(ResolveError::Changed),
            Err(errno) => Err(resolve_error(errno)),
        }
    }

    /// The path ends in something that does not exist. What is ahead does not exist either; a step up takes a name
    /// away again.
    fn end_missing(mut self, name: OsString) -> Result<End, ResolveError> {
        let mut missing = vec![name];
        while let Some(name) = self.ahead.pop() {
            if name != ".." {
                missing.push(name);
            } else if missing.pop().is_none() {
                self.real.pop();
                self.folder = None;
            }
        }
        if missing.is_empty() {
            return self.end_in_folder();
        }
        let first = missing.remove(0);
        self.end(first, None, missing)
    }

    /// The path ends in the folder that the walk has come to.
    fn end_in_folder(mut self) -> Result<End, ResolveError> {
        let stat = statat(self.folder()?, ".", AtFlags::empty()).map_err(resolve_error)?;
        let folder = self.folder()?.try_clone_to_owned().map_err(|_| ResolveError::Unreadable)?;
        let place = Place { folder, name: ".".into(), below: Vec::new(), identity: Some(Identity(stat)) };
        Ok(End { real: self.real, through: self.through, place })
    }

    fn end(
        mut self,
        name: OsString,
        identity: Option<Identity>,
        below: Vec<OsString>,
    ) -> Result<End, ResolveError> {
        let folder = self.folder()?.try_clone_to_owned().map_err(|_| ResolveError::Unreadable)?;
        let mut real = self.real;
        real.push(&name);
        real.extend(&below);
        Ok(End { real, through: self.through, place: Place { folder, name, below, identity } })
    }
}

fn kind(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

fn resolve_error(errno: Errno) -> ResolveError {
    match errno {
        Errno::LOOP => ResolveError::Loop,
        Errno::NOTDIR => ResolveError::NotAFolder,
        Errno::INVAL | Errno::NOENT => ResolveError::Changed,
        _ => ResolveError::Unreadable,
    }
}
