//! Positions of byte offsets in any order.

use crate::position::{TextPosition, count_chars};

/// Bytes between two stored character counts. A lookup counts at most twice as many bytes, so a text of one long line
/// costs no more than one of many short lines.
const BLOCK: usize = 256;

/// Converts byte offsets to positions, in any order. It is built in one pass; a lookup is a binary search for the
/// line and a bounded count for the column.
///
/// ```
/// use stockade_text::LineIndex;
///
/// let index = LineIndex::new("one\ntwo\n");
/// assert_eq!(index.position(6).to_string(), "2:3");
/// ```
#[derive(Debug, Clone)]
pub struct LineIndex<'t> {
    text: &'t str,
    line_starts: Vec<usize>,
    /// Number of characters before each block.
    chars_before: Vec<usize>,
}

impl<'t> LineIndex<'t> {
    /// Builds the index in one pass over the text.
    #[must_use]
    pub fn new(text: &'t str) -> Self {
        let after_ends = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1);
        let chars_before = text.as_bytes().chunks(BLOCK).scan(0, |before, block| {
            let start = *before;
            *before += count_chars(block);
            Some(start)
        });
        Self {
            text,
            line_starts: std::iter::once(0).chain(after_ends).collect(),
            chars_before: chars_before.collect(),
        }
    }

    /// Returns the position of a byte offset. An offset within a character has the position of that character; an
    /// offset behind the end has that of the end.
    #[must_use]
    pub fn position(&self, offset: usize) -> TextPosition {
        let offset = self.text.floor_char_boundary(offset);
        let line = self.line_starts.partition_point(|&start| start <= offset);
        let start = line.checked_sub(1).and_then(|index| self.line_starts.get(index)).copied().unwrap_or(0);
        TextPosition { line, column: self.chars(offset) - self.chars(start) + 1 }
    }

    /// Returns the offset of the character with `before` characters before it, or the end of the text.
    #[cfg(feature = "yaml")]
    pub(crate) fn offset_of_char(&self, before: usize) -> usize {
        let block = self.chars_before.partition_point(|&chars| chars <= before).saturating_sub(1);
        let passed = before - self.chars_before.get(block).copied().unwrap_or(0);
        let rest = self.text.as_bytes().get(block * BLOCK..).unwrap_or_default();
        let mut starts = rest.iter().enumerate().filter(|&(_, &byte)| byte & 0xC0 != 0x80);
        starts.nth(passed).map_or(self.text.len(), |(at, _)| block * BLOCK + at)
    }

    /// Returns the number of characters before an offset.
    fn chars(&self, offset: usize) -> usize {
        // In a text of whole blocks, the end belongs to no block; use the last one.
        let block = (offset / BLOCK).min(self.chars_before.len().saturating_sub(1));
        let rest = self.text.as_bytes().get(block * BLOCK..offset).unwrap_or_default();
        self.chars_before.get(block).copied().unwrap_or(0) + count_chars(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::position::PositionCursor;

    #[test]
    fn every_offset_agrees_with_the_cursor() {
        for text in ["", "a", "\n", "añb\n\n😀x\r\nlast\n", &"é😀\n".repeat(300), &"ab".repeat(BLOCK)] {
            let index = LineIndex::new(text);
            let mut cursor = PositionCursor::new(text);
            for offset in (0..=text.len()).filter(|&offset| text.is_char_boundary(offset)) {
                assert_eq!(index.position(offset), cursor.advance(offset), "{text:?} at {offset}");
                #[cfg(feature = "yaml")]
                assert_eq!(index.offset_of_char(cursor.chars()), offset, "{text:?}");
            }
            assert_eq!(index.position(usize::MAX), index.position(text.len()));
        }
    }
}
