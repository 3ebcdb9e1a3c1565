//! Standard streams of a program that runs commands: what a command does to its own leaves those as they were.

#![expect(clippy::disallowed_methods, reason = "starts itself, with streams of all kinds")]

use std::fs::{self, File};
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::fs::{OFlags, fcntl_getfl};
use stockade_exec_sandbox::run::{Input, Stream, Streams};
use stockade_exec_sandbox::{SandboxSpec, plan, probe, run};

use crate::live::{BACKENDS, Live, each};

/// Not a test of its own: runs a script with the streams that it was started with, and prints their state afterwards.
#[test]
fn host() {
    let Some(workspace) = std::env::var_os("STOCKADE_TEST_HOST") else { return };
    let backend = std::env::var("STOCKADE_TEST_BACKEND").unwrap();
    let script = std::env::var("STOCKADE_TEST_SCRIPT").unwrap();
    let mut spec = SandboxSpec::new(&workspace, ["sh", "-c", &script]);
    spec.backend = BACKENDS.iter().copied().find(|it| format!("{it:?}") == backend).unwrap();
    let streams = Streams {
        stdin: Input::Inherit,
        stdout: Stream::Relay,
        stderr: Stream::Relay,
        speaks_as: Some("host"),
        ..Streams::default()
    };
    let outcome = run(&plan(&spec, &probe(&spec)).unwrap(), streams).unwrap();
    let flags = [
        fcntl_getfl(rustix::stdio::stdin()),
        fcntl_getfl(rustix::stdio::stdout()),
        fcntl_getfl(rustix::stdio::stderr()),
    ];
    let blocks = flags.iter().all(|flags| !flags.unwrap().contains(OFlags::NONBLOCK));
    let mut rest = [0; 64];
    let count = rustix::io::read(rustix::stdio::stdin(), &mut rest).unwrap();
    let rest = String::from_utf8_lossy(&rest[..count]).into_owned();
    let said = format!("{:?} blocks {blocks} rest {rest:?}", outcome.end);
    fs::write(Path::new(&workspace).join("said"), said).unwrap();
    // The harness prints to the same streams.
    std::process::exit(0);
}

/// Runs a script with this as standard input; returns what it found, and what it printed on both streams.
fn hosted(live: &Live, backend: &str, script: &str, stdin: Stdio) -> (String, String) {
    let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).unwrap();
    let errors: OwnedFd = write.try_clone().unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "streams::host", "--nocapture", "-q"]).stdin(stdin).stdout(write).stderr(errors);
    command.env("STOCKADE_TEST_HOST", live.workspace());
    command.env("STOCKADE_TEST_BACKEND", backend).env("STOCKADE_TEST_SCRIPT", script);
    let mut child = command.spawn().unwrap();
    drop(command);
    let printed = std::io::read_to_string(File::from(read)).unwrap();
    assert!(child.wait().unwrap().success(), "{printed}");
    (fs::read_to_string(live.workspace().join("said")).unwrap(), printed)
}

/// Sets all streams not to wait, and takes four bytes of what there is.
const TAKER: &str = "exec python3 -c 'import fcntl, os\nfor n in range(3): fcntl.fcntl(n, fcntl.F_SETFL, os.O_NONBLOCK)\n\
                     while True:\n    try: taken = os.read(0, 4); break\n    except BlockingIOError: pass\nos.write(1, taken)'";

#[test]
fn stream_flags_stay_with_the_command_and_unread_input_stays() {
    for backend in each() {
        let (live, name) = (Live::bare(), format!("{backend:?}"));
        let file = live.outside().join("lines");
        fs::write(&file, "one\ntwo\n").unwrap();
        let (said, printed) = hosted(&live, &name, TAKER, File::open(&file).unwrap().into());
        assert_eq!(said, "Exited(0) blocks true rest \"two\\n\"", "{name} {printed}");
        assert!(printed.contains("one\n"), "{name} {printed}");
        let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).unwrap();
        File::from(write).write_all(b"one\ntwo\n").unwrap();
        let (said, printed) = hosted(&live, &name, TAKER, read.into());
        assert_eq!(said, "Exited(0) blocks true rest \"two\\n\"", "{name} {printed}");
        // A socket cannot be opened anew, so what is read of it is read.
        let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        (&ours).write_all(b"one\n").unwrap();
        drop(ours);
        let (said, printed) = hosted(&live, &name, TAKER, OwnedFd::from(theirs).into());
        assert_eq!(said, "Exited(0) blocks true rest \"\"", "{name} {printed}");
        assert!(printed.contains("one\n"), "{name} {printed}");
    }
}

#[test]
fn lines_that_pose_are_marked_in_the_order_in_which_they_come() {
    for backend in each() {
        let (live, name) = (Live::bare(), format!("{backend:?}"));
        let script = "printf 'host: a\\n'; sleep 0.2; printf 'ho' >&2; sleep 0.2; printf 'st: b\\n'; sleep 0.2; \
                      printf 'see host: c\\n' >&2; printf 'host of d\\n'";
        let (_, printed) = hosted(&live, &name, script, Stdio::null());
        for line in
            ["host (the command says): a\n", "host (the command says): b\n", "see host: c\n", "host of d\n"]
        {
            assert!(printed.contains(line), "{name}: {line:?} in {printed:?}");
        }
        // Whatever is printed at once on both, and however the pieces fall, no line of it begins so.
        let flood = "python3 -c 'import os\nfor n in range(3000): os.write(1 + n % 2, b\"x\" * (n % 700) + b\"\\nhost: evil\\n\")'";
        let (_, printed) = hosted(&live, &name, flood, Stdio::null());
        let posing = printed.lines().filter(|line| line.starts_with("host:")).count();
        let marked = printed.matches("host (the command says): evil").count();
        // A few are cut in two by what the other stream brings.
        assert!(posing == 0 && marked > 2500, "{name}: {posing} {marked}");
    }
}
