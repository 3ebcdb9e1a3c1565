//! What is shared with other programs: locks on files that can only be read, sockets in the workspace, and folders of a group.

#![expect(clippy::disallowed_methods, reason = "locks files and listens while a command runs")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::path::Path;

use stockade_exec_sandbox::{Denial, End, Network, Outcome, SandboxBackend, SandboxSpec};

use crate::alone;
use crate::live::{Live, NamesAre, each};

const CALLS: &str = include_str!("names_decided/sockets_and_locks.py");

/// What a script of Python printed, and all that is known of it.
fn python(
    live: &Live,
    script: &str,
    backend: SandboxBackend,
    change: impl FnOnce(&mut SandboxSpec),
) -> (String, Outcome) {
    let outcome = live
        .run(&["python3", "-c", script], |spec| {
            spec.backend = backend;
            change(spec);
        })
        .unwrap();
    let [said, errors] =
        [&outcome.output.stdout, &outcome.output.stderr].map(|text| String::from_utf8_lossy(text));
    assert_eq!(outcome.end, End::Exited(0), "{said}{errors}");
    (said.into_owned(), outcome)
}

/// Whether calls are performed by the supervisor.
fn views() -> impl Iterator<Item = SandboxBackend> {
    each().filter(|backend| *backend != SandboxBackend::Landlock)
}

#[test]
fn locks_and_sockets_work_as_without_mediation() {
    if alone::was_run("shared::locks_and_sockets_work_as_without_mediation") {
        return;
    }
    for backend in views() {
        let [decided, free] = [NamesAre::Decided, NamesAre::SweptUp].map(|way| {
            let live = Live::with_names(way).unwrap();
            python(&live, CALLS, backend, |_| ()).0.replace(live.workspace().to_str().unwrap(), "")
        });
        assert!(free.lines().count() > 150, "{free}");
        let others = decided.lines().zip(free.lines()).filter(|(decided, free)| decided != free);
        let others: Vec<String> =
            others.map(|(decided, free)| format!("{decided}  and not {free}")).collect();
        assert!(others.is_empty(), "{backend:?}\n{}", others.join("\n"));
        assert_eq!(decided.lines().count(), free.lines().count());
    }
}

/// A command tries to lock a read-only file by every call, and in two threads that exchange descriptors while the supervisor
/// judges the call.
const LOCKS: &str = "
import ctypes, errno, fcntl, os, struct, sys, threading
said = []
def note(call):
    try:
        call()
        said.append('ok')
    except OSError as error:
        said.append(errno.errorcode[error.errno])
for name in (FILE, FOLDER):
    fd = os.open(name, os.O_RDONLY)
    note(lambda: fcntl.flock(fd, fcntl.LOCK_SH))
    note(lambda: fcntl.flock(fd, fcntl.LOCK_EX))
    note(lambda: fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB))
fd = os.open(FILE, os.O_RDONLY)
note(lambda: fcntl.lockf(fd, fcntl.LOCK_SH))
note(lambda: fcntl.fcntl(fd, 37, struct.pack('hhqqi4x', 0, 0, 0, 0, 0)))
note(lambda: fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK))
own, changing, ends = os.open('own', os.O_RDWR | os.O_CREAT), os.dup(fd), False
def change():
    while not ends:
        os.dup2(own, changing)
        os.dup2(fd, changing)
libc = ctypes.CDLL(None)
sys.setswitchinterval(1e-5)
thread = threading.Thread(target=change)
thread.start()
for _ in range(500):
    libc.flock(changing, fcntl.LOCK_EX | fcntl.LOCK_NB)
    libc.flock(changing, fcntl.LOCK_SH | fcntl.LOCK_NB)
ends = True
thread.join()
os.close(changing)
print(*said, flush=True)
sys.stdin.read()
";

#[test]
fn no_lock_is_taken_on_what_can_only_be_read() {
    for backend in views() {
        let Some(live) = Live::new() else { return };
        let folder = live.outside().join("others");
        fs::create_dir(&folder).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
        let file = folder.join("file");
        fs::write(&file, "text").unwrap();
        let script = format!("FILE, FOLDER = {file:?}, {folder:?}\n{LOCKS}");
        // What is left when the command asks for more is what it holds.
        let script = script.replace(
            "sys.stdin.read()",
            "pid = os.getpid()\nprint(sum(f':{os.stat(FILE).st_ino} ' in line or f':{os.stat(FOLDER).st_ino} ' in line for line in open('/proc/locks')))",
        );
        let (said, outcome) = python(&live, &script, backend, |spec| spec.read_only.push(folder.clone()));
        let want = "ok ENOLCK ENOLCK ok ENOLCK ENOLCK ok ok EINVAL\n0\n";
        assert_eq!(said, want, "{backend:?}");
        assert!(outcome.denials.contains(&Denial::Lock(file.clone())), "{:?}", outcome.denials);
    }
}

/// Says whether a socket is reached.
const REACHES: &str = "
import errno, os, socket, sys, time
def reaches(name):
    try:
        socket.socket(socket.AF_UNIX).connect(name)
        return 'REACHED'
    except OSError as error:
        return errno.errorcode[error.errno]
";

/// Programs connect to what listens in the workspace by these names, and by others.
const CONNECTS: &str = "
os.mkdir('late')
while not os.path.exists('late/s'):
    time.sleep(0.01)
os.symlink('late/s', 'link')
own = socket.socket(socket.AF_UNIX)
own.bind('own')
own.listen(9)
said = [reaches(name) for name in ('late/s', './late/../late/s', os.getcwd() + '/late/s', 'link', '/proc/self/cwd/late/s', 'own')]
os.rename('late/s', 'moved')
said.append(reaches('moved'))
os.rename('moved', 'own')
said.append(reaches('own'))
for kind in (socket.SOCK_DGRAM, socket.SOCK_RAW):
    for make in (socket.socket, socket.socketpair):
        try:
            make(socket.AF_UNIX, kind)
            said.append('MADE')
        except OSError as error:
            said.append('closed')
print(*said)
";

#[test]
fn sockets_of_others_in_the_workspace_are_not_reached() {
    for backend in views() {
        let Some(live) = Live::new() else { return };
        let late = live.workspace().join("late");
        let script = format!("{REACHES}{CONNECTS}");
        let (said, outcome) = std::thread::scope(|scope| {
            let listens = scope.spawn(|| {
                while !late.exists() {
                    std::thread::sleep(std::time::Duration::from_millis(5));
                }
                UnixListener::bind(late.join("s")).unwrap()
            });
            let run = python(&live, &script, backend, |_| ());
            let listener = listens.join().unwrap();
            listener.set_nonblocking(true).unwrap();
            assert!(listener.accept().is_err(), "a connection arrived");
            run
        });
        let no = "ECONNREFUSED";
        let want = format!("{no} {no} {no} {no} {no} REACHED {no} {no} closed closed closed closed\n");
        assert_eq!(said, want, "{backend:?}");
        assert!(outcome.denials.contains(&Denial::Socket(late.join("s"))), "{:?}", outcome.denials);
    }
}

/// What one command listens at is not for another, which may be allowed less.
#[test]
fn sockets_of_another_command_are_not_reached() {
    let listens = "
import os, socket, time
own = socket.socket(socket.AF_UNIX)
own.bind('shared')
own.listen(9)
while not os.path.exists('end'):
    time.sleep(0.01)
";
    let connects = "
while not os.path.exists('shared'):
    time.sleep(0.01)
print(reaches('shared'))
open('end', 'w').close()
";
    let connects = format!("{REACHES}{connects}");
    for backend in views() {
        let Some(live) = Live::new() else { return };
        std::thread::scope(|scope| {
            scope.spawn(|| python(&live, listens, backend, |_| ()));
            assert_eq!(python(&live, &connects, backend, |_| ()).0, "ECONNREFUSED\n", "{backend:?}");
        });
    }
}

/// With the network of the machine, names that lie on no disk are those of the machine.
#[test]
fn abstract_sockets_of_the_machine_are_not_reached() {
    use std::os::linux::net::SocketAddrExt as _;
    use std::os::unix::net::SocketAddr;
    let asks = "
own = socket.socket(socket.AF_UNIX)
own.bind(b'\\0stockade-own')
own.listen(1)
print(reaches(b'\\0stockade-others') != 'REACHED', reaches(b'\\0stockade-own'))
";
    let script = format!("{REACHES}{asks}");
    for backend in views() {
        let Some(live) = Live::new() else { return };
        let address = SocketAddr::from_abstract_name(b"stockade-others").unwrap();
        let _listens = UnixListener::bind_addr(&address).unwrap();
        let (said, _) = python(&live, &script, backend, |spec| spec.network = Network::Open);
        assert_eq!(said, "True REACHED\n", "{backend:?}");
    }
}

/// Folders hand their group on, and no program runs as a group.
#[test]
fn folders_hand_their_group_on_and_files_do_not_run_as_it() {
    let script = "
import ctypes, errno, os, stat
os.mkdir('d')
open('f', 'w').close()
os.symlink('f', 'l')
def mode(name, change):
    try:
        change()
    except OSError as error:
        return errno.errorcode[error.errno]
    return oct(os.stat(name).st_mode)
libc = ctypes.CDLL(None, use_errno=True)
fd = os.open('d', os.O_RDONLY)
file = os.open('f', os.O_RDONLY)
print(mode('d', lambda: os.chmod('d', 0o2770)), mode('d', lambda: os.fchmod(fd, 0o3775)), mode('d', lambda: os.chmod('d', 0o755)))
print(mode('f', lambda: os.chmod('f', 0o2755)), mode('f', lambda: os.fchmod(file, 0o2755)), mode('f', lambda: os.chmod('l', 0o2755)),
      mode('d', lambda: os.chmod('d', 0o4755)), mode('d', lambda: os.chmod('d', 0o6755)), mode('f', lambda: os.chmod('/usr', 0o2755)))
ends, swaps = False, 0
import sys, threading
sys.setswitchinterval(1e-5)
def swap():
    while not ends:
        for name in ('f', 'd'):
            os.symlink(name, 't')
            os.rename('t', 'way')
thread = threading.Thread(target=swap)
thread.start()
for _ in range(300):
    libc.chmod(b'way', 0o2755)
ends = True
thread.join()
print(oct(os.stat('f').st_mode), os.system('git init -q --shared r && test -g r/.git/objects'))
";
    for backend in views() {
        let Some(live) = Live::new() else { return };
        let (said, _) = python(&live, script, backend, |_| ());
        let want = "0o42770 0o43775 0o40755\nEPERM EPERM EPERM EPERM EPERM EROFS\n0o100644 0\n";
        assert_eq!(said, want, "{backend:?}");
    }
}

/// A command that may not change the workspace is no less kept from what is shared.
#[test]
fn locks_and_sockets_behave_alike_in_a_read_only_workspace() {
    let Some(live) = Live::new() else { return };
    let socket = live.workspace().join("s");
    let script = "
import errno, fcntl, os, socket, time
said = []
for call in (lambda: fcntl.flock(os.open('.', os.O_RDONLY), fcntl.LOCK_EX), lambda: socket.socket(socket.AF_UNIX).connect('s')):
    try:
        call()
        said.append('ok')
    except OSError as error:
        said.append(errno.errorcode[error.errno])
print(*said)
";
    let listens = || UnixListener::bind(&socket);
    let read_only = |spec: &mut SandboxSpec| {
        spec.workspace_access = stockade_exec_sandbox::MountAccess::ReadOnly;
    };
    let _listens = listens().unwrap();
    let (said, _) = python(&live, script, SandboxBackend::Native, read_only);
    assert!(said == "ENOLCK ECONNREFUSED\n" || said == "ENOLCK EACCES\n", "{said}");
    assert!(Path::new(&socket).exists());
}
