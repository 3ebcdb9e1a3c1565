//! The metadata of a layer: its command, its workspace, the kind of overlay, and the process of the sandbox.

#![expect(clippy::disallowed_methods, reason = "reads and writes the files of a layer")]

use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags, flock, fstat, openat, statat};

use super::at::{Identity, Look, Tree};
use super::record::{Rows, bytes_of, identity_of, identity_text, number_of, path_of, read, text_of};

/// The directory of a layer with replaced and deleted files.
pub(super) const SLOTS: &str = "slots";

/// The journal of a merge in progress.
pub(super) const JOURNAL: &str = "journal";

/// How an overlay is created.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReviewView {
    /// A mount of overlayfs.
    Overlay,
    /// The command works on a copy of the workspace.
    Copy,
}

impl ReviewView {
    /// Its stable name, for machines.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Overlay => "overlay",
            Self::Copy => "copy",
        }
    }

    /// Returns the directory of a layer that the command writes to.
    pub(super) const fn folder(self) -> &'static str {
        match self {
            Self::Overlay => "view/upper",
            Self::Copy => "copy",
        }
    }
}

/// The metadata of a layer, written when it is created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct About {
    pub(super) workspace: PathBuf,
    pub(super) workspace_identity: Identity,
    pub(super) command: String,
    pub(super) view: ReviewView,
}

const ABOUT: &str = "about";
const ABOUT_FIELDS: usize = 4;

impl About {
    pub(super) fn save(&self, layer: &OwnedFd) -> io::Result<()> {
        let mut rows = Rows::default();
        let identity = identity_text(Some(self.workspace_identity));
        rows.row([
            bytes_of(&self.workspace),
            identity.as_bytes(),
            self.command.as_bytes(),
            self.view.name().as_bytes(),
        ]);
        rows.write(layer, ABOUT)
    }

    pub(super) fn load(layer: &OwnedFd) -> io::Result<Option<Self>> {
        let bad = || io::Error::from(io::ErrorKind::InvalidData);
        let Some(rows) = read(layer, ABOUT, ABOUT_FIELDS)? else { return Ok(None) };
        let Some([workspace, identity, command, view]) = rows.first().map(Vec::as_slice) else {
            return Err(bad());
        };
        let views = [ReviewView::Overlay, ReviewView::Copy];
        let view = views.into_iter().find(|known| known.name().as_bytes() == view).ok_or_else(bad)?;
        Ok(Some(Self {
            workspace: path_of(workspace),
            workspace_identity: identity_of(identity).ok_or_else(bad)?,
            command: text_of(command),
            view,
        }))
    }
}

const LOCK: &str = "lock";

/// Opens the lock file of a directory.
pub(super) fn open_lock(folder: &OwnedFd) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(folder, LOCK, flags, Mode::RUSR | Mode::WUSR)?.into())
}

/// Whether an open file is still the lock file of a directory.
pub(super) fn is_lock_of(folder: &OwnedFd, lock: &File) -> bool {
    let (there, own) = (statat(folder, LOCK, AtFlags::SYMLINK_NOFOLLOW), fstat(lock));
    there.is_ok_and(|there| own.is_ok_and(|own| (there.st_dev, there.st_ino) == (own.st_dev, own.st_ino)))
}

/// Whether the lock of a directory is held.
pub(super) fn is_locked(folder: &OwnedFd) -> bool {
    existing_lock(folder).is_some_and(|lock| flock(&lock, FlockOperation::NonBlockingLockShared).is_err())
}

/// Opens the lock file of a directory, if it has one.
pub(super) fn existing_lock(folder: &OwnedFd) -> Option<OwnedFd> {
    openat(folder, LOCK, OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty()).ok()
}

/// Returns the creation time that an identifier encodes.
pub(super) fn made(id: &str) -> Option<SystemTime> {
    let nanoseconds = u64::from_str_radix(id, 36).ok()?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_nanos(nanoseconds))
}

/// Returns the identity of the directory at a path.
pub(super) fn identity_at(path: &Path) -> io::Result<Identity> {
    let tree = Tree::open(path)?;
    Ok(Look::of(&fstat(tree.root().as_fd())?).identity)
}

/// Records the process of a sandbox with its start time, because a process ID may be reused.
pub(super) fn note_process(layer: &OwnedFd, process: i32) -> io::Result<()> {
    let mut rows = Rows::default();
    let since = began(process).unwrap_or_default();
    rows.row([process.to_string().as_bytes(), since.to_string().as_bytes()]);
    rows.write(layer, PROCESS)
}

/// Whether the recorded process of the sandbox, with whose end all others end, still runs.
pub(super) fn still_runs(layer: &OwnedFd) -> bool {
    let row = read(layer, PROCESS, 2).ok().flatten().and_then(|rows| rows.into_iter().next());
    let Some([process, since]) = row.as_deref() else { return false };
    match (number_of::<i32>(process), number_of::<u64>(since)) {
        (Ok(process), Ok(since)) => began(process) == Some(since),
        _ => false,
    }
}

const PROCESS: &str = "process";

/// Returns the start time of a process in clock ticks.
fn began(process: i32) -> Option<u64> {
    let text = std::fs::read(format!("/proc/{process}/stat")).ok()?;
    let end = text.iter().rposition(|byte| *byte == b')')?;
    let rest = String::from_utf8_lossy(text.get(end + 1..)?).into_owned();
    let mut fields = rest.split_ascii_whitespace();
    // A zombie counts as ended: PID 1 of a namespace only becomes one after all others have ended.
    let is_dead = matches!(fields.next()?, "Z" | "X");
    // The 22nd field of proc_pid_stat(5); the first two precede the bracket.
    fields.nth(18).filter(|_| !is_dead)?.parse().ok()
}
