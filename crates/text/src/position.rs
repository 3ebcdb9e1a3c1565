//! Line and column positions.

use std::fmt;

/// A position in a text: line and column, both counted from 1. Columns count characters, not bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TextPosition {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

impl TextPosition {
    /// The first character of a text.
    pub const START: Self = Self { line: 1, column: 1 };

    /// Returns the same position in a text that has `lines` more lines before it.
    #[must_use]
    pub const fn below(self, lines: usize) -> Self {
        Self { line: self.line + lines, ..self }
    }
}

impl fmt::Display for TextPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Converts ascending byte offsets to positions, in one pass and without an index.
///
/// ```
/// use stockade_text::{PositionCursor, TextPosition};
///
/// let mut cursor = PositionCursor::new("añb\n😀x");
/// assert_eq!(cursor.advance(3), TextPosition { line: 1, column: 3 });
/// assert_eq!(cursor.advance(9), TextPosition { line: 2, column: 2 });
/// assert_eq!(cursor.chars(), 5);
/// ```
#[derive(Debug, Clone)]
pub struct PositionCursor<'t> {
    rest: &'t [u8],
    offset: usize,
    chars: usize,
    position: TextPosition,
}

impl<'t> PositionCursor<'t> {
    /// Creates a cursor at the start of the text.
    #[must_use]
    pub const fn new(text: &'t str) -> Self {
        Self { rest: text.as_bytes(), offset: 0, chars: 0, position: TextPosition::START }
    }

    /// Returns the position of `offset`, which must not be smaller than the previous one.
    pub fn advance(&mut self, offset: usize) -> TextPosition {
        let step = offset.saturating_sub(self.offset).min(self.rest.len());
        let (passed, rest) = self.rest.split_at(step);
        self.chars += count_chars(passed);
        match memchr::memrchr(b'\n', passed) {
            Some(last) => {
                self.position.line += memchr::memchr_iter(b'\n', passed).count();
                self.position.column = count_chars(passed.get(last..).unwrap_or_default());
            }
            None => self.position.column += count_chars(passed),
        }
        self.rest = rest;
        self.offset += step;
        self.position
    }

    /// Returns the number of characters before the previous offset.
    #[must_use]
    pub const fn chars(&self) -> usize {
        self.chars
    }
}

/// Counts the characters that begin in `bytes`: every byte except UTF-8 continuation bytes begins one.
pub(crate) fn count_chars(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte & 0xC0 != 0x80).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_offset_agrees_with_counting_by_hand() {
        let text = "añb\n\n😀x\r\nlast\n";
        let mut positions = PositionCursor::new(text);
        for (offset, _) in text.char_indices() {
            let before = text.get(..offset).unwrap();
            let line_start = before.rfind('\n').map_or(0, |at| at + 1);
            let expected = TextPosition {
                line: before.matches('\n').count() + 1,
                column: text.get(line_start..offset).unwrap().chars().count() + 1,
            };
            assert_eq!(positions.advance(offset), expected, "at {offset}");
            assert_eq!(positions.chars(), before.chars().count(), "at {offset}");
        }
    }
}
