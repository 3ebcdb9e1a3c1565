//! Reads a regular file of bounded length, and nothing else: a pipe or a device would not end.

#![expect(clippy::disallowed_methods, reason = "reads the file")]

use std::fs::OpenOptions;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Reads a regular file up to a maximum size. A pipe, a terminal or a device at the path does not block.
pub(crate) fn read_plain(path: &Path, max_bytes: u64) -> Option<Vec<u8>> {
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_CLOEXEC;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
    file.metadata().ok().filter(|data| data.is_file() && data.len() <= max_bytes)?;
    let mut bytes = Vec::new();
    file.take(max_bytes + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= max_bytes).then_some(bytes)
}
