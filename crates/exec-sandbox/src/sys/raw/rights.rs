//! Credentials, capabilities and filters.

use std::ffi::{c_int, c_ulong};

use super::{Result, done};
use crate::seccomp::Instruction;

/// Replaces the inherited session keyring by an empty one. A kernel without key management has no keys to leak.
pub(crate) fn new_keyring() -> Result {
    // SAFETY: without a name, a new keyring is made.
    match done(unsafe { libc::syscall(libc::SYS_keyctl, libc::KEYCTL_JOIN_SESSION_KEYRING, 0usize) }) {
        Err(libc::ENOSYS) => Ok(()),
        result => result,
    }
}

pub(crate) fn set_ids(user: u32, group: u32) -> Result {
    // SAFETY: with a count of 0, the kernel does not read the pointer.
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

/// A set of capabilities as bits, see capabilities(7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CapabilityMask(u64);

impl CapabilityMask {
    pub(crate) const NONE: Self = Self(0);
    /// CAP_KILL and CAP_SYS_RESOURCE, to end processes of other users and to lower their limits.
    pub(crate) const END_OTHERS: Self = Self(1 << 5 | 1 << 24);
    /// CAP_SETPCAP, to lower the bounding set.
    const LOWER_BOUND: Self = Self(1 << 8);

    const fn of(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

/// The version of capset(2) with two words per set.
const CAPABILITY_VERSION_3: u32 = 0x2008_0522;

/// The capability sets of a thread.
struct HeldCapabilities {
    effective: CapabilityMask,
    permitted: CapabilityMask,
    inheritable: CapabilityMask,
}

/// Drops every capability, including those of executed programs, and locks this state.
pub(crate) fn drop_capabilities() -> Result {
    // User 0 is unprivileged from here on: exec grants it no capabilities (NOROOT), a change of user neither adds nor removes any
    // (NO_SETUID_FIXUP), none are kept across one (KEEP_CAPS stays off) and none become ambient.
    const SECURE_BITS: c_int = libc::SECBIT_NOROOT
        | libc::SECBIT_NOROOT_LOCKED
        | libc::SECBIT_NO_SETUID_FIXUP
        | libc::SECBIT_NO_SETUID_FIXUP_LOCKED
        | libc::SECBIT_KEEP_CAPS_LOCKED
        | libc::SECBIT_NO_CAP_AMBIENT_RAISE
        | libc::SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
    empty_bounding_set()?;
    prctl(libc::PR_SET_SECUREBITS, SECURE_BITS as c_ulong)?;
    set_capabilities(CapabilityMask::NONE)
}

/// Drops all capabilities except these, in a process that makes a few calls and executes no program. The bounding set limits what
/// a program gains when it is executed: that none gains anything is one call, and to empty the set is forty.
pub(crate) fn renounce_capabilities(kept: CapabilityMask) -> Result {
    let held = held_capabilities()?;
    if held.permitted == CapabilityMask::NONE && held.inheritable == CapabilityMask::NONE {
        return Ok(());
    }
    prctl(libc::PR_SET_NO_NEW_PRIVS, 1)?;
    set_capabilities(kept.of(held.permitted))
}

/// Drops all capabilities except these, in a process that never executes a program with file capabilities. An ordinary user
/// cannot lower the bounding set, but without such a program it has no effect.
pub(crate) fn drop_held_capabilities(kept: CapabilityMask) -> Result {
    let held = held_capabilities()?;
    if held.permitted == CapabilityMask::NONE && held.inheritable == CapabilityMask::NONE {
        return Ok(());
    }
    if held.effective.of(CapabilityMask::LOWER_BOUND) != CapabilityMask::NONE {
        empty_bounding_set()?;
    }
    set_capabilities(kept.of(held.permitted))
}

fn empty_bounding_set() -> Result {
    for capability in 0..64 {
        match prctl(libc::PR_CAPBSET_DROP, capability) {
            // The kernel has no capability with this number or a higher one.
            Err(libc::EINVAL) => break,
            result => result?,
        }
    }
    Ok(())
}

/// Sets the permitted and effective sets, and empties the inheritable one. The kernel then removes all capabilities from the
/// ambient set, see capabilities(7).
fn set_capabilities(kept: CapabilityMask) -> Result {
    let header = [CAPABILITY_VERSION_3, 0u32];
    let (low, high) = (kept.0 as u32, (kept.0 >> 32) as u32);
    let sets = [low, low, 0, high, high, 0];
    // SAFETY: the header and the sets are laid out as version 3 wants them.
    done(unsafe { libc::syscall(libc::SYS_capset, &raw const header, &raw const sets) })
}

fn held_capabilities() -> Result<HeldCapabilities> {
    let (header, mut sets) = ([CAPABILITY_VERSION_3, 0u32], [0u32; 6]);
    // SAFETY: the header and the sets are laid out as version 3 wants them.
    done(unsafe { libc::syscall(libc::SYS_capget, &raw const header, &raw mut sets) })?;
    // The lower words of all three sets come before the upper ones.
    let [effective, permitted, inheritable, effective_high, permitted_high, inheritable_high] =
        sets.map(u64::from);
    let set = |low: u64, high: u64| CapabilityMask(low | high << 32);
    Ok(HeldCapabilities {
        effective: set(effective, effective_high),
        permitted: set(permitted, permitted_high),
        inheritable: set(inheritable, inheritable_high),
    })
}

/// Whether this process has any capability.
pub(crate) fn has_capabilities() -> bool {
    held_capabilities().map_or(true, |held| {
        [held.effective, held.permitted, held.inheritable].iter().any(|set| *set != CapabilityMask::NONE)
    })
}

/// The kernel's `struct sock_fprog`.
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

/// Installs a seccomp filter.
pub(crate) fn install_filter(program: &[Instruction]) -> Result {
    let program = Program::new(program);
    // SAFETY: the program is as long as it says and lives until the call has returned; the kernel keeps a copy.
    done(unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const program) })
}

/// Waits until a process has dropped its capabilities: inheritable, permitted, effective, ambient.
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "reads what a process holds")]
pub(crate) fn held_by(pid: i32) -> [u64; 4] {
    let read = || {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        ["CapInh:", "CapPrm:", "CapEff:", "CapAmb:"].map(|name| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            u64::from_str_radix(line.trim(), 16).unwrap()
        })
    };
    let began = std::time::Instant::now();
    loop {
        let held = read();
        if held == [0; 4] || began.elapsed() > std::time::Duration::from_secs(10) {
            return held;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}
