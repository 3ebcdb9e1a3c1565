//! Limits that the kernel holds for each process.

#![expect(clippy::disallowed_methods, reason = "gives this program's number, and the next processors")]

use std::ffi::c_uint;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::thread::{CpuSet, sched_getaffinity};

use crate::limits::Limits;
use crate::sys::launch::at_most_hard_limit;

/// Returns each resource and its limit. Where a control group bounds memory, one process needs no bound of its own.
pub(crate) fn limits(limits: &Limits, grouped: bool) -> Vec<(c_uint, u64)> {
    let memory = if grouped { None } else { limits.memory.bound() };
    // A second more than the clock of processors says, so that a signal comes before the end.
    let cpu = limits.cpu_time.bound().map(|time| time.as_secs().max(1));
    let rows = [
        // Not 0: where the machine hands cores to a program of its own, that runs all the same, as root. 1 stops both.
        (libc::RLIMIT_CORE, Some(1)),
        (libc::RLIMIT_RTPRIO, Some(0)),
        (libc::RLIMIT_NICE, Some(0)),
        (libc::RLIMIT_CPU, cpu),
        (libc::RLIMIT_DATA, memory),
        (libc::RLIMIT_NPROC, limits.processes.bound()),
        (libc::RLIMIT_FSIZE, limits.file_size.bound()),
        (libc::RLIMIT_NOFILE, limits.open_files.bound()),
    ];
    let set = rows.into_iter().filter_map(|(resource, limit)| Some((resource as c_uint, limit?)));
    set.map(|(resource, limit)| (resource, at_most_hard_limit(resource, limit))).collect()
}

/// Returns the processors to run on, if they are bounded: so many of those that this program may use. The next command
/// gets the next ones, or all commands would wait for the first.
pub(crate) fn processors(limits: &Limits) -> io::Result<Option<CpuSet>> {
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
