//! Commands that fail and do not say why: what they were refused is seen by what they ask for.

#![expect(clippy::disallowed_methods, reason = "lays bait on this machine, and keeps the time")]

use std::fs;
use std::path::Path;
use std::time::Instant;

use stockade_exec_sandbox::host::ProtectionMode;
use stockade_exec_sandbox::run::Streams;
use stockade_exec_sandbox::{Denial, End, Explain, Network, Outcome, SandboxBackend, plan, probe, run};

use crate::live::{Live, each};

fn asked(live: &Live, backend: SandboxBackend, command: &[&str]) -> Outcome {
    let look_on = |spec: &mut stockade_exec_sandbox::SandboxSpec| {
        spec.backend = backend;
        spec.explain = Explain::Asked;
    };
    live.run(command, look_on).unwrap()
}

/// Whether one of the explanations is about this path, and which.
fn about<'o>(outcome: &'o Outcome, path: &Path) -> Option<&'o Denial> {
    outcome.denials.iter().find(|denial| match denial {
        Denial::Read(other) | Denial::Write(other) | Denial::Never(other, _) | Denial::Socket(other) => {
            other == path
        }
        _ => false,
    })
}

#[test]
fn commands_that_swallow_what_they_are_told_are_explained() {
    for backend in each() {
        let live = Live::bare();
        let outside = live.outside();
        fs::create_dir(outside.join("data")).unwrap();
        fs::write(outside.join("data/secret"), "").unwrap();
        let data = outside.join("data/secret");
        let rows: [(String, &Path, &str); 8] = [
            (format!("cat {} 2>/dev/null", data.display()), &data, "read"),
            (format!("ls {} 2>/dev/null", data.parent().unwrap().display()), data.parent().unwrap(), "read"),
            ("touch /etc/x 2>/dev/null".to_owned(), Path::new("/etc/x"), "never"),
            ("cat /etc/shadow 2>/dev/null".to_owned(), Path::new("/etc/shadow"), "never"),
            ("rm /usr/bin/env 2>/dev/null".to_owned(), Path::new("/usr/bin/env"), "never"),
            ("mkdir /opt/x 2>/dev/null".to_owned(), Path::new("/opt/x"), "never"),
            (
                "mkdir /srv/data 2>/dev/null; touch /srv/data/x 2>/dev/null".to_owned(),
                Path::new("/srv/data/x"),
                "write",
            ),
            (format!("ln -s {} link; cat link 2>/dev/null", data.display()), &data, "read"),
        ];
        for (script, path, expected) in rows {
            let outcome = asked(&live, backend, &["sh", "-c", &script]);
            assert_ne!(outcome.end, End::Exited(0), "{backend:?} {script}");
            assert!(outcome.output.stderr.is_empty(), "{backend:?} {script} {outcome:?}");
            let found = about(&outcome, path).map(Denial::name);
            assert_eq!(found, Some(expected), "{backend:?} {script} {:?}", outcome.denials);
        }
        // Without observed system calls, the reason is unknown.
        let outcome =
            live.run(&["sh", "-c", "touch /etc/x 2>/dev/null"], |spec| spec.backend = backend).unwrap();
        assert_eq!(outcome.denials, [], "{backend:?}");
    }
}

#[test]
fn successful_commands_are_not_explained() {
    let rows = [
        "exit 3",
        "echo x > \"${TMPDIR:-/tmp}/a\"; cat \"${TMPDIR:-/tmp}/a\" > a; rm a; exit 1",
        "touch \"$HOME/x\" && cat \"$HOME/x\"; mkdir -p d/e; echo x > d/e/f; mv d/e/f g; exit 1",
        "python3 -c 'import json, os, socket; os.listdir(\"/usr\"); s = open(\"/dev/null\", \"w\")'; exit 1",
        "cat missing 2>/dev/null",
        "no-such-program 2>/dev/null",
    ];
    for backend in each() {
        let live = Live::bare();
        for script in rows {
            let outcome = asked(&live, backend, &["sh", "-c", script]);
            assert_eq!(
                (outcome.denials.as_slice(), matches!(outcome.end, End::Exited(1..))),
                (&[][..], true),
                "{backend:?} {script} {outcome:?}"
            );
        }
        let outcome = asked(&live, backend, &["sh", "-c", "cat /etc/shadow 2>/dev/null; true"]);
        assert_eq!((outcome.end, outcome.denials), (End::Exited(0), vec![]), "{backend:?}");
    }
}

#[test]
fn sockets_and_machines_are_named() {
    let connect = |family: &str, address: &str| {
        format!(
            "import socket, sys\ntry: socket.socket(socket.{family}).connect({address})\nexcept OSError: sys.exit(1)"
        )
    };
    let rows = [
        (connect("AF_INET", "('192.0.2.1', 443)"), Denial::Reach(Some("192.0.2.1:443".into()))),
        (connect("AF_INET6", "('2001:db8::1', 443)"), Denial::Reach(Some("[2001:db8::1]:443".into()))),
        (connect("AF_INET", "('127.0.0.1', 5432)"), Denial::Reach(Some("127.0.0.1:5432".into()))),
        (connect("AF_UNIX", "'/srv/x.sock'"), Denial::Socket("/srv/x.sock".into())),
    ];
    for backend in each() {
        // There, no socket can be made in the first place: the filter refuses that, and shows nothing of what it refuses.
        if backend == SandboxBackend::Landlock {
            continue;
        }
        let live = Live::bare();
        for (script, expected) in &rows {
            let outcome = asked(&live, backend, &["python3", "-c", script]);
            assert_eq!(
                (outcome.end, outcome.denials.as_slice()),
                (End::Exited(1), std::slice::from_ref(expected)),
                "{backend:?} {script}"
            );
        }
        let own = "import socket, sys; s = socket.create_server(('127.0.0.1', 5432)); \
                   socket.create_connection(('127.0.0.1', 5432)); sys.exit(1)";
        let outcome = asked(&live, backend, &["python3", "-c", own]);
        assert_eq!((outcome.end, outcome.denials), (End::Exited(1), vec![]), "{backend:?}");
        let outcome =
            asked(&live, backend, &["python3", "-c", &connect("AF_UNIX", "'/var/run/docker.sock'")]);
        let found = about(&outcome, Path::new("/var/run/docker.sock"));
        let found = found.or(about(&outcome, Path::new("/run/docker.sock")));
        assert_eq!(found.map(Denial::name), Some("never"), "{backend:?} {outcome:?}");
    }
}

#[test]
fn names_that_are_protected_say_so() {
    let Some(live) = Live::new() else { return };
    fs::create_dir(live.workspace().join(".vscode")).unwrap();
    let outcome = asked(&live, SandboxBackend::Native, &["sh", "-c", "touch .vscode/tasks.json 2>/dev/null"]);
    let found = about(&outcome, &live.workspace().join(".vscode/tasks.json"));
    assert!(matches!(found, Some(Denial::Never(_, why)) if why == "other programs obey it"), "{outcome:?}");
    assert_eq!(ProtectionMode::ReadOnly, plan(&spec(&live), &probe(&spec(&live))).unwrap().protected[0].mode);
}

fn spec(live: &Live) -> stockade_exec_sandbox::SandboxSpec {
    let mut spec = stockade_exec_sandbox::SandboxSpec::new(live.workspace(), ["true"]);
    spec.home = stockade_exec_sandbox::HomeView::Private;
    spec.explain = Explain::Asked;
    spec
}

#[test]
fn a_sandbox_that_is_looked_at_keeps_nothing_to_look_with() {
    for backend in each() {
        let live = Live::bare();
        // Neither a descriptor at which calls are shown, nor the one by which it was sent out.
        let outcome = asked(
            &live,
            backend,
            &["sh", "-c", "ls -l /proc/self/fd /proc/$$/fd 2>/dev/null | grep -cE 'seccomp|socket'"],
        );
        assert_eq!(outcome.output.stdout, b"0\n", "{backend:?} {outcome:?}");
        // What the filter refuses, it refuses still, and a command cannot look on at itself.
        let script = "import ctypes, sys\nlibc = ctypes.CDLL(None, use_errno=True)\n\
                      code = (ctypes.c_uint64 * 1)(0x7fc0000000000006)\n\
                      class P(ctypes.Structure): _fields_ = [('n', ctypes.c_ushort), ('p', ctypes.c_void_p)]\n\
                      print(libc.syscall(317, 1, 8, ctypes.byref(P(1, ctypes.addressof(code)))), libc.unshare(0x10000000), libc.syscall(321, 0, 0, 0))";
        if cfg!(target_arch = "x86_64") {
            let outcome = asked(&live, backend, &["python3", "-c", script]);
            assert_eq!(
                String::from_utf8_lossy(&outcome.output.stdout),
                "-1 -1 -1\n",
                "{backend:?} {outcome:?}"
            );
        }
    }
}

#[test]
fn many_threads_signals_and_a_kill_do_not_stop_it() {
    let busy = "import os, signal, threading\nsignal.signal(signal.SIGALRM, lambda *_: None)\n\
                signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)\n\
                def look():\n for n in range(300):\n  os.path.exists('/opt/%d' % n); open('/dev/null').close()\n\
                threads = [threading.Thread(target=look) for _ in range(4)]\n\
                [t.start() for t in threads]; [t.join() for t in threads]; os._exit(4)";
    for backend in each() {
        let live = Live::bare();
        let outcome = asked(&live, backend, &["python3", "-c", busy]);
        assert_eq!(outcome.end, End::Exited(4), "{backend:?} {outcome:?}");
        let started = Instant::now();
        let kill = "while :; do cat /opt/x 2>/dev/null; done & while :; do cat /opt/y 2>/dev/null; done & sleep 0.2; kill -9 $$";
        let outcome = asked(&live, backend, &["sh", "-c", kill]);
        assert!(
            !matches!(outcome.end, End::Exited(0)) && started.elapsed().as_secs() < 30,
            "{backend:?} {outcome:?}"
        );
    }
}

#[test]
fn an_open_network_and_no_sandbox_explain_nothing() {
    let Some(live) = Live::new() else { return };
    let script =
        "import socket, sys\ntry: socket.create_connection(('127.0.0.1', 1))\nexcept OSError: sys.exit(1)";
    let mut request = spec(&live);
    request.command = ["python3", "-c", script].map(Into::into).into();
    request.network = Network::Open;
    let planned = plan(&request, &probe(&request)).unwrap();
    assert!(planned.to_string().contains("explain  by its system calls"));
    match run(&planned, Streams::default()) {
        Ok(outcome) => assert_eq!((outcome.end, outcome.denials), (End::Exited(1), vec![])),
        Err(error) => eprintln!("skipped: {error}"),
    }
}
