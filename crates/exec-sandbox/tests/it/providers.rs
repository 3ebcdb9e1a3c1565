//! Each of what can make a sandbox is run for real, and held to what it says of itself.

#![expect(clippy::disallowed_methods, reason = "lays bait on this machine")]

use std::fs;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::process::{Command, Stdio};
use std::time::Duration;

use stockade_exec_sandbox::provider::Provider;
use stockade_exec_sandbox::run::Streams;
use stockade_exec_sandbox::{
    End, Explain, Limit, Network, OnUnavailable, Outcome, Priority, Property, SandboxBackend, SandboxRule,
    SandboxSpec, plan, plan_and_run, probe, run,
};

use crate::live::{BACKENDS, Live, SPENDER, each, read, spent};

/// A workspace, if the machine has this backend.
fn live(backend: SandboxBackend) -> Option<Live> {
    each().any(|one| one == backend).then(Live::bare)
}

fn python(live: &Live, backend: SandboxBackend, script: &str) -> Outcome {
    live.run(&["python3", "-c", script], |spec| spec.backend = backend).unwrap()
}

fn said(outcome: &Outcome) -> String {
    let both = [outcome.output.stdout.as_slice(), outcome.output.stderr.as_slice()].concat();
    String::from_utf8_lossy(&both).into_owned()
}

#[test]
fn each_runs_ordinary_work() {
    for backend in each() {
        let live = Live::bare();
        let script = "set -e; echo a > a; mkdir -p d && mv a d/b; cat d/b; printf x > \"${TMPDIR:-/tmp}/t\"; \
                      cp /bin/true t && chmod 755 t && ./t; (exit 3) || echo three; touch \"$HOME/h\"; \
                      git init -q . && git status -s > /dev/null; \
                      python3 -c 'import threading, subprocess; subprocess.check_call(\"true\"); t = threading.Thread(); t.start(); t.join(); print(\"python\")'";
        let outcome = live.run(&["sh", "-c", script], |spec| spec.backend = backend).unwrap();
        assert_eq!(
            (said(&outcome).as_str(), outcome.end),
            ("a\nthree\npython\n", End::Exited(0)),
            "{backend:?}"
        );
        assert_eq!(read(&live.workspace().join("d/b")), "a\n", "{backend:?}");
    }
}

#[test]
fn each_says_how_it_ended() {
    let cases: &[(&[&str], &[End])] = &[
        (&["sh", "-c", "exit 42"], &[End::Exited(42)]),
        // Bubblewrap says it as shells do.
        (&["sh", "-c", "kill -9 $$"], &[End::Signalled(9), End::Exited(137)]),
        (&["no-such-program"], &[End::NotFound]),
    ];
    for backend in each() {
        let live = Live::bare();
        for (command, ends) in cases {
            let outcome = live.run(command, |spec| spec.backend = backend).unwrap();
            assert!(ends.contains(&outcome.end), "{backend:?} {command:?} {outcome:?}");
        }
        let outcome = live
            .run(&["sh", "-c", "setsid sleep 60 & trap '' TERM; sleep 60"], |spec| {
                spec.backend = backend;
                spec.limits.wall_time = Limit::AtMost(Duration::from_millis(300));
            })
            .unwrap();
        assert_eq!(outcome.end, End::TimedOut, "{backend:?}");
    }
}

/// Never ends by itself.
const BURNER: &str = "while True: pass";

/// The same, but continues after SIGXCPU.
const STUBBORN: &str = "import signal\nsignal.signal(signal.SIGXCPU, lambda *_: None)\nwhile True: pass";

#[test]
fn time_of_processors_runs_out_with_each() {
    for backend in each() {
        // Bubblewrap says only that it was killed.
        let killed = if backend == SandboxBackend::Bwrap { End::Exited(137) } else { End::OutOfCpuTime };
        for (script, end) in [(BURNER, End::OutOfCpuTime), (STUBBORN, killed)] {
            let live = Live::bare();
            let outcome = live
                .run(&["python3", "-c", script], |spec| {
                    spec.backend = backend;
                    spec.limits.cpu_time = Limit::AtMost(Duration::from_secs(1));
                    // Or it would wait for all other tests.
                    spec.limits.priority = Priority::Normal;
                })
                .unwrap();
            assert_eq!(outcome.end, end, "{backend:?} {script}");
        }
    }
}

#[test]
fn a_kill_before_the_cpu_limit_is_not_out_of_cpu_time() {
    for backend in each().filter(|backend| *backend != SandboxBackend::Bwrap) {
        let live = Live::bare();
        // What the command waited for took its time too, but the limit is one of each process.
        let script = "for i in 1 2 3; do python3 -c 'import time\nwhile time.process_time() < 0.9: pass'; done; kill -9 $$";
        let outcome = live
            .run(&["sh", "-c", script], |spec| {
                spec.backend = backend;
                spec.limits.cpu_time = Limit::AtMost(Duration::from_secs(1));
                spec.limits.priority = Priority::Normal;
            })
            .unwrap();
        assert_eq!(outcome.end, End::Signalled(9), "{backend:?}");
        assert!(outcome.usage.cpu_time.unwrap() > Duration::from_secs(2), "{:?}", outcome.usage);
    }
}

#[test]
fn time_of_processors_runs_out_without_any_sandbox() {
    for script in [BURNER, STUBBORN] {
        let live = Live::bare();
        let mut spec = SandboxSpec::new(live.workspace(), ["python3", "-c", script]);
        let mut facts = probe(&spec);
        (facts.kernel, facts.bubblewrap) = (stockade_exec_sandbox::host::Kernel::default(), None);
        spec.on_unavailable = OnUnavailable::Warn;
        spec.limits.cpu_time = Limit::AtMost(Duration::from_secs(1));
        spec.limits.priority = Priority::Normal;
        let planned = plan(&spec, &facts).unwrap();
        assert_eq!(planned.provider, Provider::Nothing);
        assert_eq!(run(&planned, Streams::default()).unwrap().end, End::OutOfCpuTime, "{script}");
    }
}

/// How far a command stands back is what was asked for: `nice` of itself, and the weight of its session only where it is to
/// be idle.
#[test]
fn each_gives_the_priority_that_was_asked_for() {
    for backend in each() {
        let cases =
            [(None, 5), (Some(Priority::Normal), 0), (Some(Priority::Low), 5), (Some(Priority::Idle), 19)];
        for (priority, nice) in cases {
            let live = Live::bare();
            let script = "nice; cat /proc/self/autogroup 2>/dev/null || true";
            let outcome = live.run(&["sh", "-c", script], |spec| {
                spec.backend = backend;
                spec.limits.priority = priority.unwrap_or(spec.limits.priority);
            });
            let outcome = outcome.unwrap();
            let said = String::from_utf8_lossy(&outcome.output.stdout).into_owned();
            assert_eq!(
                said.lines().next(),
                Some(nice.to_string().as_str()),
                "{backend:?} {priority:?} {said}"
            );
            let is_idle = priority == Some(Priority::Idle);
            assert_eq!(outcome.enforcement.holds(Property::Priority), is_idle, "{backend:?} {priority:?}");
            assert!(is_idle || !said.contains("nice 1"), "{backend:?} {priority:?} {said}");
        }
    }
}

#[test]
fn every_provider_reports_usage() {
    for backend in each() {
        let live = Live::bare();
        let outcome = live.run(&["sh", "-c", SPENDER], |spec| spec.backend = backend).unwrap();
        // Bubblewrap ends without a look at what it started; what it used up itself would be another figure.
        if backend == SandboxBackend::Bwrap {
            assert_eq!((outcome.usage.cpu_time, outcome.usage.peak_memory), (None, None));
        } else {
            spent(outcome.usage, &format!("{backend:?}"));
        }
    }
}

#[test]
fn nothing_beside_the_workspace_is_read_or_written_by_any() {
    for backend in each() {
        let live = Live::bare();
        fs::write(live.outside().join("secret"), "PRIVATE").unwrap();
        let script = "cat ../secret /etc/shadow /proc/$PPID/environ /proc/1/environ; ls .. ; echo x > ../new; \
                      ln ../secret hard; mv ../secret here; echo x > /tmp/../tmp/stockade-new; echo end";
        let outcome = live.run(&["sh", "-c", script], |spec| spec.backend = backend).unwrap();
        let said = said(&outcome);
        assert!(
            !said.contains("PRIVATE") && !said.contains("PATH=") && said.contains("end\n"),
            "{backend:?} {said}"
        );
        assert_eq!(fs::read_dir(live.outside()).unwrap().count(), 2, "{backend:?}");
        assert!(!std::path::Path::new("/tmp/stockade-new").exists(), "{backend:?}");
    }
}

#[test]
fn programs_of_the_host_are_reached_by_none() {
    for backend in each() {
        let live = Live::bare();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let beside = UnixListener::bind(live.outside().join("s")).unwrap();
        let mut sleeper = Command::new("sleep").arg("30").spawn().unwrap();
        let script = format!(
            "import os, socket\n\
             def attempt(what, act):\n    try: act(); print('REACHED', what)\n    except OSError as error: print(what, error)\n\
             attempt('tcp', lambda: socket.create_connection(('127.0.0.1', {port}), 2))\n\
             attempt('unix', lambda: socket.socket(socket.AF_UNIX).connect('../s'))\n\
             attempt('signal', lambda: os.kill({pid}, 9))\n\
             attempt('trace', lambda: open('/proc/{pid}/mem', 'rb').read(1))\n\
             attempt('arguments', lambda: open('/proc/{pid}/cmdline', 'rb').read(1))\n",
            pid = sleeper.id()
        );
        let said = said(&python(&live, backend, &script));
        assert!(!said.contains("REACHED") && said.contains("signal"), "{backend:?} {said}");
        assert!(sleeper.try_wait().unwrap().is_none());
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
        drop(beside);
    }
}

#[test]
fn queues_keys_and_rare_calls_are_closed_by_all() {
    let script = "\
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
def call(name, number, *arguments):
    result = libc.syscall(number, *arguments)
    print(name, 'OPEN' if result >= 0 else errno.errorcode[ctypes.get_errno()])
call('keyctl', 250, 0, -3, 0)
call('bpf', 321, 0, 0, 0)
call('unshare', 272, 0x10000000)
call('io_uring', 425, 1, 0)
call('userfaultfd', 323, 1)
";
    for backend in each() {
        let live = Live::bare();
        let said = said(&python(&live, backend, script));
        assert!(!said.contains("OPEN") && said.lines().count() == 5, "{backend:?} {said}");
    }
}

#[test]
fn background_processes_end_with_every_provider() {
    for backend in each() {
        let live = Live::bare();
        let script =
            "(setsid sh -c 'while :; do echo x >> beat; sleep 0.02; done' > /dev/null 2>&1 &) ; sleep 0.3";
        live.run(&["sh", "-c", script], |spec| spec.backend = backend).unwrap();
        let before = read(&live.workspace().join("beat")).len();
        std::thread::sleep(Duration::from_millis(200));
        assert!(before > 0, "{backend:?}");
        assert_eq!(read(&live.workspace().join("beat")).len(), before, "{backend:?}");
    }
}

/// Not a test of its own: what [`a_killed_launcher_leaves_nothing_with_any`] kills.
#[test]
fn beater() {
    let Some(workspace) = std::env::var_os("STOCKADE_TEST_BEATER") else { return };
    let backend = std::env::var("STOCKADE_TEST_BACKEND").unwrap();
    let script = "mkdir -p \"$HOME/a/b\" && chmod 0 \"$HOME/a\"; \
                  setsid sh -c 'while :; do echo x >> beat; sleep 0.02; done' & wait";
    let mut spec = SandboxSpec::new(workspace, ["sh", "-c", script]);
    spec.backend = BACKENDS.iter().copied().find(|it| format!("{it:?}") == backend).unwrap();
    if std::env::var_os("STOCKADE_TEST_ASKED").is_some() {
        spec.explain = Explain::Asked;
    }
    let outcome = run(&plan(&spec, &probe(&spec)).unwrap(), Streams::default()).unwrap();
    panic!("it was to be killed: {outcome:?}");
}

#[test]
fn a_killed_launcher_leaves_nothing_with_any() {
    // The observer is killed with it.
    for (backend, asked) in
        each().flat_map(|backend| [(backend, None), (backend, Some(("STOCKADE_TEST_ASKED", "1")))])
    {
        let live = Live::bare();
        let beat = live.workspace().join("beat");
        let temporary = live.outside().join("temporary");
        fs::create_dir(&temporary).unwrap();
        let mut parent = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "providers::beater"])
            .env("STOCKADE_TEST_BEATER", live.workspace())
            .env("STOCKADE_TEST_BACKEND", format!("{backend:?}"))
            .envs(asked)
            .env("TMPDIR", &temporary)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        for _ in 0..1000 {
            if read(&beat).len() >= 20 {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        parent.kill().unwrap();
        parent.wait().unwrap();
        std::thread::sleep(Duration::from_millis(100));
        let left = read(&beat).len();
        std::thread::sleep(Duration::from_millis(200));
        assert!(left >= 20, "{backend:?}: it never ran");
        assert_eq!(read(&beat).len(), left, "{backend:?}");
        assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0, "{backend:?}: a folder is left");
    }
}

#[test]
fn a_folder_of_its_own_is_gone_with_the_command() {
    let Some(live) = live(SandboxBackend::Landlock) else { return };
    let script = "mkdir -p \"$HOME/a/b\" && touch \"$HOME/a/b/c\" && chmod 0 \"$HOME/a/b\" \"$HOME/a\" \"$HOME\"; \
                  dirname \"$HOME\"; kill -9 $$";
    let outcome = live.run(&["sh", "-c", script], |spec| spec.backend = SandboxBackend::Landlock).unwrap();
    let folder = String::from_utf8(outcome.output.stdout).unwrap();
    assert!(folder.contains("/stockade-"), "{folder}");
    assert!(!std::path::Path::new(folder.trim_end()).exists(), "{folder}");
}

#[test]
fn bubblewrap_follows_no_link_of_the_workspace() {
    let Some(live) = live(SandboxBackend::Bwrap) else { return };
    fs::create_dir_all(live.workspace().join(".vscode")).unwrap();
    let spec = SandboxSpec { backend: SandboxBackend::Bwrap, ..SandboxSpec::new(live.workspace(), ["true"]) };
    let planned = plan(&spec, &probe(&spec)).unwrap();
    // An attacker creates a symlink between planning and execution.
    fs::remove_dir(live.workspace().join(".vscode")).unwrap();
    std::os::unix::fs::symlink("/oldroot/tmp", live.workspace().join(".vscode")).unwrap();
    let error = run(&planned, Streams::default()).unwrap_err().to_string();
    assert!(error.contains("follow a symlink"), "{error}");
}

#[test]
fn no_value_is_seen_among_the_arguments_of_bubblewrap() {
    let Some(live) = live(SandboxBackend::Bwrap) else { return };
    let script =
        "cat /proc/[0-9]*/cmdline | tr '\\0' ' '; tr '\\0' ' ' < /proc/1/environ; echo \"$TOKEN\" | rev";
    let outcome = live
        .run(&["sh", "-c", script], |spec| {
            spec.backend = SandboxBackend::Bwrap;
            spec.environment.set.push(("TOKEN".into(), "s3cret".into()));
        })
        .unwrap();
    let said = said(&outcome);
    assert!(said.contains("terc3s") && !said.contains("s3cret"), "{said}");
}

#[test]
fn landlock_says_what_it_does_not_do() {
    let Some(live) = live(SandboxBackend::Landlock) else { return };
    let outcome = live.run(&["true"], |spec| spec.backend = SandboxBackend::Landlock).unwrap();
    for property in [Property::Files, Property::Processes, Property::SecondWall, Property::ProtectedNames] {
        assert!(outcome.enforcement.gaps.iter().any(|gap| gap.property == property), "{property:?}");
    }
    let refused = live.run(&["touch", "ran"], |spec| {
        spec.backend = SandboxBackend::Landlock;
        spec.require.insert(Property::ProtectedNames);
    });
    assert!(refused.is_err() && !live.workspace().join("ran").exists());
    let socket = live.outside().join("broker");
    let broker = UnixListener::bind(&socket).unwrap();
    let refused = live.run(&["touch", "ran"], |spec| {
        spec.backend = SandboxBackend::Landlock;
        spec.network = Network::Broker { socket };
    });
    assert!(refused.unwrap_err().to_string().contains("restrict a command to one Unix socket"));
    drop(broker);
}

#[test]
fn without_a_sandbox_a_command_runs_only_if_chosen() {
    let live = Live::bare();
    let mut spec = SandboxSpec::new(live.workspace(), ["touch", "ran"]);
    let mut facts = probe(&spec);
    (facts.kernel, facts.bubblewrap) = (stockade_exec_sandbox::host::Kernel::default(), None);
    assert!(matches!(plan(&spec, &facts).unwrap_err().rule, SandboxRule::CannotEnforce(_)));
    spec.on_unavailable = OnUnavailable::Warn;
    let planned = plan(&spec, &facts).unwrap();
    assert_eq!(planned.provider, Provider::Nothing);
    let outcome = run(&planned, Streams::default()).unwrap();
    assert_eq!(outcome.end, End::Exited(0), "{outcome:?}");
    assert!(live.workspace().join("ran").exists());
    for property in Property::required_by_default() {
        assert!(!outcome.enforcement.holds(property), "{property:?}");
        assert!(outcome.enforcement.gaps.iter().any(|gap| gap.property == property), "{property:?}");
    }
}

#[test]
fn probing_runs_the_providers() {
    let Some(live) = Live::new() else { return };
    let spec = SandboxSpec::new(live.workspace(), ["true"]);
    let (planned, outcome) = plan_and_run(&spec, Streams::default()).unwrap();
    assert_eq!((planned.provider, outcome.end), (Provider::Native, End::Exited(0)));
}
