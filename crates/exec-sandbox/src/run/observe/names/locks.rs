//! Takes locks in the place of a command, and none on what it can only read: files of the machine and of the user, whose other
//! programs would wait for it.

use std::os::fd::{AsFd as _, OwnedFd};

use rustix::fs::{FileType, FlockOperation, flock, fstat};
use rustix::io::Errno;

use super::super::caller::{Caller, argument};
use super::open::is_read_only;
use super::target::place_of;
use super::{Done, Names, Reply, Waits};
use crate::explain::Denial;
use crate::sys::raw::{self, Notice};

/// What `flock` is asked for.
const SHARED: u32 = 1;
const EXCLUSIVE: u32 = 2;
const DO_NOT_WAIT: u32 = 4;

/// What a record of a lock begins with.
const TO_WRITE: i16 = 1;

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

/// Takes or gives back a lock on a part of a file. What it says lies in memory and may change meanwhile, so on a file of others it
/// never goes on.
pub(super) fn lock_part(caller: Caller<'_>, notice: &Notice, file: i32, record: u8) -> Done {
    let file = caller.descriptor(file)?;
    if !is_others(&file) {
        return Ok(Reply::GoesOn);
    }
    let mut kind = [0; 2];
    raw::read_memory(caller.thread(), argument(notice, record), &mut kind).map_err(|_| Errno::FAULT)?;
    match i16::from_ne_bytes(kind) {
        // The kernel says so of what is not open for writing.
        TO_WRITE => Err(Errno::BADF),
        _ => Ok(Reply::Done),
    }
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
