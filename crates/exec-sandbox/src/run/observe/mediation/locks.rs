//! Takes file locks in the place of a command, except on read-only files: a lock there would block programs of the machine or
//! the user.

#![expect(clippy::disallowed_methods, reason = "opens the files of a command, and looks which it has open")]

use std::collections::HashMap;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::fs::{
    CWD, FileType, FlockOperation, Mode, OFlags, SeekFrom, fcntl_getfl, flock, fstat, openat, seek,
};
use rustix::io::Errno;

use super::super::caller::{Caller, argument};
use super::super::continued::Continued;
use super::open::is_read_only;
use super::target::{own_path, place_of};
use super::{Done, Names, Reply, Waits};
use crate::explain::Denial;
use crate::sys::raw::{self, Notice};

/// The operations of flock(2).
const SHARED: u32 = 1;
const EXCLUSIVE: u32 = 2;
const DO_NOT_WAIT: u32 = 4;

/// Types of record locks, the first field of `struct flock`.
const TO_READ: i16 = 0;
const TO_WRITE: i16 = 1;

/// Offsets of `l_start` and `l_pid` in `struct flock`.
const START: usize = 8;
const PROCESS: usize = 24;

/// Requests of fcntl(2): locks of the process, and of the open file description (OFD).
const SET: u32 = 6;
const SET_AND_WAIT: u32 = 7;
const SET_OF_FILE: u32 = 37;
const SET_AND_WAIT_OF_FILE: u32 = 38;

/// Takes a flock(2) lock. It belongs to the open file description, so it is taken through a duplicate of the descriptor, and
/// persists when the duplicate is closed.
pub(super) fn lock(names: &Names, caller: Caller<'_>, file: i32, how: u32) -> Done {
    let file = caller.taken(file)?;
    if is_others(&file) {
        return match how & (SHARED | EXCLUSIVE) {
            // A shared lock excludes writers. The sandbox has none, so the lock can be skipped.
            SHARED => Ok(Reply::Done),
            _ => refuse(names, &file),
        };
    }
    let wanted = match how & !DO_NOT_WAIT {
        SHARED => FlockOperation::NonBlockingLockShared,
        EXCLUSIVE => FlockOperation::NonBlockingLockExclusive,
        _ => return Err(Errno::INVAL),
    };
    match flock(&file, wanted) {
        Err(Errno::WOULDBLOCK) if how & DO_NOT_WAIT == 0 => {
            Ok(Reply::Waits(Waits::until(move || match flock(&file, wanted) {
                Err(Errno::WOULDBLOCK) => None,
                ended => Some(ended.map(|()| Reply::Done)),
            })))
        }
        ended => ended.map(|()| Reply::Done),
    }
}

/// A call that takes or releases a record lock.
#[derive(Debug, Clone, Copy)]
pub(super) struct LockPart {
    pub(super) file: i32,
    pub(super) request: u32,
    /// The index of the argument with the address of `struct flock`.
    pub(super) record: u8,
}

/// Takes or releases a record lock, except on a read-only file.
///
/// An OFD lock is taken through a duplicate of the descriptor. A process lock can only be taken by the process itself. In a
/// single-threaded process, the call continues. Otherwise another thread could exchange the descriptor meanwhile, so the lock is
/// replaced by an OFD lock on a file that is opened here, see [`Locks`].
pub(super) fn lock_part(names: &Names, caller: Caller<'_>, notice: &Notice, part: LockPart) -> Done {
    let file = caller.taken(part.file)?;
    let mut record = [0; 32];
    let read = raw::read_memory(caller.thread(), argument(notice, part.record), &mut record);
    if read != Ok(record.len()) {
        return Err(Errno::FAULT);
    }
    if is_others(&file) {
        return match kind_of(&record) {
            // The kernel's error for a write lock on a descriptor that is not writable.
            TO_WRITE => Err(Errno::BADF),
            _ => Ok(Reply::Done),
        };
    }
    match part.request {
        SET | SET_AND_WAIT if names.locks.is_alone(caller) => Ok(Reply::GoesOn(Continued::LockOfOneThread)),
        SET | SET_AND_WAIT => {
            let (by, record) = names.locks.stand_in(caller, &file, record)?;
            let locks = Arc::clone(&names.locks);
            taken_part(part.request == SET_AND_WAIT, move || locks.take(&by, record))
        }
        request => taken_part(request == SET_AND_WAIT_OF_FILE, move || {
            raw::lock_part(file.as_fd(), SET_OF_FILE, &mut record.clone()).map_err(Errno::from_raw_os_error)
        }),
    }
}

/// Takes a lock, or waits until it is available.
fn taken_part(waits: bool, take: impl Fn() -> Result<(), Errno> + Send + 'static) -> Done {
    match take() {
        Err(Errno::AGAIN | Errno::ACCESS) if waits => Ok(Reply::Waits(Waits::until(move || match take() {
            Err(Errno::AGAIN | Errno::ACCESS) => None,
            ended => Some(ended.map(|()| Reply::Done)),
        }))),
        ended => ended.map(|()| Reply::Done),
    }
}

fn kind_of(record: &[u8; 32]) -> i16 {
    let [a, b, ..] = record;
    i16::from_ne_bytes([*a, *b])
}

/// The owner of a lock: process ID, start time, device and inode number.
type Whose = (u32, String, u64, u64);

/// Record locks of multi-threaded processes. For each process and file, one file is opened here, so that all its locks have one
/// owner, as process locks do. They are released on request, when the process has closed the file, or when it has ended.
#[derive(Debug, Default)]
pub(super) struct Locks {
    held: Mutex<HashMap<Whose, Arc<OwnedFd>>>,
    are_any: AtomicBool,
    looked: Mutex<Option<Instant>>,
    /// Whether a process has shared its descriptor table with another (CLONE_FILES).
    are_shared: AtomicBool,
}

/// Maximum number of files, because each uses a descriptor of this program.
const MAX_HELD: usize = 256;

/// How long a lock may persist after its file was closed.
pub(super) const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

impl Locks {
    fn held(&self) -> MutexGuard<'_, HashMap<Whose, Arc<OwnedFd>>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Treats the descriptors of every process as shared from now on.
    pub(super) fn are_shared(&self) {
        self.are_shared.store(true, Ordering::SeqCst);
    }

    /// Whether no other thread or process can exchange a descriptor of the caller while its call is judged.
    fn is_alone(&self, caller: Caller<'_>) -> bool {
        !self.are_shared.load(Ordering::SeqCst) && caller.status("Threads").as_deref() == Some("1")
    }

    pub(super) fn are_any(&self) -> bool {
        self.are_any.load(Ordering::SeqCst)
    }

    /// Returns the file that owns the locks of a process, and the lock to take through it.
    fn stand_in(
        &self,
        caller: Caller<'_>,
        file: &OwnedFd,
        record: [u8; 32],
    ) -> Result<(Arc<OwnedFd>, [u8; 32]), Errno> {
        let record = from_the_begin(file, record)?;
        let found = fstat(file)?;
        let process = caller.status("Tgid").and_then(|text| text.parse().ok()).ok_or(Errno::SRCH)?;
        let whose = (process, began(process).ok_or(Errno::SRCH)?, found.st_dev, found.st_ino);
        let mut held = self.held();
        if let Some(known) = held.get(&whose) {
            return Ok((Arc::clone(known), record));
        }
        if held.len() >= MAX_HELD {
            held.retain(|whose, _| is_open(whose));
        }
        if held.len() >= MAX_HELD {
            return Err(Errno::NOLCK);
        }
        let by = Arc::new(opened_anew(file)?);
        held.insert(whose, Arc::clone(&by));
        self.are_any.store(true, Ordering::SeqCst);
        Ok((by, record))
    }

    /// Takes a lock. On a conflict, stale locks are released first.
    fn take(&self, by: &OwnedFd, record: [u8; 32]) -> Result<(), Errno> {
        let take =
            || raw::lock_part(by.as_fd(), SET_OF_FILE, &mut record.clone()).map_err(Errno::from_raw_os_error);
        match take() {
            Err(Errno::AGAIN | Errno::ACCESS) => {
                self.held().retain(|whose, _| is_open(whose));
                take()
            }
            taken => taken,
        }
    }

    /// Releases stale locks.
    pub(super) fn settle(&self) {
        if !self.are_any() {
            return;
        }
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        if looked.is_some_and(|looked| looked.elapsed() < BETWEEN_LOOKS) {
            return;
        }
        *looked = Some(Instant::now());
        let mut held = self.held();
        held.retain(|whose, _| is_open(whose));
        self.are_any.store(!held.is_empty(), Ordering::SeqCst);
    }
}

/// Reopens a file, so that its locks have an owner of their own; writable if permitted.
fn opened_anew(file: &OwnedFd) -> Result<OwnedFd, Errno> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let ways = [OFlags::RDWR, OFlags::RDONLY].into_iter();
    let mut opened = ways.map(|way| openat(CWD, own_path(file.as_fd()), way | flags, Mode::empty()));
    opened.find(Result::is_ok).unwrap_or(Err(Errno::NOLCK))
}

/// Returns the record with an absolute offset, if the descriptor's access mode permits the lock.
fn from_the_begin(file: &OwnedFd, record: [u8; 32]) -> Result<[u8; 32], Errno> {
    let way = fcntl_getfl(file)? & OFlags::RWMODE;
    let is_allowed = match kind_of(&record) {
        TO_READ => way != OFlags::WRONLY,
        TO_WRITE => way != OFlags::RDONLY,
        _ => true,
    };
    if !is_allowed || fcntl_getfl(file)?.contains(OFlags::PATH) {
        return Err(Errno::BADF);
    }
    let mut counted = record;
    // The kernel requires l_pid to be 0 for OFD locks.
    counted.get_mut(PROCESS..PROCESS + 4).unwrap_or_default().fill(0);
    let [_, _, w0, w1, ..] = record;
    // SEEK_END is the same for both files, but SEEK_CUR refers to the position of the caller's descriptor.
    if i32::from(i16::from_ne_bytes([w0, w1])) == libc::SEEK_CUR {
        let start = record.get(START..).and_then(|rest| rest.first_chunk::<8>()).ok_or(Errno::INVAL)?;
        let begin = i64::try_from(seek(file, SeekFrom::Current(0))?).map_err(|_| Errno::OVERFLOW)?;
        let start = begin.checked_add(i64::from_ne_bytes(*start)).ok_or(Errno::OVERFLOW)?;
        counted.get_mut(2..4).unwrap_or_default().fill(0);
        counted.get_mut(START..START + 8).unwrap_or_default().copy_from_slice(&start.to_ne_bytes());
    }
    Ok(counted)
}

/// Returns the start time of a process in clock ticks; nothing if it has ended.
fn began(process: u32) -> Option<String> {
    /// The 22nd field of proc_pid_stat(5), counted after the program's name, which may contain spaces.
    const BEGAN: usize = 19;
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    let state = fields.next()?;
    (!matches!(state, "Z" | "X")).then(|| fields.nth(BEGAN - 1).map(str::to_owned)).flatten()
}

/// Whether a process still has a file open.
fn is_open((process, when, device, number): &Whose) -> bool {
    if began(*process).as_ref() != Some(when) {
        return false;
    }
    let Ok(open) = std::fs::read_dir(format!("/proc/{process}/fd")) else { return false };
    open.flatten().any(|entry| {
        let found = rustix::fs::stat(entry.path());
        found.is_ok_and(|found| (found.st_dev, found.st_ino) == (*device, *number))
    })
}

fn refuse(names: &Names, file: &OwnedFd) -> Done {
    if let Ok(path) = place_of(file.as_fd()) {
        names.tell(Denial::Lock(path));
    }
    Err(Errno::NOLCK)
}

/// Whether a lock could block other programs: the file is read-only for the command, or a device.
fn is_others(file: &OwnedFd) -> bool {
    let kind = fstat(file).map(|found| FileType::from_raw_mode(found.st_mode));
    match kind {
        Ok(FileType::RegularFile | FileType::Directory) => is_read_only(file.as_fd()),
        Ok(FileType::CharacterDevice | FileType::BlockDevice) => true,
        _ => false,
    }
}
