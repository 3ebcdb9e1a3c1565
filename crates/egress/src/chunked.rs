//! Finds the end of a chunked body (RFC 9112).
//!
//! Only the plain form is accepted: lengths in hexadecimal digits, without extensions and trailers. So the bytes can be passed
//! unchanged, and no server finds another end in them.

use stockade_text::hex_digit;

/// Maximum number of digits of a length.
const MAX_DIGITS: u8 = 15;

/// The position of the next byte in a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chunked {
    /// In a length, after this many digits.
    Length {
        so_far: u64,
        digits: u8,
    },
    /// After the `\r` of a length line.
    LengthEnd(u64),
    /// In a chunk, with this many bytes left.
    Piece(u64),
    /// After a chunk, or after the last length: before `\r` and `\n`, and whether the body then ends.
    Return {
        is_last: bool,
    },
    Newline {
        is_last: bool,
    },
    /// The body is complete; further bytes do not belong to it.
    End,
}

impl Chunked {
    pub(super) const BEGIN: Self = Self::Length { so_far: 0, digits: 0 };

    /// Returns how many of these bytes belong to the body; nothing if they are not in the plain form.
    pub(super) fn read(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0usize;
        while *self != Self::End {
            let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) else { break };
            at += self.step(rest)?;
        }
        Some(at)
    }

    /// Reads at least one byte, and returns the number of bytes.
    fn step(&mut self, rest: &[u8]) -> Option<usize> {
        let byte = *rest.first()?;
        let (next, read) = match (*self, byte) {
            (Self::Length { so_far, digits }, byte) if byte.is_ascii_hexdigit() && digits < MAX_DIGITS => {
                let digit = hex_digit(byte)?;
                (Self::Length { so_far: so_far * 16 + u64::from(digit), digits: digits + 1 }, 1)
            }
            (Self::Length { so_far, digits: 1.. }, b'\r') => (Self::LengthEnd(so_far), 1),
            (Self::LengthEnd(0), b'\n') => (Self::Return { is_last: true }, 1),
            (Self::LengthEnd(length), b'\n') => (Self::Piece(length), 1),
            (Self::Piece(missing), _) => {
                let read = usize::try_from(missing).unwrap_or(usize::MAX).min(rest.len());
                match missing - read as u64 {
                    0 => (Self::Return { is_last: false }, read),
                    missing => (Self::Piece(missing), read),
                }
            }
            (Self::Return { is_last }, b'\r') => (Self::Newline { is_last }, 1),
            (Self::Newline { is_last: false }, b'\n') => (Self::BEGIN, 1),
            (Self::Newline { is_last: true }, b'\n') => (Self::End, 1),
            _ => return None,
        };
        *self = next;
        Some(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_found_however_the_bytes_come() {
        let body = b"5\r\nhello\r\n0A\r\n0\r\n\r\n12345\r\n0\r\n\r\n";
        for step in 1..body.len() {
            let (mut chunked, mut read) = (Chunked::BEGIN, 0);
            for part in [body, &b"GET /"[..]].concat().chunks(step) {
                read += chunked.read(part).unwrap();
            }
            assert_eq!((chunked, read), (Chunked::End, body.len()), "{step}");
        }
    }

    #[test]
    fn what_is_not_plain_is_refused() {
        for bad in [
            "\r\n",
            "5;a=b\r\nhello",
            "5 \r\nhello",
            " 5\r\n",
            "+5\r\n",
            "0x5\r\n",
            "5\nhello",
            "5\r\rhello",
            "5\r\nhello\n",
            "5\r\nhello5\r\n",
            "0\r\nTrailer: x\r\n\r\n",
            "1234567890123456\r\n",
            "g\r\n",
        ] {
            let mut chunked = Chunked::BEGIN;
            assert_eq!(chunked.read(bad.as_bytes()), None, "{bad:?}");
        }
    }
}
