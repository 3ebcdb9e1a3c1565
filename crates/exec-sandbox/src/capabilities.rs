//! The capabilities of this program, see capabilities(7): which it holds, and what its own helper threads keep of them.
//!
//! Capabilities belong to a thread, and a thread that is started gets those of the one that started it. A bug in a helper
//! thread, which reads what a command sent it, should be worth as little as can be.
//!
//! The helpers that are processes begin as a copy of one thread and may not allocate, while `caps` keeps sets on the heap and
//! errors as text. They give up theirs by [`drop_held_capabilities`], which makes the same calls on plain numbers.
//!
//! [`drop_held_capabilities`]: crate::sys::raw::drop_held_capabilities

use std::collections::BTreeSet;
use std::io;

use caps::errors::CapsError;
use caps::{CapSet, Capability, CapsHashSet};

/// What a thread of the egress broker keeps. It calls the witness, who may keep its records in a folder that belongs to
/// somebody else than root: `sudo` leaves `HOME` as it was on many systems.
#[cfg(feature = "egress")]
pub(crate) const KEPT_BY_BROKER: &[Capability] =
    &[Capability::CAP_CHOWN, Capability::CAP_DAC_OVERRIDE, Capability::CAP_FOWNER];

/// What the observer keeps: it reads the memory of commands that belong to another user, and looks up the paths that they
/// name.
pub(crate) const KEPT_BY_OBSERVER: &[Capability] =
    &[Capability::CAP_SYS_PTRACE, Capability::CAP_DAC_READ_SEARCH];

/// What is kept by who carries out calls in the place of a command that belongs to another user: it is that user, and looks
/// into processes that may not be looked into.
pub(crate) const KEPT_BY_DECIDER: &[Capability] = &[Capability::CAP_SYS_PTRACE];

/// What a thread needs to become another user.
pub(crate) const TO_BECOME_ANOTHER: &[Capability] = &[Capability::CAP_SETUID, Capability::CAP_SETGID];

/// Returns the names of what this thread may use, as capabilities(7) writes them.
pub(crate) fn held() -> BTreeSet<String> {
    let held = caps::read(None, CapSet::Permitted).unwrap_or_default();
    held.iter().map(ToString::to_string).collect()
}

/// Gives up everything that this thread holds but for these, in all five sets.
pub(crate) fn keep_only(kept: &[Capability]) -> io::Result<()> {
    keep(kept).map_err(io::Error::other)
}

fn keep(kept: &[Capability]) -> Result<(), CapsError> {
    let held = caps::read(None, CapSet::Permitted)?;
    // The bounding set comes first: to lower it takes a capability. Whoever has none can gain none by it either.
    if caps::has_cap(None, CapSet::Effective, Capability::CAP_SETPCAP)? {
        caps::clear(None, CapSet::Bounding)?;
    }
    caps::clear(None, CapSet::Ambient)?;
    caps::clear(None, CapSet::Inheritable)?;
    let kept: CapsHashSet = kept.iter().copied().filter(|one| held.contains(one)).collect();
    // What is effective must be permitted at any moment.
    caps::set(None, CapSet::Effective, &kept)?;
    caps::set(None, CapSet::Permitted, &kept)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "starts threads and reads what they hold")]

    use super::*;

    /// A line of this thread's `/proc/thread-self/status`.
    fn line(name: &str) -> u64 {
        let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        u64::from_str_radix(line.trim_start_matches(':').trim(), 16).unwrap()
    }

    #[test]
    fn a_thread_keeps_what_is_named_and_nothing_else() {
        let before = line("CapPrm");
        std::thread::spawn(move || {
            keep_only(KEPT_BY_OBSERVER).unwrap();
            let kept = KEPT_BY_OBSERVER.iter().fold(0, |mask, one| mask | one.bitmask());
            let rows = ["CapPrm", "CapEff", "CapInh", "CapAmb"].map(line);
            assert_eq!(rows, [before & kept, before & kept, 0, 0]);
            assert_eq!(held().len(), (before & kept).count_ones() as usize);
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
