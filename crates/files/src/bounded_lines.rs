//! Splits an input into lines. A line that is too long is skipped without being buffered.

use std::io::{self, BufRead, BufReader, Read};

/// Size of one read.
const CHUNK: usize = 64 << 10;

/// Maximum capacity that stays allocated for the next line.
const KEPT: usize = 1 << 20;

/// The lines of an input.
#[derive(Debug)]
pub struct BoundedLines<R> {
    from: BufReader<R>,
    line: Vec<u8>,
    max: usize,
}

/// The next line, or the reason why no line follows.
#[derive(Debug, PartialEq, Eq)]
pub enum BoundedLine<'l> {
    /// A line without its end.
    Whole(&'l [u8]),
    /// A line that was too long.
    TooLong,
    /// There is no further line.
    End,
}

impl<R: Read> BoundedLines<R> {
    /// Reads from an input; a line of more than `max` bytes is too long.
    pub fn new(from: R, max: usize) -> Self {
        Self { from: BufReader::with_capacity(CHUNK, from), line: Vec::new(), max }
    }

    /// Returns the next line; the last one needs no line end.
    ///
    /// # Errors
    /// When the input cannot be read.
    pub fn next_line(&mut self) -> io::Result<BoundedLine<'_>> {
        self.line.clear();
        self.line.shrink_to(KEPT);
        let most = (self.max as u64).saturating_add(1);
        if self.from.by_ref().take(most).read_until(b'\n', &mut self.line)? == 0 {
            return Ok(BoundedLine::End);
        }
        match self.line.strip_suffix(b"\n") {
            Some(line) => Ok(BoundedLine::Whole(line.strip_suffix(b"\r").unwrap_or(line))),
            None if self.line.len() > self.max => {
                self.from.skip_until(b'\n')?;
                Ok(BoundedLine::TooLong)
            }
            None => Ok(BoundedLine::Whole(&self.line)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_and_long_ones_passed_over() {
        let text: &[u8] = b"one\r\n\n12345\n123456\ntwo\nlonger than that\nrest";
        let mut lines = BoundedLines::new(text, 5);
        for expected in [
            BoundedLine::Whole(b"one".as_slice()),
            BoundedLine::Whole(b""),
            BoundedLine::Whole(b"12345"),
            BoundedLine::TooLong,
            BoundedLine::Whole(b"two"),
            BoundedLine::TooLong,
            BoundedLine::Whole(b"rest"),
            BoundedLine::End,
            BoundedLine::End,
        ] {
            assert_eq!(lines.next_line().unwrap(), expected);
        }
    }

    /// A long line is never buffered beyond the limit.
    #[test]
    fn a_long_line_is_not_held() {
        let mut lines = BoundedLines::new(io::repeat(b'x').take(50 << 20), 1000);
        assert_eq!(lines.next_line().unwrap(), BoundedLine::TooLong);
        assert!(lines.line.capacity() < 10_000, "{}", lines.line.capacity());
    }
}
