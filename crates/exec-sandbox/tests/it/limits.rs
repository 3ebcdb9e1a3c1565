//! Limits have an effect, and each way to end has a name.

#![expect(clippy::disallowed_methods, reason = "keeps the time, and starts itself")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use stockade_exec_sandbox::run::{Signals, Stream, Streams};
use stockade_exec_sandbox::{
    Denial, End, Limit, Processors, Property, RunError, SandboxBackend, SandboxSpec, Spawn, plan, probe, run,
};

use crate::live::{Live, each, read};

/// A flood is ended wherever it is bounded, and told of wherever it is not.
#[test]
fn floods_of_files_end_or_are_counted() {
    let Some(live) = Live::new() else { return };
    // It goes on until it is ended: what others on the file system take away meanwhile counts as well, against it.
    let flood = "import os, time\nfor i in range(200000): os.mkdir(f'd{i}')\ntime.sleep(20)";
    let outcome =
        live.run(&["python3", "-c", flood], |spec| spec.limits.files = Limit::AtMost(1000)).unwrap();
    assert_eq!(outcome.end, End::OutOfDisk, "{outcome:?}");
    assert!(outcome.enforcement.holds(Property::Disk), "{:?}", outcome.enforcement);
    let fill = "import os, time\nfile = os.open('x', os.O_CREAT | os.O_WRONLY)\nfor i in range(1, 33):\n    os.posix_fallocate(file, 0, i << 26)\n    time.sleep(0.5)";
    let outcome =
        live.run(&["python3", "-c", fill], |spec| spec.limits.disk = Limit::AtMost(16 << 20)).unwrap();
    assert_eq!(outcome.end, End::OutOfDisk, "{outcome:?}");
    let outcome = live.run(&["sh", "-c", "find . -mindepth 1 -delete; mkdir $(seq 3000)"], |_| ()).unwrap();
    assert_eq!(outcome.end, End::Exited(0), "{outcome:?}");
    let refused = live.run(&["true"], |spec| {
        spec.limits.disk = Limit::AtMost(1 << 40);
        spec.require_by_name.insert(Property::Disk);
    });
    assert!(refused.unwrap_err().to_string().contains("includes writes of other programs"));
}

#[test]
fn each_way_to_end_has_a_name() {
    let Some(live) = Live::new() else { return };
    let cases: &[(&[&str], End)] = &[
        (&["true"], End::Exited(0)),
        (&["sh", "-c", "exit 42"], End::Exited(42)),
        (&["sh", "-c", "kill -9 $$"], End::Signalled(9)),
        (&["sh", "-c", "kill -TERM $$"], End::Signalled(15)),
        (&["no-such-program"], End::NotFound),
        (&["/usr/no/such"], End::NotFound),
        (&["/etc/passwd"], End::NotExecutable),
    ];
    for (command, end) in cases {
        assert_eq!(live.run(command, |_| ()).unwrap().end, *end, "{command:?}");
    }
}

#[test]
fn timeouts_apply_with_every_provider() {
    let Some(live) = Live::new() else { return };
    let start = Instant::now();
    let outcome = live
        .run(&["sh", "-c", "setsid sleep 60 & trap '' TERM INT; while :; do sleep 1; done"], |spec| {
            spec.limits.wall_time = Limit::AtMost(Duration::from_millis(300));
        })
        .unwrap();
    assert_eq!(outcome.end, End::TimedOut);
    assert!(
        start.elapsed() < Duration::from_secs(10) && outcome.usage.wall_time >= Duration::from_millis(300)
    );
}

#[test]
fn truncated_output_is_marked() {
    let Some(live) = Live::new() else { return };
    let outcome = live
        .run(&["sh", "-c", "head -c 3000000 /dev/zero; echo error >&2; exit 7"], |spec| {
            spec.limits.output = Limit::AtMost(1000);
        })
        .unwrap();
    assert_eq!(outcome.output.stdout.len() + outcome.output.stderr.len(), 1000);
    assert_eq!(outcome.output.dropped, 3_000_000 + 6 - 1000);
    assert!(outcome.output.truncated() && outcome.end == End::Exited(7));
}

#[test]
fn memory_runs_out() {
    let Some(live) = Live::new() else { return };
    let outcome = live
        .run(&["python3", "-c", "x = bytearray(400 << 20); print('had it')"], |spec| {
            spec.limits.memory = Limit::AtMost(100 << 20);
        })
        .unwrap();
    assert_ne!(outcome.end, End::Exited(0), "{outcome:?}");
    assert_eq!(outcome.output.stdout, b"");
}

#[test]
fn processes_files_and_sizes_run_out() {
    let Some(live) = Live::new() else { return };
    let run = |script: &str| {
        live.run(&["python3", "-c", script], |spec| {
            spec.limits.processes = Limit::AtMost(20);
            spec.limits.open_files = Limit::AtMost(64);
            spec.limits.file_size = Limit::AtMost(1 << 20);
        })
        .unwrap()
    };
    let forks = "import os, signal\nfor n in range(60):\n    if os.fork() == 0: signal.pause()";
    assert_eq!(run(forks).end, End::Exited(1));
    assert_eq!(run("import os\nfor n in range(200): os.dup(0)").end, End::Exited(1));
    let size = "open('big', 'wb').write(bytes(4 << 20))";
    assert_ne!(run(size).end, End::Exited(0));
    assert!(std::fs::metadata(live.workspace().join("big")).unwrap().len() <= 1 << 20);
}

#[test]
fn processors_are_bounded_and_stay_so() {
    let Some(live) = Live::new() else { return };
    let script =
        "import os\nprint(len(os.sched_getaffinity(0)))\nos.sched_setaffinity(0, range(os.cpu_count()))";
    let outcome = live
        .run(&["python3", "-c", script], |spec| {
            spec.limits.processors = Limit::AtMost(Processors::ONE);
            spec.require.insert(Property::Processors);
        })
        .unwrap();
    assert_eq!((outcome.output.stdout.as_slice(), outcome.end), (b"1\n".as_slice(), End::Exited(1)));
    let outcome = live.run(&["python3", "-c", script], |_| ()).unwrap();
    assert_eq!(outcome.end, End::Exited(0), "{outcome:?}");
}

/// It is never more than the part of each period that has begun, on however busy a machine.
#[test]
fn a_part_of_a_processor_is_bounded_or_told() {
    let Some(live) = Live::new() else { return };
    let script = "import time\nbegin = time.monotonic()\nwhile time.monotonic() < begin + 1: pass\n\
                  print(time.process_time() / (time.monotonic() - begin + 0.1))";
    let outcome = live
        .run(&["python3", "-c", script], |spec| {
            spec.limits.processors = Limit::AtMost(Processors::of_thousandths(200).unwrap());
        })
        .unwrap();
    assert_eq!(outcome.end, End::Exited(0), "{outcome:?}");
    if outcome.enforcement.holds(Property::Processors) {
        let share: f64 = String::from_utf8(outcome.output.stdout).unwrap().trim().parse().unwrap();
        assert!(share < 0.25, "{share}");
    } else {
        let gaps = &outcome.enforcement.gaps;
        assert!(gaps.iter().any(|gap| gap.property == Property::Processors), "{gaps:?}");
        println!("skipped: no control group bounds a part of a CPU on this machine");
    }
}

#[test]
fn missing_requirements_are_refused() {
    let Some(live) = Live::new() else { return };
    let result = live.run(&["touch", "ran"], |spec| {
        spec.limits.memory = Limit::Unlimited;
        spec.require.insert(Property::TotalMemory);
    });
    assert!(matches!(result, Err(RunError::Refused(_))), "{result:?}");
    assert!(!live.workspace().join("ran").exists());
}

#[test]
fn memory_runs_out_for_all_together() {
    let Some(live) = Live::new() else { return };
    // It prints how many of its children were killed, unless all processes are killed together.
    let script = "\
import os, time
for n in range(8):
    if os.fork() == 0:
        x = bytearray(40 << 20)
        time.sleep(3)
        os._exit(0)
print(sum(os.wait()[1] != 0 for n in range(8)))";
    // Required, it is held by a control group, or nothing runs.
    for required in [false, true] {
        let outcome = live.run(&["python3", "-c", script], |spec| {
            spec.limits.memory = Limit::AtMost(150 << 20);
            if required {
                spec.require.insert(Property::TotalMemory);
            }
        });
        let outcome = match outcome {
            Err(RunError::Refused(_)) if required && !can_group() => continue,
            outcome => outcome.unwrap(),
        };
        assert!(outcome.enforcement.holds(Property::TotalMemory));
        assert_ne!(outcome.output.stdout, b"0\n", "{outcome:?}");
        assert!(outcome.usage.peak_memory > Some(0));
    }
}

/// Whether this user may make control groups that bound memory.
fn can_group() -> bool {
    let live = Live::bare();
    live.run(&["true"], |spec| spec.require = [Property::TotalMemory].into()).is_ok()
}

/// Control groups that this program has made and that are there.
fn groups(folder: &Path, depth: usize) -> Vec<PathBuf> {
    let own = format!("stockade-{}-", std::process::id());
    let folders = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = folders.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    folders.fold(Vec::new(), |mut found, entry| {
        if entry.file_name().to_string_lossy().starts_with(&own) {
            found.push(entry.path());
        } else if depth > 0 {
            found.extend(groups(&entry.path(), depth - 1));
        }
        found
    })
}

#[test]
fn control_groups_hold_and_are_gone() {
    let Some(live) = Live::new() else { return };
    let script = "import os, time\nfor n in range(40):\n    if os.fork() == 0: time.sleep(20)";
    let outcome = live
        .run(&["python3", "-c", script], |spec| {
            spec.limits.processes = Limit::AtMost(20);
            spec.require.insert(Property::ProcessCount);
            if can_group() {
                spec.require.insert(Property::TotalMemory);
            }
        })
        .unwrap();
    // Where no groups may be made, these bounds are held in other ways.
    assert_eq!(
        (outcome.end, outcome.denials.first()),
        (End::Exited(1), Some(&Denial::Processes)),
        "{outcome:?}"
    );
    // Other tests make some as well.
    let start = Instant::now();
    while !groups(Path::new("/sys/fs/cgroup"), 5).is_empty() {
        assert!(start.elapsed() < Duration::from_secs(30), "a group is left");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Not a test of its own: the helper of [`a_run_ends_without_a_reader`].
#[test]
fn printer() {
    let Some(workspace) = std::env::var_os("STOCKADE_TEST_PRINTER") else { return };
    let mut spec = SandboxSpec::new(&workspace, ["sh", "-c", "head -c 300000 /dev/zero; echo fine > ran"]);
    spec.limits.wall_time = Limit::AtMost(Duration::from_secs(1));
    let streams = Streams { stdout: Stream::Relay, signals: Signals::Forward, ..Streams::default() };
    run(&plan(&spec, &probe(&spec)).unwrap(), streams).unwrap();
    std::fs::write(Path::new(&workspace).join("returned"), "").unwrap();
    // The harness would print that the test is done, and wait for a reader itself.
    std::process::abort();
}

#[test]
fn a_run_ends_without_a_reader() {
    let Some(live) = Live::new() else { return };
    let start = Instant::now();
    let mut printer = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "limits::printer"])
        .env("STOCKADE_TEST_PRINTER", live.workspace())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // The pipe stays open without a reader.
    let pipe = printer.stdout.take();
    while printer.try_wait().unwrap().is_none() && start.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(50));
    }
    printer.kill().ok();
    printer.wait().unwrap();
    drop(pipe);
    assert!(live.workspace().join("returned").exists(), "it waits for a reader");
    assert!(!live.workspace().join("ran").exists(), "the command itself waited");
}

#[test]
fn threads_start_and_nothing_else() {
    let Some(live) = Live::new() else { return };
    let script = "\
import os, subprocess, threading
thread = threading.Thread(target=lambda: print('thread'))
thread.start(); thread.join()
def attempt(name, act):
    try: act(); print(name, 'started')
    except OSError: print(name, 'refused')
attempt('fork', lambda: os.fork() or os._exit(0))
attempt('program', lambda: subprocess.run(['/bin/true']))
attempt('spawn', lambda: os.posix_spawn('/bin/true', ['true'], {}))
attempt('exec', lambda: os.execv('/bin/true', ['true']))
";
    for backend in each().filter(|backend| *backend != SandboxBackend::Bwrap) {
        let outcome = live.run(&["python3", "-c", script], |spec| {
            (spec.backend, spec.spawn) = (backend, Spawn::Threads);
            spec.require.insert(Property::NoSpawn);
        });
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(error) => panic!("{backend:?}: {error}"),
        };
        let said = String::from_utf8_lossy(&outcome.output.stdout).into_owned();
        let expected = "thread\nfork refused\nprogram refused\nspawn refused\nexec refused\n";
        assert_eq!((said.as_str(), outcome.end), (expected, End::Exited(0)), "{backend:?} {outcome:?}");
    }
    let refused =
        live.run(&["true"], |spec| (spec.backend, spec.spawn) = (SandboxBackend::Bwrap, Spawn::Threads));
    assert!(matches!(refused, Err(RunError::Refused(_))));
}

#[test]
fn shared_memory_counts() {
    let Some(live) = Live::new() else { return };
    let rows = [
        "import mmap, time\nm = mmap.mmap(-1, 300 << 20)\nfor n in range(0, 300 << 20, 4096): m[n] = 1\ntime.sleep(5)",
        "import os\nf = os.memfd_create('x')\nfor n in range(300): os.write(f, bytes(1 << 20))",
        "import ctypes\nc = ctypes.CDLL(None, use_errno=True)\nassert c.shmget(0, 300 << 20, 0o1600) >= 0",
    ];
    for script in rows {
        let outcome = live
            .run(&["python3", "-c", script], |spec| spec.limits.memory = Limit::AtMost(100 << 20))
            .unwrap();
        assert_ne!(outcome.end, End::Exited(0), "{script}");
    }
    let small = "import mmap, os\nm = mmap.mmap(-1, 60 << 20)\nfor n in range(0, 60 << 20, 4096): m[n] = 1\n\
                 for n in range(6):\n    if os.fork() == 0:\n        sum(m[n] for n in range(0, 60 << 20, 4096))\n        os._exit(0)\n\
                 import time\ntime.sleep(0.5)\nprint(sum(os.wait()[1] for n in range(6)))";
    let outcome =
        live.run(&["python3", "-c", small], |spec| spec.limits.memory = Limit::AtMost(150 << 20)).unwrap();
    assert_eq!(
        (outcome.output.stdout.as_slice(), outcome.end),
        (b"0\n".as_slice(), End::Exited(0)),
        "shared once, not six times"
    );
}

/// Fills every folder in memory, and with it memory of its own.
const FILLER: &str = "\
import os, time
held, piece = [], b'x' * (1 << 20)
for folder in ['/tmp', os.environ['HOME'], '/dev/shm']:
    try:
        with open(folder + '/fill', 'wb', buffering=0) as file:
            for n in range(600): file.write(piece); print('lies', flush=True)
    except OSError: pass
for n in range(160): held.append(bytearray(piece)); time.sleep(0.002); print('held', flush=True)
time.sleep(2)";

#[test]
fn folders_in_memory_count_with_the_processes() {
    for backend in each().filter(|backend| *backend != SandboxBackend::Landlock) {
        let live = Live::bare();
        let outcome = live
            .run(&["python3", "-c", FILLER], |spec| {
                (spec.backend, spec.limits.memory) = (backend, Limit::AtMost(200 << 20));
            })
            .unwrap();
        let pieces = outcome.output.stdout.split(|byte| *byte == b'\n').count() as u64;
        assert!(pieces <= 240 && outcome.end != End::Exited(0), "{backend:?} {pieces} {:?}", outcome.end);
        let held = |property| outcome.enforcement.gaps.iter().any(|gap| gap.property == property);
        assert_eq!(held(Property::TotalMemory), !can_group(), "what is not held is said");
    }
}

/// Files that hold nothing take memory as well.
#[test]
fn names_in_memory_count_with_the_processes() {
    let script = "\
import os
made = 0
try:
    for folder in ['/tmp', '/dev/shm', os.environ['HOME']]:
        for n in range(190_000): os.symlink('x', f'{folder}/{n}'); made += 1
except OSError: pass
print(made)";
    for backend in each().filter(|backend| *backend != SandboxBackend::Landlock) {
        let live = Live::bare();
        let outcome = live
            .run(&["python3", "-c", script], |spec| {
                (spec.backend, spec.limits.memory) = (backend, Limit::AtMost(80 << 20));
            })
            .unwrap();
        // Old control groups do not count them, and the folders take fewer then.
        let made = String::from_utf8_lossy(&outcome.output.stdout).trim().parse().unwrap_or(0);
        assert!(made < 20_000, "{backend:?} {outcome:?}");
        assert!(
            outcome.end == End::OutOfMemory || (made > 0 && outcome.end == End::Exited(0)),
            "{backend:?} {outcome:?}"
        );
    }
}

#[test]
fn shared_resources_of_the_user_are_not_exhausted() {
    let script = "\
import ctypes, fcntl, os, resource, socket
libc = ctypes.CDLL(None)
count = 0
while libc.inotify_init() >= 0: count += 1
print(count)
read, write = os.pipe()
try: fcntl.fcntl(write, 1031, 1 << 20); print('larger')
except PermissionError: print('refused', fcntl.fcntl(write, 1032))
one, other = socket.socketpair()
before = one.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 22)
print(one.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) == before)
print(resource.getrlimit(resource.RLIMIT_SIGPENDING)[1], resource.getrlimit(resource.RLIMIT_MSGQUEUE)[1])";
    let most: u64 = read(Path::new("/proc/sys/user/max_inotify_instances")).trim().parse().unwrap();
    let half = |resource| rustix::process::getrlimit(resource).maximum.unwrap_or(u64::MAX) / 2;
    let [signals, queues] =
        [rustix::process::Resource::Sigpending, rustix::process::Resource::Msgqueue].map(half);
    let expected = format!("{}\nrefused 65536\nTrue\n{signals} {queues}\n", most / 2);
    // Landlock has no namespace in which lists of watched files could be counted.
    for backend in each().filter(|backend| *backend != SandboxBackend::Landlock) {
        let Some(live) = Live::new() else { return };
        let outcome = live.run(&["python3", "-c", script], |spec| spec.backend = backend).unwrap();
        assert_eq!(String::from_utf8_lossy(&outcome.output.stdout), expected, "{backend:?} {outcome:?}");
    }
}
