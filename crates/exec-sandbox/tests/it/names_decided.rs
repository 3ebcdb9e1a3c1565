//! Names that are decided when a command makes them: what the calls return is as ever, tools work, and nothing is there even
//! for a moment.

#![expect(
    clippy::disallowed_methods,
    reason = "makes repositories, and looks at folders while a command runs"
)]

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use stockade_exec_sandbox::{End, SandboxBackend};

use crate::live::{Live, NamesAre, each, read};

const CALLS: &str = include_str!("names_decided/calls.py");

/// What a script of Python prints, with its errors.
fn python(live: &Live, script: &str, backend: SandboxBackend) -> String {
    let outcome = live.run(&["python3", "-c", script], |spec| spec.backend = backend).unwrap();
    let [said, errors] =
        [&outcome.output.stdout, &outcome.output.stderr].map(|text| String::from_utf8_lossy(text));
    assert_eq!(outcome.end, End::Exited(0), "{said}{errors}");
    said.into_owned()
}

fn views() -> impl Iterator<Item = SandboxBackend> {
    each().filter(|backend| *backend != SandboxBackend::Landlock)
}

#[test]
fn calls_end_as_without_mediation() {
    for backend in views() {
        let [decided, free] = [NamesAre::Decided, NamesAre::SweptUp].map(|way| {
            let live = Live::with_names(way).unwrap();
            python(&live, CALLS, backend).replace(live.workspace().to_str().unwrap(), "")
        });
        assert!(free.lines().count() > 400, "{free}");
        let others = decided.lines().zip(free.lines()).filter(|(decided, free)| decided != free);
        let others: Vec<String> =
            others.map(|(decided, free)| format!("{decided}  and not {free}")).collect();
        assert!(others.is_empty(), "{backend:?}\n{}", others.join("\n"));
        assert_eq!(decided.lines().count(), free.lines().count());
    }
}

/// A successful call is never repeated: it would fail with EEXIST. One that was not received yet may be interrupted, if the
/// program's handler does not restart calls.
#[test]
fn signals_do_not_make_a_call_twice() {
    let script = "
import os, signal
ticks = 0
def tick(*_):
    global ticks
    ticks += 1
signal.signal(signal.SIGALRM, tick)
signal.setitimer(signal.ITIMER_REAL, 0.0003, 0.0003)
twice = 0
for number in range(1000):
    for make in (lambda: os.close(os.open(f'f{number}', os.O_WRONLY | os.O_CREAT | os.O_EXCL)), lambda: os.mkdir(f'd{number}')):
        while True:
            try:
                make()
            except InterruptedError:
                continue
            except FileExistsError:
                twice += 1
            break
signal.setitimer(signal.ITIMER_REAL, 0)
print(twice, ticks > 100)
";
    for backend in views() {
        let Some(live) = Live::new() else { return };
        assert_eq!(python(&live, script, backend), "0 True\n", "{backend:?}");
    }
}

fn git(folder: &Path, arguments: &[&str]) {
    let named = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"];
    let status = Command::new("git").args(named).args(arguments).current_dir(folder).status().unwrap();
    assert!(status.success(), "{arguments:?}");
}

/// In the user's own repository, git changes its settings, by a list of what runs nothing.
#[test]
fn git_changes_its_settings_and_runs_nothing_by_them() {
    for backend in views() {
        let Some(live) = Live::new() else { return };
        let workspace = live.workspace();
        git(&workspace, &["init", "-q", "."]);
        git(&workspace, &["config", "alias.mine", "!true"]);
        git(&workspace, &["commit", "-q", "--allow-empty", "-m", "first"]);
        git(&workspace, &["init", "-q", "--bare", "lib.git"]);
        git(&workspace, &["clone", "-q", "lib.git", "seed"]);
        git(&workspace.join("seed"), &["commit", "-q", "--allow-empty", "-m", "first"]);
        git(&workspace.join("seed"), &["push", "-q", "origin", "HEAD"]);
        fs::remove_dir_all(workspace.join("seed")).unwrap();
        let script = "set -e; export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
            f='-c protocol.file.allow=always'
            git config user.name Me; git remote add origin https://example.org/x; git remote rename origin up; git branch -m trunk
            git $f submodule --quiet add ./lib.git mod; git commit -qm mod; git $f clone -q lib.git cloned; git worktree add -q tree
            git -C tree commit -q --allow-empty -m second; git -C cloned config user.email me@x; git -C mod status --short
            set +e; for s in 'core.fsmonitor x' 'core.hooksPath x' 'alias.x !x' 'include.path x' 'filter.x.clean x' 'remote.up.vcs x'; do
                for d in . cloned mod tree; do git -C $d config $s && echo RAN $s in $d; done; done
            (exec 3>>.git/config) && echo OPENED; echo x >> .git/config && echo WROTE; ln .git/config other && echo LINKED
            cp .git/config c; echo '[core] pager = x' >> c; mv c .git/config && echo MOVED; echo done";
        let outcome = live.run(&["sh", "-c", script], |spec| spec.backend = backend).unwrap();
        let said = String::from_utf8_lossy(&outcome.output.stdout).into_owned();
        assert_eq!(said, "done\n", "{backend:?} {}", String::from_utf8_lossy(&outcome.output.stderr));
        assert!(outcome.quarantine.is_empty(), "{:?}", outcome.quarantine);
        let config = read(&workspace.join(".git/config"));
        for kept in ["mine = !true", "name = Me", "[remote \"up\"]", "[submodule \"mod\"]"] {
            assert!(config.contains(kept), "{kept}: {config}");
        }
        assert!(!config.contains("fsmonitor") && !config.contains("pager"), "{config}");
        git(&workspace, &["submodule", "--quiet", "status"]);
        git(&workspace.join("tree"), &["status", "--short"]);
    }
}

/// What is written where a repository is complete is in place when it is written to its end, and never before it was judged.
#[test]
fn settings_written_last_are_judged_before_git_reads_them() {
    let script = "
import mmap, os, time
def settled(name, want):
    for _ in range(2000):
        if open(name).read() == want:
            return True
        time.sleep(0.002)
def repository(name):
    os.makedirs(name + '/objects')
    os.mkdir(name + '/refs')
    open(name + '/HEAD', 'w').write('ref: refs/heads/main')
    return os.open(name + '/config', os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o640)
fine, evil = '[user]\\n\\tname = me\\n', '[core]\\n\\tfsmonitor = /x\\n'
one = repository('one')
os.write(one, fine.encode())
kept = os.dup(one)
os.close(one)
time.sleep(0.05)
print(repr(open('one/config').read()))
os.close(kept)
print(settled('one/config', fine), oct(os.stat('one/config').st_mode))
two = repository('two')
os.write(two, fine.encode())
shared = mmap.mmap(two, len(fine))
os.close(two)
time.sleep(0.05)
print(repr(open('two/config').read()))
shared[:] = evil.ljust(len(fine))[:len(fine)].encode()
shared.close()
three = repository('three')
os.write(three, evil.encode())
os.close(three)
four = repository('four')
os.write(four, fine.encode())
os.unlink('four/config')
os.close(four)
five = repository('five')
try:
    os.open('five/config', os.O_RDWR | os.O_CREAT | os.O_EXCL)
except FileExistsError:
    print('exists')
os.write(five, fine.encode())
";
    for backend in views() {
        let Some(live) = Live::new() else { return };
        let want = "''\nTrue 0o100640\n''\nexists\n";
        assert_eq!(python(&live, script, backend), want, "{backend:?}");
        let config = |name: &str| read(&live.workspace().join(name).join("config"));
        for name in ["one", "five"] {
            assert!(config(name).contains("name = me"), "{name}: {}", config(name));
        }
        for name in ["two", "three", "four"] {
            assert_eq!(config(name), "", "{name}");
        }
        assert!(!live.workspace().join("four/config").exists());
    }
}

/// Another thread changes the path while the supervisor reads it.
#[test]
fn a_path_that_changes_meanwhile_makes_no_name() {
    let script = "
import ctypes, os, sys, threading
sys.setswitchinterval(1e-5)
libc = ctypes.CDLL(None)
path = ctypes.create_string_buffer(b'free/x')
ends = False
def change():
    while not ends:
        ctypes.memmove(path, b'.git/hooks/y', 13)
        ctypes.memmove(path, b'.envrc', 7)
        ctypes.memmove(path, b'free/x', 7)
def swap():
    while not ends:
        for to in ['.git/hooks', 'free']:
            try:
                os.symlink(to, 'tmp-link')
                os.rename('tmp-link', 'way')
            except OSError:
                pass
os.mkdir('free')
threads = [threading.Thread(target=change), threading.Thread(target=swap)]
[thread.start() for thread in threads]
made = 0
for number in range(1000):
    for name in (path, b'way/pre-commit'):
        fd = libc.open(name, os.O_WRONLY | os.O_CREAT, 0o755)
        if fd >= 0:
            made += 1
            os.close(fd)
ends = True
[thread.join() for thread in threads]
print(made > 0)
";
    let Some(live) = Live::new() else { return };
    git(&live.workspace(), &["init", "-q", "."]);
    let ends = AtomicBool::new(false);
    let workspace = live.workspace();
    let armed = || {
        [".envrc", ".git/hooks/pre-commit", ".git/hooks/y"]
            .map(|name| workspace.join(name))
            .iter()
            .any(|it| it.exists())
    };
    std::thread::scope(|scope| {
        // Not even for a moment.
        let watches = scope.spawn(|| {
            let mut seen = false;
            while !ends.load(Ordering::Relaxed) {
                seen |= armed();
            }
            seen
        });
        assert_eq!(python(&live, script, SandboxBackend::Native), "True\n");
        ends.store(true, Ordering::Relaxed);
        assert!(!watches.join().unwrap());
    });
}

/// Programs that have a terminal of their own open it by its name, and take it for theirs.
#[test]
fn terminals_are_opened_and_belong_to_their_opener() {
    let script = "
import os, pty, sys
def own(prepare):
    pid, fd = pty.fork()
    if pid == 0:
        prepare()
        os.write(os.open('/dev/tty', os.O_RDWR), b'mine')
        os._exit(0)
    said = os.read(fd, 100)
    os.waitpid(pid, 0)
    return said
print(own(lambda: None), own(lambda: os.system('git init -q r')))
try:
    os.open('/dev/tty', os.O_RDWR)
except OSError as error:
    print(error.errno)
";
    for backend in views() {
        let Some(live) = Live::new() else { return };
        assert_eq!(python(&live, script, backend), "b'mine' b'mine'\n6\n", "{backend:?}");
    }
}

/// What lies where git looks is harmless at every moment, whatever way it was to come there, and also in what the command made.
#[test]
fn no_repository_is_armed_while_a_command_runs() {
    let rows = [
        "mkdir x; cp ../evil/pre-commit x; ln -s ../x .git/hooks",
        "rm -rf .git/hooks; mkdir x; cp ../evil/pre-commit x; mv x .git/hooks",
        "cp ../evil/pre-commit .git/hooks/pre-commit.sample; mv .git/hooks/pre-commit.sample .git/hooks/pre-commit",
        "cp ../evil/pre-commit .git/hooks/a.sample; chmod +x .git/hooks/a.sample; ln .git/hooks/a.sample .git/hooks/pre-commit",
        "mv .git/refs r; cat ../evil/config > .git/config; mv r .git/refs",
        "mv .git/refs r; rm .git/config; ln -s ../../evil/config .git/config; mv r .git/refs",
        "mv .git/refs r; rm .git/config; cp ../evil/config c; ln c .git/config; mv r .git/refs",
        "mv .git/refs r; exec 3<> .git/config; mv r .git/refs; cat ../evil/config >&3",
        "cp .git/config c; exec 3<> c; mv c .git/config; cat ../evil/config >&3",
        "cp .git/config c; ln c d; mv c .git/config; cat ../evil/config > d",
        "cat ../evil/config > .git/config.lock; mv .git/config.lock .git/config",
        "cat ../evil/config > e; python3 -c 'import ctypes; ctypes.CDLL(None).renameat2(-100, b\"e\", -100, b\".git/config\", 2)'",
        "mv .git g; mkdir .git; mv g/* .git/; cat ../evil/config > .git/config",
        "mv .git g; cat ../evil/config > g/config; cp ../evil/pre-commit g/hooks/; mv g .git",
        "mkdir n; cp -r .git/objects .git/refs .git/HEAD n; cat ../evil/config > n/config; mv .git g; mv n .git",
        "mkdir n; cp -r .git/objects .git/refs .git/HEAD n; exec 3> n/config; mv .git g; mv n .git; cat ../evil/config >&3; exec 3>&-; sleep 0.05",
        "mkdir n; cp -r .git/objects .git/refs .git/HEAD n; cat g > n/config; (exec 3<> n/config; sleep 0.05; cat ../evil/config >&3); mv .git g; mv n .git",
        "mkdir n; cp -r .git/objects .git/refs .git/HEAD n; exec 3> n/config; ln -L /proc/self/fd/3 l; mv .git g; mv n .git; cat ../evil/config | tee l >&3",
        "exec 3> /proc/self/cwd/.git/hooks/pre-commit; cat ../evil/pre-commit > /proc/$$/root$PWD/.git/hooks/pre-commit",
        "ln -s .git/hooks/pre-commit way; cat ../evil/pre-commit > way; ln -s .git via; cat ../evil/pre-commit > via/hooks/post-checkout",
        "mkdir .git/worktrees .git/worktrees/w; echo ../../../e > .git/worktrees/w/commondir",
        "rm -rf .git/info; mkdir x; echo '* filter=x' > x/attributes; ln -s ../x .git/info; mv x .git/info",
    ];
    let looks = "[ -e .git/hooks/pre-commit ] || [ -e .git/hooks/post-checkout ] || [ -e .git/info/attributes ] || grep -qs fsmonitor .git/config";
    for row in rows {
        let Some(live) = Live::new() else { return };
        let evil = live.workspace().join("evil");
        fs::create_dir(&evil).unwrap();
        fs::write(evil.join("config"), "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = /x\n").unwrap();
        fs::write(evil.join("pre-commit"), "#!/bin/sh\n/x\n").unwrap();
        let script = format!(
            "git init -q r; cd r; ({row}); git rev-parse -q --git-dir >/dev/null 2>&1 && ({looks}) && echo ARMED; echo end"
        );
        let said = live.script(&script);
        assert!(said.ends_with("end\n") && !said.contains("ARMED"), "{row}: {said}");
    }
}
