//! Lines on their way to a server that need not read them at once. One that never does is not waited for, and fills no memory.
#![expect(clippy::disallowed_methods, reason = "writes on a thread of its own")]

use std::fs::File;
use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;

/// The most bytes that wait.
const MAX_BYTES: usize = 64 << 20;

/// What waits to be written.
#[derive(Debug)]
pub(super) struct Outbox {
    lines: Sender<String>,
    bytes: Arc<AtomicUsize>,
}

impl Outbox {
    pub(super) fn new(mut to: File) -> io::Result<Self> {
        let (lines, waiting) = channel::<String>();
        let bytes = Arc::new(AtomicUsize::new(0));
        let own = Arc::clone(&bytes);
        thread::Builder::new().name("stockade-write".to_owned()).spawn(move || {
            // When nobody puts anything more, this ends, and what it writes to is closed.
            for line in waiting {
                let length = line.len();
                if to.write_all(format!("{line}\n").as_bytes()).is_err() {
                    return;
                }
                own.fetch_sub(length, Ordering::SeqCst);
            }
        })?;
        Ok(Self { lines, bytes })
    }

    /// Puts a line there. Returns whether there was room for it.
    pub(super) fn put(&self, line: String) -> bool {
        let length = line.len();
        if self.bytes.fetch_add(length, Ordering::SeqCst).saturating_add(length) > MAX_BYTES {
            return false;
        }
        // A server that is gone is told of by its end.
        self.lines.send(line).ok();
        true
    }
}
