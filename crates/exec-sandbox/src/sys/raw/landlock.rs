//! Landlock.

use std::ffi::c_int;
use std::os::fd::{AsRawFd as _, BorrowedFd, OwnedFd, RawFd};

use super::{Result, check, descriptor, done};

/// Returns the kernel's Landlock ABI version; 0 without Landlock.
pub(crate) fn landlock_version() -> u32 {
    // SAFETY: without attributes, the call only tells the version.
    check(unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, 0usize, 0usize, 1) })
        .map_or(0, |it| it as u32)
}

/// Creates a ruleset that handles these rights and scopes.
pub(crate) fn landlock_ruleset(files: u64, scopes: u64, version: u32) -> Result<OwnedFd> {
    let attributes: [u64; 3] = [files, 0, scopes];
    // Before ABI 6, the struct has no scopes; the kernel rejects unknown non-zero fields.
    let size = if version >= 6 { 24 } else { 8 };
    // SAFETY: the words are the kernel's struct, at least as long as the size.
    descriptor(unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, &raw const attributes, size, 0) })
}

#[repr(C, packed)]
struct PathBeneath {
    allowed: u64,
    parent: RawFd,
}

/// Adds a rule that allows these rights at and below a path.
pub(crate) fn landlock_allow(ruleset: BorrowedFd<'_>, parent: RawFd, allowed: u64) -> Result {
    const PATH_BENEATH: c_int = 1;
    let rule = PathBeneath { allowed, parent };
    // SAFETY: the rule is laid out as the kernel wants it.
    done(unsafe {
        libc::syscall(libc::SYS_landlock_add_rule, ruleset.as_raw_fd(), PATH_BENEATH, &raw const rule, 0)
    })
}

pub(crate) fn landlock_restrict(ruleset: BorrowedFd<'_>) -> Result {
    // SAFETY: only numbers are handed over.
    done(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), 0) })
}
