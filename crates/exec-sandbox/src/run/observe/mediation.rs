//! Mediation: decides on the names that a command creates at the system call, and performs the call in its place.
//!
//! A name is judged by its parent directory, which is opened first, and is created through that descriptor. So paths cannot be
//! exchanged between check and use, and no call that could create a name is continued. The threads resolve paths in the
//! command's mount namespace, with no more rights than the command. A protected name in a directory that existed before is
//! refused. In directories that the command created itself it is permitted, and checked when the command ends; files that git
//! obeys are protected there as well.
//!
//! A protected name in a branch of the user's repository is refused, too: an earlier command may have created the commit from
//! plain objects, without ever creating a file of that name. Git's checkout fails, the current branch stays, and the user can
//! check out the other one outside of the sandbox.

mod contents;
mod how;
mod locks;
mod make;
mod open;
mod pending;
mod publish;
mod rule;
mod sockets;
mod target;

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::PAUSE;
use super::caller::{Caller, argument, folder, short};
use super::continued::Continued;
use crate::explain::Denial;
use crate::host::FileIdentity;
use crate::plan::Plan;
use crate::seccomp::{Architecture, ChangedFile, ModeChange, NameCall, NewValue, PathArguments, name_call};
use crate::sys::raw::{Errno as Number, Notice};
use crate::workspace::new_names::treated_name;
use how::How;
use locks::{BETWEEN_LOOKS, LockPart, Locks};
use make::{Changed, Named};
use open::is_read_only;
use pending::Pending;
use publish::{Stopped, complete};
use rule::Rules;
use sockets::Sockets;
use target::NameInFolder;

/// The reply to a call.
#[derive(Debug)]
pub(super) enum Reply {
    /// The kernel continues the call, for this reason.
    GoesOn(Continued),
    /// The call was performed.
    Done,
    /// The command gets this file; the flag is close-on-exec.
    File(OwnedFd, bool),
    /// The call would block.
    Waits(Waits),
}

/// A call that would block.
pub(super) struct Waits(Box<dyn Fn() -> Option<Done> + Send>);

impl Waits {
    /// Wraps a function that returns nothing while the call would block.
    fn until(again: impl Fn() -> Option<Done> + Send + 'static) -> Self {
        Self(Box::new(again))
    }

    /// Retries; returns nothing while the call would block.
    pub(super) fn try_again(&self) -> Option<Result<Reply, Number>> {
        Some((self.0)()?.map_err(Errno::raw_os_error))
    }
}

impl std::fmt::Debug for Waits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Waits")
    }
}

type Done = Result<Reply, Errno>;

// A command can cause denials in a loop, and a user reads the first few.
/// Maximum number of recorded denials.
const MAX_REFUSED: usize = 8;

/// Maximum number of recorded files of the command. Any other counts as one of the user, which is stricter.
const MAX_OWN_NAMES: usize = 10_000;

/// Maximum number of cached umasks.
const MAX_MASKS: usize = 256;

/// The state of mediation for one command.
#[derive(Debug)]
pub(super) struct Names {
    rules: Rules,
    sockets: Sockets,
    pending: Pending,
    locks: Arc<Locks>,
    /// The file size limit: files are extended by this program, to which RLIMIT_FSIZE of the command does not apply.
    largest: u64,
    /// Locked exclusively by calls that rename, or complete a repository: their judgement depends on other names.
    turns: RwLock<()>,
    masks: Mutex<HashMap<u32, u32>>,
    refused: Mutex<Vec<Denial>>,
    /// Device and inode numbers of files that the command created or wrote, and that are treated by their name.
    own_names: Mutex<HashSet<(u64, u64)>>,
}

impl Names {
    /// Returns the mediation of a plan; nothing if calls are not decided.
    pub(super) fn of(plan: &Plan) -> Option<Self> {
        plan.decides_shared().then(|| Self {
            rules: Rules::of(plan),
            sockets: Sockets::of(plan),
            pending: Pending::default(),
            locks: Arc::default(),
            largest: plan.limits.file_size.bound().unwrap_or(u64::MAX),
            turns: RwLock::default(),
            masks: Mutex::default(),
            refused: Mutex::default(),
            own_names: Mutex::default(),
        })
    }

    /// Judges and performs a call, if it is a mediated one.
    pub(super) fn carry_out(&self, shown: BorrowedFd<'_>, notice: &Notice) -> Option<Result<Reply, Number>> {
        let call = name_call(Architecture::current()?, notice.number)?;
        self.settle();
        Some(self.call(notice, Caller::of(shown, notice), call).map_err(Errno::raw_os_error))
    }

    fn call(&self, notice: &Notice, caller: Caller<'_>, call: NameCall) -> Done {
        // A thread in an invisible PID namespace has ID 0, and its arguments cannot be read.
        if caller.thread() == 0 {
            return Err(Errno::PERM);
        }
        let named = |place: PathArguments| {
            Ok::<Named, Errno>(Named { begin: folder(notice, place), text: caller.text(place.text)? })
        };
        let mode = |number| Mode::from_raw_mode(short(notice, number) & 0o7777);
        match call {
            NameCall::Umask { mask } => {
                self.remember_umask(caller, short(notice, mask));
                Ok(Reply::GoesOn(Continued::Umask))
            }
            NameCall::Open { path, flags, mode: rights } => {
                let flags = match flags {
                    Some(flags) => OFlags::from_bits_retain(short(notice, flags)),
                    None => OFlags::CREATE | OFlags::WRONLY | OFlags::TRUNC,
                };
                let rights = if flags.intersects(OFlags::CREATE | OFlags::TMPFILE) {
                    mode(rights)
                } else {
                    Mode::empty()
                };
                let Named { begin, text } = named(path)?;
                open::open(self, caller, begin, &text, How { flags, mode: rights })
            }
            NameCall::Folder { path, mode: rights } => {
                make::folder(self, caller, &named(path)?, mode(rights))
            }
            NameCall::Node { path, mode, device } => {
                let device = u64::from(short(notice, device));
                make::node(self, caller, &named(path)?, short(notice, mode), device)
            }
            NameCall::Link { to, path } => make::link(self, caller, caller.text(to)?, &named(path)?),
            NameCall::HardLink { from, to, flags } => {
                let flags = AtFlags::from_bits_retain(flags.map_or(0, |flags| short(notice, flags)));
                make::hard_link(self, caller, &named(from)?, &named(to)?, flags)
            }
            NameCall::Move { from, to, flags } => {
                let flags = RenameFlags::from_bits_retain(flags.map_or(0, |flags| short(notice, flags)));
                make::rename(self, caller, &named(from)?, &named(to)?, flags)
            }
            NameCall::RemoveFolder { path, .. } => make::remove_folder(self, caller, &named(path)?),
            NameCall::Cut { path, length } => {
                make::cut(self, caller, &named(path)?, argument(notice, length))
            }
            NameCall::Lock { file, how } => {
                locks::lock(self, caller, short(notice, file).cast_signed(), short(notice, how))
            }
            NameCall::LockPart { file, request, record } => {
                let part = LockPart {
                    file: short(notice, file).cast_signed(),
                    request: short(notice, request),
                    record,
                };
                locks::lock_part(self, caller, notice, part)
            }
            NameCall::SharesFiles => {
                self.locks.are_shared();
                Ok(Reply::GoesOn(Continued::SharedFiles))
            }
            NameCall::Connect(at) => sockets::connect(self, caller, notice, at),
            NameCall::Bind(at) => sockets::bind(self, caller, notice, at),
            NameCall::OwnAddress(at) => sockets::own_address(self, caller, notice, at),
            NameCall::GroupOfFolder(ModeChange { file, to, flags }) => {
                let NewValue::Mode(rights) = to else { return Err(Errno::INVAL) };
                let flags = AtFlags::from_bits_retain(flags.map_or(0, |flags| short(notice, flags)));
                let follows = !flags.contains(AtFlags::SYMLINK_NOFOLLOW);
                let open = |number| Changed::Open(short(notice, number).cast_signed());
                let changed = match file {
                    ChangedFile::Open(number) => open(number),
                    ChangedFile::Here(text) => {
                        Changed::Named(named(PathArguments { folder: None, text })?, follows)
                    }
                    ChangedFile::Below(number, text) => {
                        let named = named(PathArguments { folder: Some(number), text })?;
                        let is_open = named.text.is_empty() && flags.contains(AtFlags::EMPTY_PATH);
                        if is_open { open(number) } else { Changed::Named(named, follows) }
                    }
                };
                make::hand_group_on(caller, changed, mode(rights))
            }
        }
    }

    /// Returns the interval at which pending files and locks must be checked, if there are any.
    pub(super) fn pause(&self) -> Option<Duration> {
        match self.pending.is_any() {
            true => Some(PAUSE),
            false => self.locks.are_any().then_some(BETWEEN_LOOKS),
        }
    }

    /// Publishes pending files that are complete, and releases stale locks.
    pub(super) fn settle(&self) {
        if self.pending.is_any() {
            pending::settle(self, false);
        }
        self.locks.settle();
    }

    /// Publishes all pending files, when the command has ended.
    pub(super) fn settle_all(&self) {
        pending::settle(self, true);
    }

    /// Whether the command created a directory.
    pub(super) fn has_made(&self, folder: &FileIdentity) -> bool {
        self.rules.has_made(folder)
    }

    /// Returns the denials, sorted by path.
    pub(super) fn refused(&self) -> Vec<Denial> {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner).clone();
        refused.sort_by(|one, other| one.path().cmp(&other.path()));
        refused
    }

    /// Records a file that the command created or wrote, if it is treated by its name: it stays visible and writable.
    fn wrote(&self, place: &NameInFolder) {
        let path = place.whole();
        let root = self.rules.roots.iter().find_map(|root| path.strip_prefix(&root.path).ok());
        if root.is_none_or(|path| treated_name(path).is_empty()) {
            return;
        }
        let Ok(found) = place.found() else { return };
        let mut own = self.own_names.lock().unwrap_or_else(PoisonError::into_inner);
        if own.len() < MAX_OWN_NAMES {
            own.insert((found.st_dev, found.st_ino));
        }
    }

    /// Whether the command created or wrote a file that is treated by its name. Waits for the calls that are being performed, which
    /// record their file at the end.
    pub(super) fn has_written(&self, file: &rustix::fs::Stat) -> bool {
        let _turn = self.alone();
        let own = self.own_names.lock().unwrap_or_else(PoisonError::into_inner);
        own.contains(&(file.st_dev, file.st_ino))
    }

    /// Refuses a call and records it. In a read-only directory, it returns the kernel's error instead.
    fn refuse(&self, place: &NameInFolder, why: impl Into<String>) -> Done {
        if is_read_only(place.folder.as_fd()) {
            return Err(Errno::ROFS);
        }
        self.note(place, why);
        Err(Errno::PERM)
    }

    fn note(&self, place: &NameInFolder, why: impl Into<String>) {
        self.tell(Denial::Name(place.whole(), why.into()));
    }

    /// Records a denial, once per path.
    fn tell(&self, denial: Denial) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        if refused.len() < MAX_REFUSED && refused.iter().all(|other| other.path() != denial.path()) {
            refused.push(denial);
        }
    }

    /// Judges a name that completes a repository.
    fn complete(&self, place: &NameInFolder) -> Result<(), Errno> {
        match complete(&self.rules, place) {
            Ok(()) => Ok(()),
            Err(Stopped::Error(error)) => Err(error),
            Err(Stopped::Refused(why)) => self.refuse(place, why).map(|_| ()),
        }
    }

    /// Locks for a name: shared, or exclusively if it may complete a repository.
    fn turn(&self, place: &NameInFolder) -> Turn<'_> {
        match contents::may_complete(place) {
            true => Turn::Alone(self.alone()),
            false => Turn::BesideOthers(self.turns.read().unwrap_or_else(PoisonError::into_inner)),
        }
    }

    fn alone(&self) -> RwLockWriteGuard<'_, ()> {
        self.turns.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a umask(2). Cached masks of other processes are dropped, because children inherit the new one.
    fn remember_umask(&self, caller: Caller<'_>, mask: u32) {
        let mut masks = self.masks.lock().unwrap_or_else(PoisonError::into_inner);
        masks.clear();
        masks.insert(caller.thread(), mask & 0o777);
    }

    /// Sets this thread's umask to that of the caller.
    fn umask(&self, caller: Caller<'_>) {
        thread_local!(static OWN: Cell<Option<u32>> = const { Cell::new(None) });
        let mut masks = self.masks.lock().unwrap_or_else(PoisonError::into_inner);
        // Entries are dropped before thread IDs can wrap around and be reused.
        if masks.len() > MAX_MASKS {
            masks.clear();
        }
        let mask = *masks.entry(caller.thread()).or_insert_with(|| {
            // If the mask cannot be read, files are created for their owner only.
            let mask = caller.status("Umask").and_then(|mask| u32::from_str_radix(&mask, 8).ok());
            mask.unwrap_or(0o077)
        });
        drop(masks);
        if OWN.get() != Some(mask) {
            rustix::process::umask(Mode::from_raw_mode(mask));
            OWN.set(Some(mask));
        }
    }
}

/// The lock that a call holds while it is judged and performed.
#[expect(dead_code, reason = "the guard is held and never read")]
enum Turn<'n> {
    Alone(RwLockWriteGuard<'n, ()>),
    BesideOthers(RwLockReadGuard<'n, ()>),
}
