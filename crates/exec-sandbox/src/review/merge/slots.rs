//! Slots, through which files are exchanged: one per change, in the layer, or in a directory of the workspace if the layer is on
//! another file system.

#![expect(clippy::disallowed_methods, reason = "makes the folders in which things change places")]

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};

use rustix::fs::{AtFlags, Mode, StatxFlags, fstat, mkdirat, openat, statx, unlinkat};
use rustix::io::Errno;

use crate::review::about::SLOTS;
use crate::review::at::{FOLDER, Look, Tree};
use crate::review::copy::timed;
use crate::review::crash;
use crate::review::layer::ReviewLayer;

/// The slots of a merge.
pub(super) struct Slots {
    pub(super) tree: Tree,
    /// Whether they are in the workspace, because the layer is on another file system.
    pub(super) beside: bool,
}

impl Slots {
    /// Opens the slots of an interrupted merge if `goes_on`, or creates new ones.
    pub(super) fn open(layer: &ReviewLayer, workspace: &Tree, goes_on: bool) -> io::Result<Self> {
        match mkdirat(&layer.folder, SLOTS, Mode::RWXU) {
            Err(Errno::EXIST) => {}
            made => made?,
        }
        let own = openat(&layer.folder, SLOTS, FOLDER, Mode::empty())?;
        if is_same_mount(own.as_fd(), workspace.root())? {
            return Ok(Self { tree: Tree::of(own), beside: false });
        }
        let name = layer.slots_beside();
        let before = Look::of(&fstat(workspace.root())?).modified;
        let made = match mkdirat(workspace.root(), &name, Mode::RWXU) {
            // Files that another program put there were not judged.
            Err(Errno::EXIST) if !goes_on => {
                let around = openat(workspace.root(), ".", FOLDER, Mode::empty())?;
                crate::quarantine::remove_all(&around, name.as_ref())?;
                mkdirat(workspace.root(), &name, Mode::RWXU)
            }
            made => made,
        };
        match made {
            Err(Errno::EXIST) if goes_on => {}
            made => {
                made?;
                timed((workspace.root(), ".".as_ref()), before)?;
            }
        }
        let beside = openat(workspace.root(), &name, FOLDER, Mode::empty())?;
        // A directory of another user is not trusted.
        let found = Look::of(&fstat(&beside)?);
        if found.owner.0 != rustix::process::geteuid().as_raw() || found.mode != 0o700 {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        Ok(Self { tree: Tree::of(beside), beside: true })
    }

    /// Deletes slots in the workspace.
    pub(super) fn close(&self, layer: &ReviewLayer, workspace: &Tree) -> io::Result<()> {
        if !self.beside {
            return Ok(());
        }
        let before = Look::of(&fstat(workspace.root())?).modified;
        for name in crate::quarantine::names(&openat(self.tree.root(), ".", FOLDER, Mode::empty())?)? {
            crash::point()?;
            crate::quarantine::remove_all(&openat(self.tree.root(), ".", FOLDER, Mode::empty())?, &name)?;
        }
        let beside = layer.slots_beside();
        match unlinkat(workspace.root(), &beside, AtFlags::REMOVEDIR) {
            Err(Errno::NOENT) => {}
            removed => removed?,
        }
        timed((workspace.root(), ".".as_ref()), before)
    }
}

/// Whether files can be renamed from one directory to the other.
fn is_same_mount(one: BorrowedFd<'_>, other: BorrowedFd<'_>) -> io::Result<bool> {
    let mount = |folder| -> io::Result<(u64, u64)> {
        let found = statx(folder, "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID)?;
        Ok((found.stx_mnt_id, rustix::fs::makedev(found.stx_dev_major, found.stx_dev_minor)))
    };
    Ok(mount(one)? == mount(other)?)
}
