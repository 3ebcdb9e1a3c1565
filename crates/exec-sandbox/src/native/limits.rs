//! Resource limits of the kernel per process.

#![expect(
    clippy::disallowed_methods,
    reason = "gives this program's number, the next processors, and what a user may watch"
)]

use std::ffi::{CString, c_uint};
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rustix::thread::{CpuSet, sched_getaffinity};
use stockade_files::read_kernel_line;

use crate::limits::ResourceLimits;
use crate::sys::raw::{KernelLimit, hard_limit};

/// Seconds between SIGXCPU, which a command can catch, and SIGKILL, which it cannot.
const GRACE_SECONDS: u64 = 1;

/// Returns the limits of each process, which do not exceed the inherited hard limits: only root can raise those. Where a control group limits memory, the processes need no limit of their own.
pub(crate) fn limits(limits: &ResourceLimits, grouped: bool) -> Vec<KernelLimit> {
    let memory = if grouped { None } else { limits.memory.bound() };
    let rows = [
        // Not 0: a core_pattern with a pipe to a program ignores a limit of 0, and runs the program as root. The kernel treats
        // 1 as a special case that disables both, see core(5).
        (libc::RLIMIT_CORE, Some(1)),
        (libc::RLIMIT_RTPRIO, Some(0)),
        (libc::RLIMIT_NICE, Some(0)),
        (libc::RLIMIT_DATA, memory),
        (libc::RLIMIT_NPROC, limits.processes.bound()),
        (libc::RLIMIT_FSIZE, limits.file_size.bound()),
        (libc::RLIMIT_NOFILE, limits.open_files.bound()),
    ];
    // These limits apply to all programs of the user together, so half of them is left for the others.
    let halved = [libc::RLIMIT_SIGPENDING, libc::RLIMIT_MSGQUEUE].map(|resource| {
        let half = hard_limit(resource as _) / 2;
        KernelLimit { resource: resource as _, soft: half, hard: half }
    });
    let set = rows.into_iter().filter_map(|(resource, limit)| Some((resource, limit?)));
    set.map(|(resource, limit)| (resource as c_uint, limit, hard_limit(resource as _)))
        // An inherited limit of 0 can only stay as it is.
        .filter(|(_, _, inherited)| *inherited > 0)
        .map(|(resource, limit, inherited)| KernelLimit {
            resource,
            soft: limit.min(inherited),
            hard: limit.min(inherited),
        })
        .chain(halved)
        .chain(limits.cpu_time.bound().map(cpu_time))
        .collect()
}

/// At the soft limit the kernel sends SIGXCPU, at the hard one SIGKILL. With equal limits only SIGKILL is sent, which does
/// not tell the reason: see setrlimit(2).
fn cpu_time(time: Duration) -> KernelLimit {
    let hard = cpu_seconds(time).saturating_add(GRACE_SECONDS);
    let hard = hard.min(hard_limit(libc::RLIMIT_CPU as _));
    KernelLimit { resource: libc::RLIMIT_CPU as _, soft: hard.saturating_sub(GRACE_SECONDS).max(1), hard }
}

/// Returns whole seconds, at least 1, because the kernel treats 0 as 1.
fn cpu_seconds(time: Duration) -> u64 {
    time.as_secs().max(1)
}

/// Whether a process with this CPU time in seconds has reached the hard limit.
pub(crate) fn reaches_hard_cpu_limit(limits: &ResourceLimits, seconds: u64) -> bool {
    limits.cpu_time.bound().is_some_and(|time| seconds >= cpu_time(time).hard)
}

/// Returns the limit on inotify instances of a command: half of the user's.
pub(crate) fn watchers() -> Option<CString> {
    let text = read_kernel_line("/proc/sys/user/max_inotify_instances").ok()?;
    let most: u64 = text.trim().parse().ok()?;
    CString::new((most / 2).to_string()).ok()
}

/// Returns the CPU affinity, if the number of processors is limited: some of those that this program may use. Consecutive
/// commands get different ones, so that they do not compete for the first.
pub(crate) fn processors(limits: &ResourceLimits) -> io::Result<Option<CpuSet>> {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let Some(most) = limits.processors.bound() else { return Ok(None) };
    let most = usize::try_from(most.rounded_up()).unwrap_or(usize::MAX);
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
