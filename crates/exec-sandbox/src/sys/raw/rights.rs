//! What a process may do, and giving that up.

use std::ffi::{c_int, c_uint, c_ulong};

use super::{Result, done};
use crate::seccomp::Instruction;

/// Leaves the keys that were inherited behind. A kernel without keys has none to leave.
pub(crate) fn new_keyring() -> Result {
    const JOIN_SESSION_KEYRING: c_int = 1;
    // SAFETY: without a name, a new keyring is made.
    match done(unsafe { libc::syscall(libc::SYS_keyctl, JOIN_SESSION_KEYRING, 0usize) }) {
        Err(libc::ENOSYS) => Ok(()),
        result => result,
    }
}

pub(crate) fn set_ids(user: u32, group: u32) -> Result {
    // SAFETY: no group is read, because there are none.
    done(unsafe { libc::syscall(libc::SYS_setgroups, 0, 0usize) })?;
    // SAFETY: only numbers are handed over. Unlike the C library's function, the call concerns this thread alone.
    done(unsafe { libc::syscall(libc::SYS_setresgid, group, group, group) })?;
    // SAFETY: as above.
    done(unsafe { libc::syscall(libc::SYS_setresuid, user, user, user) })
}

pub(crate) fn prctl(option: c_int, argument: c_ulong) -> Result {
    // SAFETY: the options that are used here take one number.
    done(unsafe { libc::syscall(libc::SYS_prctl, option, argument, 0, 0, 0) })
}

/// Gives up every capability, also those that a program could bring.
pub(crate) fn drop_capabilities() -> Result {
    // Root is a user like any other, and all of this is locked: SECBIT_NOROOT, NO_SETUID_FIXUP, no KEEP_CAPS, NO_CAP_AMBIENT_RAISE.
    const SECURE_BITS: c_ulong = 0b1110_1111;
    const VERSION_3: u32 = 0x2008_0522;
    for capability in 0..64 {
        match prctl(libc::PR_CAPBSET_DROP, capability) {
            // The kernel knows no capability of this number, nor any higher.
            Err(libc::EINVAL) => break,
            result => result?,
        }
    }
    prctl(libc::PR_SET_SECUREBITS, SECURE_BITS)?;
    let (header, none) = ([VERSION_3, 0u32], [0u32; 6]);
    // SAFETY: the header and the sets are laid out as version 3 wants them.
    done(unsafe { libc::syscall(libc::SYS_capset, &raw const header, &raw const none) })
}

/// Whether this process has a capability that it can give up.
pub(crate) fn has_capabilities() -> bool {
    const VERSION_3: u32 = 0x2008_0522;
    let (header, mut sets) = ([VERSION_3, 0u32], [0u32; 6]);
    // SAFETY: the header and the sets are laid out as version 3 wants them.
    let read = done(unsafe { libc::syscall(libc::SYS_capget, &raw const header, &raw mut sets) });
    read.is_err() || sets.iter().any(|set| *set != 0)
}

/// A program, as the kernel takes it.
#[repr(C)]
pub(super) struct Program {
    length: u16,
    instructions: *const Instruction,
}

impl Program {
    pub(super) fn new(instructions: &[Instruction]) -> Self {
        Self { length: instructions.len() as u16, instructions: instructions.as_ptr() }
    }
}

/// Lets the kernel run a program before each system call from now on.
pub(crate) fn install_filter(program: &[Instruction]) -> Result {
    const SET_MODE_FILTER: c_uint = 1;
    let program = Program::new(program);
    // SAFETY: the program is as long as it says and lives until the call has returned; the kernel keeps a copy.
    done(unsafe { libc::syscall(libc::SYS_seccomp, SET_MODE_FILTER, 0, &raw const program) })
}
