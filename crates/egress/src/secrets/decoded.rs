//! Decoded text, and the position in the text of each of its bytes.

/// A decoded part of a text.
#[derive(Debug, Default)]
pub(super) struct Decoded {
    bytes: Vec<u8>,
    marks: Vec<Mark>,
    /// The end of the last byte in the text.
    end: usize,
    is_list: bool,
}

/// From this decoded byte on, until the next mark, each byte of the text is one decoded byte.
#[derive(Debug)]
struct Mark {
    index: usize,
    /// Its position in the text.
    from: usize,
    /// The end of the decoded byte before it, which what is left out separates from it.
    before: usize,
}

impl Decoded {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// An empty list of numbers.
    pub(super) fn list() -> Self {
        Self { is_list: true, ..Self::default() }
    }

    /// Removes all bytes, but keeps their memory.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.marks.clear();
        self.end = 0;
    }

    /// Whether this was written as a list of numbers.
    pub(super) const fn is_list(&self) -> bool {
        self.is_list
    }

    /// Copies a part of the text.
    pub(super) fn copy(&mut self, text: &[u8], from: usize, to: usize) {
        let part = text.get(from..to).unwrap_or_default();
        if !part.is_empty() {
            self.mark(from);
            self.bytes.extend_from_slice(part);
            self.end = to;
        }
    }

    /// Copies a byte.
    pub(super) fn copy_byte(&mut self, byte: u8, at: usize) {
        self.byte(byte, at, at + 1);
    }

    /// Adds a byte that is written between these positions.
    pub(super) fn byte(&mut self, byte: u8, from: usize, to: usize) {
        self.mark(from);
        self.bytes.push(byte);
        self.end = to;
    }

    /// Adds a character. An unpaired surrogate matches nothing.
    pub(super) fn stands(&mut self, character: u32, is_byte: bool, from: usize, to: usize) {
        match (u8::try_from(character), char::from_u32(character)) {
            (Ok(byte), _) if is_byte || byte.is_ascii() => self.byte(byte, from, to),
            (_, Some(character)) => {
                character.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| self.byte(byte, from, to));
            }
            _ => self.byte(0, from, to),
        }
    }

    fn mark(&mut self, from: usize) {
        // Bytes that follow each other in the text need no mark of their own.
        let index = self.bytes.len();
        let is_next = self.marks.last().is_some_and(|mark| mark.from + (index - mark.index) == from);
        if !is_next || self.end != from {
            self.marks.push(Mark { index, from, before: self.end });
        }
    }

    /// Returns the position in the text at which a decoded byte begins.
    pub(super) fn start_of(&self, index: usize) -> usize {
        let number = self.marks.partition_point(|mark| mark.index <= index);
        let mark = number.checked_sub(1).and_then(|number| self.marks.get(number));
        mark.map_or(0, |mark| mark.from + (index - mark.index))
    }

    /// Returns the position in the text behind the decoded byte before this one.
    pub(super) fn end_before(&self, index: usize) -> usize {
        match self.marks.binary_search_by_key(&index, |mark| mark.index) {
            Ok(number) => self.marks.get(number).map_or(self.end, |mark| mark.before),
            Err(_) if index >= self.bytes.len() => self.end,
            Err(_) => self.start_of(index),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_knows_its_place() {
        let text = b"ab%41cd\\nef";
        let mut decoded = Decoded::default();
        decoded.copy(text, 0, 2);
        decoded.stands(0x41, true, 2, 5);
        decoded.copy(text, 5, 7);
        // Two characters are left out.
        decoded.copy(text, 9, 11);
        assert_eq!(decoded.bytes(), b"abAcdef");
        let places: Vec<_> =
            (0..7).map(|index| (decoded.start_of(index), decoded.end_before(index + 1))).collect();
        assert_eq!(places, [(0, 1), (1, 2), (2, 5), (5, 6), (6, 7), (9, 10), (10, 11)]);
    }
}
