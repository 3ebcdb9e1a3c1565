//! A command with a terminal of its own, made by each of what can make a sandbox. People at a terminal are played by the
//! tests of the command line.

use std::time::Duration;

use stockade_exec_sandbox::run::{Streams, Terminal, TerminalSize};
use stockade_exec_sandbox::{
    Denial, End, Explain, Limit, Outcome, SandboxBackend, SandboxSpec, plan, probe, run,
};

use crate::live::{BACKENDS, Live, each};

const SIZE: TerminalSize = TerminalSize { rows: 30, columns: 100 };

fn at_a_terminal(
    live: &Live,
    backend: SandboxBackend,
    script: &str,
    change: impl FnOnce(&mut SandboxSpec),
) -> Outcome {
    let mut spec = SandboxSpec::new(live.workspace(), ["sh", "-c", script]);
    spec.backend = backend;
    change(&mut spec);
    let streams = Streams { terminal: Terminal::Own(SIZE), ..Streams::default() };
    run(&plan(&spec, &probe(&spec)).unwrap(), streams).unwrap()
}

fn said(outcome: &Outcome) -> String {
    String::from_utf8_lossy(&outcome.output.stdout).replace("\r\n", "\n")
}

/// A script, and what it prints.
const ROWS: &[(&str, &str)] = &[
    ("test -t 0 && test -t 1 && test -t 2 && echo all", "all\n"),
    ("stty size", "30 100\n"),
    ("echo a; echo b >&2; echo c", "a\nb\nc\n"),
    // It is the terminal of the session, so a shell can have jobs.
    ("set -m && echo managed", "managed\n"),
    ("echo a > /dev/tty; echo b > /dev/stdout; echo c > /dev/stderr", "a\nb\nc\n"),
    ("case $(tty) in /dev/?*) echo named;; esac", "named\n"),
    // There is no input.
    ("timeout 0.2 cat; echo $?", "124\n"),
    ("head -c 200000 /dev/zero | tr '\\0' x | fold -w 99 | wc -l; seq 20000 | tail -n 1", "2020\n20000\n"),
    // No character gets into the input by itself: neither here nor in the terminal of another user.
    (
        "python3 -c \"import fcntl; fcntl.ioctl(0, 0x5412, b'x')\" 2>&1 | tail -n 1",
        "PermissionError: [Errno 1] Operation not permitted\n",
    ),
];

#[test]
fn each_gives_a_terminal() {
    for backend in each() {
        let live = Live::bare();
        for (script, expected) in ROWS {
            let outcome = at_a_terminal(&live, backend, script, |_| ());
            assert_eq!(
                (said(&outcome).as_str(), outcome.end),
                (*expected, End::Exited(0)),
                "{backend:?} {script}"
            );
        }
    }
}

#[test]
fn each_says_how_it_ended() {
    for backend in each() {
        let live = Live::bare();
        let end = |script: &str| at_a_terminal(&live, backend, script, |_| ()).end;
        assert_eq!(end("exit 42"), End::Exited(42), "{backend:?}");
        let killed = end("kill -9 $$");
        assert!([End::Signalled(9), End::Exited(137)].contains(&killed), "{backend:?} {killed:?}");
        let late = at_a_terminal(&live, backend, "trap '' HUP INT; sleep 60", |spec| {
            spec.limits.wall_time = Limit::AtMost(Duration::from_millis(300));
        });
        assert_eq!(late.end, End::TimedOut, "{backend:?}");
    }
}

#[test]
fn output_is_cut_at_each() {
    for backend in each() {
        let live = Live::bare();
        let outcome = at_a_terminal(&live, backend, "head -c 300000 /dev/zero | tr '\\0' x", |spec| {
            spec.limits.output = Limit::AtMost(1000);
        });
        assert_eq!((outcome.output.stdout.len(), outcome.output.dropped), (1000, 299_000), "{backend:?}");
    }
}

#[test]
fn what_is_printed_at_a_terminal_makes_no_advice() {
    let live = Live::bare();
    assert_eq!(BACKENDS.len(), 3);
    for backend in each() {
        let outcome = at_a_terminal(&live, backend, "cat /etc/shadow", |_| ());
        assert_eq!((outcome.end, outcome.denials.as_slice()), (End::Exited(1), &[][..]), "{backend:?}");
        let outcome = at_a_terminal(&live, backend, "cat /etc/shadow", |spec| spec.explain = Explain::Asked);
        let found: Vec<&str> = outcome.denials.iter().map(Denial::name).collect();
        assert_eq!(found, ["never"], "{backend:?}");
    }
}
