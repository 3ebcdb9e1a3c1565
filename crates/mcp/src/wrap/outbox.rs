//! Output queue for a server that may not read immediately. Neither time nor memory is spent on one that never reads.
#![expect(clippy::disallowed_methods, reason = "writes on a thread of its own")]

use std::fs::File;
use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;

/// Maximum size of the queue in bytes.
const MAX_BYTES: usize = 64 << 20;

/// A bounded queue of lines for the server.
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
            // Ends when the sender is dropped, which closes the pipe.
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

    /// Appends a line. Returns whether the queue had room.
    pub(super) fn put(&self, line: String) -> bool {
        let length = line.len();
        if self.bytes.fetch_add(length, Ordering::SeqCst).saturating_add(length) > MAX_BYTES {
            return false;
        }
        // The end of the server is reported elsewhere.
        self.lines.send(line).ok();
        true
    }
}
