//! Colours and questions of terminals, on a real pseudo-terminal.
#![expect(clippy::disallowed_methods, reason = "runs the binary on a pseudo-terminal")]

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use stockade_guard::SqliteStore;
use stockade_guard::limits::Usage;
use stockade_guard::limits::breaker::CallOutcome;
use stockade_guard::limits::budget::Settled;
use stockade_guard::limits::store::{AgentLimits, AgentLook, CallVerdict, ManagedStore as _, SharedLimits};

use crate::support::{STOCKADE, repository, stockade};

const RED: &str = "\u{1b}[1;31m";

/// What the standard output of a run is.
#[derive(Clone, Copy)]
enum Stdout {
    Terminal,
    Pipe,
}

/// Runs with standard input, standard error and perhaps standard output on a new terminal.
fn run(args: &[&str], env: &[(&str, &str)], stdout: Stdout) -> (String, ExitStatus) {
    run_and_type(args, env, stdout, "")
}

/// The same, with something typed before anybody asks.
fn run_and_type(args: &[&str], env: &[(&str, &str)], stdout: Stdout, typed: &str) -> (String, ExitStatus) {
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&controller).unwrap();
    unlockpt(&controller).unwrap();
    let name = ptsname(&controller, Vec::new()).unwrap();
    let terminal =
        rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).unwrap();
    let clone = |fd: &OwnedFd| Stdio::from(fd.try_clone().unwrap());
    let mut command = Command::new(STOCKADE);
    command.args(args).current_dir(repository()).env_clear().envs(env.iter().copied());
    command.stdin(clone(&terminal)).stderr(clone(&terminal));
    command.stdout(match stdout {
        Stdout::Terminal => clone(&terminal),
        Stdout::Pipe => Stdio::piped(),
    });
    let mut child = command.spawn().unwrap();
    // Only the child may hold the terminal from here on, or its end would never come.
    drop((command, terminal));
    rustix::io::write(&controller, typed.as_bytes()).unwrap();
    let mut text = String::new();
    if let Some(mut pipe) = child.stdout.take() {
        pipe.read_to_string(&mut text).unwrap();
    }
    text.push_str(&read_terminal(controller));
    (text, child.wait().unwrap())
}

/// Reads until the last holder of the terminal is gone, which Linux reports as an error.
fn read_terminal(controller: OwnedFd) -> String {
    let (mut bytes, mut file) = (Vec::new(), File::from(controller));
    if let Err(error) = file.read_to_end(&mut bytes) {
        assert!(error.raw_os_error() == Some(5) || error.kind() == ErrorKind::UnexpectedEof, "{error}");
    }
    String::from_utf8(bytes).unwrap()
}

const SCAN: [&str; 2] = ["scan", "examples/skills"];

#[test]
fn a_terminal_gets_colours() {
    let (text, status) = run(&SCAN, &[("TERM", "xterm")], Stdout::Terminal);
    assert!(text.contains(RED), "{text}");
    assert_eq!(status.code(), Some(1));
}

#[test]
fn colours_are_left_out_where_they_are_not_wanted() {
    let never = ["scan", "examples/skills", "--color", "never"];
    let cases = [
        (&SCAN[..], ("NO_COLOR", "1"), Stdout::Terminal),
        (&SCAN, ("TERM", "dumb"), Stdout::Terminal),
        (&never, ("CLICOLOR_FORCE", "1"), Stdout::Terminal),
        (&SCAN, ("TERM", "xterm"), Stdout::Pipe),
    ];
    for (args, env, stdout) in cases {
        let (text, _) = run(args, &[env], stdout);
        assert!(text.contains("CRITICAL") && !text.contains('\u{1b}'), "{args:?} {env:?}: {text}");
    }
}

#[test]
fn colours_can_be_forced() {
    let always = ["scan", "examples/skills", "--color", "always"];
    for (args, env) in [(&SCAN[..], ("CLICOLOR_FORCE", "1")), (&always, ("NO_COLOR", "1"))] {
        let (text, _) = run(args, &[env], Stdout::Pipe);
        assert!(text.contains(RED), "{args:?} {env:?}: {text}");
    }
}

#[test]
fn json_has_no_colours() {
    let args = ["scan", "examples/skills", "--format", "json", "--color", "always"];
    let output = stockade(&args, &repository());
    assert!(!String::from_utf8(output.stdout).unwrap().contains('\u{1b}'));
}

#[test]
fn missing_input_does_not_block() {
    for command in ["scan", "sanitize"] {
        let (text, status) = run(&[command], &[], Stdout::Pipe);
        assert!(text.contains("error: nothing to "), "{text}");
        assert_eq!(status.code(), Some(2));
    }
    assert_eq!(stockade(&["scan"], Path::new("/")).status.code(), Some(2), "no input is not a clean text");
}

#[test]
fn the_user_is_asked_before_limits_are_reset() {
    let folder = tempfile::tempdir().unwrap();
    let (file, home) = (folder.path().join("limits.db"), folder.path().to_str().unwrap());
    let shared = SharedLimits::new(AgentLimits::default(), SqliteStore::open(&file).unwrap());
    let CallVerdict::Granted(permit) = shared.admit("bot", "task", Usage::tokens(10)) else { panic!() };
    let _: Settled = shared.settle(permit, Usage::tokens(10), CallOutcome::Success).unwrap();
    let args = ["limits", "reset", "bot", "--file", file.to_str().unwrap()];
    for (typed, code) in [("n\n", 1), ("\n", 1), ("yesterday\n", 1), ("\u{4}", 1), ("Y\n", 0)] {
        let (text, status) = run_and_type(&args, &[("HOME", home)], Stdout::Terminal, typed);
        assert!(text.contains("Reset usage and failures of bot? [y/N]"), "{text}");
        assert_eq!(status.code(), Some(code), "{typed:?}: {text}");
        let store = SqliteStore::open(&file).unwrap();
        let AgentLook { state, now } = store.look("bot").unwrap();
        let left = state.status(&AgentLimits::default(), now).day.used;
        assert_eq!(left == Usage::ZERO, code == 0, "{typed:?}: {text}");
    }
}

#[test]
fn the_user_is_asked_before_approvals_are_added() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    let transcript = home.join(".claude/projects/-p/a.jsonl");
    std::fs::create_dir_all(transcript.parent().unwrap()).unwrap();
    let line = r#"{"message":{"content":[{"type":"tool_use","name":"Bash","input":{"command":"git push origin main"}}]}}"#;
    std::fs::write(&transcript, format!("{line}\n")).unwrap();
    let config = home.join(".config/stockade/config.toml");
    for (typed, code) in [("n\n", 1), ("\u{4}", 1), ("y\n", 0)] {
        let env = [("HOME", home.to_str().unwrap())];
        let (text, status) = run_and_type(&["learn", "claude", "--apply"], &env, Stdout::Terminal, typed);
        assert!(text.contains("Add 1 approval? [y/N]"), "{text}");
        assert_eq!(status.code(), Some(code), "{typed:?}: {text}");
        let text = std::fs::read_to_string(&config).unwrap_or_default();
        assert_eq!(text.contains("git-push-origin-main"), code == 0, "{typed:?}: {text}");
    }
}
