//! A stream that both outputs of a command and the calling program write to.

use std::os::fd::{BorrowedFd, RawFd};

use rustix::fs::fstat;
use stockade_text::MessageMarker;

/// A stream that the calling program writes messages to as well. Output is marked piece by piece, and the next piece waits until
/// one is completely written, so that the position in the line is always known.
pub(super) struct SharedTarget {
    marker: MessageMarker,
    /// Which channels are written to it.
    takes: [bool; 2],
    /// A marked piece that is not completely written, and its channel.
    piece: Vec<u8>,
    whose: usize,
}

impl SharedTarget {
    /// Returns nothing if no channel is written to the standard error of this program, through either stream.
    pub(super) fn new(targets: [Option<RawFd>; 2], word: &'static str) -> Option<Self> {
        let place = |number: RawFd| fstat(standard(number)).ok().map(|data| (data.st_dev, data.st_ino));
        let spoken = place(2)?;
        let takes = targets.map(|to| to.and_then(place) == Some(spoken));
        takes.contains(&true).then(|| Self {
            marker: MessageMarker::new(word),
            takes,
            piece: Vec::new(),
            whose: 0,
        })
    }

    pub(super) fn takes(&self, number: usize) -> bool {
        self.takes.get(number) == Some(&true)
    }

    pub(super) fn has_piece(&self, number: usize) -> bool {
        self.whose == number && !self.piece.is_empty()
    }

    /// Whether a channel may continue, because no piece of the other one is pending.
    pub(super) fn lets(&self, number: usize) -> bool {
        !self.takes(number) || self.piece.is_empty() || self.whose == number
    }

    /// Takes the next piece of a channel. Its size is limited, because the other channel waits for it.
    pub(super) fn take_piece(&mut self, waiting: &mut Vec<u8>, number: usize) {
        const LENGTH: usize = 16 << 10;
        if self.piece.is_empty() {
            let length = LENGTH.min(waiting.len());
            self.piece = self.marker.mark(waiting.get(..length).unwrap_or_default());
            waiting.drain(..length);
            self.whose = number;
        }
    }

    /// Returns the pending piece.
    pub(super) fn piece(&mut self) -> &mut Vec<u8> {
        &mut self.piece
    }

    pub(super) fn is_written(&self) -> bool {
        self.piece.is_empty()
    }

    /// Whether the next byte begins a line.
    pub(super) fn is_at_start(&self) -> bool {
        self.marker.is_at_start()
    }
}

/// One of the two streams of this program.
pub(super) fn standard(number: RawFd) -> BorrowedFd<'static> {
    if number == 1 { rustix::stdio::stdout() } else { rustix::stdio::stderr() }
}
