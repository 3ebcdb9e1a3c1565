//! Started by root, the tests run a second time as an ordinary user: the sandbox is created differently then, and bubblewrap is
//! only used there.

#![expect(clippy::disallowed_methods, reason = "starts itself")]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// The overflow user ID, which has no rights.
const OVERFLOW_USER: u32 = 65534;

/// What makes sandboxes, in all ways.
const TESTS: &[&str] = &[
    "asked::",
    "attacks::",
    "capabilities::",
    "continued::",
    "escapes::",
    "faults::",
    "homes::",
    "inherited_memory::",
    "limits::",
    "led_to::",
    "links::",
    "memory_files::",
    "names::",
    "env_names::",
    "saved_meanwhile::",
    "names_decided::",
    "pool::",
    "providers::",
    "review::",
    "shared::",
    "streams::",
    "terminals::",
    "walls::",
    "workflows::",
];

#[test]
fn an_ordinary_user_is_confined_as_well() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let program = reachable(folder.path());
    let home = folder.path().join("home");
    fs::create_dir(&home).unwrap();
    chown(&home, Some(OVERFLOW_USER), Some(OVERFLOW_USER)).unwrap();
    let said = passes(&program, &home, TESTS);
    said.lines().filter(|line| line.starts_with("skipped: ")).for_each(|line| eprintln!("{line}"));
}

/// Runs tests of this program as an unprivileged user, and returns their output.
fn passes(program: &Path, home: &Path, tests: &[&str]) -> String {
    let output = Command::new(program)
        .args(tests)
        .arg("--show-output")
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .envs([("HOME", home), ("TMPDIR", home)])
        .current_dir(home)
        .uid(OVERFLOW_USER)
        .gid(OVERFLOW_USER)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !said.contains("running 0 tests"), "{said}");
    said.into_owned()
}

/// A copy of this program where everybody can start it; its own folder may belong to root alone.
fn reachable(folder: &Path) -> std::path::PathBuf {
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    let program = folder.join("it");
    // Another process writes it: a sandbox that begins beside this would inherit the open file, and until its command runs the
    // copy could not be started, ETXTBSY.
    let copied = Command::new("cp").arg(std::env::current_exe().unwrap()).arg(&program).status().unwrap();
    assert!(copied.success());
    program
}
