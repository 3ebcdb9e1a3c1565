//! File locks with a timeout, for files that several processes use.
#![expect(clippy::disallowed_methods, reason = "opens files, and measures how long it waits")]

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};

const RETRY_INTERVAL: Duration = Duration::from_millis(1);

/// The kind of a file lock.
#[derive(Debug, Clone, Copy)]
pub(crate) enum LockMode {
    /// No other process reads or writes.
    Exclusive,
    /// Other processes may read.
    Shared,
}

/// Opens a file for reading, without blocking on a named pipe that an attacker put in its place.
pub(crate) fn open_at_once(path: &Path) -> io::Result<File> {
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

/// Locks a file.
///
/// # Errors
/// When another process keeps it locked for longer than `patience`.
pub(crate) fn wait(file: &File, mode: LockMode, patience: Duration) -> io::Result<()> {
    let operation = match mode {
        LockMode::Exclusive => FlockOperation::NonBlockingLockExclusive,
        LockMode::Shared => FlockOperation::NonBlockingLockShared,
    };
    let began = Instant::now();
    loop {
        match flock(file, operation) {
            Ok(()) => return Ok(()),
            Err(rustix::io::Errno::WOULDBLOCK) if began.elapsed() < patience => {
                std::thread::sleep(RETRY_INTERVAL);
            }
            Err(rustix::io::Errno::WOULDBLOCK) => {
                let seconds = patience.as_secs();
                return Err(io::Error::other(format!(
                    "another process has kept it locked for {seconds} seconds"
                )));
            }
            Err(error) => return Err(error.into()),
        }
    }
}
