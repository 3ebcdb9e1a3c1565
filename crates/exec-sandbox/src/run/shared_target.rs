//! What both streams of a command and whoever runs it write to.

use std::os::fd::{BorrowedFd, RawFd};

use rustix::fs::fstat;

use super::message_prefix::Voice;

/// Where whoever runs the command speaks too. What goes there is marked piece by piece, and the next piece waits until one is
/// written to its end: so it is known at every byte where in a line it stands.
pub(super) struct SharedTarget {
    voice: Voice,
    /// Which channels go there.
    takes: [bool; 2],
    /// A piece that was marked and not yet written, and of which channel it is.
    piece: Vec<u8>,
    whose: usize,
}

impl SharedTarget {
    /// Nothing where no channel goes to standard error of this program, by whichever of its streams.
    pub(super) fn new(targets: [Option<RawFd>; 2], word: &'static str) -> Option<Self> {
        let place = |number: RawFd| fstat(standard(number)).ok().map(|data| (data.st_dev, data.st_ino));
        let spoken = place(2)?;
        let takes = targets.map(|to| to.and_then(place) == Some(spoken));
        takes.contains(&true).then(|| Self { voice: Voice::new(word), takes, piece: Vec::new(), whose: 0 })
    }

    pub(super) fn takes(&self, number: usize) -> bool {
        self.takes.get(number) == Some(&true)
    }

    pub(super) fn has_piece(&self, number: usize) -> bool {
        self.whose == number && !self.piece.is_empty()
    }

    /// Whether a channel may go on, as far as others are concerned.
    pub(super) fn lets(&self, number: usize) -> bool {
        !self.takes(number) || self.piece.is_empty() || self.whose == number
    }

    /// Takes the next piece of a channel. The other channel waits for its end, so it is no longer than is written soon.
    pub(super) fn take_piece(&mut self, waiting: &mut Vec<u8>, number: usize) {
        const LENGTH: usize = 16 << 10;
        if self.piece.is_empty() {
            let length = LENGTH.min(waiting.len());
            self.piece = self.voice.mark(waiting.get(..length).unwrap_or_default());
            waiting.drain(..length);
            self.whose = number;
        }
    }

    /// What is marked and not yet written.
    pub(super) fn piece(&mut self) -> &mut Vec<u8> {
        &mut self.piece
    }

    pub(super) fn is_written(&self) -> bool {
        self.piece.is_empty()
    }

    /// Whether what comes next begins a line.
    pub(super) fn is_at_start(&self) -> bool {
        self.voice.is_at_start()
    }
}

/// One of the two streams of this program.
pub(super) fn standard(number: RawFd) -> BorrowedFd<'static> {
    if number == 1 { rustix::stdio::stdout() } else { rustix::stdio::stderr() }
}
