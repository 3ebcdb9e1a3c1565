//! One system call a function, for what rustix does not offer or may not do between fork and exec.

use std::ffi::{CStr, c_char, c_int, c_long, c_uint, c_ulong};
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd, RawFd};

use crate::seccomp::Instruction;

/// The number of an error, as the kernel gives it.
pub(crate) type Errno = i32;

pub(crate) type Result<T = (), E = Errno> = std::result::Result<T, E>;

fn check(result: c_long) -> Result<c_long> {
    if result >= 0 {
        return Ok(result);
    }
    // SAFETY: it returns where this thread's last error is kept, which is always readable.
    Err(unsafe { *libc::__errno_location() })
}

/// Where the C library keeps the last error of this thread.
pub(super) fn place_of_the_last_error() -> usize {
    // SAFETY: it only tells a place.
    unsafe { libc::__errno_location() as usize }
}

/// Gives memory back.
///
/// # Safety
///
/// Nothing in it may be used again.
pub(super) unsafe fn unmap(start: usize, length: usize) {
    // SAFETY: the caller promises it.
    done(unsafe { libc::syscall(libc::SYS_munmap, start, length) }).ok();
}

fn done(result: c_long) -> Result {
    check(result).map(|_| ())
}

/// Takes over a descriptor that a call has just made.
fn descriptor(result: c_long) -> Result<OwnedFd> {
    let number = check(result)?;
    // SAFETY: the kernel has just made this descriptor for us, and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(number as RawFd) })
}

/// Which side of a fork this is.
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

/// Makes a copy of this thread as a process, in new namespaces.
///
/// # Safety
///
/// In the child, only calls that are safe in a signal handler may be made until it is replaced or ends: no allocation,
/// no lock, no unwinding.
pub(crate) unsafe fn clone_process(flags: u64) -> Result<Side> {
    let mut pidfd: RawFd = -1;
    let arguments = CloneArguments {
        flags: flags | libc::CLONE_PIDFD as u64,
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

/// Makes a copy of this process, by the call that the filter permits.
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

/// Ends this process at once.
pub(crate) fn exit(code: c_int) -> ! {
    // SAFETY: it does not return and runs nothing of this program.
    unsafe { libc::_exit(code) }
}

/// Ends a process that a bug would lead out of here: what it would come back to is the program that it is a copy of.
pub(crate) struct NoWayBack;

impl Drop for NoWayBack {
    fn drop(&mut self) {
        exit(1);
    }
}

/// What becomes of a mount.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct MountAttributes {
    pub(crate) set: u64,
    pub(crate) clear: u64,
    pub(crate) propagation: u64,
    pub(crate) user_namespace: u64,
}

/// Changes a mount, and with `recursive` those below it.
pub(crate) fn mount_setattr(mount: RawFd, attributes: &MountAttributes, recursive: bool) -> Result {
    let flags = libc::AT_EMPTY_PATH | if recursive { libc::AT_RECURSIVE } else { 0 };
    let size = size_of::<MountAttributes>();
    // SAFETY: the empty name ends in 0, and the attributes have the size that is given.
    done(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount,
            c"".as_ptr(),
            flags,
            attributes as *const MountAttributes,
            size,
        )
    })
}

/// Opens a path without following links: below `folder`, or anywhere if that is the root.
pub(crate) fn open_path(folder: RawFd, path: &CStr, flags: c_int, beneath: bool) -> Result<OwnedFd> {
    const NO_MAGICLINKS: u64 = 0x02;
    const NO_SYMLINKS: u64 = 0x04;
    const BENEATH: u64 = 0x08;
    let resolve = NO_MAGICLINKS | NO_SYMLINKS | if beneath { BENEATH } else { 0 };
    let how: [u64; 3] = [(flags | libc::O_CLOEXEC) as u64, 0, resolve];
    // SAFETY: the path ends in 0, and `how` is laid out like the kernel's struct of three words.
    descriptor(unsafe {
        libc::syscall(libc::SYS_openat2, folder, path.as_ptr(), &raw const how, size_of_val(&how))
    })
}

/// Whether there is something at a path, as far as this process may see.
pub(crate) fn is_there(path: &CStr) -> bool {
    // SAFETY: the path ends in 0.
    done(unsafe { libc::syscall(libc::SYS_faccessat, libc::AT_FDCWD, path.as_ptr(), libc::F_OK) }).is_ok()
}

/// Opens a file of the kernel's own, whose path may hold links of the kernel's own.
pub(crate) fn open_for_writing(path: &CStr) -> Result<OwnedFd> {
    let flags = libc::O_WRONLY | libc::O_CLOEXEC;
    // SAFETY: the path ends in 0.
    descriptor(unsafe { libc::syscall(libc::SYS_openat, libc::AT_FDCWD, path.as_ptr(), flags, 0) })
}

/// Opens a file of the kernel's own to read it.
pub(crate) fn open_for_reading(path: &CStr) -> Result<OwnedFd> {
    let flags = libc::O_RDONLY | libc::O_CLOEXEC;
    // SAFETY: the path ends in 0.
    descriptor(unsafe { libc::syscall(libc::SYS_openat, libc::AT_FDCWD, path.as_ptr(), flags, 0) })
}

/// Reads as much as there is room for, and says how much that was.
pub(crate) fn read(from: RawFd, room: &mut [u8]) -> Result<usize> {
    // SAFETY: the room has the length that is given.
    check(unsafe { libc::syscall(libc::SYS_read, from, room.as_mut_ptr(), room.len()) })
        .map(|count| count as usize)
}

/// Copies the mounts at a descriptor.
pub(crate) fn open_tree(at: RawFd, path: &CStr) -> Result<OwnedFd> {
    // OPEN_TREE_CLONE
    let flags = 1 | libc::O_CLOEXEC | libc::AT_EMPTY_PATH | libc::AT_RECURSIVE;
    // SAFETY: the path ends in 0.
    descriptor(unsafe { libc::syscall(libc::SYS_open_tree, at, path.as_ptr(), flags) })
}

/// Puts a mount that is nowhere yet on top of what a descriptor stands for.
pub(crate) fn move_mount(mount: RawFd, target: RawFd) -> Result {
    const BOTH_PATHS_EMPTY: c_uint = 0x04 | 0x40;
    let empty = c"".as_ptr();
    // SAFETY: both names are empty and end in 0.
    done(unsafe { libc::syscall(libc::SYS_move_mount, mount, empty, target, empty, BOTH_PATHS_EMPTY) })
}

/// Makes a new file system of a kind, with these options, mounted nowhere yet.
pub(crate) fn new_filesystem(kind: &CStr, options: &[(&CStr, &CStr)], attributes: u64) -> Result<OwnedFd> {
    const CLOEXEC: c_uint = 1;
    const SET_STRING: c_uint = 1;
    const CREATE: c_uint = 6;
    // SAFETY: the name ends in 0.
    let context = descriptor(unsafe { libc::syscall(libc::SYS_fsopen, kind.as_ptr(), CLOEXEC) })?;
    let context = context.as_raw_fd();
    for (name, value) in options {
        // SAFETY: both strings end in 0.
        done(unsafe {
            libc::syscall(libc::SYS_fsconfig, context, SET_STRING, name.as_ptr(), value.as_ptr(), 0)
        })?;
    }
    // SAFETY: this command takes no strings.
    done(unsafe { libc::syscall(libc::SYS_fsconfig, context, CREATE, 0usize, 0usize, 0) })?;
    // SAFETY: only numbers are handed over.
    descriptor(unsafe { libc::syscall(libc::SYS_fsmount, context, CLOEXEC, attributes as c_uint) })
}

pub(crate) fn make_folder(at: RawFd, path: &CStr, mode: u32) -> Result {
    // SAFETY: the path ends in 0.
    done(unsafe { libc::syscall(libc::SYS_mkdirat, at, path.as_ptr(), mode) })
}

/// Makes an empty file.
pub(crate) fn make_file(at: RawFd, path: &CStr) -> Result {
    // SAFETY: the path ends in 0.
    done(unsafe { libc::syscall(libc::SYS_mknodat, at, path.as_ptr(), libc::S_IFREG | 0o444, 0) })
}

pub(crate) fn make_link(at: RawFd, path: &CStr, to: &CStr) -> Result {
    // SAFETY: both paths end in 0.
    done(unsafe { libc::syscall(libc::SYS_symlinkat, to.as_ptr(), at, path.as_ptr()) })
}

pub(crate) fn unlink(at: RawFd, path: &CStr, flags: c_int) -> Result {
    // SAFETY: the path ends in 0.
    done(unsafe { libc::syscall(libc::SYS_unlinkat, at, path.as_ptr(), flags) })
}

pub(crate) fn enter(folder: RawFd) -> Result {
    // SAFETY: only a number is handed over.
    done(unsafe { libc::syscall(libc::SYS_fchdir, folder) })
}

pub(crate) fn change_folder(path: &CStr) -> Result {
    // SAFETY: the path ends in 0.
    done(unsafe { libc::syscall(libc::SYS_chdir, path.as_ptr()) })
}

/// Makes the current folder the root, and lets go of the old one.
pub(crate) fn become_root_here() -> Result {
    let here = c".".as_ptr();
    // SAFETY: the paths end in 0. The old root comes to lie on top of the new one, where it is taken off.
    done(unsafe { libc::syscall(libc::SYS_pivot_root, here, here) })?;
    // SAFETY: the path ends in 0.
    done(unsafe { libc::syscall(libc::SYS_umount2, here, libc::MNT_DETACH) })
}

pub(crate) fn set_hostname(name: &[u8]) -> Result {
    // SAFETY: the length is that of the name.
    done(unsafe { libc::syscall(libc::SYS_sethostname, name.as_ptr(), name.len()) })
}

/// Switches the loopback of this network on.
pub(crate) fn loopback_up() -> Result {
    // SAFETY: only numbers are handed over.
    let socket = descriptor(unsafe {
        libc::syscall(libc::SYS_socket, libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0)
    })?;
    // SAFETY: all zeros is a request without a name and flags.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = *from as c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as _;
    // SAFETY: the request is what this call expects.
    done(unsafe {
        libc::syscall(libc::SYS_ioctl, socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request)
    })
}

pub(crate) fn tcp_socket() -> Result<OwnedFd> {
    let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC;
    // SAFETY: only numbers are handed over.
    descriptor(unsafe { libc::syscall(libc::SYS_socket, libc::AF_INET, kind, 0) })
}

/// Lets a socket listen on the loopback of the network that it was made in.
pub(crate) fn listen_on_loopback(socket: RawFd, port: u16, waiting: c_int) -> Result {
    let address = libc::sockaddr_in {
        sin_family: libc::AF_INET as _,
        sin_port: port.to_be(),
        sin_addr: libc::in_addr { s_addr: libc::INADDR_LOOPBACK.to_be() },
        sin_zero: [0; 8],
    };
    // SAFETY: the address is what this call expects, and its size is told.
    done(unsafe { libc::syscall(libc::SYS_bind, socket, &raw const address, size_of_val(&address)) })?;
    // SAFETY: only numbers are handed over.
    done(unsafe { libc::syscall(libc::SYS_listen, socket, waiting) })
}

/// Hands a copy of a descriptor to whoever holds the other end of a socket. A byte goes with it, as it must.
pub(crate) fn send_descriptor(to: RawFd, descriptor: RawFd) -> Result {
    /// The header of a message and one number behind it, as the kernel lays them out.
    #[repr(C)]
    struct Handed {
        header: libc::cmsghdr,
        descriptor: RawFd,
    }
    let header = libc::cmsghdr {
        cmsg_len: (size_of::<libc::cmsghdr>() + size_of::<RawFd>()) as _,
        cmsg_level: libc::SOL_SOCKET,
        cmsg_type: libc::SCM_RIGHTS,
    };
    let mut handed = Handed { header, descriptor };
    let mut byte = b'd';
    let mut part = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    // SAFETY: all zeros is an empty message.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = (&raw mut handed).cast();
    message.msg_controllen = size_of::<Handed>() as _;
    // SAFETY: the message points to one byte and one header, both of which live until the call returns.
    done(unsafe { libc::syscall(libc::SYS_sendmsg, to, &raw const message, libc::MSG_NOSIGNAL) })
}

/// Leaves the keys that were inherited behind. A kernel without keys has none to leave.
pub(crate) fn new_keyring() -> Result {
    const JOIN_SESSION_KEYRING: c_int = 1;
    // SAFETY: without a name, a new keyring is made.
    match done(unsafe { libc::syscall(libc::SYS_keyctl, JOIN_SESSION_KEYRING, 0usize) }) {
        Err(libc::ENOSYS) => Ok(()),
        result => result,
    }
}

pub(crate) fn set_ids(user: u32, group: u32) -> Result {
    // SAFETY: no group is read, because there are none.
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

/// Gives up every capability, also those that a program could bring.
pub(crate) fn drop_capabilities() -> Result {
    // Root is a user like any other, and all of this is locked: SECBIT_NOROOT, NO_SETUID_FIXUP, no KEEP_CAPS, NO_CAP_AMBIENT_RAISE.
    const SECURE_BITS: c_ulong = 0b1110_1111;
    const VERSION_3: u32 = 0x2008_0522;
    for capability in 0..64 {
        match prctl(libc::PR_CAPBSET_DROP, capability) {
            // The kernel knows no capability of this number, nor any higher.
            Err(libc::EINVAL) => break,
            result => result?,
        }
    }
    prctl(libc::PR_SET_SECUREBITS, SECURE_BITS)?;
    let (header, none) = ([VERSION_3, 0u32], [0u32; 6]);
    // SAFETY: the header and the sets are laid out as version 3 wants them.
    done(unsafe { libc::syscall(libc::SYS_capset, &raw const header, &raw const none) })
}

/// Whether this process has a capability that it can give up.
pub(crate) fn has_capabilities() -> bool {
    const VERSION_3: u32 = 0x2008_0522;
    let (header, mut sets) = ([VERSION_3, 0u32], [0u32; 6]);
    // SAFETY: the header and the sets are laid out as version 3 wants them.
    let read = done(unsafe { libc::syscall(libc::SYS_capget, &raw const header, &raw mut sets) });
    read.is_err() || sets.iter().any(|set| *set != 0)
}

#[repr(C)]
struct Program {
    length: u16,
    instructions: *const Instruction,
}

/// Lets the kernel run a program before each system call from now on.
pub(crate) fn install_filter(program: &[Instruction]) -> Result {
    const SET_MODE_FILTER: c_uint = 1;
    let program = Program { length: program.len() as u16, instructions: program.as_ptr() };
    // SAFETY: the program is as long as it says and lives until the call has returned; the kernel keeps a copy.
    done(unsafe { libc::syscall(libc::SYS_seccomp, SET_MODE_FILTER, 0, &raw const program) })
}

/// The version of Landlock that the kernel has; 0 if none.
pub(crate) fn landlock_version() -> u32 {
    // SAFETY: without attributes, the call only tells the version.
    check(unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, 0usize, 0usize, 1) })
        .map_or(0, |it| it as u32)
}

/// Makes a set of rules that handles these rights and scopes.
pub(crate) fn landlock_ruleset(files: u64, scopes: u64, version: u32) -> Result<OwnedFd> {
    let attributes: [u64; 3] = [files, 0, scopes];
    // Older kernels know fewer words.
    let size = if version >= 6 { 24 } else { 8 };
    // SAFETY: the words are the kernel's struct, at least as long as the size.
    descriptor(unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, &raw const attributes, size, 0) })
}

#[repr(C, packed)]
struct PathBeneath {
    allowed: u64,
    parent: RawFd,
}

/// Allows these rights at and below a path.
pub(crate) fn landlock_allow(ruleset: BorrowedFd<'_>, parent: RawFd, allowed: u64) -> Result {
    const PATH_BENEATH: c_int = 1;
    let rule = PathBeneath { allowed, parent };
    // SAFETY: the rule is laid out as the kernel wants it.
    done(unsafe {
        libc::syscall(libc::SYS_landlock_add_rule, ruleset.as_raw_fd(), PATH_BENEATH, &raw const rule, 0)
    })
}

pub(crate) fn landlock_restrict(ruleset: BorrowedFd<'_>) -> Result {
    // SAFETY: only numbers are handed over.
    done(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), 0) })
}

pub(crate) fn set_limit(resource: c_uint, limit: u64) -> Result {
    set_limit_of(0, resource, limit)
}

/// Sets a limit of a process; 0 is this one.
pub(crate) fn set_limit_of(pid: i32, resource: c_uint, limit: u64) -> Result {
    let limit = [limit, limit];
    // SAFETY: both words are the kernel's struct; nothing is written back.
    done(unsafe { libc::syscall(libc::SYS_prlimit64, pid, resource, &raw const limit, 0usize) })
}

/// Returns the hard limit, which cannot be raised.
pub(crate) fn hard_limit(resource: c_uint) -> u64 {
    let mut limit = [0u64, u64::MAX];
    // SAFETY: both words are the kernel's struct, which the call fills.
    let result = done(unsafe { libc::syscall(libc::SYS_prlimit64, 0, resource, 0usize, &raw mut limit) });
    if result.is_ok() { limit[1] } else { u64::MAX }
}

/// Lets others go before a process; 0 is this one.
pub(crate) fn lower_priority(pid: i32, nice: c_int) -> Result {
    // SAFETY: only numbers are handed over.
    done(unsafe { libc::syscall(libc::SYS_setpriority, libc::PRIO_PROCESS, pid, nice) })
}

/// Bounds a process, and all that it starts, to these processors; 0 is this one.
pub(crate) fn stay_on(pid: i32, processors: &rustix::thread::CpuSet) -> Result {
    let size = size_of_val(processors);
    // SAFETY: the set is a mask of bits, of which as many bytes are read as it has.
    done(unsafe { libc::syscall(libc::SYS_sched_setaffinity, pid, size, processors as *const _) })
}

pub(crate) fn new_session() -> Result {
    // SAFETY: it takes nothing.
    done(unsafe { libc::syscall(libc::SYS_setsid) })
}

/// Makes a terminal that of the session which this process leads; its keys reach the processes of this one's group.
pub(crate) fn take_terminal(terminal: RawFd) -> Result {
    // SAFETY: only numbers are handed over.
    done(unsafe { libc::syscall(libc::SYS_ioctl, terminal, libc::TIOCSCTTY, 0) })
}

pub(crate) fn duplicate(from: RawFd, to: RawFd) -> Result {
    if from == to {
        // SAFETY: only numbers are handed over; clears the mark by which exec closes it.
        return done(unsafe { libc::syscall(libc::SYS_fcntl, from, libc::F_SETFD, 0) });
    }
    // SAFETY: only numbers are handed over.
    done(unsafe { libc::syscall(libc::SYS_dup3, from, to, 0) })
}

/// Closes descriptors from `first` to `last`.
pub(crate) fn close_from_to(first: RawFd, last: RawFd) {
    if first <= last {
        // SAFETY: in a process that is about to do nothing with them. They are nobody else's.
        done(unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) }).ok();
    }
}

/// Closes all descriptors but these two, and those below `first`.
pub(crate) fn close_all_from_but(first: RawFd, one: RawFd, other: RawFd) {
    let (low, high) = (one.min(other), one.max(other));
    close_from_to(first, low - 1);
    close_from_to(low.max(first - 1) + 1, high - 1);
    close_from_to(high.max(first - 1) + 1, RawFd::MAX);
}

/// Closes all descriptors but these two.
pub(crate) fn close_all_but(one: RawFd, other: RawFd) {
    close_all_from_but(0, one, other);
}

/// Lets exec close every descriptor from `first` on.
pub(crate) fn close_on_exec(first: RawFd) -> Result {
    const CLOEXEC: c_uint = 4;
    // SAFETY: it only marks descriptors.
    done(unsafe { libc::syscall(libc::SYS_close_range, first, c_uint::MAX, CLOEXEC) })
}

/// Reads one byte; nothing if the other end is closed.
pub(crate) fn read_byte(from: RawFd) -> Option<u8> {
    let mut byte = 0u8;
    // SAFETY: there is room for one byte.
    match check(unsafe { libc::syscall(libc::SYS_read, from, &raw mut byte, 1) }) {
        Ok(1) => Some(byte),
        _ => None,
    }
}

/// Writes words at once. Whoever is gone does not read them.
pub(crate) fn write_words(to: RawFd, words: &[i32; 4]) {
    // SAFETY: as many bytes are read as the words have.
    done(unsafe { libc::syscall(libc::SYS_write, to, words.as_ptr(), size_of_val(words)) }).ok();
}

pub(crate) fn write(to: RawFd, text: &[u8]) -> Result {
    // SAFETY: as many bytes are read as the text has.
    done(unsafe { libc::syscall(libc::SYS_write, to, text.as_ptr(), text.len()) })
}

/// Waits until there is something to read, but not longer than this.
pub(crate) fn is_readable_within(from: RawFd, milliseconds: i64) -> bool {
    let mut poll = libc::pollfd { fd: from, events: libc::POLLIN, revents: 0 };
    let mut time = [0, milliseconds * 1_000_000];
    // SAFETY: there is one entry, and the time is the kernel's struct of two words; no mask is given.
    let ready = check(unsafe { libc::syscall(libc::SYS_ppoll, &raw mut poll, 1, &raw mut time, 0usize, 0) });
    ready.is_ok_and(|ready| ready > 0)
}

/// Waits.
pub(crate) fn wait_milliseconds(milliseconds: i64) {
    let mut time = [0, milliseconds * 1_000_000];
    // SAFETY: there are no entries, and the time is the kernel's struct of two words; no mask is given.
    done(unsafe { libc::syscall(libc::SYS_ppoll, 0usize, 0, &raw mut time, 0usize, 0) }).ok();
}

/// The kernel's own signal mask, which is smaller than the C library's.
pub(crate) type SignalMask = u64;

pub(crate) const ALL_SIGNALS: SignalMask = u64::MAX;

/// Blocks exactly these signals and returns what was blocked before.
pub(crate) fn set_signal_mask(mask: SignalMask) -> Result<SignalMask> {
    let mut old: SignalMask = 0;
    // SAFETY: both masks have the size that is given.
    done(unsafe {
        libc::syscall(libc::SYS_rt_sigprocmask, libc::SIG_SETMASK, &raw const mask, &raw mut old, 8)
    })?;
    Ok(old)
}

/// Gives every signal its ordinary effect. Ignored ones would stay ignored in the command.
pub(crate) fn reset_signals() {
    // The kernel's struct: handler, flags, restorer, mask; all zeros is the ordinary effect.
    let ordinary = [0u64; 4];
    for signal in 1..=64 {
        // SAFETY: the struct is the kernel's. SIGKILL and SIGSTOP cannot be changed, which is no harm.
        done(unsafe { libc::syscall(libc::SYS_rt_sigaction, signal, &raw const ordinary, 0usize, 8) }).ok();
    }
}

/// Returns a descriptor from which blocked signals are read.
pub(crate) fn signal_descriptor(mask: SignalMask) -> Result<OwnedFd> {
    // SAFETY: the mask has the size that is given.
    descriptor(unsafe { libc::syscall(libc::SYS_signalfd4, -1, &raw const mask, 8, libc::SFD_CLOEXEC) })
}

/// Waits for a signal and returns its number.
pub(crate) fn read_signal(from: RawFd) -> Result<c_int> {
    const SIZE: usize = 128;
    let mut record = [0u32; SIZE / 4];
    // SAFETY: a record of the kernel's has exactly this size.
    check(unsafe { libc::syscall(libc::SYS_read, from, record.as_mut_ptr(), SIZE) })?;
    Ok(record[0] as c_int)
}

pub(crate) fn send_signal(pid: i32, signal: c_int) -> Result {
    // SAFETY: only numbers are handed over.
    done(unsafe { libc::syscall(libc::SYS_kill, pid, signal) })
}

/// Waits for a signal that is not blocked.
pub(crate) fn pause() {
    // SAFETY: it takes nothing to read or write: no descriptors, no time limit.
    done(unsafe { libc::syscall(libc::SYS_ppoll, 0usize, 0, 0usize, 0usize, 0) }).ok();
}

/// How a process ended, and what it used up.
pub(crate) struct Used {
    pub(crate) status: c_int,
    pub(crate) cpu: std::time::Duration,
    pub(crate) peak_memory: u64,
}

/// Returns the process that ended, if one did, and how.
pub(crate) fn wait_any(block: bool) -> Result<Option<(i32, c_int)>> {
    let mut status: c_int = 0;
    let flags = if block { 0 } else { libc::WNOHANG };
    // SAFETY: there is room for the status.
    let pid = check(unsafe { libc::syscall(libc::SYS_wait4, -1, &raw mut status, flags, 0usize) })?;
    Ok((pid != 0).then_some((pid as i32, status)))
}

/// Waits for one process and returns what it and its own used up.
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
    Ok(Used { status, cpu, peak_memory: (usage.ru_maxrss as u64).saturating_mul(1024) })
}

/// Replaces this process by a program. Returns only if that failed. The kernel has no use for the last three words.
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

/// Overwrites memory of this process with zeros.
///
/// # Safety
///
/// The range is mapped, writable, and nothing relies on what stands in it.
pub(crate) unsafe fn wipe(start: usize, length: usize) {
    // SAFETY: the caller promises it.
    unsafe { std::ptr::write_bytes(start as *mut u8, 0, length) };
}
