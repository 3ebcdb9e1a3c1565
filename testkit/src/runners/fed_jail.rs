//! A jail that reads everything before it answers.

use std::io::{self, Write};
use std::process::{Command, Stdio};

/// The beginning of a jail: no processes, network or rights but its own.
pub(super) fn of_namespaces() -> Command {
    let mut jail = Command::new("bwrap");
    jail.args([
        "--unshare-all",
        "--die-with-parent",
        "--new-session",
        "--as-pid-1",
        "--clearenv",
        "--cap-drop",
        "ALL",
    ]);
    jail
}

/// Runs a jail with this input, and returns what it answers.
pub(super) fn fed(mut jail: Command, texts: &str) -> io::Result<Vec<u8>> {
    let mut child = jail.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    // The driver reads everything before it answers, so this cannot wait for ourselves.
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(texts.as_bytes())?;
    }
    let output = child.wait_with_output()?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    Err(io::Error::other(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
}
