//! Builds the changed text, if there is a change.

use std::borrow::Cow;

use crate::plain::char_offset;

/// Copy of a text with some stretches replaced. Allocates nothing before the first replacement.
#[derive(Debug)]
pub(super) struct Writer<'t> {
    text: &'t str,
    out: String,
    /// Number of characters in `out`.
    chars: usize,
    /// Maximum number of characters.
    bound: usize,
    /// Everything of `text` before this byte is in `out`, changed or not; 0 until something changes.
    done: usize,
}

impl<'t> Writer<'t> {
    pub(super) fn new(text: &'t str, bound: usize) -> Self {
        Self { text, out: String::new(), chars: 0, bound, done: 0 }
    }

    pub(super) fn is_untouched(&self) -> bool {
        self.done == 0
    }

    pub(super) fn is_full(&self) -> bool {
        self.chars >= self.bound
    }

    /// Copies the text up to `start` and omits the text from there to `end`.
    pub(super) fn skip(&mut self, start: usize, end: usize) {
        if self.is_untouched() {
            // Four bytes per character suffice below the bound; usually the length of the text does.
            self.out.reserve_exact(self.text.len().min(self.bound.saturating_mul(4)));
        }
        self.copy_to(start);
        self.done = end;
    }

    pub(super) fn push(&mut self, c: char) {
        if !self.is_full() {
            self.out.push(c);
            self.chars += 1;
        }
    }

    /// Removes the last character if all of the text before is written; otherwise see [`Self::last_unchanged`].
    pub(super) fn pop(&mut self) -> Option<char> {
        let last = self.out.pop()?;
        self.chars -= 1;
        Some(last)
    }

    /// Returns the start of the character before `at`, if it was not written yet.
    pub(super) fn last_unchanged(&self, at: usize) -> Option<usize> {
        let (start, _) = self.text.get(self.done..at)?.char_indices().next_back()?;
        Some(self.done + start)
    }

    /// Returns the text: borrowed if nothing changed, its beginning if it reached the bound.
    pub(super) fn finish(mut self) -> Cow<'t, str> {
        if self.is_untouched() {
            return Cow::Borrowed(self.text);
        }
        self.copy_to(self.text.len());
        Cow::Owned(self.out)
    }

    fn copy_to(&mut self, end: usize) {
        let span = self.text.get(self.done..end).unwrap_or_default();
        let room = self.bound - self.chars;
        let cut = if span.len() <= room { None } else { char_offset(span, room) };
        let (span, chars) = match cut {
            Some(cut) => (span.get(..cut).unwrap_or_default(), room),
            None => (span, span.chars().count()),
        };
        self.out.push_str(span);
        self.chars += chars;
        self.done = end;
    }
}
