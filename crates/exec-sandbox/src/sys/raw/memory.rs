//! Memory of this process.

use super::done;

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

/// Overwrites memory of this process with zeros.
///
/// # Safety
///
/// The range is mapped, writable, and nothing relies on what stands in it.
pub(crate) unsafe fn wipe(start: usize, length: usize) {
    // SAFETY: the caller promises it.
    unsafe { std::ptr::write_bytes(start as *mut u8, 0, length) };
}
