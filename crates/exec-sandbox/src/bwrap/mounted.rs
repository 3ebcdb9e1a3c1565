//! Whether bubblewrap mounted what was meant. It gets paths and follows links in them, and so mounts what a path leads to at
//! that moment: between the look at a path and its mount, somebody may have laid a link there. So each file is held open
//! before, and before the command begins, what it would see is held against that.

#![expect(clippy::disallowed_methods, reason = "waits for bubblewrap, and looks at what it has mounted")]

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, fstat, open, openat2, stat};

use crate::mounts::{MountKind, Owner};
use crate::plan::Plan;

/// How long bubblewrap may take to mount everything, and how often that is looked at.
const PATIENCE: Duration = Duration::from_secs(20);
const INTERVAL: Duration = Duration::from_millis(1);

/// What is to be mounted where. As long as it is held, no other file gets the number of one of these.
pub(super) struct Meant {
    rows: Vec<(PathBuf, OwnedFd)>,
    /// Where all of it ends up: this is there when everything is.
    workspace: PathBuf,
}

impl Meant {
    /// Opens what the user has given; no link is followed. What covers something else later is what counts.
    pub(super) fn of(plan: &Plan) -> io::Result<Self> {
        let mut rows: Vec<(PathBuf, OwnedFd)> = Vec::new();
        for mount in &plan.mounts {
            rows.retain(|(target, _)| *target != mount.target);
            let MountKind::Bind { source, owner: Owner::User, .. } = &mount.kind else { continue };
            rows.push((mount.target.clone(), open_plain(CWD, source)?));
        }
        Ok(Self { rows, workspace: plan.workspace.clone() })
    }

    /// Waits until bubblewrap has mounted everything, and returns the first path under which something else lies.
    pub(super) fn missed(&self, first: i32) -> io::Result<Option<&Path>> {
        let end = Instant::now() + PATIENCE;
        let root = loop {
            match self.root(first) {
                Ok(Some(root)) => break root,
                Ok(None) if Instant::now() < end => std::thread::sleep(INTERVAL),
                Ok(None) => return Err(io::Error::other("bubblewrap does not end to mount")),
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

    /// The view of the first process, once it is the one that the command gets. Until then it is that of this program, or one
    /// in which nothing lies but what the view is made from.
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
