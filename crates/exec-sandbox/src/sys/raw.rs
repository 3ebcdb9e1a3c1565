//! One function per system call, for those that rustix lacks or that must be safe between fork and exec.

mod files;
mod host;
mod landlock;
mod memory;
mod mounts;
mod network;
mod notices;
mod process;
mod rights;
mod signals;

use std::ffi::c_long;
use std::os::fd::{FromRawFd as _, OwnedFd, RawFd};

pub(crate) use files::*;
pub(crate) use host::*;
pub(crate) use landlock::*;
pub(crate) use memory::*;
pub(crate) use mounts::*;
pub(crate) use network::*;
pub(crate) use notices::*;
pub(crate) use process::*;
pub(crate) use rights::*;
pub(crate) use signals::*;

/// An error number of the kernel.
pub(crate) type Errno = i32;

pub(crate) type Result<T = (), E = Errno> = std::result::Result<T, E>;

fn check(result: c_long) -> Result<c_long> {
    if result >= 0 {
        return Ok(result);
    }
    // SAFETY: it returns where this thread's last error is kept, which is always readable.
    Err(unsafe { *libc::__errno_location() })
}

fn done(result: c_long) -> Result {
    check(result).map(|_| ())
}

/// Takes ownership of a descriptor that a call returned.
fn descriptor(result: c_long) -> Result<OwnedFd> {
    let number = check(result)?;
    // SAFETY: the kernel has just created this descriptor for this caller, so it has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(number as RawFd) })
}
