//! Writes as much as goes without waiting, to a stream whose mode belongs to other programs as well.
//!
//! The thread that writes also looks at the time, at signals and at memory, so it must not wait for a reader. A stream that is said to
//! take something takes [`PIECE`] bytes at least; to write more, a call has to return with what fits. Setting `O_NONBLOCK` would
//! change the stream for the programs that share it, so the call itself says that it does not wait, where the kernel knows that.

#![expect(clippy::disallowed_methods, reason = "hands on what a command prints")]

use std::io::IoSlice;
use std::os::fd::BorrowedFd;

use rustix::fs::{FileType, fstat};
use rustix::io::{Errno, ReadWriteFlags, pwritev2, write};

/// What a pipe takes at once without making the writer wait, once it says that it takes anything.
const PIECE: usize = 4096;

/// The position that means that of the stream itself.
const HERE: u64 = u64::MAX;

/// How one stream is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum WriteNow {
    /// It was not written to yet.
    #[default]
    Unknown,
    /// Calls return with what fits.
    WithoutWaiting,
    /// A file, which has no reader to wait for.
    Whole,
    /// A piece that fits in any case.
    Piece,
}

impl WriteNow {
    /// Writes some of these bytes to a stream that takes some, and returns how many.
    ///
    /// # Errors
    /// When none could be written.
    pub(super) fn write(&mut self, to: BorrowedFd<'_>, bytes: &[u8]) -> Result<usize, Errno> {
        if *self == Self::Unknown {
            let kind = fstat(to).map(|data| FileType::from_raw_mode(data.st_mode));
            *self = if kind == Ok(FileType::RegularFile) { Self::Whole } else { Self::WithoutWaiting };
        }
        if *self == Self::WithoutWaiting {
            match pwritev2(to, &[IoSlice::new(bytes)], HERE, ReadWriteFlags::NOWAIT) {
                // Terminals, and kernels before 6.5.
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

    /// A pipe that is full is not waited for, and what fits goes in one call where the kernel lets it.
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
        // Half of it is taken by something else: the rest is written, and no more is waited for.
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
