//! Resolves paths while holding every directory on the way open.

#![expect(clippy::disallowed_methods, reason = "looks at what is on the disk, and holds it open")]

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat, openat, readlinkat, statat};
use rustix::io::Errno;

use crate::found_path::{FoundPath, FoundTarget, LookupError};
use crate::hard_links::HardLinks;
use crate::held_name::{HeldName, Identity};
use crate::name_case::{NameCase, case_of};
use crate::real_path::real_path;

mod kernel;

/// How paths are resolved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Resolver {
    /// By the kernel in one step if possible (`openat2`, Linux 5.6), component by component if the path has a link or
    /// the kernel does not support it. The results are the same.
    #[default]
    Kernel,
    /// Always component by component.
    Walk,
}

/// Maximum number of links in one path, as in the kernel.
const MAX_LINKS: usize = 40;

/// Maximum number of directories opened for one path. Links that lead up and down again could require very many.
const MAX_STEPS: usize = 10_000;

/// Enough to traverse a directory; reading it is not needed.
#[cfg(target_os = "linux")]
const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// An open directory against which paths are resolved.
#[derive(Debug)]
pub struct RootFolder {
    /// The directory as named by the caller.
    cwd: PathBuf,
    /// The directory without links.
    real: PathBuf,
    case: NameCase,
    open: OwnedFd,
    /// The root directory, for absolute links.
    disk: OwnedFd,
    hard_links: HardLinks,
    resolver: Resolver,
}

impl RootFolder {
    /// Opens a directory and resolves it. A relative `cwd` is relative to the current directory.
    ///
    /// # Errors
    /// When it is not a directory, or a system call fails.
    pub fn open(cwd: &Path, resolver: Resolver) -> io::Result<Self> {
        let cwd = std::path::absolute(cwd)?;
        let real = real_path(&cwd)?;
        // Behind a link, `..` does not lead where its text suggests; only the resolved path is unambiguous.
        let cwd = if has_parent(&cwd) { real.clone() } else { cwd };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let open = openat(CWD, &real, flags, Mode::empty())?;
        let disk = openat(CWD, "/", FOLDER, Mode::empty())?;
        let hard_links = HardLinks::new(open.try_clone()?, real.clone());
        Ok(Self { case: case_of(&real), cwd, real, open, disk, hard_links, resolver })
    }

    /// Returns the directory as named: absolute, possibly through links.
    #[must_use]
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// Returns the directory without links.
    #[must_use]
    pub fn real(&self) -> &Path {
        &self.real
    }

    /// Returns the case sensitivity of its file system.
    #[must_use]
    pub const fn case(&self) -> NameCase {
        self.case
    }

    /// Resolves an absolute path, inside or outside of this directory, as the kernel's `open` would: `..` is the
    /// parent of a link's target, and a path that ends in `/` or `/.` must be a directory. Two cases that the kernel
    /// rejects are accepted, since programs normalise paths before they open them: `..` behind a missing name removes
    /// that name, and a missing directory may end in `/`.
    ///
    /// # Errors
    /// When the path cannot be resolved.
    pub fn find(&self, path: &Path) -> Result<FoundPath, LookupError> {
        let short = match self.resolver {
            Resolver::Kernel if !has_parent(path) && !names_a_folder(path) => self.find_by_kernel(path),
            Resolver::Kernel | Resolver::Walk => None,
        };
        Ok(self.found(short.map_or_else(|| Walk::new(self).run(path), Ok)?))
    }

    /// Resolves a path without links below the directory, the usual case. `None` if it is not that simple.
    fn find_by_kernel(&self, located: &Path) -> Option<End> {
        let inside = located.strip_prefix(&self.real).or_else(|_| located.strip_prefix(&self.cwd)).ok()?;
        let name = inside.file_name()?.to_owned();
        let folder = match inside.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            Some(folder) => kernel::open_below(&self.open, folder).ok()?,
            None => self.open.try_clone().ok()?,
        };
        let identity = match statat(&folder, &name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if kind(&stat) == FileType::Symlink => return None,
            Ok(stat) => Some(Identity { stat }),
            Err(Errno::NOENT) => None,
            Err(_) => return None,
        };
        let held = HeldName { folder, name, below: Vec::new(), identity };
        Some(End { real: self.real.join(inside), through: Vec::new(), held })
    }

    fn found(&self, End { real, through, held }: End) -> FoundPath {
        let target = match &held.identity {
            None => FoundTarget::Missing,
            Some(identity) => match identity.kind() {
                FileType::RegularFile => FoundTarget::File(self.hard_links.other_names(identity, &real)),
                FileType::Directory => FoundTarget::Folder,
                _ => FoundTarget::Special,
            },
        };
        FoundPath { real, through, target, held }
    }
}

/// The end of a resolved path.
struct End {
    real: PathBuf,
    through: Vec<PathBuf>,
    held: HeldName,
}

/// A walk from the root directory to the end of a path.
struct Walk<'d> {
    root: &'d RootFolder,
    /// The real path so far and its directory. After a step up there is no open directory; it is reopened from the
    /// root when needed, because `..` of an open directory follows it wherever it was moved.
    real: PathBuf,
    folder: Option<OwnedFd>,
    /// Remaining components, the next one last.
    ahead: Vec<OsString>,
    through: Vec<PathBuf>,
    steps: usize,
}

impl<'d> Walk<'d> {
    fn new(root: &'d RootFolder) -> Self {
        Self {
            root,
            real: "/".into(),
            folder: None,
            ahead: Vec::new(),
            through: Vec::new(),
            steps: MAX_STEPS,
        }
    }

    fn run(mut self, path: &Path) -> Result<End, LookupError> {
        self.push_ahead(path);
        while let Some(name) = self.ahead.pop() {
            if name == ".." {
                self.real.pop();
                self.folder = None;
                continue;
            }
            if name == "." {
                continue;
            }
            let is_last =
                matches!(self.ahead.as_slice(), [] | [_]) && self.ahead.iter().all(|name| name == ".");
            match statat(self.folder()?, &name, AtFlags::SYMLINK_NOFOLLOW) {
                Err(Errno::NOENT) => match self.end_missing(name) {
                    Some((first, below)) => return self.end(first, None, below),
                    None => continue,
                },
                Err(errno) => return Err(lookup_error(errno)),
                Ok(stat) if kind(&stat) == FileType::Symlink => self.follow(&name)?,
                Ok(stat) if is_last && (self.ahead.is_empty() || kind(&stat) == FileType::Directory) => {
                    return self.end(name, Some(Identity { stat }), Vec::new());
                }
                Ok(stat) if kind(&stat) == FileType::Directory => self.enter(&name)?,
                Ok(_) => return Err(LookupError::NotAFolder),
            }
        }
        self.end_in_folder()
    }

    /// Puts the components of a path before the remaining ones.
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
        // A second `.` adds nothing.
        if names_a_folder(path) && self.ahead.last().is_none_or(|next| next != ".") {
            self.ahead.push(".".into());
        }
        self.ahead.extend(names);
    }

    fn enter(&mut self, name: &OsStr) -> Result<(), LookupError> {
        let below = self.open(None, name)?;
        self.real.push(name);
        self.folder = Some(below);
        Ok(())
    }

    fn follow(&mut self, name: &OsStr) -> Result<(), LookupError> {
        if self.through.len() == MAX_LINKS {
            return Err(LookupError::Loop);
        }
        let target = readlinkat(self.folder()?, name, Vec::new()).map_err(lookup_error)?;
        let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
        if kernel::is_magic(self.folder()?, &target) {
            return Err(LookupError::MagicLink);
        }
        self.through.push(self.real.join(name));
        self.push_ahead(&target);
        Ok(())
    }

    /// Returns the current directory of the walk.
    fn folder(&mut self) -> Result<BorrowedFd<'_>, LookupError> {
        if self.folder.is_none() {
            let mut folder = None;
            for component in self.real.clone().components() {
                if let Component::Normal(name) = component {
                    folder = Some(self.open(folder.as_ref(), name)?);
                }
            }
            self.folder = folder;
        }
        Ok(self.folder.as_ref().map_or(self.root.disk.as_fd(), AsFd::as_fd))
    }

    /// Opens a directory below the given one, or below the current one.
    fn open(&mut self, folder: Option<&OwnedFd>, name: &OsStr) -> Result<OwnedFd, LookupError> {
        self.steps = self.steps.checked_sub(1).ok_or(LookupError::Loop)?;
        let folder = folder.or(self.folder.as_ref()).unwrap_or(&self.root.disk);
        match openat(folder, name, FOLDER, Mode::empty()) {
            Ok(below) => Ok(below),
            // It was a directory a moment ago.
            Err(Errno::LOOP | Errno::NOTDIR | Errno::NOENT) => Err(LookupError::Changed),
            Err(errno) => Err(lookup_error(errno)),
        }
    }

    /// Handles a missing name: the remaining components do not exist either, so the path ends in them. But each `..`
    /// removes a name; if all are removed, the walk continues from the current directory, since the rest may exist,
    /// and may contain a link.
    fn end_missing(&mut self, name: OsString) -> Option<(OsString, Vec<OsString>)> {
        let mut below: Vec<OsString> = Vec::new();
        while let Some(next) = self.ahead.pop() {
            match next.to_str() {
                Some(".") => {}
                Some("..") if below.is_empty() => return None,
                Some("..") => drop(below.pop()),
                _ => below.push(next),
            }
        }
        Some((name, below))
    }

    /// The path ends in the current directory.
    fn end_in_folder(mut self) -> Result<End, LookupError> {
        let stat = statat(self.folder()?, ".", AtFlags::empty()).map_err(lookup_error)?;
        let folder = self.folder()?.try_clone_to_owned().map_err(|_| LookupError::Unreadable)?;
        let held =
            HeldName { folder, name: ".".into(), below: Vec::new(), identity: Some(Identity { stat }) };
        Ok(End { real: self.real, through: self.through, held })
    }

    fn end(
        mut self,
        name: OsString,
        identity: Option<Identity>,
        below: Vec<OsString>,
    ) -> Result<End, LookupError> {
        let folder = self.folder()?.try_clone_to_owned().map_err(|_| LookupError::Unreadable)?;
        let mut real = self.real;
        real.push(&name);
        real.extend(&below);
        Ok(End { real, through: self.through, held: HeldName { folder, name, below, identity } })
    }
}

fn has_parent(path: &Path) -> bool {
    path.components().any(|component| component == Component::ParentDir)
}

/// Whether the path's ending requires a directory.
fn names_a_folder(path: &Path) -> bool {
    let bytes = path.as_os_str().as_encoded_bytes();
    bytes.ends_with(b"/") || bytes.ends_with(b"/.") || bytes == b"."
}

fn kind(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

fn lookup_error(errno: Errno) -> LookupError {
    match errno {
        Errno::LOOP => LookupError::Loop,
        Errno::NOTDIR => LookupError::NotAFolder,
        Errno::INVAL | Errno::NOENT => LookupError::Changed,
        _ => LookupError::Unreadable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workspace_behind_a_link_is_seen_through() {
        let base = tempfile::tempdir().unwrap();
        let (real, link) = (base.path().join("real"), base.path().join("link"));
        std::fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let workspace = RootFolder::open(&link, Resolver::Kernel).unwrap();
        assert_eq!(workspace.cwd(), link);
        assert_eq!(workspace.real(), real.canonicalize().unwrap());
    }
}
