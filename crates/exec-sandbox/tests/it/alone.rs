//! Tests in a process of their own.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "starts this program again, and says what it skips"
)]

use std::process::{Command, Stdio};

const ALONE: &str = "STOCKADE_TEST_ALONE";

/// Runs a test of this program once more where nothing begins beside it, unless that is so already. Whether it was run there:
/// nothing is left to do then.
///
/// A test that closes what it has open and looks at once whether nobody has it any more needs that: a sandbox that begins at
/// the same moment in the same program may still hold a copy, until its first process has closed what it inherited.
pub(crate) fn was_run(test: &str) -> bool {
    if std::env::var_os(ALONE).is_some() {
        return false;
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--show-output"])
        .env(ALONE, "1")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("running 1 test"), "{said}");
    said.lines().filter(|line| line.starts_with("skipped: ")).for_each(|line| eprintln!("{line}"));
    true
}
