//! Memory of this process.

use std::ffi::CStr;
use std::os::fd::AsRawFd as _;

use super::{Result, done, open_for_reading, open_for_writing, read, write};

/// Returns the address of this thread's errno.
pub(in crate::sys) fn place_of_the_last_error() -> usize {
    // SAFETY: it only tells a place.
    unsafe { libc::__errno_location() as usize }
}

/// Unmaps memory.
///
/// # Safety
///
/// Nothing in it may be used again.
pub(in crate::sys) unsafe fn unmap(start: usize, length: usize) {
    // SAFETY: the caller promises it.
    done(unsafe { libc::syscall(libc::SYS_munmap, start, length) }).ok();
}

/// Drops pages of a file mapping; they are read again on the next access.
///
/// # Safety
///
/// The range maps a file, and has no changed pages.
pub(in crate::sys) unsafe fn give_back(start: usize, length: usize) {
    // SAFETY: the caller promises it.
    done(unsafe { libc::syscall(libc::SYS_madvise, start, length, libc::MADV_DONTNEED) }).ok();
}

/// Returns unused heap memory to the kernel, where the C library supports that.
pub(in crate::sys) fn trim_heap() {
    #[cfg(target_env = "gnu")]
    // SAFETY: it only affects free memory of the heap.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Overwrites memory of this process with zeros.
///
/// # Safety
///
/// The range is mapped and writable, and its content is not used any more.
pub(crate) unsafe fn wipe(start: usize, length: usize) {
    // SAFETY: the caller promises it.
    unsafe { std::ptr::write_bytes(start as *mut u8, 0, length) };
}

/// Limits the inotify instances in the user namespace of this process. They also count towards the user's limit outside, so
/// without this a command could use up all instances of its user.
pub(crate) fn bound_watchers(most: &CStr) -> Result {
    let setting = c"/proc/sys/user/max_inotify_instances";
    open_for_writing(setting).and_then(|file| write(file.as_raw_fd(), most.to_bytes()))
}

/// Makes the kernel refuse executable memfds in this PID namespace and its children. Returns whether that worked: it needs
/// root, and Linux 6.3 (`vm.memfd_noexec`).
pub(crate) fn memory_files_never_run() -> bool {
    let setting = c"/proc/sys/vm/memfd_noexec";
    let mut room = [0; 4];
    let written = open_for_writing(setting).and_then(|file| write(file.as_raw_fd(), b"2"));
    let length = open_for_reading(setting).and_then(|file| read(file.as_raw_fd(), &mut room));
    written.is_ok() && length == Ok(2) && room.starts_with(b"2\n")
}
