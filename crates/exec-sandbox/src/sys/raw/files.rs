//! Files, directories and descriptors.

use std::ffi::{CStr, c_int, c_long, c_uint};
use std::os::fd::{AsRawFd as _, BorrowedFd, OwnedFd, RawFd};

use super::{Result, check, descriptor, done};
use crate::sys::launch::Report;

/// Opens a path without following symlinks or magic links. With `beneath`, it must not leave `folder`.
pub(crate) fn open_path(folder: RawFd, path: &CStr, flags: c_int, beneath: bool) -> Result<OwnedFd> {
    const NO_MAGICLINKS: u64 = 0x02;
    const NO_SYMLINKS: u64 = 0x04;
    const BENEATH: u64 = 0x08;
    let resolve = NO_MAGICLINKS | NO_SYMLINKS | if beneath { BENEATH } else { 0 };
    let how: [u64; 3] = [(flags | libc::O_CLOEXEC) as u64, 0, resolve];
    // SAFETY: the path ends in 0, and `how` is laid out like the kernel's struct of three words.
    descriptor(unsafe {
        libc::syscall(libc::SYS_openat2, folder, path.as_ptr(), &raw const how, size_of_val(&how))
    })
}

/// Whether a path exists and is visible to this process.
pub(crate) fn is_there(path: &CStr) -> bool {
    // SAFETY: the path ends in 0.
    done(unsafe { libc::syscall(libc::SYS_faccessat, libc::AT_FDCWD, path.as_ptr(), libc::F_OK) }).is_ok()
}

/// Opens a file of procfs, whose path may contain magic links.
pub(crate) fn open_for_writing(path: &CStr) -> Result<OwnedFd> {
    let flags = libc::O_WRONLY | libc::O_CLOEXEC;
    // SAFETY: the path ends in 0.
    descriptor(unsafe { libc::syscall(libc::SYS_openat, libc::AT_FDCWD, path.as_ptr(), flags, 0) })
}

/// Opens a file of procfs for reading.
pub(crate) fn open_for_reading(path: &CStr) -> Result<OwnedFd> {
    let flags = libc::O_RDONLY | libc::O_CLOEXEC;
    // SAFETY: the path ends in 0.
    descriptor(unsafe { libc::syscall(libc::SYS_openat, libc::AT_FDCWD, path.as_ptr(), flags, 0) })
}

/// Reads into a buffer, and returns the number of bytes.
pub(crate) fn read(from: RawFd, room: &mut [u8]) -> Result<usize> {
    // SAFETY: the room has the length that is given.
    check(unsafe { libc::syscall(libc::SYS_read, from, room.as_mut_ptr(), room.len()) })
        .map(|count| count as usize)
}

/// Reads one byte; nothing at end of file.
pub(crate) fn read_byte(from: RawFd) -> Option<u8> {
    let mut byte = 0u8;
    // SAFETY: there is room for one byte.
    match check(unsafe { libc::syscall(libc::SYS_read, from, &raw mut byte, 1) }) {
        Ok(1) => Some(byte),
        _ => None,
    }
}

pub(crate) fn write(to: RawFd, text: &[u8]) -> Result {
    // SAFETY: as many bytes are read as the text has.
    done(unsafe { libc::syscall(libc::SYS_write, to, text.as_ptr(), text.len()) })
}

/// Writes a report. Errors are ignored: if the reader is gone, there is no one to report them to.
pub(crate) fn write_words(to: RawFd, words: &Report) {
    // SAFETY: as many bytes are read as the words have.
    done(unsafe { libc::syscall(libc::SYS_write, to, words.as_ptr(), size_of_val(words)) }).ok();
}

pub(crate) fn make_folder(at: RawFd, path: &CStr, mode: u32) -> Result {
    // SAFETY: the path ends in 0.
    done(unsafe { libc::syscall(libc::SYS_mkdirat, at, path.as_ptr(), mode) })
}

/// Creates an empty file.
pub(crate) fn make_file(at: RawFd, path: &CStr) -> Result {
    // SAFETY: the path ends in 0.
    done(unsafe { libc::syscall(libc::SYS_mknodat, at, path.as_ptr(), libc::S_IFREG | 0o444, 0) })
}

/// Creates a file with this content. The path must not exist, not even as a symlink.
pub(crate) fn make_text(at: RawFd, path: &CStr, text: &[u8]) -> Result {
    let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC;
    // SAFETY: the path ends in 0.
    let file = descriptor(unsafe { libc::syscall(libc::SYS_openat, at, path.as_ptr(), flags, 0o644) })?;
    write(file.as_raw_fd(), text)
}

/// Creates the mask that replaces a secret: a whiteout (character device 0:0), which needs no privileges. Opening it fails,
/// and git refuses to commit it, while it would commit an empty file.
pub(crate) fn make_mask(at: RawFd, path: &CStr) -> Result {
    // SAFETY: the path ends in 0.
    done(unsafe { libc::syscall(libc::SYS_mknodat, at, path.as_ptr(), libc::S_IFCHR, 0) })
}

pub(crate) fn make_link(at: RawFd, path: &CStr, to: &CStr) -> Result {
    // SAFETY: both paths end in 0.
    done(unsafe { libc::syscall(libc::SYS_symlinkat, to.as_ptr(), at, path.as_ptr()) })
}

pub(crate) fn unlink(at: RawFd, path: &CStr, flags: c_int) -> Result {
    // SAFETY: the path ends in 0.
    done(unsafe { libc::syscall(libc::SYS_unlinkat, at, path.as_ptr(), flags) })
}

/// Renames a file.
pub(crate) fn rename(from: RawFd, name: &CStr, to: RawFd, new_name: &CStr) -> Result {
    // SAFETY: both names end in 0.
    done(unsafe { libc::syscall(libc::SYS_renameat2, from, name.as_ptr(), to, new_name.as_ptr(), 0) })
}

/// Changes the mode of a file, following symlinks.
pub(crate) fn set_mode(at: RawFd, path: &CStr, mode: u32) -> Result {
    // SAFETY: the path ends in 0.
    done(unsafe { libc::syscall(libc::SYS_fchmodat, at, path.as_ptr(), mode) })
}

/// Changes the mode of an open file.
pub(crate) fn set_mode_of(file: RawFd, mode: u32) -> Result {
    // SAFETY: only numbers are handed over.
    done(unsafe { libc::syscall(libc::SYS_fchmod, file, mode) })
}

/// Performs an fcntl(2) request for an open file description lock.
pub(crate) fn lock_part(file: BorrowedFd<'_>, request: u32, record: &mut [u8; 32]) -> Result {
    // SAFETY: the record has the size that the kernel reads and writes on 64-bit machines.
    done(unsafe {
        libc::syscall(libc::SYS_fcntl, file.as_raw_fd(), c_long::from(request), record.as_mut_ptr())
    })
}

/// Rewinds a directory.
pub(crate) fn rewind(folder: RawFd) -> Result {
    // SAFETY: only numbers are handed over.
    done(unsafe { libc::syscall(libc::SYS_lseek, folder, 0, libc::SEEK_SET) })
}

/// Reads directory entries into a buffer, and returns the number of bytes.
pub(crate) fn entries(folder: RawFd, room: &mut [u8]) -> Result<usize> {
    // SAFETY: the room has the length that is given.
    check(unsafe { libc::syscall(libc::SYS_getdents64, folder, room.as_mut_ptr(), room.len()) })
        .map(|count| count as usize)
}

pub(crate) fn enter(folder: RawFd) -> Result {
    // SAFETY: only a number is handed over.
    done(unsafe { libc::syscall(libc::SYS_fchdir, folder) })
}

pub(crate) fn change_folder(path: &CStr) -> Result {
    // SAFETY: the path ends in 0.
    done(unsafe { libc::syscall(libc::SYS_chdir, path.as_ptr()) })
}

pub(crate) fn duplicate(from: RawFd, to: RawFd) -> Result {
    if from == to {
        // SAFETY: only numbers are handed over; clears the mark by which exec closes it.
        return done(unsafe { libc::syscall(libc::SYS_fcntl, from, libc::F_SETFD, 0) });
    }
    // SAFETY: only numbers are handed over.
    done(unsafe { libc::syscall(libc::SYS_dup3, from, to, 0) })
}

/// Closes descriptors from `first` to `last`.
pub(crate) fn close_from_to(first: RawFd, last: RawFd) {
    if first <= last {
        // SAFETY: the callers are forked processes that do not use these descriptors again.
        done(unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) }).ok();
    }
}

/// Closes all descriptors except these two and those below `first`.
pub(crate) fn close_all_from_but(first: RawFd, one: RawFd, other: RawFd) {
    let (low, high) = (one.min(other), one.max(other));
    close_from_to(first, low - 1);
    close_from_to(low.max(first - 1) + 1, high - 1);
    close_from_to(high.max(first - 1) + 1, RawFd::MAX);
}

/// Closes all descriptors except these two.
pub(crate) fn close_all_but(one: RawFd, other: RawFd) {
    close_all_from_but(0, one, other);
}

/// Sets close-on-exec on all descriptors from `first`.
pub(crate) fn close_on_exec(first: RawFd) -> Result {
    // SAFETY: it only marks descriptors.
    done(unsafe { libc::syscall(libc::SYS_close_range, first, c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) })
}

/// Waits until one of two descriptors is readable, and returns whether the first one is not.
pub(crate) fn only_second_is_readable(first: RawFd, second: RawFd) -> bool {
    let poll = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    let mut polls = [poll(first), poll(second)];
    loop {
        // SAFETY: there are two entries; neither a time nor a mask is given.
        let ready =
            check(unsafe { libc::syscall(libc::SYS_ppoll, polls.as_mut_ptr(), 2, 0usize, 0usize, 0) });
        match ready {
            Ok(_) => return polls.first().is_some_and(|first| first.revents == 0),
            Err(libc::EINTR) => {}
            Err(_) => return false,
        }
    }
}

/// Waits until a descriptor is readable, with a timeout.
pub(crate) fn is_readable_within(from: RawFd, milliseconds: i64) -> bool {
    let mut poll = libc::pollfd { fd: from, events: libc::POLLIN, revents: 0 };
    let mut time = [0, milliseconds * 1_000_000];
    // SAFETY: there is one entry, and the time is the kernel's struct of two words; no mask is given.
    let ready = check(unsafe { libc::syscall(libc::SYS_ppoll, &raw mut poll, 1, &raw mut time, 0usize, 0) });
    ready.is_ok_and(|ready| ready > 0)
}

/// Whether any process has a file open for writing. The kernel only grants a read lease if none has.
pub(crate) fn is_written(file: BorrowedFd<'_>) -> Result<bool> {
    /// The request F_SETSIG of fcntl(2).
    const SET_SIGNAL: c_int = 10;
    // If a process opens the file before the lease is released, the lease is broken by a signal. The default, SIGIO, would
    // end this program; SIGURG is ignored by default.
    let ask = |request: c_int, value: c_int| {
        // SAFETY: only numbers are handed over.
        done(unsafe { libc::syscall(libc::SYS_fcntl, file.as_raw_fd(), request, c_long::from(value)) })
    };
    ask(SET_SIGNAL, libc::SIGURG)?;
    match ask(libc::F_SETLEASE, libc::F_RDLCK) {
        Ok(()) => ask(libc::F_SETLEASE, libc::F_UNLCK).map(|()| false),
        Err(libc::EAGAIN) => Ok(true),
        Err(error) => Err(error),
    }
}
