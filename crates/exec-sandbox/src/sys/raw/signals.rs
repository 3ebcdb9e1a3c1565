//! Signals, and waiting.

use std::ffi::c_int;
use std::os::fd::{OwnedFd, RawFd};

use stockade_files::read_kernel_file;

use super::{Result, check, descriptor, done};

/// The kernel's own signal mask, which is smaller than the C library's.
pub(crate) type SignalMask = u64;

pub(crate) const ALL_SIGNALS: SignalMask = u64::MAX;

/// Blocks exactly these signals, and returns the previous mask.
pub(crate) fn set_signal_mask(mask: SignalMask) -> Result<SignalMask> {
    let mut old: SignalMask = 0;
    // SAFETY: both masks have the size that is given.
    done(unsafe {
        libc::syscall(libc::SYS_rt_sigprocmask, libc::SIG_SETMASK, &raw const mask, &raw mut old, 8)
    })?;
    Ok(old)
}

/// Returns the signals that this program ignores; all where the kernel does not say.
pub(crate) fn ignored_signals() -> SignalMask {
    let status = read_kernel_file("/proc/thread-self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| SignalMask::from_str_radix(mask.trim(), 16).ok()).unwrap_or(ALL_SIGNALS)
}

/// Resets these signals to their default action: ignored signals would stay ignored in the command across exec. Handlers of the
/// parent are gone, see [`clone_process`](super::clone_process).
pub(crate) fn reset_signals(ignored: SignalMask) {
    // The kernel's struct (handler, flags, restorer, mask); all zeros is SIG_DFL.
    let ordinary = [0u64; 4];
    for signal in (1..=64).filter(|signal| ignored >> (signal - 1) & 1 == 1) {
        // SAFETY: the struct is the kernel's. SIGKILL and SIGSTOP cannot be changed, which is no harm.
        done(unsafe { libc::syscall(libc::SYS_rt_sigaction, signal, &raw const ordinary, 0usize, 8) }).ok();
    }
}

/// Returns a descriptor to read blocked signals from.
pub(crate) fn signal_descriptor(mask: SignalMask) -> Result<OwnedFd> {
    // SAFETY: the mask has the size that is given.
    descriptor(unsafe { libc::syscall(libc::SYS_signalfd4, -1, &raw const mask, 8, libc::SFD_CLOEXEC) })
}

/// Waits for a signal and returns its number.
pub(crate) fn read_signal(from: RawFd) -> Result<c_int> {
    const SIZE: usize = 128;
    let mut record = [0u32; SIZE / 4];
    // SAFETY: a record of the kernel's has exactly this size.
    check(unsafe { libc::syscall(libc::SYS_read, from, record.as_mut_ptr(), SIZE) })?;
    Ok(record[0] as c_int)
}

pub(crate) fn send_signal(pid: i32, signal: c_int) -> Result {
    // SAFETY: only numbers are handed over.
    done(unsafe { libc::syscall(libc::SYS_kill, pid, signal) })
}

/// Sleeps.
pub(crate) fn wait_milliseconds(milliseconds: i64) {
    let mut time = [0, milliseconds * 1_000_000];
    // SAFETY: there are no entries, and the time is the kernel's struct of two words; no mask is given.
    done(unsafe { libc::syscall(libc::SYS_ppoll, 0usize, 0, &raw mut time, 0usize, 0) }).ok();
}
