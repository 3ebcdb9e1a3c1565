//! Takes locks in the place of a command, and none on what it can only read: files of the machine and of the user, whose other
//! programs would wait for it.

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

/// What `flock` is asked for.
const SHARED: u32 = 1;
const EXCLUSIVE: u32 = 2;
const DO_NOT_WAIT: u32 = 4;

/// What a record of a lock begins with.
const TO_READ: i16 = 0;
const TO_WRITE: i16 = 1;

/// Where the begin of the part, and the process, stand in a record.
const START: usize = 8;
const PROCESS: usize = 24;

/// Requests of `fcntl`: a lock of the process, or of the open file description.
const SET: u32 = 6;
const SET_AND_WAIT: u32 = 7;
const SET_OF_FILE: u32 = 37;
const SET_AND_WAIT_OF_FILE: u32 = 38;

/// Takes a lock on a whole file. It belongs to what is open, so it is taken by a copy of the descriptor, and stays when that is closed.
pub(super) fn lock(names: &Names, caller: Caller<'_>, file: i32, how: u32) -> Done {
    let file = caller.taken(file)?;
    if is_others(&file) {
        return match how & (SHARED | EXCLUSIVE) {
            // Nobody inside writes there, so there is nobody to keep out.
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

/// A call that takes or gives back a lock on a part of a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct LockPart {
    pub(super) file: i32,
    pub(super) request: u32,
    /// The argument that says where the record lies.
    pub(super) record: u8,
}

/// Takes or gives back a lock on a part of a file, and none on a file of others.
///
/// A lock that belongs to what is open is taken by a copy of the descriptor. One that belongs to a process can be taken by nobody
/// else. Where the process has one thread, it goes on; where another thread could exchange the descriptor meanwhile, a lock of the
/// same kind stands for it that belongs to a file which is opened here, see [`Locks`].
pub(super) fn lock_part(names: &Names, caller: Caller<'_>, notice: &Notice, part: LockPart) -> Done {
    let file = caller.taken(part.file)?;
    let mut record = [0; 32];
    let read = raw::read_memory(caller.thread(), argument(notice, part.record), &mut record);
    if read != Ok(record.len()) {
        return Err(Errno::FAULT);
    }
    if is_others(&file) {
        return match kind_of(&record) {
            // The kernel says so of what is not open for writing.
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

/// Takes a lock, once or until it can be had.
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

/// A process, by its number and when it began, and a file.
type Whose = (u32, String, u64, u64);

/// Locks on parts of files that processes of several threads have. Each belongs to a file that is opened here for the process, so
/// all its locks on a file are those of one owner, as they would be. They are given back when the process asks for that, has the
/// file open no more, or is gone.
#[derive(Debug, Default)]
pub(super) struct Locks {
    held: Mutex<HashMap<Whose, Arc<OwnedFd>>>,
    are_any: AtomicBool,
    looked: Mutex<Option<Instant>>,
    /// Whether processes share their descriptors with others.
    are_shared: AtomicBool,
}

/// So many files of processes at once: each takes a descriptor of this program.
const MAX_HELD: usize = 256;

/// How long the lock of a process may outlast its file.
pub(super) const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

impl Locks {
    fn held(&self) -> MutexGuard<'_, HashMap<Whose, Arc<OwnedFd>>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on, the descriptors of every process count as shared.
    pub(super) fn are_shared(&self) {
        self.are_shared.store(true, Ordering::SeqCst);
    }

    /// Whether no other thread or process can exchange the descriptors of a process while its call is judged.
    fn is_alone(&self, caller: Caller<'_>) -> bool {
        !self.are_shared.load(Ordering::SeqCst) && caller.status("Threads").as_deref() == Some("1")
    }

    pub(super) fn are_any(&self) -> bool {
        self.are_any.load(Ordering::SeqCst)
    }

    /// The stand-in for a process and a file, and the lock to take with it.
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

    /// Takes it. What somebody holds who has the file open no more is given back first.
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

    /// Releases locks whose process is gone.
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

/// Opens a file once more, so that locks by it have an owner of their own; for writing too, where that may be.
fn opened_anew(file: &OwnedFd) -> Result<OwnedFd, Errno> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let ways = [OFlags::RDWR, OFlags::RDONLY].into_iter();
    let mut opened = ways.map(|way| openat(CWD, own_path(file.as_fd()), way | flags, Mode::empty()));
    opened.find(Result::is_ok).unwrap_or(Err(Errno::NOLCK))
}

/// The same record, counted from the begin of the file, if what is open may take such a lock.
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
    // Of locks that belong to what is open, the kernel wants to hear of no process.
    counted.get_mut(PROCESS..PROCESS + 4).unwrap_or_default().fill(0);
    let [_, _, w0, w1, ..] = record;
    // What a file ends with is the same for everybody who has it open.
    if i32::from(i16::from_ne_bytes([w0, w1])) == libc::SEEK_CUR {
        let start = record.get(START..).and_then(|rest| rest.first_chunk::<8>()).ok_or(Errno::INVAL)?;
        let begin = i64::try_from(seek(file, SeekFrom::Current(0))?).map_err(|_| Errno::OVERFLOW)?;
        let start = begin.checked_add(i64::from_ne_bytes(*start)).ok_or(Errno::OVERFLOW)?;
        counted.get_mut(2..4).unwrap_or_default().fill(0);
        counted.get_mut(START..START + 8).unwrap_or_default().copy_from_slice(&start.to_ne_bytes());
    }
    Ok(counted)
}

/// When a process began, as the kernel counts; nothing if it is gone.
fn began(process: u32) -> Option<String> {
    /// The twenty-second field of proc_pid_stat(5), counted from behind the name of the program, which may hold blanks.
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

/// Whether other programs may have a file open that the command can only read. Devices are shared with all.
fn is_others(file: &OwnedFd) -> bool {
    let kind = fstat(file).map(|found| FileType::from_raw_mode(found.st_mode));
    match kind {
        Ok(FileType::RegularFile | FileType::Directory) => is_read_only(file.as_fd()),
        Ok(FileType::CharacterDevice | FileType::BlockDevice) => true,
        _ => false,
    }
}
