//! Where an offset of a text stands.

use super::At;

/// Tells the line of an offset without counting from the start each time.
pub(super) struct Places<'t> {
    text: &'t str,
    line_starts: Vec<usize>,
}

impl<'t> Places<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let after_ends = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1);
        Self { text, line_starts: std::iter::once(0).chain(after_ends).collect() }
    }

    pub(super) fn at(&self, offset: usize) -> At {
        let line = self.line_starts.partition_point(|&start| start <= offset);
        let start = line.checked_sub(1).and_then(|index| self.line_starts.get(index)).copied().unwrap_or(0);
        let before = self.text.get(start..self.text.floor_char_boundary(offset)).unwrap_or_default();
        At { line, column: before.chars().count() + 1 }
    }
}
