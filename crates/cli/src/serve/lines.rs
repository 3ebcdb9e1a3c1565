//! Cuts the input into lines. A line that is too long is passed over, and never held whole.

use std::io::{self, BufRead, BufReader, Read};

/// How much is read at once.
const CHUNK: usize = 64 << 10;

/// What may stay allocated for the next line.
const KEPT: usize = 1 << 20;

/// The lines of an input.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    from: BufReader<R>,
    line: Vec<u8>,
    max: usize,
}

/// What the next line is, if there is one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'l> {
    /// A line without its end.
    Whole(&'l [u8]),
    /// There was one, and it was too long.
    TooLong,
    /// There is no further line.
    End,
}

impl<R: Read> Lines<R> {
    pub(crate) fn new(from: R, max: usize) -> Self {
        Self { from: BufReader::with_capacity(CHUNK, from), line: Vec::new(), max }
    }

    /// Returns the next line; the last one needs no line end.
    pub(crate) fn next(&mut self) -> io::Result<Line<'_>> {
        self.line.clear();
        self.line.shrink_to(KEPT);
        let most = (self.max as u64).saturating_add(1);
        if self.from.by_ref().take(most).read_until(b'\n', &mut self.line)? == 0 {
            return Ok(Line::End);
        }
        match self.line.strip_suffix(b"\n") {
            Some(line) => Ok(Line::Whole(line.strip_suffix(b"\r").unwrap_or(line))),
            None if self.line.len() > self.max => {
                self.from.skip_until(b'\n')?;
                Ok(Line::TooLong)
            }
            None => Ok(Line::Whole(&self.line)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_and_long_ones_passed_over() {
        let text: &[u8] = b"one\r\n\n12345\n123456\ntwo\nlonger than that\nrest";
        let mut lines = Lines::new(text, 5);
        for expected in [
            Line::Whole(b"one".as_slice()),
            Line::Whole(b""),
            Line::Whole(b"12345"),
            Line::TooLong,
            Line::Whole(b"two"),
            Line::TooLong,
            Line::Whole(b"rest"),
            Line::End,
            Line::End,
        ] {
            assert_eq!(lines.next().unwrap(), expected);
        }
    }

    /// However long a line is, no more of it is held than allowed.
    #[test]
    fn a_long_line_is_not_held() {
        let mut lines = Lines::new(io::repeat(b'x').take(50 << 20), 1000);
        assert_eq!(lines.next().unwrap(), Line::TooLong);
        assert!(lines.line.capacity() < 10_000, "{}", lines.line.capacity());
    }
}
