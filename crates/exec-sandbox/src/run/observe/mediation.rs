//! Decides at the system call which names a command makes, and carries the call out in its place.
//!
//! A name is judged by the folder that it comes to lie in, which is open by then, and it is made in that folder. Nobody can
//! exchange a path in between, so no call is let go on that could make a name. The threads that do this see the command's own
//! view of the disk and have no more rights in it than the command. What comes to lie below a folder that was there before, and
//! is obeyed by other programs, is refused. In folders that the command made, it appears, and is looked at when the command is
//! over; what git obeys is guarded there as well.
//!
//! That a branch of the user's repository holds such a name does not let git check it out: commits and branches prove nothing, since
//! a command before this one may have made them, from plain objects and without ever making a file of that name. Git fails, the
//! branch stays the one it was, and whoever wants the other one checks it out outside of the sandbox.

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
use std::collections::HashMap;
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
use how::How;
use locks::{BETWEEN_LOOKS, LockPart, Locks};
use make::{Changed, Named};
use open::is_read_only;
use pending::Pending;
use publish::{Stopped, complete};
use rule::Rules;
use sockets::Sockets;
use target::NameInFolder;

/// How a call ends.
#[derive(Debug)]
pub(super) enum Reply {
    /// The command makes it itself, for this reason.
    GoesOn(Continued),
    /// It was carried out.
    Done,
    /// The command gets this file; whether programs that it becomes do not.
    File(OwnedFd, bool),
    /// It ends when somebody else opens the other side.
    Waits(Waits),
}

/// What cannot be done yet.
pub(super) struct Waits(Box<dyn Fn() -> Option<Done> + Send>);

impl Waits {
    /// Something that says nothing as long as it has to wait.
    fn until(again: impl Fn() -> Option<Done> + Send + 'static) -> Self {
        Self(Box::new(again))
    }

    /// Tries once more; nothing as long as it has to wait.
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

/// The most that is remembered of what was refused.
const MAX_REFUSED: usize = 8;

/// How many processes are known by the rights with which they make files.
const MAX_MASKS: usize = 256;

/// What names are decided by, for one command.
#[derive(Debug)]
pub(super) struct Names {
    rules: Rules,
    sockets: Sockets,
    pending: Pending,
    locks: Arc<Locks>,
    /// The largest file that the command may make.
    largest: u64,
    /// What moves something, or makes a repository, is judged and carried out alone.
    turns: RwLock<()>,
    masks: Mutex<HashMap<u32, u32>>,
    refused: Mutex<Vec<Denial>>,
}

impl Names {
    /// What decides for a plan; nothing where nothing is decided at the call.
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
        })
    }

    /// Judges and carries out a call, if it is one that makes names.
    pub(super) fn carry_out(&self, shown: BorrowedFd<'_>, notice: &Notice) -> Option<Result<Reply, Number>> {
        let call = name_call(Architecture::current()?, notice.number)?;
        self.settle();
        Some(self.call(notice, Caller::of(shown, notice), call).map_err(Errno::raw_os_error))
    }

    fn call(&self, notice: &Notice, caller: Caller<'_>, call: NameCall) -> Done {
        // Whoever is not seen from here cannot be looked into.
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

    /// After how long something has to be put in place that is being written, or released because its process is gone.
    pub(super) fn pause(&self) -> Option<Duration> {
        match self.pending.is_any() {
            true => Some(PAUSE),
            false => self.locks.are_any().then_some(BETWEEN_LOOKS),
        }
    }

    /// Puts in place what was written to its end.
    pub(super) fn settle(&self) {
        if self.pending.is_any() {
            pending::settle(self, false);
        }
        self.locks.settle();
    }

    /// Puts all in place that was written. The command is over.
    pub(super) fn settle_all(&self) {
        pending::settle(self, true);
    }

    /// Whether the command made a folder.
    pub(super) fn has_made(&self, folder: &FileIdentity) -> bool {
        self.rules.has_made(folder)
    }

    /// What was refused.
    pub(super) fn refused(&self) -> Vec<Denial> {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner).clone();
        refused.sort_by(|one, other| one.path().cmp(&other.path()));
        refused
    }

    /// Refuses, and remembers it. What nobody could change anyway is the kernel's to refuse.
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

    /// Remembers what was refused, once for each path.
    fn tell(&self, denial: Denial) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        if refused.len() < MAX_REFUSED && refused.iter().all(|other| other.path() != denial.path()) {
            refused.push(denial);
        }
    }

    /// Judges what makes a repository of a folder.
    fn complete(&self, place: &NameInFolder) -> Result<(), Errno> {
        match complete(&self.rules, place) {
            Ok(()) => Ok(()),
            Err(Stopped::Error(error)) => Err(error),
            Err(Stopped::Refused(why)) => self.refuse(place, why).map(|_| ()),
        }
    }

    /// Lets others make names at the same time, unless this one makes a repository.
    fn turn(&self, place: &NameInFolder) -> Turn<'_> {
        match contents::may_complete(place) {
            true => Turn::Alone(self.alone()),
            false => Turn::BesideOthers(self.turns.read().unwrap_or_else(PoisonError::into_inner)),
        }
    }

    fn alone(&self) -> RwLockWriteGuard<'_, ()> {
        self.turns.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// A process sets its umask. Those that it starts from now on have the same, so nothing that is known of others holds.
    fn remember_umask(&self, caller: Caller<'_>, mask: u32) {
        let mut masks = self.masks.lock().unwrap_or_else(PoisonError::into_inner);
        masks.clear();
        masks.insert(caller.thread(), mask & 0o777);
    }

    /// Lets this thread make files with the rights with which the caller would.
    fn umask(&self, caller: Caller<'_>) {
        thread_local!(static OWN: Cell<Option<u32>> = const { Cell::new(None) });
        let mut masks = self.masks.lock().unwrap_or_else(PoisonError::into_inner);
        // A number may be given to another process, when there were as many.
        if masks.len() > MAX_MASKS {
            masks.clear();
        }
        let mask = *masks.entry(caller.thread()).or_insert_with(|| {
            // Of whom nothing is known, what is made is for itself alone.
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

/// Keeps others from being judged meanwhile, or not.
#[expect(dead_code, reason = "held, and never looked at")]
enum Turn<'n> {
    Alone(RwLockWriteGuard<'n, ()>),
    BesideOthers(RwLockReadGuard<'n, ()>),
}
