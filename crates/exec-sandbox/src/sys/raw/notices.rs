//! Seccomp user notification, and access to the memory of notifying processes.

use std::os::fd::{AsRawFd as _, BorrowedFd, OwnedFd};

use super::rights::Program;
use super::{Result, check, descriptor, done};
use crate::seccomp::Instruction;

// The ioctl requests of linux/seccomp.h, in this order: RECV, SEND, ID_VALID, ADDFD, SET_FLAGS.
const NEXT: libc::c_ulong = 0xc050_2100;
const ANSWER: libc::c_ulong = 0xc018_2101;
const IS_WAITING: libc::c_ulong = 0x4008_2102;
const HAND_OVER: libc::c_ulong = 0x4018_2103;
const SET_FLAGS: libc::c_ulong = 0x4008_2104;

/// Flags for process_vm_readv(2). The kernel checks all 64 bits, and a shorter variadic argument on the stack could leave
/// garbage in the upper half.
const NO_FLAGS: u64 = 0;

/// A notified call: the kernel's `struct seccomp_notif`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Notice {
    id: u64,
    /// The calling thread, in this program's PID namespace; 0 if it is not visible here.
    pub(crate) thread: u32,
    flags: u32,
    pub(crate) number: u32,
    pub(crate) architecture: u32,
    instruction: u64,
    pub(crate) arguments: [u64; 6],
}

#[repr(C)]
struct Answer {
    id: u64,
    value: i64,
    error: i32,
    flags: u32,
}

/// Installs a filter with user notification, and returns its listener.
pub(crate) fn install_observing_filter(program: &[Instruction]) -> Result<OwnedFd> {
    /// Only a fatal signal interrupts a call after its notification was received, so that a performed call is not repeated. Since
    /// Linux 5.19.
    const WAIT_KILLABLE: libc::c_ulong = libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
    const NEW_LISTENER: libc::c_ulong = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
    let program = Program::new(program);
    let install = |flags: libc::c_ulong| {
        // SAFETY: the program is as long as it says and lives until the call has returned; the kernel keeps a copy.
        descriptor(unsafe {
            libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program)
        })
    };
    match install(NEW_LISTENER | WAIT_KILLABLE) {
        Err(libc::EINVAL) => install(NEW_LISTENER),
        result => result,
    }
}

/// Receives the next notified call.
pub(crate) fn next_notice(from: BorrowedFd<'_>) -> Result<Notice> {
    let mut notice = Notice::default();
    // SAFETY: the request fills a record of this size, which is all zeros.
    done(unsafe { libc::syscall(libc::SYS_ioctl, from.as_raw_fd(), NEXT, &raw mut notice) })?;
    Ok(notice)
}

/// Continues a notified call.
pub(crate) fn let_go_on(from: BorrowedFd<'_>, notice: &Notice) -> Result {
    const CONTINUE: u32 = libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32;
    let answer = Answer { id: notice.id, value: 0, error: 0, flags: CONTINUE };
    // SAFETY: the request reads a record of this size.
    done(unsafe { libc::syscall(libc::SYS_ioctl, from.as_raw_fd(), ANSWER, &raw const answer) })
}

/// Answers a call that was performed in the caller's place: with an error, or success.
pub(crate) fn answer(to: BorrowedFd<'_>, notice: &Notice, ended: Result) -> Result {
    let error = ended.err().map_or(0, |errno| -errno);
    let answer = Answer { id: notice.id, value: 0, error, flags: 0 };
    // SAFETY: the request reads a record of this size.
    done(unsafe { libc::syscall(libc::SYS_ioctl, to.as_raw_fd(), ANSWER, &raw const answer) })
}

/// Installs a descriptor in the calling process, and returns its number as the result of the call, in one step.
pub(crate) fn hand_over(
    to: BorrowedFd<'_>,
    notice: &Notice,
    file: BorrowedFd<'_>,
    close_on_exec: bool,
) -> Result {
    #[repr(C)]
    struct Handed {
        id: u64,
        flags: u32,
        file: u32,
        number: u32,
        descriptor_flags: u32,
    }
    const AND_ANSWER: u32 = libc::SECCOMP_ADDFD_FLAG_SEND as u32;
    let descriptor_flags = if close_on_exec { libc::O_CLOEXEC.cast_unsigned() } else { 0 };
    let file = file.as_raw_fd().cast_unsigned();
    let handed = Handed { id: notice.id, flags: AND_ANSWER, file, number: 0, descriptor_flags };
    // SAFETY: the request reads a record of this size.
    done(unsafe { libc::syscall(libc::SYS_ioctl, to.as_raw_fd(), HAND_OVER, &raw const handed) })
}

/// Makes the kernel wake the listener on the caller's CPU, since the two take turns. Ignored before Linux 6.6.
pub(crate) fn take_turns(shown: BorrowedFd<'_>) {
    const SYNC_WAKE_UP: u64 = 1;
    // SAFETY: only numbers are handed over.
    done(unsafe { libc::syscall(libc::SYS_ioctl, shown.as_raw_fd(), SET_FLAGS, SYNC_WAKE_UP) }).ok();
}

/// Gives this thread a umask, root and working directory of its own.
pub(crate) fn own_umask() -> Result {
    // SAFETY: only a number is handed over, and this thread shares no more with others than before.
    done(unsafe { libc::syscall(libc::SYS_unshare, libc::CLONE_FS) })
}

/// Whether a call is still pending. If not, its thread may have ended, and its ID may have been reused.
pub(crate) fn still_waits(from: BorrowedFd<'_>, notice: &Notice) -> bool {
    // SAFETY: the request reads one number.
    done(unsafe { libc::syscall(libc::SYS_ioctl, from.as_raw_fd(), IS_WAITING, &raw const notice.id) })
        .is_ok()
}

/// Reads memory of a process into a buffer, and returns the number of bytes.
pub(crate) fn read_memory(thread: u32, from: u64, room: &mut [u8]) -> Result<usize> {
    let to = libc::iovec { iov_base: room.as_mut_ptr().cast(), iov_len: room.len() };
    let from = [from, room.len() as u64];
    // SAFETY: the room has the length that is given. Where the other process has nothing, the kernel says so.
    check(unsafe {
        libc::syscall(
            libc::SYS_process_vm_readv,
            thread,
            &raw const to,
            1u64,
            &raw const from,
            1u64,
            NO_FLAGS,
        )
    })
    .map(|count| count as usize)
}

/// Writes to memory of a process, and returns the number of bytes.
pub(crate) fn write_memory(thread: u32, to: u64, bytes: &[u8]) -> Result<usize> {
    let from = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    let to = [to, bytes.len() as u64];
    // SAFETY: the bytes have the length that is given, and are only read. Where the other process has nothing, the kernel
    // says so.
    check(unsafe {
        libc::syscall(
            libc::SYS_process_vm_writev,
            thread,
            &raw const from,
            1u64,
            &raw const to,
            1u64,
            NO_FLAGS,
        )
    })
    .map(|count| count as usize)
}

/// Duplicates a descriptor of another process.
pub(crate) fn take_descriptor(process: BorrowedFd<'_>, number: i32) -> Result<OwnedFd> {
    // SAFETY: only numbers are handed over.
    descriptor(unsafe { libc::syscall(libc::SYS_pidfd_getfd, process.as_raw_fd(), number, 0) })
}
