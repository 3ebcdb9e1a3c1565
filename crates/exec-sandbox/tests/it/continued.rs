//! Calls that are let go on, or were once, in races: another thread changes the memory and the descriptors of a call after it was
//! judged, 2,000 times, and nothing comes of it. Each reason in the table of what is continued is tried here.

#![expect(clippy::disallowed_methods, reason = "makes files while a command runs, and looks at locks")]

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use stockade_exec_sandbox::{End, SandboxBackend};

use crate::live::{Live, each, read};

/// What the scripts have in common: a path, a record and a descriptor that other threads change.
const PRELUDE: &str = "
import ctypes, errno, fcntl, os, pty, socket, struct, sys, threading, time
sys.setswitchinterval(1e-5)
TURNS = 2000
libc = ctypes.CDLL(None, use_errno=True)
ends = False
def meanwhile(*changes):
    def all():
        while not ends:
            for change in changes:
                change()
    thread = threading.Thread(target=all)
    thread.start()
    return thread
def path_of(*texts):
    size = max(map(len, texts)) + 1
    path = ctypes.create_string_buffer(size)
    changes = [lambda text=text: ctypes.memmove(path, text + bytes(size - len(text)), size) for text in texts]
    changes[0]()
    return path, changes
";

fn views() -> impl Iterator<Item = SandboxBackend> {
    each().filter(|backend| *backend != SandboxBackend::Landlock)
}

/// The output of a script, which may describe an error.
fn raced(live: &Live, script: &str, backend: SandboxBackend, others: Option<&Path>) -> String {
    let script = format!("{PRELUDE}{script}");
    let outcome = live.run(&["python3", "-c", &script], |spec| {
        spec.backend = backend;
        spec.read_only.extend(others.map(Path::to_path_buf));
    });
    let outcome = outcome.unwrap();
    let [said, errors] =
        [&outcome.output.stdout, &outcome.output.stderr].map(|text| String::from_utf8_lossy(text));
    assert_eq!(outcome.end, End::Exited(0), "{backend:?} {said}{errors}");
    said.into_owned()
}

/// A terminal is opened while the path becomes that of a file of the user's, which is new and so no mount.
#[test]
fn no_opening_of_a_terminal_becomes_one_of_a_file() {
    let script = "
master, slave = pty.openpty()
name = os.ttyname(slave).encode()
path, changes = path_of(name, b'.claude/settings.json')
print('ready', flush=True)
while not os.path.exists('.claude/settings.json'):
    time.sleep(0.01)
thread = meanwhile(*changes)
opened = hits = 0
for _ in range(TURNS):
    fd = libc.open(path, os.O_RDWR | os.O_NOCTTY)
    if fd >= 0:
        if os.isatty(fd):
            opened += 1
        else:
            hits += 1
            os.write(fd, b'evil')
        os.close(fd)
ends = True
thread.join()
print(opened > 0, hits)
";
    for backend in views() {
        let Some(live) = Live::new() else { return };
        let settings = live.workspace().join(".claude/settings.json");
        let said = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(std::time::Duration::from_millis(150));
                fs::create_dir(settings.parent().unwrap()).unwrap();
                fs::write(&settings, "{}").unwrap();
            });
            raced(&live, script, backend, None)
        });
        assert_eq!((said.as_str(), read(&settings).as_str()), ("ready\nTrue 0\n", "{}"), "{backend:?}");
    }
}

/// Terminals are opened by name and are terminals, also by `/dev/tty` and by what is open already.
#[test]
fn terminals_are_opened_in_the_place_of_a_command() {
    let script = "
master, slave = pty.openpty()
name = os.ttyname(slave)
def works(path):
    fd = os.open(path, os.O_RDWR)
    os.write(fd, b'x')
    return os.isatty(fd) and os.read(master, 10)
print(works(name), works('/proc/self/fd/%d' % slave), flush=True)
pid = os.fork()
if pid == 0:
    os.setsid()
    fcntl.ioctl(slave, 0x540e, 0)
    print(works('/dev/tty'), os.tcgetpgrp(slave) == os.getpgrp(), flush=True)
    os._exit(0)
os.waitpid(pid, 0)
";
    for backend in views() {
        let Some(live) = Live::new() else { return };
        assert_eq!(raced(&live, script, backend, None), "b'x' b'x'\nb'x' True\n", "{backend:?}");
    }
}

/// `O_PATH` goes on: it opens nothing, whatever else is asked for and wherever the path leads by then.
#[test]
fn a_name_alone_stays_one() {
    let script = "
open('free', 'w').close()
path, changes = path_of(b'free', b'.envrc', b'.git/hooks/pre-commit')
thread = meanwhile(*changes)
written = 0
for _ in range(TURNS):
    fd = libc.open(path, 0o10000000 | os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o755)
    if fd >= 0:
        written += libc.write(fd, b'x', 1) > 0
        written += libc.ftruncate(fd, 0) == 0
        os.close(fd)
ends = True
thread.join()
print(written, os.path.exists('.envrc'))
";
    for backend in views() {
        let Some(live) = Live::new() else { return };
        fs::create_dir_all(live.workspace().join(".git/hooks")).unwrap();
        assert_eq!(raced(&live, script, backend, None), "0 False\n", "{backend:?}");
        assert_eq!(fs::read_dir(live.workspace().join(".git/hooks")).unwrap().count(), 0, "{backend:?}");
    }
}

/// A socket gets a name while the address becomes another one: of another family, in another folder.
#[test]
fn no_address_becomes_a_protected_name() {
    let script = "
def address(path):
    return struct.pack('h', socket.AF_UNIX) + path
harmless = struct.pack('=hHI', socket.AF_INET, 0, 0x0100007f) + bytes(8)
room = ctypes.create_string_buffer(64)
texts = [harmless, address(b'/tmp/s'), address(b'.envrc'), address(b'.git/hooks/pre')]
changes = [lambda text=text: ctypes.memmove(room, text + bytes(64 - len(text)), 64) for text in texts]
thread = meanwhile(*changes)
bound = 0
for number in range(TURNS):
    with socket.socket(socket.AF_INET if number % 2 else socket.AF_UNIX) as own:
        bound += libc.bind(own.fileno(), room, 16) == 0
    if os.path.lexists('/tmp/s'):
        os.unlink('/tmp/s')
ends = True
thread.join()
print(bound > 0, os.path.lexists('.envrc'), os.listdir('.git/hooks'))
";
    for backend in views() {
        let Some(live) = Live::new() else { return };
        fs::create_dir_all(live.workspace().join(".git/hooks")).unwrap();
        assert_eq!(raced(&live, script, backend, None), "True False []\n", "{backend:?}");
    }
}

/// The address of a socket is asked for while the descriptor is exchanged: all that is told is about sockets of the command.
#[test]
fn addresses_are_told_of_own_sockets_alone() {
    let script = "
one, other = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_INET)
one.bind('here')
other.bind(('127.0.0.1', 0))
number = os.dup(one.fileno())
thread = meanwhile(lambda: os.dup2(one.fileno(), number), lambda: os.dup2(other.fileno(), number))
odd = 0
for _ in range(TURNS):
    room, length = ctypes.create_string_buffer(128), ctypes.c_int(128)
    if libc.getsockname(number, room, ctypes.byref(length)) == 0:
        family = struct.unpack('h', room.raw[:2])[0]
        text = room.raw[2:length.value].rstrip(bytes(1))
        odd += not (family == 1 and text.endswith(b'here') or family == 2)
ends = True
thread.join()
print(odd)
";
    for backend in views() {
        let Some(live) = Live::new() else { return };
        assert_eq!(raced(&live, script, backend, None), "0\n", "{backend:?}");
    }
}

/// The mask is a number in a register: a file has the rights that the last of them leaves, whatever other threads do.
#[test]
fn a_mask_holds_for_what_is_made_after_it() {
    let script = "
thread = meanwhile(lambda: os.stat('.'))
wrong = 0
for number in range(TURNS):
    mask = (0o077, 0o022, 0o007)[number % 3]
    os.umask(mask)
    os.close(os.open('f', os.O_WRONLY | os.O_CREAT, 0o666))
    wrong += os.stat('f').st_mode & 0o777 != 0o666 & ~mask
    os.unlink('f')
ends = True
thread.join()
print(wrong)
";
    for backend in views() {
        let Some(live) = Live::new() else { return };
        assert_eq!(raced(&live, script, backend, None), "0\n", "{backend:?}");
    }
}

/// How many locks there are on a file, as seen from outside of the sandbox.
fn locks_on(file: &Path) -> usize {
    let number = fs::metadata(file).unwrap().ino();
    read(Path::new("/proc/locks")).lines().filter(|line| line.contains(&format!(":{number} "))).count()
}

/// Locks on parts of files are taken while descriptors and records are exchanged, by threads, and by a process that would share
/// descriptors: none on a file that can only be read.
#[test]
fn no_part_of_a_file_of_others_is_locked() {
    let script = "
own, others = os.open('own', os.O_RDWR | os.O_CREAT), os.open(FILE, os.O_RDONLY)
number = os.dup(own)
record = ctypes.create_string_buffer(struct.pack('hhqqi4x', fcntl.F_RDLCK, 0, 0, 0, 0), 32)
clone = {'x86_64': 56, 'aarch64': 220}[os.uname().machine]
thread = meanwhile(lambda: os.dup2(own, number), lambda: os.dup2(others, number))
for _ in range(TURNS // 4):
    for request in (6, 7, 37, 38):
        libc.fcntl(number, request, record)
ends = True
thread.join()
child = libc.syscall(clone, 0x400 | 17, 0, 0, 0, 0)
if child == 0:
    for _ in range(TURNS):
        os.dup2(own, number)
        os.dup2(others, number)
    os._exit(0)
while os.waitpid(child, os.WNOHANG)[0] == 0:
    for request in (6, 7, 37, 38):
        libc.fcntl(number, request, record)
print(child > 0, flush=True)
open('done', 'w').close()
while not os.path.exists('stop'):
    time.sleep(0.005)
";
    for backend in views() {
        let Some(live) = Live::new() else { return };
        let folder = live.outside().join("others");
        fs::create_dir(&folder).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
        let file = folder.join("file");
        fs::write(&file, "text").unwrap();
        let workspace = live.workspace();
        let said = std::thread::scope(|scope| {
            let watches = scope.spawn(|| {
                let (mut seen, begun) = (0, std::time::Instant::now());
                while !workspace.join("done").exists() && begun.elapsed().as_secs() < 60 {
                    seen += locks_on(&file);
                }
                seen += locks_on(&file);
                fs::write(workspace.join("stop"), "").unwrap();
                seen
            });
            let said = raced(&live, &format!("FILE = {file:?}\n{script}"), backend, Some(&folder));
            assert_eq!(watches.join().unwrap(), 0, "{backend:?}");
            said
        });
        assert_eq!(said, "True\n", "{backend:?}");
    }
}

/// What programs of several threads do with locks works: they keep others out, other descriptors of the same process not, are
/// given back when that is asked for, when the file is closed, and when the process ends, and can be waited for.
#[test]
fn locks_of_programs_with_threads_are_locks() {
    let script = "
import subprocess
thread = meanwhile(lambda: time.sleep(0.001))
OTHER = '''
import fcntl, sys
with open('own', 'r+') as file:
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 10, int(sys.argv[1]))
        print('free', end=' ', flush=True)
    except OSError:
        print('held', end=' ', flush=True)
'''
WITH_THREADS = 'import threading, time; threading.Thread(target=lambda: time.sleep(0.3)).start()' + OTHER
def others(start=0):
    for other in (OTHER, WITH_THREADS):
        subprocess.run(['python3', '-c', other, str(start)])
one, two = open('own', 'w+'), open('own', 'r+')
fcntl.lockf(one, fcntl.LOCK_EX, 10, 0)
others(); others(20)
fcntl.lockf(two, fcntl.LOCK_EX | fcntl.LOCK_NB, 10, 0)
fcntl.lockf(two, fcntl.LOCK_UN, 10, 0)
others()
one.seek(20)
fcntl.lockf(one, fcntl.LOCK_EX, 10, 0, os.SEEK_CUR)
others(20); others(0)
one.close(); two.close()
time.sleep(0.2)
others(20)
HELD = 'import fcntl, time; f = open(\"own\", \"r+\"); fcntl.lockf(f, fcntl.LOCK_EX); print(\"x\", flush=True); time.sleep(0.3)'
held = subprocess.Popen(['python3', '-c', HELD], stdout=subprocess.PIPE)
held.stdout.read(1)
with open('own', 'r+') as file:
    fcntl.lockf(file, fcntl.LOCK_EX)
    print('waited', held.wait() == 0, end=' ', flush=True)
import sqlite3
base = sqlite3.connect('base', check_same_thread=False)
base.execute('create table t (x)')
def insert():
    own = sqlite3.connect('base', timeout=20)
    for _ in range(20):
        own.execute('insert into t values (1)')
        own.commit()
    own.close()
threads = [threading.Thread(target=insert) for _ in range(3)]
[t.start() for t in threads]
[t.join() for t in threads]
print(base.execute('select count(*) from t').fetchone())
ends = True
thread.join()
";
    for backend in views() {
        let Some(live) = Live::new() else { return };
        let said = raced(&live, script, backend, None);
        let want = "held held free free free free held held free free free free waited True (60,)\n";
        assert_eq!(said, want, "{backend:?}");
    }
}
