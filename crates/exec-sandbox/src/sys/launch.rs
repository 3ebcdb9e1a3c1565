//! Everything that the first processes of a sandbox need, prepared before the fork.

use std::ffi::{CStr, CString, c_char};
use std::os::fd::{AsRawFd as _, OwnedFd, RawFd};

use rustix::thread::CpuSet;
use stockade_handoff::ListenerHandoff;

use super::argv_mailbox::ArgvAddress;
use super::raw::{
    self, ALL_SIGNALS, CapabilityMask, Errno, KernelLimit, MountAttributes, Result, Side, SignalMask,
};
use super::remove::ScratchDir;
use super::{init, landlock_init};
use crate::seccomp::{Architecture, CarriedOut, Instruction, Notified, observe};

/// The instructions and data for the first process.
pub(crate) struct Launch {
    /// Namespace flags of clone3(2); 0 where only Landlock confines the command.
    pub(crate) namespaces: u64,
    /// The sources of bind mounts.
    pub(crate) bind_sources: Vec<BindSource>,
    /// How the rootfs is built, in order.
    pub(crate) steps: Vec<Step>,
    pub(crate) loopback: bool,
    /// Where the listening sockets are sent, if there is a proxy.
    pub(crate) listener_to: Option<ListenerHandoff>,
    /// The signals that this program ignores, which have their default action in the sandbox.
    pub(crate) ignored: SignalMask,
    /// The user and group to change to, if different.
    pub(crate) identity: Option<(u32, u32)>,
    pub(crate) landlock: Option<Landlock>,
    pub(crate) filter: Vec<Instruction>,
    /// The filter that permits memfd_create(2), for kernels that can make such files non-executable; empty if it is not
    /// permitted.
    pub(crate) filter_with_memory_files: Vec<Instruction>,
    pub(crate) cwd: CString,
    /// Standard input, output and error.
    pub(crate) streams: [RawFd; 3],
    /// A descriptor that the sandbox must not inherit.
    pub(crate) feeding: Option<RawFd>,
    /// Whether these are a terminal, which becomes the command's controlling terminal.
    pub(crate) terminal: bool,
    /// The `nice` value of the command.
    pub(crate) nice: i32,
    /// Whether its whole session gets the lowest priority.
    pub(crate) is_idle: bool,
    pub(crate) limits: Vec<KernelLimit>,
    /// The limit on inotify instances in the user namespace.
    pub(crate) watchers: Option<CString>,
    /// The filter against new programs, and the secret arguments by which it recognizes the one permitted execve(2).
    pub(crate) last_filter: Vec<Instruction>,
    pub(crate) secret: [u64; 3],
    /// The observing filter, if system calls are observed.
    pub(crate) observed: Option<Observed>,
    /// The CPU affinity, if it is limited.
    pub(crate) processors: Option<CpuSet>,
    /// Candidate paths of the program, in order.
    pub(crate) programs: Vec<CString>,
    pub(crate) arguments: Strings,
    /// The mailbox for program and arguments, if they are not known yet.
    pub(crate) argv_mailbox: Option<ArgvAddress>,
    pub(crate) environment: Strings,
    /// Memory ranges of this program's arguments and environment, which the first process wipes.
    pub(crate) wipe: Vec<(usize, usize)>,
    /// The private directory on the disk, which the first process deletes at the end.
    pub(crate) scratch_dir: Option<ScratchDir>,
    /// Killed helper processes, reaped when this is dropped after the start.
    pub(crate) _ended: Vec<Ended>,
}

/// The observation of a command's system calls.
pub(crate) struct Observed {
    /// The filter that notifies the observer.
    pub(crate) filter: Vec<Instruction>,
    /// The socket to which the listener descriptor is sent.
    pub(crate) to: RawFd,
}

impl Observed {
    /// Starts the observation of this process. It keeps no copy of the listener, with which it could answer its own calls.
    pub(super) fn begin(&self) -> Result {
        let shown = raw::install_observing_filter(&self.filter)?;
        raw::send_descriptor(self.to, shown.as_raw_fd())
    }
}

/// The source of a bind mount.
pub(crate) struct BindSource {
    pub(crate) source: CString,
    pub(crate) attributes: MountAttributes,
    /// A prepared clone of the mount, where only the caller has the rights to create it.
    pub(crate) ready: Option<OwnedFd>,
}

/// One step of building the rootfs. Paths are relative to it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Folder(CString),
    File(CString),
    Link {
        path: CString,
        to: CString,
    },
    /// Creates a file with this content.
    Text {
        path: CString,
        text: Vec<u8>,
    },
    /// Mounts a new file system.
    Filesystem {
        kind: &'static CStr,
        path: CString,
        attributes: u64,
        options: CString,
        way: Way,
    },
    /// Bind-mounts a path by its name. The directories that lead to source and mount point are this machine's `/etc` and `/dev`
    /// or were made by steps, so that there is no symlink among them. A source that is a relative path is in the new root.
    Bind {
        source: CString,
        path: CString,
        missing: Missing,
    },
    /// Changes the mount at a path, or all mounts there and below.
    Restrict {
        path: CString,
        attributes: MountAttributes,
        reach: Reach,
    },
    /// Mounts a bind source at its target.
    Mount {
        bind_source: usize,
        path: CString,
        way: Way,
    },
    /// Mounts an overlay on one bind source. Changes are stored in the directories `upper` and `work` of another.
    Overlay {
        lower: usize,
        layer: usize,
        path: CString,
    },
    /// Bind-mounts a path on itself, with these attributes.
    Rebind {
        path: CString,
        attributes: MountAttributes,
    },
    /// Covers a file with a read-only one with this content, if it exists.
    Replace {
        path: CString,
        text: Vec<u8>,
    },
    /// Hides a file behind a device that cannot be opened, if it exists.
    MaskFile(CString),
    /// Hides a directory behind an empty one, if it exists.
    HideFolder(CString),
}

/// What a mount point that does not exist means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    /// The sandbox cannot be built.
    IsAnError,
    /// The kernel has no such file, so nothing is to be done.
    IsFine,
}

/// Which mounts a step changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    One,
    /// The one at the path and all below it.
    All,
}

/// Who made the directories that lead to a mount point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// Earlier steps or the kernel, on file systems of the sandbox: there is no symlink among them.
    OfSteps,
    /// Perhaps an attacker: they are on a file system of this machine, or may contain a symlink.
    Foreign,
}

/// A Landlock ruleset, see landlock(7).
pub(crate) struct Landlock {
    pub(crate) version: u32,
    pub(crate) handled: u64,
    pub(crate) scopes: u64,
    pub(crate) rules: Vec<(CString, u64)>,
    /// The command's terminal, which may not be at a visible path, and its rights.
    pub(crate) terminal: Option<(RawFd, u64)>,
}

/// Strings, with the null-terminated list of pointers for execve(2).
pub(crate) struct Strings {
    _texts: Vec<CString>,
    pointers: Vec<*const c_char>,
}

impl Strings {
    pub(crate) fn new(texts: Vec<CString>) -> Self {
        let pointers = texts.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect();
        Self { _texts: texts, pointers }
    }

    pub(super) fn as_ptr(&self) -> *const *const c_char {
        self.pointers.as_ptr()
    }
}

/// The signal that tells the first process to end all others, where no PID namespace does that. It is a real-time signal, which
/// programs hardly use.
pub(crate) const PARENT_GONE: i32 = 62;

/// A report of a process of the sandbox: a kind and numbers.
pub(crate) type Report = [i32; 8];

/// A step failed: the stage, the number of the step, and the error.
pub(crate) const REPORT_SETUP: i32 = 1;
/// The program could not be executed: the error.
pub(crate) const REPORT_EXEC: i32 = 2;
/// The command and all its descendants have ended: its wait status, the resource usage of all, the command's own CPU time in
/// seconds, and whether the limit on processes was reached.
pub(crate) const REPORT_END: i32 = 3;
/// The sandbox is ready, and waits for the go signal.
pub(crate) const REPORT_READY: i32 = 4;

/// A stage of the set-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum Stage {
    Identity = 1,
    Keyring,
    Host,
    Loopback,
    Sources,
    Root,
    Rootfs,
    Pivot,
    Capabilities,
    Landlock,
    Filter,
    Fork,
    Streams,
    Limits,
    Cwd,
    Listener,
    Observe,
}

const STAGES: &[(Stage, &str)] = &[
    (Stage::Identity, "becoming another user"),
    (Stage::Keyring, "creating a keyring"),
    (Stage::Host, "setting the host name"),
    (Stage::Loopback, "enabling the loopback"),
    (Stage::Sources, "cloning a mount"),
    (Stage::Root, "creating a new root"),
    (Stage::Rootfs, "building the rootfs"),
    (Stage::Pivot, "entering the new root"),
    (Stage::Capabilities, "dropping capabilities"),
    (Stage::Landlock, "enforcing the Landlock ruleset"),
    (Stage::Filter, "installing the seccomp filter"),
    (Stage::Fork, "starting a process"),
    (Stage::Streams, "setting up standard streams"),
    (Stage::Limits, "setting limits"),
    (Stage::Cwd, "entering the working directory"),
    (Stage::Listener, "passing sockets to the proxy"),
    (Stage::Observe, "observing system calls"),
];

/// Returns the description of a stage.
pub(crate) fn stage_in_words(stage: i32) -> &'static str {
    STAGES.iter().find(|row| row.0 as i32 == stage).map_or("setting up", |row| row.1)
}

/// A sandbox whose first process waits for the go signal.
pub(crate) struct SpawnedInit {
    pub(crate) pid: i32,
    pub(crate) pidfd: OwnedFd,
}

/// Starts the first process of a sandbox. It waits for a byte on `go` and reports on `reports`.
pub(crate) fn start(launch: &Launch, go: RawFd, reports: RawFd) -> Result<SpawnedInit> {
    // The child needs it to detect the death of this process: end of file on `go` never comes, because the child, and other
    // processes that are forked at the same time, hold the write end.
    let parent = raw::own_pidfd()?;
    // Allocated here, because the child must not allocate.
    let mut descriptors: Vec<RawFd> = vec![-1; launch.bind_sources.len()];
    // A signal between fork and the first line of `init` would run a handler of this program in the child.
    let mask = raw::set_signal_mask(ALL_SIGNALS)?;
    // SAFETY: the child runs `init`, which keeps to what is safe there and never returns.
    let side = unsafe { raw::clone_process(launch.namespaces) };
    if let Ok(Side::Child) = side {
        let _abort = raw::AbortOnUnwind;
        if let Some(feeding) = launch.feeding {
            raw::close_from_to(feeding, feeding);
        }
        if launch.namespaces == 0 {
            landlock_init::run(launch, parent.as_raw_fd(), go, reports);
        }
        init::run(launch, &mut descriptors, parent.as_raw_fd(), go, reports);
    }
    raw::set_signal_mask(mask).ok();
    match side? {
        Side::Parent { pid, pidfd: Some(pidfd) } => Ok(SpawnedInit { pid, pidfd }),
        _ => Err(libc::EINVAL),
    }
}

/// A killed process, reaped on drop: destroying its namespace takes the kernel a while.
pub(crate) struct Ended(i32);

impl Drop for Ended {
    fn drop(&mut self) {
        raw::wait_for(self.0).ok();
    }
}

/// Creates a user namespace with a waiting process in it, calls `with` with its process ID, and then ends the process.
pub(crate) fn with_user_namespace<T>(
    with: impl FnOnce(i32) -> std::io::Result<T>,
) -> std::io::Result<(T, Ended)> {
    let error = |errno: Errno| std::io::Error::from_raw_os_error(errno);
    let mask = raw::set_signal_mask(ALL_SIGNALS).map_err(error)?;
    let parent = raw::own_number();
    // SAFETY: the child makes a few calls, all safe there.
    let side = unsafe { raw::clone_process(libc::CLONE_NEWUSER as u64) };
    if let Ok(Side::Child) = side {
        raw::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as _).ok();
        // The process has all capabilities in its new namespace, and needs none.
        if raw::renounce_capabilities(CapabilityMask::NONE).is_err() {
            raw::exit(1);
        }
        // The parent may die before the prctl call. Polling its ID ends this process in that case. All signals but SIGKILL are
        // blocked.
        while raw::is_child_of(parent) {
            raw::wait_milliseconds(500);
        }
        raw::exit(1);
    }
    raw::set_signal_mask(mask).ok();
    let Side::Parent { pid, .. } = side.map_err(error)? else {
        return Err(error(libc::EINVAL));
    };
    let result = with(pid);
    raw::send_signal(pid, libc::SIGKILL).map_err(error)?;
    let ended = Ended(pid);
    Ok((result?, ended))
}

/// Limits the inotify instances in the user namespace of another process, which this user created.
pub(crate) fn bound_watchers_of(process: i32, most: &CStr) -> std::io::Result<()> {
    let error = |errno: Errno| std::io::Error::from_raw_os_error(errno);
    let path = CString::new(format!("/proc/{process}/ns/user"))?;
    let namespace = raw::open_for_reading(&path).map_err(error)?;
    let mask = raw::set_signal_mask(ALL_SIGNALS).map_err(error)?;
    // SAFETY: the child makes a few calls, all safe there.
    let side = unsafe { raw::clone_process(0) };
    if let Ok(Side::Child) = side {
        // Joining the namespace grants all capabilities in it, so its own are dropped before.
        let bounded = raw::renounce_capabilities(CapabilityMask::NONE)
            .and_then(|()| raw::join_user_namespace(namespace.as_raw_fd()))
            .and_then(|()| raw::bound_watchers(most));
        raw::exit(i32::from(bounded.is_err()));
    }
    raw::set_signal_mask(mask).ok();
    let Side::Parent { pid, .. } = side.map_err(error)? else {
        return Err(error(libc::EINVAL));
    };
    match raw::wait_for(pid).map_err(error)?.status {
        0 => Ok(()),
        _ => Err(error(libc::EPERM)),
    }
}

/// Whether a seccomp listener can be installed in a child process. It fails if one is installed already.
pub(crate) fn can_be_observed() -> bool {
    let Some(architecture) = Architecture::current() else { return false };
    let filter = observe(architecture, Notified { asks: false, modes: false, carried: CarriedOut::Nothing });
    let Ok(mask) = raw::set_signal_mask(ALL_SIGNALS) else { return false };
    // SAFETY: the child makes a few calls, all safe there.
    let side = unsafe { raw::clone_process(0) };
    if let Ok(Side::Child) = side {
        let tried = raw::renounce_capabilities(CapabilityMask::NONE)
            .and_then(|()| raw::prctl(libc::PR_SET_NO_NEW_PRIVS, 1))
            .and_then(|()| raw::install_observing_filter(&filter));
        raw::exit(i32::from(tried.is_err()));
    }
    raw::set_signal_mask(mask).ok();
    let Ok(Side::Parent { pid, .. }) = side else { return false };
    raw::wait_for(pid).is_ok_and(|used| used.status == 0)
}

/// Clones a mount of this machine with its attributes.
pub(crate) fn copy_mount(bind_source: &BindSource) -> Result<OwnedFd> {
    let source = raw::open_path(libc::AT_FDCWD, &bind_source.source, libc::O_PATH, false)?;
    let copy = raw::open_tree(source.as_raw_fd(), c"")?;
    raw::mount_setattr(copy.as_raw_fd(), &bind_source.attributes, true)?;
    Ok(copy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_namespace_holder_has_no_other_resources() {
        let Ok((held, ended)) = with_user_namespace(|pid| Ok(raw::held_by(pid))) else {
            return;
        };
        assert_eq!(held, [0; 4]);
        drop(ended);
    }
}
