//! Everything that the first processes of a sandbox need, ready before they are made.

use std::ffi::{CStr, CString, c_char};
use std::os::fd::{AsRawFd as _, OwnedFd, RawFd};

use rustix::thread::CpuSet;
use stockade_handoff::ListenerHandoff;

use super::argv_mailbox::ArgvAddress;
use super::raw::{self, ALL_SIGNALS, CapabilityMask, Errno, KernelLimit, MountAttributes, Result, Side};
use super::remove::ScratchDir;
use super::{init, landlock_init};
use crate::seccomp::{Architecture, CarriedOut, Instruction, Shown, observe};

/// What the first process does before it starts the command, and with what.
pub(crate) struct Launch {
    /// Flags of `clone`; none where Landlock alone keeps the command in.
    pub(crate) namespaces: u64,
    /// What is copied from this machine.
    pub(crate) bind_sources: Vec<BindSource>,
    /// How the rootfs is built, in order.
    pub(crate) steps: Vec<Step>,
    pub(crate) loopback: bool,
    /// Where the sockets are sent that the proxy listens on, if there is one.
    pub(crate) listener_to: Option<ListenerHandoff>,
    /// The user and group to become inside, if not the same.
    pub(crate) identity: Option<(u32, u32)>,
    pub(crate) landlock: Option<Landlock>,
    pub(crate) filter: Vec<Instruction>,
    /// The filter in its place where the kernel lets nobody make a file in memory that can be run; none where none may be made.
    pub(crate) filter_with_memory_files: Vec<Instruction>,
    pub(crate) cwd: CString,
    /// What becomes standard input, output and error.
    pub(crate) streams: [RawFd; 3],
    /// What only the launcher may hold.
    pub(crate) feeding: Option<RawFd>,
    /// Whether these are a terminal, which becomes the command's own.
    pub(crate) terminal: bool,
    /// How far it stands back behind other programs (`nice`).
    pub(crate) nice: i32,
    /// Whether its session as a whole does so.
    pub(crate) is_idle: bool,
    pub(crate) limits: Vec<KernelLimit>,
    /// How many lists of watched files may be made, where there is a user namespace.
    pub(crate) watchers: Option<CString>,
    /// What is installed last, after which only the command starts, and what lets it.
    pub(crate) last_filter: Vec<Instruction>,
    pub(crate) secret: [u64; 3],
    /// How calls are shown, if somebody looks on.
    pub(crate) observed: Option<Observed>,
    /// The processors to run on, if not all.
    pub(crate) processors: Option<CpuSet>,
    /// Where the program may be, in the order in which to try.
    pub(crate) programs: Vec<CString>,
    pub(crate) arguments: Strings,
    /// Where program and arguments will stand, if they are not known yet.
    pub(crate) argv_mailbox: Option<ArgvAddress>,
    pub(crate) environment: Strings,
    /// Where this program's own arguments and variables lie: the first process is a copy of it.
    pub(crate) wipe: Vec<(usize, usize)>,
    /// What the first process removes at the end, where the command has a folder of its own on the disk.
    pub(crate) scratch_dir: Option<ScratchDir>,
    /// What was ended already and is waited for with this, when the sandbox has begun.
    pub(crate) _ended: Vec<Ended>,
}

/// Who looks on at what a command asks for.
pub(crate) struct Observed {
    /// What shows it.
    pub(crate) filter: Vec<Instruction>,
    /// Where the descriptor is sent at which it is shown.
    pub(crate) to: RawFd,
}

impl Observed {
    /// Lets the calls of this process be shown from now on. It keeps nothing by which it could see or answer them itself.
    pub(super) fn begin(&self) -> Result {
        let shown = raw::install_observing_filter(&self.filter)?;
        raw::send_descriptor(self.to, shown.as_raw_fd())
    }
}

/// Something of this machine that is to be visible.
pub(crate) struct BindSource {
    pub(crate) source: CString,
    pub(crate) attributes: MountAttributes,
    /// A copy that was made already, where only the caller may make it.
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
    /// Makes a file that holds a text.
    Text {
        path: CString,
        text: Vec<u8>,
    },
    Scratch {
        path: CString,
        size: CString,
        names: CString,
        mode: CString,
        attributes: u64,
    },
    Processes(CString),
    Terminals(CString),
    /// Mounts a bind source at its target.
    Mount {
        bind_source: usize,
        path: CString,
    },
    /// Mounts a view of one bind source, whose changes are kept in the folders `upper` and `work` of another.
    Overlay {
        lower: usize,
        layer: usize,
        path: CString,
    },
    /// Mounts what is there on itself, with these attributes.
    Rebind {
        path: CString,
        attributes: MountAttributes,
    },
    /// Makes what is there read-only. What is not there needs none of it.
    Freeze(CString),
    /// Puts nothing on top of a file. What is not there needs none of it.
    HideFile(CString),
    /// Puts a device on top of a file that nobody can open. What is not there needs none of it.
    MaskFile(CString),
    HideFolder(CString),
}

/// A Landlock ruleset, see landlock(7).
pub(crate) struct Landlock {
    pub(crate) version: u32,
    pub(crate) handled: u64,
    pub(crate) scopes: u64,
    pub(crate) rules: Vec<(CString, u64)>,
    /// The command's terminal, which may lie at no path that it sees, and its rights.
    pub(crate) terminal: Option<(RawFd, u64)>,
}

/// Texts, and the list of pointers to them that `execve` wants.
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

/// Tells the first process to end all others, where no namespace does that. No program uses this signal.
pub(crate) const PARENT_GONE: i32 = 62;

/// What a process of the sandbox says about itself: a kind and some numbers.
pub(crate) type Report = [i32; 8];

/// A step failed: which stage, which step of it, and the error.
pub(crate) const REPORT_SETUP: i32 = 1;
/// The program could not be started: the error.
pub(crate) const REPORT_EXEC: i32 = 2;
/// The command has ended, and all that it started: its status, as wait(2) tells it, what all of them used up, how many seconds
/// of a processor the command itself did, and whether there were as many processes at its end as there may be.
pub(crate) const REPORT_END: i32 = 3;
/// Everything is made, and the word to begin is waited for.
pub(crate) const REPORT_READY: i32 = 4;

/// A part of the work before the command starts.
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
    (Stage::Keyring, "leaving inherited keys behind"),
    (Stage::Host, "naming the machine"),
    (Stage::Loopback, "switching the loopback on"),
    (Stage::Sources, "copying a mount"),
    (Stage::Root, "making a new root"),
    (Stage::Rootfs, "building the rootfs"),
    (Stage::Pivot, "entering the new root"),
    (Stage::Capabilities, "giving up capabilities"),
    (Stage::Landlock, "enforcing the Landlock ruleset"),
    (Stage::Filter, "installing the filter of system calls"),
    (Stage::Fork, "starting a process"),
    (Stage::Streams, "handing over standard streams"),
    (Stage::Limits, "setting limits"),
    (Stage::Cwd, "entering the folder to start in"),
    (Stage::Listener, "handing sockets to the proxy"),
    (Stage::Observe, "letting what the command asks for be seen"),
];

/// Says what was being done at a stage.
pub(crate) fn stage_in_words(stage: i32) -> &'static str {
    STAGES.iter().find(|row| row.0 as i32 == stage).map_or("setting up", |row| row.1)
}

/// A sandbox whose first process waits for the word to go on.
pub(crate) struct SpawnedInit {
    pub(crate) pid: i32,
    pub(crate) pidfd: OwnedFd,
}

/// Starts the first process of a sandbox. It waits for a byte on `go` and reports on `reports`.
pub(crate) fn start(launch: &Launch, go: RawFd, reports: RawFd) -> Result<SpawnedInit> {
    // It knows of no other way whether this one is still there: it holds both ends of `go`, as may others that are made now.
    let parent = raw::own_pidfd()?;
    // Room for the descriptor of each bind source: the process may not allocate.
    let mut descriptors: Vec<RawFd> = vec![-1; launch.bind_sources.len()];
    // A signal that came between birth and the first line of `init` would run a handler of this program there.
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

/// A process that was ended. It is waited for when this is dropped, since the kernel takes its time.
pub(crate) struct Ended(i32);

impl Drop for Ended {
    fn drop(&mut self) {
        raw::wait_for(self.0).ok();
    }
}

/// Makes a user namespace with a process in it that only waits, and gives that to `with`. Then the process is ended.
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
        // In its own namespace it holds everything, and has no use for any of it.
        if raw::drop_held_capabilities(CapabilityMask::NONE).is_err() {
            raw::exit(1);
        }
        // The parent may die while the first line is carried out, and then neither sees the other go. So this looks again, and
        // nothing waits for ever. Every signal but SIGKILL is blocked.
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

/// Bounds how many lists of watched files there are in the user namespace of another process, which this user has made.
pub(crate) fn bound_watchers_of(process: i32, most: &CStr) -> std::io::Result<()> {
    let error = |errno: Errno| std::io::Error::from_raw_os_error(errno);
    let path = CString::new(format!("/proc/{process}/ns/user"))?;
    let namespace = raw::open_for_reading(&path).map_err(error)?;
    let mask = raw::set_signal_mask(ALL_SIGNALS).map_err(error)?;
    // SAFETY: the child makes a few calls, all safe there.
    let side = unsafe { raw::clone_process(0) };
    if let Ok(Side::Child) = side {
        // What it holds it gains by joining, and that namespace alone obeys it.
        let bounded = raw::drop_held_capabilities(CapabilityMask::NONE)
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

/// Whether a process of this program can have its calls shown to another: nobody sees them so already.
pub(crate) fn can_be_observed() -> bool {
    let Some(architecture) = Architecture::current() else { return false };
    let filter = observe(architecture, Shown { asks: false, modes: false, carried: CarriedOut::Nothing });
    let Ok(mask) = raw::set_signal_mask(ALL_SIGNALS) else { return false };
    // SAFETY: the child makes a few calls, all safe there.
    let side = unsafe { raw::clone_process(0) };
    if let Ok(Side::Child) = side {
        let tried = raw::drop_held_capabilities(CapabilityMask::NONE)
            .and_then(|()| raw::prctl(libc::PR_SET_NO_NEW_PRIVS, 1))
            .and_then(|()| raw::install_observing_filter(&filter));
        raw::exit(i32::from(tried.is_err()));
    }
    raw::set_signal_mask(mask).ok();
    let Ok(Side::Parent { pid, .. }) = side else { return false };
    raw::wait_for(pid).is_ok_and(|used| used.status == 0)
}

/// Copies a mount of this machine with its attributes.
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
    fn what_holds_a_user_namespace_open_holds_nothing_else() {
        let Ok((held, ended)) = with_user_namespace(|pid| Ok(raw::held_by(pid))) else {
            return;
        };
        assert_eq!(held, [0; 4]);
        drop(ended);
    }
}
