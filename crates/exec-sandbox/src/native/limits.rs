//! Limits that the kernel holds for each process.

#![expect(
    clippy::disallowed_methods,
    reason = "gives this program's number, the next processors, and what a user may watch"
)]

use std::ffi::{CString, c_uint};
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rustix::thread::{CpuSet, sched_getaffinity};

use crate::limits::ResourceLimits;
use crate::sys::raw::{KernelLimit, hard_limit};

/// Between SIGXCPU, which a command can catch, and SIGKILL, which it cannot.
const GRACE_SECONDS: u64 = 1;

/// Returns the limits of each process. Where a control group bounds memory, one process needs no bound of its own.
pub(crate) fn limits(limits: &ResourceLimits, grouped: bool) -> Vec<KernelLimit> {
    let memory = if grouped { None } else { limits.memory.bound() };
    let rows = [
        // Not 0: where the machine hands cores to a program of its own, that runs all the same, as root. 1 stops both.
        (libc::RLIMIT_CORE, Some(1)),
        (libc::RLIMIT_RTPRIO, Some(0)),
        (libc::RLIMIT_NICE, Some(0)),
        (libc::RLIMIT_DATA, memory),
        (libc::RLIMIT_NPROC, limits.processes.bound()),
        (libc::RLIMIT_FSIZE, limits.file_size.bound()),
        (libc::RLIMIT_NOFILE, limits.open_files.bound()),
    ];
    // What a user has of these is the same for all of its programs, so half is left for the others.
    let halved = [libc::RLIMIT_SIGPENDING, libc::RLIMIT_MSGQUEUE]
        .map(|resource| (resource, Some(hard_limit(resource as _) / 2)));
    let set = rows.into_iter().chain(halved).filter_map(|(resource, limit)| Some((resource, limit?)));
    set.map(|(resource, limit)| at_most_inherited(resource as _, limit))
        .chain(limits.cpu_time.bound().map(cpu_time))
        .collect()
}

/// At the soft limit the kernel sends SIGXCPU, at the hard one SIGKILL; where both are the same, SIGKILL alone comes, which
/// does not say why: see setrlimit(2).
fn cpu_time(time: Duration) -> KernelLimit {
    let hard = cpu_seconds(time).saturating_add(GRACE_SECONDS);
    let limit = at_most_inherited(libc::RLIMIT_CPU as _, hard);
    KernelLimit { soft: limit.hard.saturating_sub(GRACE_SECONDS).max(1), ..limit }
}

/// Whole seconds, as the kernel counts them. It takes 0 for 1.
fn cpu_seconds(time: Duration) -> u64 {
    time.as_secs().max(1)
}

/// Whether a process that used so many seconds of a processor has come to the limit at which the kernel kills.
pub(crate) fn reaches_hard_cpu_limit(limits: &ResourceLimits, seconds: u64) -> bool {
    limits.cpu_time.bound().is_some_and(|time| seconds >= cpu_time(time).hard)
}

/// Whoever is not root cannot raise a hard limit.
fn at_most_inherited(resource: c_uint, limit: u64) -> KernelLimit {
    let hard = limit.min(hard_limit(resource));
    KernelLimit { resource, soft: hard, hard }
}

/// How many lists of watched files a command may make: half of what this user may.
pub(crate) fn watchers() -> Option<CString> {
    let text = std::fs::read_to_string("/proc/sys/user/max_inotify_instances").ok()?;
    let most: u64 = text.trim().parse().ok()?;
    CString::new((most / 2).to_string()).ok()
}

/// Returns the processors to run on, if they are bounded: so many of those that this program may use. The next command
/// gets the next ones, or all commands would wait for the first.
pub(crate) fn processors(limits: &ResourceLimits) -> io::Result<Option<CpuSet>> {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let Some(most) = limits.processors.bound() else { return Ok(None) };
    let most = usize::try_from(most).unwrap_or(usize::MAX).max(1);
    let may = sched_getaffinity(None)?;
    let may: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|number| may.is_set(*number)).collect();
    let first = NEXT.fetch_add(most, Ordering::Relaxed).wrapping_add(std::process::id() as usize);
    let mut chosen = CpuSet::new();
    may.iter()
        .cycle()
        .skip(first % may.len().max(1))
        .take(most.min(may.len()))
        .for_each(|it| chosen.set(*it));
    Ok(Some(chosen))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limit;

    #[test]
    fn a_signal_comes_a_second_before_the_end() {
        for (time, soft) in [(0, 1), (900, 1), (1000, 1), (1999, 1), (5000, 5)] {
            let limit = cpu_time(Duration::from_millis(time));
            assert_eq!((limit.soft, limit.hard), (soft, soft + 1), "{time} ms");
        }
    }

    #[test]
    fn only_the_limit_that_was_set_is_reached() {
        let limits = |cpu_time| ResourceLimits { cpu_time, ..ResourceLimits::default() };
        let bounded = limits(Limit::AtMost(Duration::from_secs(3)));
        let rows = [(0, false), (3, false), (4, true), (5, true)];
        for (seconds, reached) in rows {
            assert_eq!(reaches_hard_cpu_limit(&bounded, seconds), reached, "{seconds}");
            assert!(!reaches_hard_cpu_limit(&limits(Limit::Unlimited), seconds));
        }
    }
}
