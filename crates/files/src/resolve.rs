//! Where a path really leads, found by holding on to every folder on the way.

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
const MAX_LINKS: usize = 40;

/// The most folders that are opened for one path. Links that lead up and down again can ask for very many.
const MAX_STEPS: usize = 10_000;

/// Enough to pass through a folder; reading it is not needed.
#[cfg(target_os = "linux")]
const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A folder that paths are looked up from, held open.
#[derive(Debug)]
pub struct RootFolder {
    /// The folder, as it was named.
    cwd: PathBuf,
    /// The folder without links.
    real: PathBuf,
    case: NameCase,
    open: OwnedFd,
    /// The root of the disk, where absolute links lead.
    disk: OwnedFd,
    hard_links: HardLinks,
    resolver: Resolver,
}

impl RootFolder {
    /// Opens a folder, and finds out what it really is. A relative `cwd` is taken from the current folder.
    ///
    /// # Errors
    /// When it is no folder, or the system refuses.
    pub fn open(cwd: &Path, resolver: Resolver) -> io::Result<Self> {
        let cwd = std::path::absolute(cwd)?;
        let real = std::fs::canonicalize(&cwd)?;
        // Behind a link, `..` leads elsewhere than its text says; the name without it is the only one that all agree on.
        let cwd = if has_parent(&cwd) { real.clone() } else { cwd };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let open = openat(CWD, &real, flags, Mode::empty())?;
        let disk = openat(CWD, "/", FOLDER, Mode::empty())?;
        let hard_links = HardLinks::new(open.try_clone()?, real.clone());
        Ok(Self { case: case_of(&real), cwd, real, open, disk, hard_links, resolver })
    }

    /// Returns the folder as it was named: absolute, perhaps through links.
    #[must_use]
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// Returns the same folder without links.
    #[must_use]
    pub fn real(&self) -> &Path {
        &self.real
    }

    /// Returns whether its file system tells `A` from `a`.
    #[must_use]
    pub const fn case(&self) -> NameCase {
        self.case
    }

    /// Finds out where an absolute path leads, in this folder or anywhere else, as `open` of the kernel would: `..` is the
    /// folder above the one that a link before it led to, and what ends in `/` or `/.` must be a folder. Two things the
    /// kernel refuses and this goes on with, since programs tidy paths before they open them: `..` behind a name that does
    /// not exist takes that name back, and a folder that does not exist may be named with a `/` behind it.
    ///
    /// # Errors
    /// Why it cannot be told where it leads.
    pub fn find(&self, path: &Path) -> Result<FoundPath, LookupError> {
        let short = match self.resolver {
            Resolver::Kernel if !has_parent(path) && !names_a_folder(path) => self.find_by_kernel(path),
            Resolver::Kernel | Resolver::Walk => None,
        };
        Ok(self.found(short.map_or_else(|| Walk::new(self).run(path), Ok)?))
    }

    /// A path in the folder without any link, which is nearly every one. Nothing when it is not that simple.
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

/// Where a path ends.
struct End {
    real: PathBuf,
    through: Vec<PathBuf>,
    held: HeldName,
}

/// A walk from the root of the disk to the end of a path.
struct Walk<'d> {
    root: &'d RootFolder,
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
        // Another `.` behind one says nothing more.
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

    /// The folder that the walk has come to.
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

    /// Opens a folder in the given one, or in the one that the walk has come to.
    fn open(&mut self, folder: Option<&OwnedFd>, name: &OsStr) -> Result<OwnedFd, LookupError> {
        self.steps = self.steps.checked_sub(1).ok_or(LookupError::Loop)?;
        let folder = folder.or(self.folder.as_ref()).unwrap_or(&self.root.disk);
        match openat(folder, name, FOLDER, Mode::empty()) {
            Ok(below) => Ok(below),
            // It was a folder a moment ago.
            Err(Errno::LOOP | Errno::NOTDIR | Errno::NOENT) => Err(LookupError::Changed),
            Err(errno) => Err(lookup_error(errno)),
        }
    }

    /// A name does not exist, and what is ahead of it does not exist either: the path ends in these. But steps up take
    /// names away again; when they take all of them, the walk goes on from the folder that it has come to, since what is
    /// ahead then may exist, and may be a link.
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

    /// The path ends in the folder that the walk has come to.
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

/// Whether a path ends so that only a folder can be meant.
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
