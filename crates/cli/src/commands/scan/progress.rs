//! Progress of a long scan on a terminal.
#![expect(clippy::disallowed_methods, reason = "reads the clock, and writes to a terminal")]

use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

/// Delay before the first output: shorter scans show no progress.
const PATIENCE: Duration = Duration::from_secs(1);

/// Time between two updates of the line.
const PAUSE: Duration = Duration::from_millis(100);

/// Returns to the start of the line and clears it.
const CLEAR: &str = "\r\u{1b}[K";

/// A progress line on standard error, if that is a terminal.
#[derive(Debug)]
pub(super) struct Progress {
    next: Option<Instant>,
    shown: bool,
}

impl Progress {
    pub(super) fn new(quiet: bool) -> Self {
        let on = !quiet && io::stderr().is_terminal();
        Self { next: on.then(|| Instant::now() + PATIENCE), shown: false }
    }

    /// Shows the current state.
    pub(super) fn tell(&mut self, files: usize, bytes: usize, found: usize) {
        let now = Instant::now();
        if self.next.is_some_and(|next| now >= next) {
            self.next = Some(now + PAUSE);
            self.shown = true;
            write(&format!("{CLEAR}scanned {files} files, {} MB; {found} findings", bytes / 1_000_000));
        }
    }

    /// Removes the line, before other output is written.
    pub(super) fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            write(CLEAR);
        }
    }
}

fn write(text: &str) {
    // A failure to write to standard error cannot be reported anywhere.
    io::stderr().write_all(text.as_bytes()).ok();
}
