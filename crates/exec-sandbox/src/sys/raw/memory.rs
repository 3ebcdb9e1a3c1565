//! Memory of this process.

use std::ffi::CStr;
use std::os::fd::AsRawFd as _;

use super::{Result, done, open_for_reading, open_for_writing, read, write};

/// Where the C library keeps the last error of this thread.
pub(in crate::sys) fn place_of_the_last_error() -> usize {
    // SAFETY: it only tells a place.
    unsafe { libc::__errno_location() as usize }
}

/// Gives memory back.
///
/// # Safety
///
/// Nothing in it may be used again.
pub(in crate::sys) unsafe fn unmap(start: usize, length: usize) {
    // SAFETY: the caller promises it.
    done(unsafe { libc::syscall(libc::SYS_munmap, start, length) }).ok();
}

/// Gives memory back that shows a file; what is used of it again is read again.
///
/// # Safety
///
/// The range shows a file, and nothing in it was changed.
pub(in crate::sys) unsafe fn give_back(start: usize, length: usize) {
    // SAFETY: the caller promises it.
    done(unsafe { libc::syscall(libc::SYS_madvise, start, length, libc::MADV_DONTNEED) }).ok();
}

/// Gives back what the heap has no use for, where the C library can do that.
pub(in crate::sys) fn trim_heap() {
    #[cfg(target_env = "gnu")]
    // SAFETY: it concerns what nobody has.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Overwrites memory of this process with zeros.
///
/// # Safety
///
/// The range is mapped, writable, and nothing relies on what stands in it.
pub(crate) unsafe fn wipe(start: usize, length: usize) {
    // SAFETY: the caller promises it.
    unsafe { std::ptr::write_bytes(start as *mut u8, 0, length) };
}

/// Bounds how many lists of watched files there are in the user namespace of this process; those outside share what is left.
pub(crate) fn bound_watchers(most: &CStr) -> Result {
    let setting = c"/proc/sys/user/max_inotify_instances";
    open_for_writing(setting).and_then(|file| write(file.as_raw_fd(), most.to_bytes()))
}

/// Has the kernel refuse every file in memory that could be run, in the namespace of processes that this process is in and in
/// all below; says whether it does. Only root may, and a kernel since 6.3 can.
pub(crate) fn memory_files_never_run() -> bool {
    let setting = c"/proc/sys/vm/memfd_noexec";
    let mut room = [0; 4];
    let written = open_for_writing(setting).and_then(|file| write(file.as_raw_fd(), b"2"));
    let length = open_for_reading(setting).and_then(|file| read(file.as_raw_fd(), &mut room));
    written.is_ok() && length == Ok(2) && room.starts_with(b"2\n")
}
