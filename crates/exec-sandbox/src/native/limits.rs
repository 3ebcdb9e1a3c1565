//! Limits that the kernel holds for each process.

use std::ffi::c_uint;

use crate::limits::Limits;
use crate::sys::launch::at_most_hard_limit;

/// Returns each resource and its limit. Where a control group bounds memory, one process needs no bound of its own.
pub(super) fn limits(limits: &Limits, grouped: bool) -> Vec<(c_uint, u64)> {
    let memory = if grouped { None } else { limits.memory.bound() };
    // A second more than the clock of processors says, so that a signal comes before the end.
    let cpu = limits.cpu_time.bound().map(|time| time.as_secs().max(1));
    let rows = [
        (libc::RLIMIT_CORE, Some(0)),
        (libc::RLIMIT_CPU, cpu),
        (libc::RLIMIT_DATA, memory),
        (libc::RLIMIT_NPROC, limits.processes.bound()),
        (libc::RLIMIT_FSIZE, limits.file_size.bound()),
        (libc::RLIMIT_NOFILE, limits.open_files.bound()),
    ];
    let set = rows.into_iter().filter_map(|(resource, limit)| Some((resource as c_uint, limit?)));
    set.map(|(resource, limit)| (resource, at_most_hard_limit(resource, limit))).collect()
}
