//! Landlock without namespaces: a command attacks every enforced property, and root changes to another user.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "makes files for commands to try, and says why not"
)]

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};

use stockade_exec_sandbox::host::{HostFacts, Kernel};
use stockade_exec_sandbox::provider::Provider;
use stockade_exec_sandbox::{
    End, Limit, MountAccess, Outcome, Priority, Property, RunError, SandboxBackend, SandboxSpec, plan,
};

use crate::live::{Live, each, read};

/// The overflow user ID, which has no rights.
const OVERFLOW_USER: u32 = 65534;

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// A workspace that belongs to an ordinary user, who can reach it; nothing where there is no Landlock.
fn walled() -> Option<Live> {
    let live = Live::bare();
    fs::set_permissions(live.outside(), fs::Permissions::from_mode(0o755)).unwrap();
    if is_root() {
        chown(live.workspace(), Some(OVERFLOW_USER), Some(OVERFLOW_USER)).unwrap();
    }
    match behind_landlock(&live, &["true"], |_| ()) {
        Ok(_) => Some(live),
        Err(error) => {
            eprintln!("skipped: {error}");
            None
        }
    }
}

fn behind_landlock(
    live: &Live,
    command: &[&str],
    change: impl FnOnce(&mut SandboxSpec),
) -> Result<Outcome, RunError> {
    live.run(command, |spec| {
        spec.backend = SandboxBackend::Landlock;
        change(spec);
    })
}

/// Runs a script in Python and returns what it printed.
fn python(live: &Live, script: &str, change: impl FnOnce(&mut SandboxSpec)) -> (String, Outcome) {
    let outcome = behind_landlock(live, &["python3", "-c", script], change).unwrap();
    assert!(matches!(outcome.end, End::Exited(_) | End::OutOfMemory), "{outcome:?}");
    let said = [&outcome.output.stdout[..], &outcome.output.stderr[..]].concat();
    (String::from_utf8_lossy(&said).into_owned(), outcome)
}

/// Properties required by name are tested on this machine first, with each backend.
#[test]
fn required_properties_are_tested_from_inside() {
    for backend in each() {
        let live = Live::bare();
        let named = [Property::Files, Property::Network, Property::Processes, Property::Ipc];
        let more = [Property::Privileges, Property::SystemCalls, Property::Memory, Property::ProcessCount];
        let outcome = live.run(&["true"], |spec| {
            spec.backend = backend;
            spec.require_by_name = named.into_iter().chain(more).collect();
        });
        assert_eq!(outcome.unwrap().end, End::Exited(0), "{backend:?}");
    }
}

#[test]
fn nothing_runs_as_root_behind_landlock() {
    let Some(live) = walled() else { return };
    let (said, _) = python(&live, "import os; open('made', 'w'); print(os.getuid(), os.getgroups())", |_| ());
    let user = fs::metadata(live.workspace()).unwrap().uid();
    assert!(said.starts_with(&format!("{user} ")) && user != 0, "{said}");
    assert_eq!(fs::metadata(live.workspace().join("made")).unwrap().uid(), user);
    if !is_root() {
        return;
    }
    // A read-only workspace may have any owner; then the command runs as an unprivileged user.
    let (said, _) = python(&live, "import os; print(os.getuid())", |spec| {
        spec.workspace_access = MountAccess::ReadOnly;
    });
    assert!(said.trim().parse::<u32>().unwrap() >= 1_000_000_000, "{said}");
    chown(live.workspace(), Some(0), Some(0)).unwrap();
    let refused = behind_landlock(&live, &["true"], |_| ()).unwrap_err().to_string();
    assert!(refused.contains("root owns it"), "{refused}");
}

#[test]
fn landlock_is_not_auto_selected_for_root() {
    let kernel = Kernel { namespaces: false, landlock: 7, seccomp: true, mediation: true };
    let entries = [("/srv/work".into(), stockade_exec_sandbox::host::Entry::Folder)].into();
    let facts = HostFacts { entries, home: "/root".into(), kernel, ..HostFacts::default() };
    let mut spec = SandboxSpec::new("/srv/work", ["true"]);
    let chosen = |spec: &SandboxSpec, user, owner| {
        let facts = HostFacts { user, workspace_owner: owner, ..facts.clone() };
        plan(spec, &facts).map(|plan| plan.provider)
    };
    assert_eq!(chosen(&spec, 1000, None), Ok(Provider::Landlock));
    let refusal = chosen(&spec, 0, Some((1000, 1000))).unwrap_err();
    assert!(refusal.to_string().contains("not auto-selected for root"), "{refusal}");
    spec.backend = SandboxBackend::Landlock;
    assert_eq!(chosen(&spec, 0, Some((1000, 1000))), Ok(Provider::Landlock));
    for owner in [None, Some((0, 0)), Some((0, 1000))] {
        assert!(chosen(&spec, 0, owner).is_err(), "{owner:?}");
    }
    spec.workspace_access = MountAccess::ReadOnly;
    assert_eq!(chosen(&spec, 0, None), Ok(Provider::Landlock));
}

/// What a command does to show that a property does not hold, and what it prints where it does.
const DISPROOFS: &[(Property, &str, &str)] = &[
    (
        Property::Files,
        "for path in ['../secret', '/etc/shadow', '/proc/1/environ', '/var/log/x', '/root/x']:\n\
         \x20   for mode in 'ra': attempt(lambda: open(path, mode))\n\
         attempt(lambda: os.mkdir('../made'))\nattempt(lambda: os.unlink('../secret'))\n\
         attempt(lambda: os.rename('../secret', 'taken'))\nattempt(lambda: os.link('../secret', 'linked'))\n\
         attempt(lambda: os.truncate('../secret', 0))\nattempt(lambda: os.listdir('..'))",
        "",
    ),
    (
        Property::Network,
        "for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX, socket.AF_NETLINK):\n\
         \x20   attempt(lambda: socket.socket(family, socket.SOCK_DGRAM))",
        "",
    ),
    (
        Property::Processes,
        "for pid in (os.getppid(), 1, PARENT):\n\
         \x20   attempt(lambda: os.kill(pid, 0))\n\x20   attempt(lambda: open(f'/proc/{pid}/mem', 'rb'))\n\
         \x20   attempt(lambda: call(101, 16, pid, 0, 0))",
        "",
    ),
    (
        Property::Ipc,
        "attempt(lambda: call(29, 0, 4096, 0o1777))\nattempt(lambda: call(64, 0, 1, 0o1777))\n\
         attempt(lambda: call(68, 0, 0o1777))\nattempt(lambda: call(250, 0, -3, 0))",
        "",
    ),
    (
        Property::Privileges,
        "attempt(lambda: os.setuid(0))\nattempt(lambda: os.setgid(0))\nattempt(lambda: os.setgroups([0]))\n\
         attempt(lambda: os.chroot('.'))\nheader, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()\n\
         call(125, header, sets)\nif any(sets): print('HELD: capabilities')\nattempt(lambda: call(157, 39) - 1 or 1/0)",
        "",
    ),
    (
        Property::SystemCalls,
        "attempt(lambda: call(321, 0, 0, 0))\nattempt(lambda: call(272, 0x10000000))\nattempt(lambda: call(425, 1, 0))\n\
         attempt(lambda: call(323, 1))\nattempt(lambda: call(165, 0, 0, 0, 0, 0))",
        "",
    ),
    (Property::ProcessCount, FORKS, "bounded"),
    (Property::Memory, "attempt(lambda: len(bytearray(600 << 20)))", ""),
    (
        Property::Priority,
        "attempt(lambda: os.nice(-5) and None)\nprint('behind' if os.nice(0) > 0 else 'HELD: nice')",
        "behind",
    ),
];

const FORKS: &str = "\
made = 0
for _ in range(400):
    try: pid = os.fork()
    except OSError: break
    if pid == 0:
        time.sleep(30); os._exit(0)
    made += 1
print('bounded' if made < 60 else f'HELD: {made} processes')";

/// How a script tries something: what it gets must fail.
const TRIES: &str = "\
import ctypes, os, socket, time
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    result = libc.syscall(number, *arguments)
    if result < 0: raise OSError(ctypes.get_errno(), 'refused')
    return result
def attempt(act):
    try: got = act()
    except (OSError, MemoryError, ZeroDivisionError): return
    print('HELD:', got)
";

#[test]
fn nothing_is_listed_as_enforced_that_a_command_disproves() {
    if std::env::consts::ARCH != "x86_64" {
        eprintln!("skipped: the numbers of calls are those of x86-64");
        return;
    }
    let Some(live) = walled() else { return };
    fs::write(live.outside().join("secret"), "PRIVATE").unwrap();
    let parent = std::process::id().to_string();
    let rows = DISPROOFS.iter().flat_map(|row| [(row, true), (row, false)]);
    for ((property, script, expected), is_required) in rows {
        let script = format!("{TRIES}{}", script.replace("PARENT", &parent));
        let (said, outcome) = python(&live, &script, |spec| {
            spec.limits.processes = Limit::AtMost(50);
            spec.limits.memory = Limit::AtMost(512 << 20);
            spec.limits.priority = Priority::Idle;
            // What is required may be held by other means.
            spec.require.extend(is_required.then_some(*property));
        });
        assert_eq!(said.trim_end(), *expected, "{property:?}");
        assert!(outcome.enforcement.holds(*property), "{property:?}");
        assert_eq!(read(&live.outside().join("secret")), "PRIVATE", "{property:?}");
    }
    let tried = |property: &Property| DISPROOFS.iter().any(|row| row.0 == *property);
    let outcome = behind_landlock(&live, &["true"], |_| ()).unwrap();
    for (property, _) in &outcome.enforcement.enforced {
        assert!(tried(property) || *property == Property::TotalMemory, "no attack on {property:?}");
    }
}

/// Ways to change a mode or a time.
const CHANGES: &str = "\
def changes(path):
    yield lambda: os.chmod(path, 0o666)
    yield lambda: os.utime(path, (1, 1))
    yield lambda: os.utime(path)
    yield lambda: os.setxattr(path, 'user.x', b'x')
    yield lambda: os.chown(path, -1, os.getgid())
    yield lambda: call(90, path.encode(), 0o666)
    yield lambda: call(452, -100, path.encode(), 0o666, 0)
    yield lambda: call(452, os.open(path, os.O_PATH), b'', 0o666, 0x1000)
    yield lambda: call(132, path.encode(), 0)
    yield lambda: call(235, path.encode(), 0)
    yield lambda: call(280, os.open(path, os.O_PATH), b'', 0, 0x1000)
    yield lambda: os.chmod(f'/proc/self/fd/{os.open(path, os.O_PATH)}', 0o666)
    yield lambda: os.fchmod(os.open(path, os.O_RDONLY), 0o666)
    yield lambda: os.utime(os.open(path, os.O_RDONLY), (1, 1))
";

#[test]
fn modes_and_times_of_other_files_stay() {
    let Some(live) = walled() else { return };
    let user = fs::metadata(live.workspace()).unwrap().uid();
    let shared = live.outside().join("shared");
    fs::create_dir(&shared).unwrap();
    let files = [live.outside().join("own"), shared.join("file")];
    for file in &files {
        fs::write(file, "x").unwrap();
        fs::set_permissions(file, fs::Permissions::from_mode(0o604)).unwrap();
        chown(file, Some(user), None).unwrap();
    }
    let looks = |data: fs::Metadata| (data.mode(), data.uid(), data.ctime(), data.ctime_nsec());
    let before = files.each_ref().map(|file| looks(fs::metadata(file).unwrap()));
    let script = format!(
        "{TRIES}{CHANGES}\nimport threading\nfor path in ('../own', '../shared/file', '{own}'):\n\
         \x20   os.path.lexists('link') and os.unlink('link')\n    os.symlink(path, 'link')\n\
         \x20   for name in (path, 'link'):\n        for change in changes(name): attempt(change)\n\
         open('mine', 'w')\n\
         def flip():\n    for turn in range(4000):\n        os.symlink('../own' if turn % 2 else 'mine', 'new'); os.rename('new', 'link')\n\
         flips = threading.Thread(target=flip); flips.start()\n\
         while flips.is_alive():\n    try: os.chmod('link', 0o666)\n    except OSError: pass\nprint('tried')",
        own = files[0].display()
    );
    let (said, _) = python(&live, &script, |spec| spec.read_only = vec![shared]);
    assert_eq!(said, "tried\n");
    assert_eq!(files.each_ref().map(|file| looks(fs::metadata(file).unwrap())), before);
}

#[test]
fn modes_and_times_of_its_own_files_are_changed_as_ever() {
    let Some(live) = walled() else { return };
    let script = "\
set -e; umask 022
echo x > a; chmod 750 a; stat -c %a a; mkdir d; chmod 700 d; stat -c %a d
touch -d @1000000000.123456789 a; stat -c '%Y %y' a | cut -c1-40
cp -p a b; stat -c '%a %Y' b; install -m 755 a c; stat -c %a c
ln -s a l; touch -h -d @5 l; stat -c %Y l; stat -c %Y a
tar cf t.tar a d; mkdir out; tar xpf t.tar -C out; stat -c '%a %Y' out/a
chmod 600 \"$HOME/.\" \"$TMPDIR/.\"; cd d; chmod 711 .; stat -c %a .; chmod +x ../nothing || echo missing
python3 -c \"import os; f = open('e', 'w'); os.fchmod(f.fileno(), 0o640); os.utime(f.fileno(), (1, 2)); print(oct(os.stat('e').st_mode), os.stat('e').st_mtime)
d = os.open('.', os.O_RDONLY); os.chmod('e', 0o604, dir_fd=d); print(oct(os.stat('e').st_mode))\"";
    let outcome = behind_landlock(&live, &["sh", "-c", script], |_| ()).unwrap();
    let said = [&outcome.output.stdout[..], &outcome.output.stderr[..]].concat();
    let said = String::from_utf8_lossy(&said);
    let expected = "750\n700\n1000000000 2001-09-09 01:46:40.123456789\n750 1000000000\n755\n5\n1000000000\n\
                    750 1000000000\n711\nmissing\n0o100640 2.0\n0o100604\n";
    assert!(said.starts_with(expected), "{said}");
}
