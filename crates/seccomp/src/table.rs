//! The table of denied system calls and their errors.
//!
//! It is a deny list: an allow list would break programs with every new version of the C library, and calls that this list misses
//! are still confined by the other layers.

const EPERM: u32 = 1;
const EINVAL: u32 = 22;
const ENOSYS: u32 = 38;
const EOPNOTSUPP: u32 = 95;
const EAFNOSUPPORT: u32 = 97;

/// A call that is denied.
pub(crate) struct Row {
    /// The name of the call, for tests and readers.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests and readers look calls up by it"))]
    pub(crate) name: &'static str,
    pub(crate) x86_64: Option<u32>,
    pub(crate) aarch64: Option<u32>,
    /// Tests of arguments, by index. The call fails if all are true.
    pub(crate) when: &'static [(u8, Test)],
    pub(crate) errno: u32,
}

/// A test of an argument's lower 32 bits.
pub(crate) enum Test {
    /// One of these bits is set.
    AnyBit(u32),
    /// No one of these bits is set.
    NoBit(u32),
    /// The whole 64-bit value is greater than this.
    Above(u32),
    /// The value is in this list.
    OneOf(&'static [u32]),
    /// The value is not in this list.
    NoneOf(&'static [u32]),
    /// The masked value is in this list.
    MaskedOneOf(u32, &'static [u32]),
}

use Test::{Above, AnyBit, MaskedOneOf, NoBit, NoneOf, OneOf};

pub(crate) const fn deny(name: &'static str, x86_64: Option<u32>, aarch64: Option<u32>) -> Row {
    Row { name, x86_64, aarch64, when: &[], errno: EPERM }
}

impl Row {
    pub(crate) const fn when(self, when: &'static [(u8, Test)]) -> Self {
        Self { when, ..self }
    }

    /// Fails with ENOSYS, like on an older kernel, so that programs fall back to an older call.
    pub(crate) const fn seem_missing(self) -> Self {
        Self { errno: ENOSYS, ..self }
    }

    /// Fails with EOPNOTSUPP, like on a file system that lacks the feature.
    pub(crate) const fn seem_without(self) -> Self {
        Self { errno: EOPNOTSUPP, ..self }
    }

    /// Does nothing and reports success: for requests whose effect programs do not need.
    const fn seem_done(self) -> Self {
        Self { errno: 0, ..self }
    }

    /// Fails with EINVAL, like an unknown request.
    const fn seem_invalid(self) -> Self {
        Self { errno: EINVAL, ..self }
    }

    const fn seem_unsupported(self) -> Self {
        Self { errno: EAFNOSUPPORT, ..self }
    }
}

/// Every flag of clone(2) that creates a namespace. unshare(2) has one more, for time namespaces.
const NAMESPACES: u32 = 0x7e02_0000;
const TIME_NAMESPACE: u32 = 0x80;
/// The set-user-ID and set-group-ID bits.
const SETUID: u32 = 0o6000;
/// The set-user-ID bit, and the set-group-ID bit, which on a directory makes new files inherit its group.
const OF_OWNER: u32 = 0o4000;
const OF_GROUP: u32 = 0o2000;
/// O_CREAT. Without it, or O_TMPFILE, the mode argument of open(2) is undefined.
const CREATES: u32 = 0o100;
/// Only the bit that `O_TMPFILE` does not share with `O_DIRECTORY`.
const UNNAMED: u32 = 0o20_000_000;
const FILE_TYPE: u32 = 0o170_000;
const DEVICES: &[u32] = &[0o020_000, 0o060_000];
/// RENAME_WHITEOUT, which creates a character device.
const WHITEOUT: u32 = 4;
/// TIOCSTI, TIOCLINUX and others: requests that insert input into a terminal, take over a console, or load a line discipline.
const TERMINAL_TAKEOVER: &[u32] = &[0x5412, 0x541c, 0x541d, 0x5423];
/// AF_UNIX, AF_INET, AF_INET6, and AF_NETLINK, which programs use to query addresses.
const FAMILIES: &[u32] = &[1, 2, 10, 16];
const NETLINK: &[u32] = &[16];
const UNIX: &[u32] = &[1];
/// SOCK_DGRAM and SOCK_RAW: the kernel treats a raw Unix socket as a datagram socket.
const DATAGRAM: &[u32] = &[2, 3];
/// F_SETPIPE_SZ, and the default size: all pipes of a user share a budget, including those outside of the sandbox.
const PIPE_SIZE: &[u32] = &[1031];
const ORDINARY_PIPE: u32 = 64 << 10;
/// The fcntl request F_SETLEASE.
const LEASE: &[u32] = &[1024];
/// SOL_SOCKET, and its options for larger buffers, whose memory is not counted for any process.
const EVERY_SOCKET: &[u32] = &[1];
const BUFFERS: &[u32] = &[7, 8, 32, 33];
const RAW: &[u32] = &[3];
/// PTRACE_ATTACH and PTRACE_SEIZE: tracing a process without its consent.
const ATTACH: &[u32] = &[16, 0x4206];
/// The ordinary personalities, and the query for the current one.
const PERSONALITIES: &[u32] = &[0, 8, 0x0002_0000, 0x0002_0008, 0xffff_ffff];
/// Maximum size of a System V shared memory segment: 4096 of these are less than the default memory limit.
const LARGE_PIECE: u32 = 256 << 10;

/// Denied if the number of processors is limited, because a process could change its CPU affinity back.
pub(crate) const BOUND_TO_PROCESSORS: &[Row] = &[deny("sched_setaffinity", Some(203), Some(122))];

/// All sockets, where no network namespace confines them. socketpair(2) is harmless.
pub(crate) const SOCKETS: &[Row] = &[deny("socket", Some(41), Some(198)).seem_unsupported()];

/// Unix sockets, where no mount namespace hides them.
pub(crate) const UNIX_SOCKETS: &[Row] =
    &[deny("socket", Some(41), Some(198)).when(&[(0, OneOf(&[1]))]).seem_unsupported()];

/// Unix datagram sockets, including pairs: each datagram can have another destination.
pub(crate) const DATAGRAMS: &[Row] = &[
    deny("socket", Some(41), Some(198))
        .when(&[(0, OneOf(UNIX)), (1, MaskedOneOf(0xf, DATAGRAM))])
        .seem_unsupported(),
    deny("socketpair", Some(53), Some(199))
        .when(&[(0, OneOf(UNIX)), (1, MaskedOneOf(0xf, DATAGRAM))])
        .seem_unsupported(),
];

/// Denied: setting the set-group-ID bit.
pub(crate) const MODES_OF_GROUPS: &[Row] = &[
    deny("chmod", Some(90), None).when(&[(1, AnyBit(OF_GROUP))]),
    deny("fchmod", Some(91), Some(52)).when(&[(1, AnyBit(OF_GROUP))]),
    deny("fchmodat", Some(268), Some(53)).when(&[(2, AnyBit(OF_GROUP))]),
    deny("fchmodat2", Some(452), Some(452)).when(&[(2, AnyBit(OF_GROUP))]),
];

/// System V and POSIX queues and shared memory, where no IPC namespace confines them.
#[rustfmt::skip]
pub(crate) const QUEUES: &[Row] = &[
    deny("shmget", Some(29), Some(194)),
    deny("shmat", Some(30), Some(196)),
    deny("shmctl", Some(31), Some(195)),
    deny("semget", Some(64), Some(190)),
    deny("semop", Some(65), Some(193)),
    deny("semctl", Some(66), Some(191)),
    deny("semtimedop", Some(220), Some(192)),
    deny("msgget", Some(68), Some(186)),
    deny("msgsnd", Some(69), Some(189)),
    deny("msgrcv", Some(70), Some(188)),
    deny("msgctl", Some(71), Some(187)),
    deny("mq_open", Some(240), Some(180)),
    deny("mq_unlink", Some(241), Some(181)),
];

/// memfd_create(2). Only a control group counts a memfd as memory, and an executable one bypasses every rule about executable
/// files. So it is denied, unless a control group counts it and the kernel forbids executable ones in the sandbox.
pub(crate) const MEMORY_FILES: &[Row] = &[deny("memfd_create", Some(319), Some(279)).seem_missing()];

/// Tracing a process without its consent. A sandbox may permit it if its first process is not traceable: all others are the
/// command's own. LeakSanitizer, for one, stops its own program in this way.
pub(crate) const ATTACHING: &[Row] = &[deny("ptrace", Some(101), Some(117)).when(&[(0, OneOf(ATTACH))])];

/// The clone flag CLONE_THREAD.
const THREAD: u32 = 0x0001_0000;

/// Every call that starts a process or a program. Threads, and one execve(2), are handled separately.
#[rustfmt::skip]
pub(crate) const SPAWN: &[Row] = &[
    deny("fork", Some(57), None),
    deny("vfork", Some(58), None),
    deny("execveat", Some(322), Some(281)),
    deny("clone3", Some(435), Some(435)).seem_missing(),
    deny("clone", Some(56), Some(220)).when(&[(0, NoBit(THREAD))]),
];

/// The calls that are denied.
#[rustfmt::skip]
pub(crate) const ROWS: &[Row] = &[
    // No set-user-ID or set-group-ID files: they would run with the rights of their owner outside of the sandbox.
    deny("openat", Some(257), Some(56)).when(&[(2, AnyBit(CREATES)), (3, AnyBit(SETUID))]),
    deny("openat", Some(257), Some(56)).when(&[(2, AnyBit(UNNAMED)), (3, AnyBit(SETUID))]),
    deny("open", Some(2), None).when(&[(1, AnyBit(CREATES)), (2, AnyBit(SETUID))]),
    deny("open", Some(2), None).when(&[(1, AnyBit(UNNAMED)), (2, AnyBit(SETUID))]),
    deny("creat", Some(85), None).when(&[(1, AnyBit(SETUID))]),
    deny("chmod", Some(90), None).when(&[(1, AnyBit(OF_OWNER))]),
    deny("fchmod", Some(91), Some(52)).when(&[(1, AnyBit(OF_OWNER))]),
    deny("fchmodat", Some(268), Some(53)).when(&[(2, AnyBit(OF_OWNER))]),
    deny("fchmodat2", Some(452), Some(452)).when(&[(2, AnyBit(OF_OWNER))]),
    deny("mknod", Some(133), None).when(&[(1, AnyBit(SETUID))]),
    deny("mknodat", Some(259), Some(33)).when(&[(2, AnyBit(SETUID))]),
    // No device nodes.
    deny("mknod", Some(133), None).when(&[(1, MaskedOneOf(FILE_TYPE, DEVICES))]),
    deny("mknodat", Some(259), Some(33)).when(&[(2, MaskedOneOf(FILE_TYPE, DEVICES))]),
    deny("renameat2", Some(316), Some(276)).when(&[(4, AnyBit(WHITEOUT))]),
    // Their arguments are in memory, where a filter cannot check them.
    deny("openat2", Some(437), Some(437)).seem_missing(),
    deny("clone3", Some(435), Some(435)).seem_missing(),
    // Their number is limited for all users of the machine together, so a command could block databases of others.
    deny("io_setup", Some(206), Some(0)).seem_missing(),
    deny("io_uring_setup", Some(425), Some(425)).seem_missing(),
    deny("io_uring_enter", Some(426), Some(426)).seem_missing(),
    deny("io_uring_register", Some(427), Some(427)).seem_missing(),
    // No injection of input into the user's terminal.
    deny("ioctl", Some(16), Some(29)).when(&[(1, OneOf(TERMINAL_TAKEOVER))]),
    // No nested namespaces: most kernel vulnerabilities of recent years need one.
    deny("clone", Some(56), Some(220)).when(&[(0, AnyBit(NAMESPACES))]),
    deny("unshare", Some(272), Some(97)).when(&[(0, AnyBit(NAMESPACES | TIME_NAMESPACE))]),
    // Only common address families, without raw packets.
    deny("socket", Some(41), Some(198)).when(&[(0, NoneOf(FAMILIES))]).seem_unsupported(),
    // Of netlink only protocol 0 (NETLINK_ROUTE), which lists addresses. It is usually opened as SOCK_RAW, without raw packets.
    deny("socket", Some(41), Some(198)).when(&[(0, OneOf(NETLINK)), (2, AnyBit(u32::MAX))]).seem_unsupported(),
    deny("socket", Some(41), Some(198)).when(&[(0, NoneOf(NETLINK)), (1, MaskedOneOf(0xf, RAW))]),
    deny("socketpair", Some(53), Some(199)).when(&[(0, NoneOf(FAMILIES))]).seem_unsupported(),
    deny("setsockopt", Some(54), Some(208)).when(&[(1, OneOf(EVERY_SOCKET)), (2, OneOf(BUFFERS))]).seem_done(),
    // Only above the default size: smaller pipes take no more of the shared budget.
    deny("fcntl", Some(72), Some(25)).when(&[(1, OneOf(PIPE_SIZE)), (2, Above(ORDINARY_PIPE))]),
    // Another program that opens a leased file blocks until the lease is released, for up to 45 seconds (lease-break-time).
    deny("fcntl", Some(72), Some(25)).when(&[(1, OneOf(LEASE))]).seem_invalid(),
    // Other personalities weaken the address space: ADDR_NO_RANDOMIZE, READ_IMPLIES_EXEC, MMAP_PAGE_ZERO.
    deny("personality", Some(135), Some(92)).when(&[(0, NoneOf(PERSONALITIES))]),
    // A shared memory segment that is not attached counts for no process; there are at most 4096.
    deny("shmget", Some(29), Some(194)).when(&[(1, Above(LARGE_PIECE))]),
    // Kernel administration: modules, kexec, log, clock, accounting.
    deny("acct", Some(163), Some(89)),
    deny("adjtimex", Some(159), Some(171)),
    deny("clock_adjtime", Some(305), Some(266)),
    deny("clock_settime", Some(227), Some(112)),
    deny("settimeofday", Some(164), Some(170)),
    deny("delete_module", Some(176), Some(106)),
    deny("finit_module", Some(313), Some(273)),
    deny("init_module", Some(175), Some(105)),
    deny("kexec_load", Some(246), Some(104)),
    deny("kexec_file_load", Some(320), Some(294)),
    deny("reboot", Some(169), Some(142)),
    deny("swapon", Some(167), Some(224)),
    deny("swapoff", Some(168), Some(225)),
    deny("syslog", Some(103), Some(116)),
    deny("sysfs", Some(139), None),
    deny("_sysctl", Some(156), None),
    deny("nfsservctl", Some(180), Some(42)),
    deny("uselib", Some(134), None),
    deny("ustat", Some(136), None),
    deny("lookup_dcookie", Some(212), Some(18)),
    deny("quotactl", Some(179), Some(60)),
    deny("quotactl_fd", Some(443), Some(443)),
    deny("vhangup", Some(153), Some(58)),
    deny("sethostname", Some(170), Some(161)),
    deny("setdomainname", Some(171), Some(162)),
    deny("lsm_set_self_attr", Some(460), Some(460)),
    // Mounts and roots: the mount namespace must not change.
    deny("chroot", Some(161), Some(51)),
    deny("fsconfig", Some(431), Some(431)),
    deny("fsmount", Some(432), Some(432)),
    deny("fsopen", Some(430), Some(430)),
    deny("fspick", Some(433), Some(433)),
    deny("mount", Some(165), Some(40)),
    deny("mount_setattr", Some(442), Some(442)),
    deny("move_mount", Some(429), Some(429)),
    deny("open_tree", Some(428), Some(428)),
    deny("open_tree_attr", Some(467), Some(467)),
    deny("pivot_root", Some(155), Some(41)),
    deny("umount2", Some(166), Some(39)),
    deny("setns", Some(308), Some(268)),
    // A handle refers to a file of a file system, including the parts that are not mounted here.
    deny("name_to_handle_at", Some(303), Some(264)),
    deny("open_by_handle_at", Some(304), Some(265)),
    deny("statmount", Some(457), Some(457)),
    deny("listmount", Some(458), Some(458)),
    // Access to other processes and their memory.
    deny("kcmp", Some(312), Some(272)),
    deny("move_pages", Some(279), Some(239)),
    deny("migrate_pages", Some(256), Some(238)),
    deny("pidfd_getfd", Some(438), Some(438)),
    deny("process_madvise", Some(440), Some(440)),
    deny("process_mrelease", Some(448), Some(448)),
    deny("process_vm_readv", Some(310), Some(270)),
    deny("process_vm_writev", Some(311), Some(271)),
    // Large and rarely needed parts of the kernel, which are frequent targets of exploits.
    deny("add_key", Some(248), Some(217)),
    deny("bpf", Some(321), Some(280)),
    deny("fanotify_init", Some(300), Some(262)),
    deny("fanotify_mark", Some(301), Some(263)),
    deny("keyctl", Some(250), Some(219)),
    deny("perf_event_open", Some(298), Some(241)),
    deny("request_key", Some(249), Some(218)),
    deny("userfaultfd", Some(323), Some(282)),
    deny("ioperm", Some(173), None),
    deny("iopl", Some(172), None),
    deny("modify_ldt", Some(154), None),
    deny("memfd_secret", Some(447), Some(447)),
];
