//! Shows a person that a long scan goes on.
#![expect(clippy::disallowed_methods, reason = "keeps the time, and writes to a terminal")]

use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

/// A scan that is done sooner shows nothing.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often the line is written anew.
const PAUSE: Duration = Duration::from_millis(100);

/// Back to the beginning of the line, which is emptied.
const CLEAR: &str = "\r\u{1b}[K";

/// A line on standard error, where that is a terminal.
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

    /// Says how far the scan is.
    pub(super) fn tell(&mut self, files: usize, bytes: usize, found: usize) {
        let now = Instant::now();
        if self.next.is_some_and(|next| now >= next) {
            self.next = Some(now + PAUSE);
            self.shown = true;
            write(&format!("{CLEAR}scanned {files} files, {} MB; {found} findings", bytes / 1_000_000));
        }
    }

    /// Takes the line away, before something else is written.
    pub(super) fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            write(CLEAR);
        }
    }
}

fn write(text: &str) {
    // Nobody is left to tell when even this fails.
    io::stderr().write_all(text.as_bytes()).ok();
}
