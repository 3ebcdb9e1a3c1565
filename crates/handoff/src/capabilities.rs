//! The capabilities of this program, see capabilities(7): which it holds, and what its own helper threads keep of them.
//!
//! Capabilities belong to a thread, and a thread that is started gets those of the one that started it. A bug in a helper
//! thread, which reads what a command sent it, should be worth as little as can be.
//!
//! Helpers that begin as a copy of one thread may not allocate, while `caps` keeps sets on the heap and errors as text: the
//! sandbox gives up theirs by calls of its own, on plain numbers.

use std::collections::BTreeSet;
use std::io;

use caps::CapSet;
pub use caps::Capability;
use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities, set_no_new_privs};

/// Returns the names of what this thread may use, as capabilities(7) writes them.
#[must_use]
pub fn held_capabilities() -> BTreeSet<String> {
    let held = caps::read(None, CapSet::Permitted).unwrap_or_default();
    held.iter().map(ToString::to_string).collect()
}

/// Gives up everything that this thread holds but for these, in all five sets.
///
/// # Errors
/// When the kernel refuses it.
pub fn keep_capabilities(kept: &[Capability]) -> io::Result<()> {
    let held = capabilities(None)?;
    // The bounding set comes first: to lower it takes a capability. A process without that capability can gain none by it
    // either.
    if held.effective.contains(CapabilitySet::SETPCAP) {
        caps::clear(None, CapSet::Bounding).map_err(io::Error::other)?;
    }
    keep(held, kept)
}

/// Gives up everything that this thread holds but for these, in a thread that executes no program. What a program gains is limited by
/// the bounding set: to empty it is eighty calls, and that none gains anything is one.
///
/// # Errors
/// When the kernel refuses it.
pub fn keep_capabilities_without_exec(kept: &[Capability]) -> io::Result<()> {
    let held = capabilities(None)?;
    if held.effective.contains(CapabilitySet::SETPCAP) {
        set_no_new_privs(true)?;
    }
    keep(held, kept)
}

/// Keeps only what is named, by one call: the kernel removes from the ambient set what is not inheritable, see capabilities(7).
fn keep(held: CapabilitySets, kept: &[Capability]) -> io::Result<()> {
    let named = kept.iter().fold(0, |mask, one| mask | one.bitmask());
    let kept = held.permitted & CapabilitySet::from_bits_retain(named);
    let sets = CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() };
    Ok(set_capabilities(None, sets)?)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "starts threads and reads what they hold")]

    use super::*;

    const KEPT: &[Capability] = &[Capability::CAP_SYS_PTRACE, Capability::CAP_DAC_READ_SEARCH];

    /// A line of this thread's `/proc/thread-self/status`.
    fn line(name: &str) -> u64 {
        let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        u64::from_str_radix(line.trim_start_matches(':').trim(), 16).unwrap()
    }

    #[test]
    fn what_a_thread_without_exec_starts_gains_nothing() {
        std::thread::spawn(|| {
            let root = rustix::process::geteuid().is_root();
            keep_capabilities_without_exec(&[]).unwrap();
            assert_eq!(["CapPrm", "CapEff", "CapInh", "CapAmb"].map(line), [0; 4]);
            let started = std::process::Command::new("/bin/cat").arg("/proc/self/status").output().unwrap();
            let status = String::from_utf8(started.stdout).unwrap();
            assert!(!root || status.contains("CapPrm:\t0000000000000000"), "{status}");
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_thread_keeps_what_is_named_and_nothing_else() {
        let before = line("CapPrm");
        std::thread::spawn(move || {
            keep_capabilities(KEPT).unwrap();
            let kept = KEPT.iter().fold(0, |mask, one| mask | one.bitmask());
            let rows = ["CapPrm", "CapEff", "CapInh", "CapAmb"].map(line);
            assert_eq!(rows, [before & kept, before & kept, 0, 0]);
            assert_eq!(held_capabilities().len(), (before & kept).count_ones() as usize);
            if rustix::process::geteuid().is_root() {
                assert_eq!(line("CapBnd"), 0);
            }
            // It cannot take any back.
            assert!(
                before & !kept == 0 || caps::raise(None, CapSet::Permitted, Capability::CAP_KILL).is_err()
            );
        })
        .join()
        .unwrap();
        assert_eq!(line("CapPrm"), before, "a thread took something from the one that started it");
    }
}
