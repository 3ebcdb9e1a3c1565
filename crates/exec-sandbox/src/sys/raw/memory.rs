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
