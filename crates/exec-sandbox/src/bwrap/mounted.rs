//! Checks that bubblewrap mounted the planned files. It follows symlinks in its path arguments, and an attacker may have replaced
//! a path by a symlink between planning and mounting. So each file is opened before, and compared with the mounted one before the
//! command starts.

#![expect(clippy::disallowed_methods, reason = "waits for bubblewrap, and looks at what it has mounted")]

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, fstat, open, openat2, stat};

use crate::mounts::{MountKind, Owner};
use crate::plan::Plan;

/// Timeout for bubblewrap's mounts, and the polling interval.
const PATIENCE: Duration = Duration::from_secs(20);
const INTERVAL: Duration = Duration::from_millis(1);

/// The planned mounts. The open descriptors prevent the reuse of inode numbers.
pub(super) struct Meant {
    rows: Vec<(PathBuf, OwnedFd)>,
    /// The workspace, which exists when all mounts are complete.
    workspace: PathBuf,
}

impl Meant {
    /// Opens the user's files without following symlinks. A later mount on the same path replaces an earlier one.
    pub(super) fn of(plan: &Plan) -> io::Result<Self> {
        let mut rows: Vec<(PathBuf, OwnedFd)> = Vec::new();
        for mount in &plan.mounts {
            rows.retain(|(target, _)| *target != mount.target);
            let MountKind::Bind { source, owner: Owner::User, .. } = &mount.kind else { continue };
            rows.push((mount.target.clone(), open_plain(CWD, source)?));
        }
        Ok(Self { rows, workspace: plan.workspace.clone() })
    }

    /// Waits until bubblewrap has mounted everything, and returns the first path with another file.
    pub(super) fn missed(&self, first: i32) -> io::Result<Option<&Path>> {
        let end = Instant::now() + PATIENCE;
        let root = loop {
            match self.root(first) {
                Ok(Some(root)) => break root,
                Ok(None) if Instant::now() < end => std::thread::sleep(INTERVAL),
                Ok(None) => return Err(io::Error::other("timeout while bubblewrap mounts")),
                Err(error) => return Err(error),
            }
        };
        let is_there = |target: &Path, meant: &OwnedFd| -> io::Result<bool> {
            let (found, meant) = (fstat(open_plain(&root, below(target))?)?, fstat(meant)?);
            Ok((found.st_dev, found.st_ino) == (meant.st_dev, meant.st_ino))
        };
        let mut rows = self.rows.iter();
        let missed = rows.find(|(target, meant)| !is_there(target, meant).unwrap_or(false));
        Ok(missed.map(|(target, _)| target.as_path()))
    }

    /// Opens the root of the first process, once it is the command's. Before, it is the root of this program, or bubblewrap's
    /// temporary one.
    fn root(&self, first: i32) -> io::Result<Option<OwnedFd>> {
        let root = open(
            format!("/proc/{first}/root"),
            OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
            Mode::empty(),
        )?;
        let (own, found) = (stat("/")?, fstat(&root)?);
        let is_own = (own.st_dev, own.st_ino) == (found.st_dev, found.st_ino);
        let is_made = !is_own && open_plain(&root, below(&self.workspace)).is_ok();
        Ok(is_made.then_some(root))
    }
}

fn below(path: &Path) -> &Path {
    path.strip_prefix("/").unwrap_or(path)
}

fn open_plain(folder: impl std::os::fd::AsFd, path: &Path) -> io::Result<OwnedFd> {
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    Ok(openat2(folder, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), resolve)?)
}
