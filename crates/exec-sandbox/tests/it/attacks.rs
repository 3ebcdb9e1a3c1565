//! More attempts to get out, each a row: a name, and an expression in Python that is true when it worked. All of them run
//! in one process for each of what can make a sandbox.

#![cfg(target_arch = "x86_64")]
#![expect(clippy::disallowed_methods, reason = "lays bait on this machine")]

use std::fs;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;
use std::process::{Command, Stdio};

use stockade_exec_sandbox::run::{Input, Streams};
use stockade_exec_sandbox::{Outcome, SandboxBackend, SandboxSpec, plan, probe, run};

use crate::live::{BACKENDS, Live, each, read};

/// What the rows use: `call` is a system call by its number, and true if that succeeded.
const PRELUDE: &str = r#"
import ctypes, mmap, os, resource, signal, socket, struct, sys, time
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    return libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]) >= 0
def opened(path, flags=os.O_RDONLY):
    os.close(os.open(path, flags)); return True
def family(number, kind=socket.SOCK_DGRAM, protocol=0):
    socket.socket(number, kind, protocol).close(); return True
def sent(path, text):
    with open(path, 'w') as file: file.write(text)
    return True
def attempt(name, act):
    try: result = act()
    except (OSError, ValueError, AttributeError, MemoryError) as error: result = False
    print(name, 'OPEN' if result else 'closed', flush=True)
"#;

const ROWS: &[(&str, &str)] = &[
    // Sockets of kinds that programs do not need.
    ("vsock", "family(40, socket.SOCK_STREAM)"),
    ("packet", "family(17, socket.SOCK_RAW)"),
    ("bluetooth", "family(31, socket.SOCK_RAW, 1)"),
    ("crypto", "family(38, socket.SOCK_SEQPACKET)"),
    ("xdp", "family(44, socket.SOCK_RAW)"),
    ("tipc", "family(30, socket.SOCK_SEQPACKET)"),
    ("rds", "family(21, socket.SOCK_SEQPACKET)"),
    ("can", "family(29, socket.SOCK_RAW, 1)"),
    ("smc", "family(43, socket.SOCK_STREAM)"),
    ("key", "family(15, socket.SOCK_RAW, 2)"),
    ("netlink of the kernel's events", "family(16, socket.SOCK_RAW, 15)"),
    ("netlink of the firewall", "family(16, socket.SOCK_RAW, 12)"),
    ("netlink of audit", "family(16, socket.SOCK_RAW, 9)"),
    ("raw", "family(2, socket.SOCK_RAW, 1)"),
    ("abstract socket", "socket.socket(socket.AF_UNIX).connect('\\0' + ABSTRACT) is None"), // quoted text
    // Parts of the kernel.
    ("io_uring", "call(425, 1, ctypes.create_string_buffer(256))"),
    ("slots for input and output that all users share", "call(206, 1, ctypes.create_string_buffer(8))"),
    ("userfaultfd", "call(323, 1)"),
    ("bpf", "call(321, 0, ctypes.create_string_buffer(128), 128)"),
    ("perf", "call(298, ctypes.create_string_buffer(128), 0, -1, -1, 0)"),
    ("keyctl", "call(250, 0, -3, 1)"),
    ("add_key", "call(248, b'user', b'x', b'y', 1, -3)"),
    ("request_key", "call(249, b'user', b'x', None, -3)"),
    (
        "name_to_handle_at",
        "call(303, -100, b'/', ctypes.create_string_buffer(struct.pack('ii', 128, 0), 136), ctypes.create_string_buffer(8), 0)",
    ),
    ("open_by_handle_at", "call(304, -100, ctypes.create_string_buffer(136), 0)"),
    ("memfd_create", "call(319, b'x', 0)"),
    ("memfd_secret", "call(447, 0)"),
    ("fanotify", "call(300, 0, 0)"),
    ("clock_settime", "call(227, 0, ctypes.create_string_buffer(struct.pack('qq', int(time.time()), 0)))"),
    ("clock_adjtime", "call(305, 0, ctypes.create_string_buffer(256))"),
    ("modify_ldt", "call(154, 0, ctypes.create_string_buffer(16), 16)"),
    ("syslog", "call(103, 3, ctypes.create_string_buffer(16), 16)"),
    ("lsm_set_self_attr", "call(460, 100, ctypes.create_string_buffer(64), 64, 0)"),
    ("personality without random addresses", "call(135, 0x0040000)"),
    // Namespaces and mounts.
    ("user namespace", "call(272, 0x10000000)"),
    ("network namespace", "call(272, 0x40000000)"),
    ("time namespace", "call(272, 0x80)"),
    (
        "clone3",
        "call(435, ctypes.create_string_buffer(struct.pack('8Q', 0x10000000, 0, 0, 0, 17, 0, 0, 0)), 64)",
    ),
    ("setns", "call(308, os.open('/proc/self/ns/mnt', os.O_RDONLY), 0)"),
    ("mount", "call(165, b'none', b'/tmp', b'tmpfs', 0, None)"),
    ("bind over /proc", "call(165, b'/tmp', b'/proc', None, 4096, None)"),
    ("make mounts shared", "call(165, None, b'/', None, 0x104000, None)"),
    ("open_tree", "call(428, -100, b'/', 1)"),
    ("fsopen", "call(430, b'tmpfs', 0)"),
    ("pivot_root", "call(155, b'.', b'.')"),
    ("chroot", "call(161, b'/')"),
    ("umount", "call(166, b'/proc', 2)"),
    ("fuse", "opened('/dev/fuse', os.O_RDWR)"),
    // Others, and the first process.
    ("trace of the first process", "call(101, 16, 1, 0, 0)"),
    ("memory of the first process", "opened('/proc/1/mem') and FIRST_IS_OURS"),
    ("variables of the first process", "len(open('/proc/1/environ', 'rb').read()) > 0"),
    ("descriptors of the first process", "bool(os.listdir('/proc/1/fd')) and FIRST_IS_OURS"),
    ("root of the first process", "os.listdir('/proc/1/root/') and FIRST_IS_OURS"),
    (
        "memory of others by number",
        "call(310, 1, ctypes.create_string_buffer(16), 1, ctypes.create_string_buffer(16), 1, 0)",
    ),
    ("descriptor of another", "call(438, libc.syscall(434, 1, 0), 0, 0)"),
    ("kcmp", "call(312, 1, os.getpid(), 0, 0, 0)"),
    // Rights.
    ("setuid 0", "os.getuid() != 0 and os.setuid(0) is None"), // quoted text
    ("setgid 0", "os.getgid() != 0 and os.setgid(0) is None"), // quoted text
    ("setgroups", "os.setgroups([0]) is None"),                // quoted text
    ("device", "os.mknod('device', 0o20666, os.makedev(1, 1)) is None"), // quoted text
    (
        "device that a move leaves behind",
        "(open('left', 'w').close(), call(316, -100, b'left', -100, b'right', 4))[1]",
    ),
    ("setuid bit", "(open('bit', 'w').close(), os.chmod('bit', 0o4755)) and os.stat('bit').st_mode & 0o4000"),
    ("setuid bit by open", "os.fstat(os.open('bit2', os.O_CREAT | os.O_WRONLY, 0o4755)).st_mode & 0o4000"),
    (
        "file capabilities",
        "os.setxattr('.', 'security.capability', b'\\x01\\0\\0\\2' + b'\\xff' * 16) is None", // quoted text
    ),
    ("a higher limit", "resource.setrlimit(resource.RLIMIT_NOFILE, (1 << 20, 1 << 20)) is None"), // quoted text
    ("real-time priority", "os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)) is None"), // quoted text
    ("first in the queue", "os.nice(-30) < 0"),
    // The machine.
    ("core_pattern", "opened('/proc/sys/kernel/core_pattern', os.O_WRONLY)"),
    ("hostname", "libc.sethostname(b'x', 1) == 0"),
    ("sysrq", "opened('/proc/sysrq-trigger', os.O_WRONLY)"),
    ("sys", "opened('/sys/kernel/uevent_helper', os.O_WRONLY)"),
    ("cgroup", "sent('/sys/fs/cgroup/cgroup.procs', '0')"),
    ("kcore", "opened('/proc/kcore')"),
    ("kernel's messages", "opened('/dev/kmsg')"),
    ("memory of the machine", "opened('/dev/mem')"),
    (
        "other terminals",
        "any(opened('/dev/pts/' + name, os.O_RDWR) for name in os.listdir('/dev/pts') if name.isdigit())",
    ),
    ("core dump", "os.WCOREDUMP(DIED)"),
    // Descriptors that lead out.
    ("the folder above by a descriptor", "opened('/proc/self/cwd/../bait')"),
    ("a hard link out", "os.link('/etc/passwd', 'passwd') is None"), // quoted text
    ("the name of the folder above", "os.rename('..', '../../moved') is None"), // quoted text
    ("a large piece of shared memory", "call(29, 0, 1 << 30, 0o1600)"),
    ("a negative size of one", "call(29, 0, -4096, 0o1600)"),
    ("characters into the terminal", "call(16, os.open('/dev/tty', os.O_RDWR), 0x5412, b'x')"),
    (
        "another line discipline",
        "call(16, os.open('/dev/ptmx', os.O_RDWR | os.O_NOCTTY), 0x5423, struct.pack('i', 21))",
    ),
];

/// What lies outside for the rows to take.
pub(crate) struct Bait<'l> {
    live: &'l Live,
    name: String,
    _listener: UnixListener,
}

impl<'l> Bait<'l> {
    pub(crate) fn lay(live: &'l Live, who: &str) -> Self {
        fs::write(live.outside().join("bait"), "bait").unwrap();
        let name = format!("stockade-{}-{who}", std::process::id());
        let listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
        Self { live, name, _listener: listener }
    }

    /// All rows. The first process of bubblewrap and of a machine without namespaces holds nothing of this program.
    pub(crate) fn script(&self, first_is_ours: bool) -> String {
        let mut script = PRELUDE.to_owned();
        script.push_str(&format!("ABSTRACT = {:?}\n", self.name));
        script.push_str(&format!("FIRST_IS_OURS = {}\n", if first_is_ours { "True" } else { "False" }));
        script.push_str("child = os.fork()\nif child == 0: os.kill(os.getpid(), signal.SIGABRT)\nDIED = os.waitpid(child, 0)[1]\n");
        for (name, act) in ROWS {
            script.push_str(&format!("attempt({name:?}, lambda: {act})\n"));
        }
        script
    }

    pub(crate) fn untouched(&self, outcome: &Outcome, who: &str) {
        let said = String::from_utf8_lossy(&outcome.output.stdout);
        let open: Vec<&str> = said.lines().filter(|line| line.ends_with(" OPEN")).collect();
        let errors = String::from_utf8_lossy(&outcome.output.stderr);
        assert_eq!(said.lines().count(), ROWS.len(), "{who}: {errors}");
        assert!(open.is_empty(), "{who}: {open:#?}\n{errors}");
        assert_eq!(read(&self.live.outside().join("bait")), "bait");
    }
}

#[test]
fn no_attack_works_with_any_provider() {
    for backend in each() {
        let (live, who) = (Live::bare(), format!("{backend:?}"));
        let bait = Bait::lay(&live, &who);
        let script = bait.script(backend == SandboxBackend::Native);
        let outcome = live.run(&["python3", "-c", &script], |spec| spec.backend = backend).unwrap();
        bait.untouched(&outcome, &who);
    }
}

/// Not a test of its own: what [`a_file_as_standard_input_is_not_written`] starts, with a file as standard input.
#[test]
fn reader() {
    let Some(workspace) = std::env::var_os("STOCKADE_TEST_READER") else { return };
    for backend in BACKENDS.iter().copied() {
        let script = "cat > /dev/null; (echo EVIL > /proc/self/fd/0) 2> /dev/null; (echo EVIL > /dev/stdin) 2> /dev/null; true";
        let mut spec = SandboxSpec::new(&workspace, ["sh", "-c", script]);
        spec.backend = backend;
        let streams = Streams { stdin: Input::Inherit, ..Streams::default() };
        let result = plan(&spec, &probe(&spec)).map(|plan| run(&plan, streams));
        fs::write(Path::new(&workspace).join(format!("{backend:?}")), format!("{result:?}")).unwrap();
    }
}

#[test]
fn a_file_as_standard_input_is_not_written() {
    let Some(live) = Live::new() else { return };
    let bait = live.outside().join("bait");
    fs::write(&bait, "bait").unwrap();
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "attacks::reader"])
        .env("STOCKADE_TEST_READER", live.workspace())
        .stdin(fs::File::open(&bait).unwrap())
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success() && live.workspace().join("Landlock").exists());
    assert_eq!(read(&bait), "bait");
}
