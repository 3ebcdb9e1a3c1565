//! One system call a function, for what rustix does not offer or may not do between fork and exec.

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

/// The number of an error, as the kernel gives it.
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

/// Takes over a descriptor that a call has just made.
fn descriptor(result: c_long) -> Result<OwnedFd> {
    let number = check(result)?;
    // SAFETY: the kernel has just made this descriptor for us, and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(number as RawFd) })
}
