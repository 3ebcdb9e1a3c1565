//! Creating, limiting and ending processes.

use std::ffi::{CStr, c_char, c_int, c_long, c_uint, c_ulong};
use std::os::fd::{OwnedFd, RawFd};

use super::{Errno, Result, check, descriptor, done};

/// The side of a fork.
pub(crate) enum Side {
    Child,
    Parent { pid: i32, pidfd: Option<OwnedFd> },
}

#[repr(C)]
#[derive(Default)]
struct CloneArguments {
    flags: u64,
    pidfd: u64,
    child_tid: u64,
    parent_tid: u64,
    exit_signal: u64,
    stack: u64,
    stack_size: u64,
    tls: u64,
}

/// CLONE_CLEAR_SIGHAND, which does not fit into the constant's type everywhere.
const CLEAR_SIGNAL_HANDLERS: u64 = 0x1_0000_0000;

/// Forks this thread into a new process, in new namespaces. Signal handlers of this program do not run there: such signals have
/// their default action again, and ignored ones stay ignored.
///
/// # Safety
///
/// Until it executes a program or ends, the child may only make async-signal-safe calls: no allocation, no lock, no unwinding.
pub(crate) unsafe fn clone_process(flags: u64) -> Result<Side> {
    let mut pidfd: RawFd = -1;
    let arguments = CloneArguments {
        flags: flags | libc::CLONE_PIDFD as u64 | CLEAR_SIGNAL_HANDLERS,
        pidfd: &raw mut pidfd as u64,
        exit_signal: libc::SIGCHLD as u64,
        ..CloneArguments::default()
    };
    // SAFETY: without CLONE_VM the child has memory of its own, and the caller promises the rest.
    let pid =
        check(unsafe { libc::syscall(libc::SYS_clone3, &raw const arguments, size_of::<CloneArguments>()) })?;
    if pid == 0 {
        return Ok(Side::Child);
    }
    Ok(Side::Parent { pid: pid as i32, pidfd: Some(descriptor(pidfd.into())?) })
}

/// Forks this process by clone(2), because the seccomp filter denies clone3(2), whose flags it cannot read.
///
/// # Safety
///
/// As for [`clone_process`].
pub(crate) unsafe fn fork() -> Result<Side> {
    // SAFETY: without CLONE_VM the child has memory of its own, and the caller promises the rest.
    #[cfg(target_arch = "x86_64")]
    let pid = check(unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD as c_ulong, 0, 0, 0, 0) })?;
    // SAFETY: as above; the order of the last two arguments differs, and both are 0.
    #[cfg(not(target_arch = "x86_64"))]
    let pid = check(unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD as c_ulong, 0, 0, 0, 0) })?;
    Ok(if pid == 0 { Side::Child } else { Side::Parent { pid: pid as i32, pidfd: None } })
}

/// Returns the ID of this process.
pub(crate) fn own_number() -> i32 {
    // SAFETY: it takes nothing, and never fails.
    unsafe { libc::getpid() }
}

/// Returns a descriptor that becomes readable when this process ends.
pub(crate) fn own_pidfd() -> Result<OwnedFd> {
    // SAFETY: only numbers are handed over.
    descriptor(unsafe { libc::syscall(libc::SYS_pidfd_open, own_number(), 0) })
}

/// Whether this process's parent is still the process with this ID.
pub(crate) fn is_child_of(parent: i32) -> bool {
    // SAFETY: it takes nothing, and never fails.
    check(unsafe { libc::syscall(libc::SYS_getppid) }).is_ok_and(|now| now == c_long::from(parent))
}

/// Ends this process at once, without running exit handlers of the parent's program.
pub(crate) fn exit(code: c_int) -> ! {
    // SAFETY: it does not return and runs nothing of this program.
    unsafe { libc::_exit(code) }
}

/// Ends a forked process if a bug makes it unwind: it would otherwise continue as a second copy of the parent's program.
pub(crate) struct AbortOnUnwind;

impl Drop for AbortOnUnwind {
    fn drop(&mut self) {
        exit(1);
    }
}

/// Executes a program; returns only on an error. The kernel ignores the last three arguments, which the filter against new
/// programs checks.
///
/// # Safety
///
/// Both lists end in a null pointer, and everything before it points to text that ends in 0.
pub(crate) unsafe fn execute(
    program: &CStr,
    arguments: *const *const c_char,
    environment: *const *const c_char,
    unused: [u64; 3],
) -> Errno {
    let [a, b, c] = unused;
    // SAFETY: the caller promises it.
    let result =
        check(unsafe { libc::syscall(libc::SYS_execve, program.as_ptr(), arguments, environment, a, b, c) });
    result.err().unwrap_or(libc::EINVAL)
}

pub(crate) fn new_session() -> Result {
    // SAFETY: it takes nothing.
    done(unsafe { libc::syscall(libc::SYS_setsid) })
}

/// A resource limit, see setrlimit(2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KernelLimit {
    pub(crate) resource: c_uint,
    pub(crate) soft: u64,
    pub(crate) hard: u64,
}

pub(crate) fn set_limit(limit: &KernelLimit) -> Result {
    set_limit_of(0, limit)
}

/// Sets a resource limit of a process; 0 is this one.
pub(crate) fn set_limit_of(pid: i32, limit: &KernelLimit) -> Result {
    let words = [limit.soft, limit.hard];
    // SAFETY: both words are the kernel's struct; nothing is written back.
    done(unsafe { libc::syscall(libc::SYS_prlimit64, pid, limit.resource, &raw const words, 0usize) })
}

/// Returns the hard limit, which an unprivileged process cannot raise.
pub(crate) fn hard_limit(resource: c_uint) -> u64 {
    let mut limit = [0u64, u64::MAX];
    // SAFETY: both words are the kernel's struct, which the call fills.
    let result = done(unsafe { libc::syscall(libc::SYS_prlimit64, 0, resource, 0usize, &raw mut limit) });
    if result.is_ok() { limit[1] } else { u64::MAX }
}

/// Sets the `nice` value of a process; 0 is this one. A process that already has a higher one keeps it.
pub(crate) fn lower_priority(pid: i32, nice: c_int) -> Result {
    // SAFETY: only numbers are handed over.
    match done(unsafe { libc::syscall(libc::SYS_setpriority, libc::PRIO_PROCESS, pid, nice) }) {
        // Raising the priority of a process with a higher `nice` value is not permitted, and not wanted.
        Err(libc::EACCES) => Ok(()),
        other => other,
    }
}

/// Sets the CPU affinity of a process and its future children; 0 is this one.
pub(crate) fn stay_on(pid: i32, processors: &rustix::thread::CpuSet) -> Result {
    let size = size_of_val(processors);
    // SAFETY: the set is a mask of bits, of which as many bytes are read as it has.
    done(unsafe { libc::syscall(libc::SYS_sched_setaffinity, pid, size, processors as *const _) })
}

/// How a process ended, and its resource usage.
#[derive(Clone, Copy, Default)]
pub(crate) struct Used {
    pub(crate) status: c_int,
    pub(crate) cpu: std::time::Duration,
    pub(crate) peak_memory: u64,
    pub(crate) written: u64,
}

/// A child that was reaped.
#[derive(Clone, Copy)]
pub(crate) struct EndedChild {
    pub(crate) pid: i32,
    pub(crate) status: c_int,
    /// Its own CPU time in whole seconds, as the kernel counts for RLIMIT_CPU.
    pub(crate) cpu_seconds: i32,
}

/// Reaps a child, if one has ended.
pub(crate) fn wait_any(block: bool) -> Result<Option<EndedChild>> {
    let Some(pid) = ended_child(block)? else { return Ok(None) };
    // The usage of wait4(2) includes reaped grandchildren, so the child's own CPU time is read from its clock before it is
    // reaped.
    let cpu_seconds = cpu_seconds_of(pid);
    let mut status: c_int = 0;
    // SAFETY: there is room for the status.
    check(unsafe { libc::syscall(libc::SYS_wait4, pid, &raw mut status, 0, 0usize) })?;
    Ok(Some(EndedChild { pid, status, cpu_seconds }))
}

/// Returns a child that has ended, without reaping it.
fn ended_child(block: bool) -> Result<Option<i32>> {
    // SAFETY: all zeros is what the kernel leaves where no child has ended.
    let mut information: libc::siginfo_t = unsafe { std::mem::zeroed() };
    let flags = libc::WEXITED | libc::WNOWAIT | if block { 0 } else { libc::WNOHANG };
    // SAFETY: there is room for what is said, and nothing is asked for about its use.
    done(unsafe { libc::syscall(libc::SYS_waitid, libc::P_ALL, 0, &raw mut information, flags, 0usize) })?;
    // SAFETY: waitid(2) fills this field, or leaves it 0.
    let pid = unsafe { information.si_pid() };
    Ok((pid != 0).then_some(pid))
}

/// Returns a process's own CPU time in whole seconds by the clock of RLIMIT_CPU: user and system time (CPUCLOCK_PROF, which
/// is 0 in the kernel, see clock_getcpuclockid(3)).
fn cpu_seconds_of(pid: i32) -> i32 {
    let clock: libc::clockid_t = !pid << 3;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: there is room for the time.
    done(unsafe { libc::syscall(libc::SYS_clock_gettime, clock, &raw mut time) }).ok();
    i32::try_from(time.tv_sec).unwrap_or(i32::MAX)
}

/// Returns the usage of all reaped descendants: CPU time in seconds and microseconds, peak memory in KiB, and KiB written to
/// disks.
pub(crate) fn used_by_children() -> [i32; 4] {
    // SAFETY: all zeros is a record of nothing used.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: there is room for the usage.
    done(unsafe { libc::syscall(libc::SYS_getrusage, libc::RUSAGE_CHILDREN, &raw mut usage) }).ok();
    let (user, system) = (usage.ru_utime, usage.ru_stime);
    let millionths = user.tv_usec + system.tv_usec;
    let seconds = user.tv_sec + system.tv_sec + millionths / 1_000_000;
    // The kernel counts writes, including those to the page cache, in blocks of 512 bytes.
    [seconds, millionths % 1_000_000, usage.ru_maxrss, usage.ru_oublock / 2]
        .map(|number| i32::try_from(number).unwrap_or(i32::MAX))
}

/// Reaps a process, and returns the usage of it and its reaped descendants.
pub(crate) fn wait_for(pid: i32) -> Result<Used> {
    let mut status: c_int = 0;
    // SAFETY: all zeros is a record of nothing used.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: there is room for the status and the usage.
        match check(unsafe { libc::syscall(libc::SYS_wait4, pid, &raw mut status, 0, &raw mut usage) }) {
            Err(libc::EINTR) => {}
            result => {
                result?;
                break;
            }
        }
    }
    let time = |time: libc::timeval| {
        std::time::Duration::new(time.tv_sec as u64, (time.tv_usec as u32).saturating_mul(1000))
    };
    let cpu = time(usage.ru_utime) + time(usage.ru_stime);
    let bytes = |number: i64, unit: u64| u64::try_from(number).unwrap_or_default().saturating_mul(unit);
    let (peak_memory, written) = (bytes(usage.ru_maxrss, 1024), bytes(usage.ru_oublock, 512));
    Ok(Used { status, cpu, peak_memory, written })
}
