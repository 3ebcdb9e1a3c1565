//! Tests in a process of their own.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "starts this program again, and prints skipped tests"
)]

use std::process::{Command, Stdio};

const ALONE: &str = "STOCKADE_TEST_ALONE";

/// Runs a test of this program once more where nothing begins beside it, unless that is so already. Whether it was run there:
/// nothing is left to do then.
///
/// This is for tests that close a descriptor and check at once that no copy is left: a sandbox that the same program forks at
/// the same moment may hold a copy until its first process closes inherited descriptors.
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
