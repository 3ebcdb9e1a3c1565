//! Commands touch nothing that they do not need: no settings, no audit trail, no network.
#![expect(clippy::disallowed_methods, reason = "runs the binary and reads what it asked the kernel for")]

use std::fs;
use std::process::{Command, Stdio};

use crate::support::STOCKADE;

/// Commands that need their arguments alone.
const COMMANDS: &[&[&str]] = &[
    &["--version"],
    &["sanitize", "SKILL.md"],
    &["check", "tool", "read"],
    &["completions", "bash"],
    &["serve"],
];

/// Commands that read settings, since these say whether what is decided is put on record, or how bad a hit of a scanner's rule is, and
/// need nothing else.
const WITH_SETTINGS: &[&[&str]] = &[
    &["check", "command", "ls"],
    &["scan", "SKILL.md"],
    &["rules", "show", "NET_REVERSE_SHELL"],
    &["container", "check", "SKILL.md"],
];

/// What settings are in, as a trace names it.
const SETTINGS: &[&str] = &["home-of-the-test/config", "/etc/stockade", ".stockade"];

#[test]
fn only_needed_files_are_opened() {
    if Command::new("strace").arg("--version").output().is_err() {
        println!("skipped: strace is not installed, so the files that commands open are not observed");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (home, work) = (folder.path().join("home-of-the-test"), folder.path().join("work"));
    fs::create_dir_all(&home).unwrap();
    fs::create_dir_all(&work).unwrap();
    fs::write(work.join("SKILL.md"), "fine\n").unwrap();
    for arguments in COMMANDS.iter().chain(WITH_SETTINGS) {
        let reads_settings = WITH_SETTINGS.contains(arguments);
        let trace = folder.path().join("trace");
        let output = Command::new("strace")
            .args(["-f", "-e", "trace=%file,%network", "-o"])
            .arg(&trace)
            .arg(STOCKADE)
            .args(*arguments)
            .current_dir(&work)
            .env_clear()
            .env("HOME", &home)
            .env("XDG_CONFIG_HOME", home.join("config"))
            .env("XDG_STATE_HOME", home.join("state"))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let trace = fs::read_to_string(&trace).unwrap_or_default();
        if !trace.contains("execve(") {
            println!("skipped: strace cannot trace here: {}", String::from_utf8_lossy(&output.stderr));
            return;
        }
        let is_of_settings = |line: &str| reads_settings && SETTINGS.iter().any(|what| line.contains(what));
        let asked = |what: &str| {
            let mut lines = trace.lines().filter(|line| !line.contains("execve(") && !is_of_settings(line));
            lines.find(|line| line.contains(what))
        };
        for what in ["home-of-the-test", "/etc/stockade", ".stockade", "audit.db", "socket(", "connect("] {
            assert_eq!(asked(what), None, "{arguments:?}");
        }
    }
}
