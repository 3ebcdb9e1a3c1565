//! Non-blocking writes to a stream whose flags are shared with other programs.
//!
//! The writing thread also checks time, signals and memory, so it must not block on a slow reader. A pipe that poll(2) reports as
//! writable accepts at least [`PIECE`] bytes without blocking. Setting `O_NONBLOCK` would change the stream for the programs
//! that share it, so a larger write uses `RWF_NOWAIT` where the kernel supports that.

#![expect(clippy::disallowed_methods, reason = "hands on what a command prints")]

use std::io::IoSlice;
use std::os::fd::BorrowedFd;

use rustix::fs::{FileType, fstat};
use rustix::io::{Errno, ReadWriteFlags, pwritev2, write};

/// The bytes (PIPE_BUF) that a writable pipe accepts without blocking.
const PIECE: usize = 4096;

/// The offset of pwritev2(2) that means the current position (-1).
const HERE: u64 = u64::MAX;

/// How a stream is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum WriteNow {
    /// It was not written to yet, so the method is unknown.
    #[default]
    Unknown,
    /// With `RWF_NOWAIT`: calls return after a partial write.
    WithoutWaiting,
    /// A regular file, which has no reader to wait for.
    Whole,
    /// In pieces of [`PIECE`] bytes.
    Piece,
}

impl WriteNow {
    /// Writes to a stream that poll(2) reported as writable, and returns the number of written bytes.
    ///
    /// # Errors
    /// When no byte could be written.
    pub(super) fn write(&mut self, to: BorrowedFd<'_>, bytes: &[u8]) -> Result<usize, Errno> {
        if *self == Self::Unknown {
            let kind = fstat(to).map(|data| FileType::from_raw_mode(data.st_mode));
            *self = if kind == Ok(FileType::RegularFile) { Self::Whole } else { Self::WithoutWaiting };
        }
        if *self == Self::WithoutWaiting {
            match pwritev2(to, &[IoSlice::new(bytes)], HERE, ReadWriteFlags::NOWAIT) {
                // Terminals do not support it; nor do pipes before Linux 6.5.
                Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL | Errno::SPIPE) => *self = Self::Piece,
                other => return other,
            }
        }
        match *self {
            Self::Whole => write(to, bytes),
            _ => write(to, bytes.get(..PIECE).unwrap_or(bytes)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::os::fd::AsFd as _;

    use super::*;

    /// A write to a full pipe does not block, and a partial write takes one call where the kernel supports that.
    #[test]
    fn a_pipe_takes_what_fits_and_no_call_waits() {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let bytes = vec![b'x'; 64 << 10];
        let (mut writes, mut sent) = (WriteNow::default(), 0);
        loop {
            let mut ready = [rustix::event::PollFd::new(&writer, rustix::event::PollFlags::OUT)];
            let now = rustix::event::Timespec::default();
            if rustix::event::poll(&mut ready, Some(&now)).unwrap() == 0 {
                break;
            }
            sent += writes.write(writer.as_fd(), &bytes).unwrap();
        }
        assert!(sent >= 60 << 10, "{sent} {writes:?}");
        let mut room = vec![0; sent];
        reader.read_exact(&mut room).unwrap();
        // Another program fills half of the pipe: the rest is written, and the call does not block.
        writes.write(writer.as_fd(), &bytes[..40 << 10]).unwrap();
        let more = writes.write(writer.as_fd(), &bytes).unwrap();
        assert!(more > 0 && more <= 28 << 10, "{more} {writes:?}");
    }

    #[test]
    fn a_file_is_written_at_its_place() {
        let mut file = tempfile::tempfile().unwrap();
        let mut writes = WriteNow::default();
        for text in ["one ", "two"] {
            assert_eq!(writes.write(file.as_fd(), text.as_bytes()).unwrap(), text.len());
        }
        let mut all = String::new();
        std::io::Seek::rewind(&mut file).unwrap();
        file.read_to_string(&mut all).unwrap();
        assert_eq!((all.as_str(), writes), ("one two", WriteNow::Whole));
    }
}
