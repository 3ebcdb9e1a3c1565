//! A place in the text that is being read, and how to move it.

use crate::span::Span;

/// Mapping of spans to the whole text.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Origin {
    /// The text is part of the whole text, from this byte on.
    Part(usize),
    /// The text was decoded from this part of the whole text.
    Decoded(Span),
}

/// A text and a place in it.
///
/// The end of the text reads as a NUL, which no admitted text contains.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text<'s> {
    text: &'s str,
    pub(crate) at: usize,
    origin: Origin,
}

impl<'s> Text<'s> {
    pub(crate) const fn new(text: &'s str, origin: Origin) -> Self {
        Self { text, at: 0, origin }
    }

    /// Returns the byte `ahead` of the current one, as it is written.
    pub(crate) fn raw(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    /// Skips escaped line ends, which the shell removes before it splits words, and returns the next byte.
    pub(crate) fn peek(&mut self) -> u8 {
        loop {
            match self.raw(0) {
                b'\\' if self.raw(1) == b'\n' => self.at += 2,
                byte => return byte,
            }
        }
    }

    /// Returns the byte after the next one, with the same escaped line ends left out.
    pub(crate) fn peek_second(&mut self) -> u8 {
        let first = self.peek();
        if first == 0 {
            return 0;
        }
        let mut beyond = *self;
        beyond.at += 1;
        beyond.peek()
    }

    /// Moves over the next byte when it is `byte`.
    pub(crate) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == byte && byte != 0;
        if found {
            self.at += 1;
        }
        found
    }

    /// Moves over one whole character, as it is written.
    pub(crate) fn skip_character(&mut self) {
        let width = self.rest().chars().next().map_or(0, char::len_utf8);
        self.at += width;
    }

    /// Returns whether everything was read.
    pub(crate) fn is_at_end(&mut self) -> bool {
        self.peek() == 0
    }

    /// Returns the unread rest.
    pub(crate) fn rest(&self) -> &'s str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Returns the text between two places in it.
    pub(crate) fn slice(&self, start: usize, end: usize) -> &'s str {
        self.text.get(start..end).unwrap_or_default()
    }

    /// Returns the span of the whole text for these two offsets.
    pub(crate) const fn span(&self, start: usize, end: usize) -> Span {
        match self.origin {
            Origin::Part(offset) => Span::new(offset + start, offset + end),
            Origin::Decoded(whole) => whole,
        }
    }

    /// Returns the origin of a text that starts at `start` in this one.
    pub(crate) const fn origin_of(&self, start: usize) -> Origin {
        match self.origin {
            Origin::Part(offset) => Origin::Part(offset + start),
            Origin::Decoded(whole) => Origin::Decoded(whole),
        }
    }
}
