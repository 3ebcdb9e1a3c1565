//! Texts: shared, never changed, and counted in UTF-16 units as JavaScript does.

use std::rc::Rc;

/// A text. What would cut a character in half leaves U+FFFD in its place.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Text {
    text: Rc<str>,
    /// Its length in UTF-16 units; the same as in bytes only where all is ASCII.
    units: usize,
}

impl Text {
    pub(crate) fn new(text: impl Into<Rc<str>>) -> Self {
        let text = text.into();
        let units = if text.is_ascii() { text.len() } else { text.encode_utf16().count() };
        Self { text, units }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    pub(crate) fn shared(&self) -> Rc<str> {
        Rc::clone(&self.text)
    }

    pub(crate) fn units(&self) -> usize {
        self.units
    }

    pub(crate) fn is_ascii(&self) -> bool {
        self.units == self.text.len()
    }

    /// The units from `start` to `end`.
    pub(crate) fn slice(&self, start: usize, end: usize) -> Self {
        let end = end.min(self.units);
        if start >= end {
            return Self::new("");
        }
        if start == 0 && end == self.units {
            return self.clone();
        }
        if self.is_ascii() {
            return Self::new(self.text.get(start..end).unwrap_or_default());
        }
        let units: Vec<u16> = self.text.encode_utf16().skip(start).take(end - start).collect();
        Self::new(String::from_utf16_lossy(&units))
    }

    /// The unit at a place.
    pub(crate) fn unit(&self, at: usize) -> Option<u16> {
        if self.is_ascii() {
            return self.text.as_bytes().get(at).copied().map(u16::from);
        }
        self.text.encode_utf16().nth(at)
    }

    /// How many units lie before a byte.
    pub(crate) fn units_before(&self, byte: usize) -> usize {
        if self.is_ascii() {
            return byte;
        }
        self.text.get(..byte).map_or(self.units, |text| text.encode_utf16().count())
    }

    /// The byte where a unit begins; for the second half of a character, where the character begins.
    pub(crate) fn byte_at(&self, unit: usize) -> usize {
        if self.is_ascii() {
            return unit.min(self.text.len());
        }
        let mut units = 0;
        for (at, c) in self.text.char_indices() {
            if units + c.len_utf16() > unit {
                return at;
            }
            units += c.len_utf16();
        }
        self.text.len()
    }

    /// The place of `needle` at or after a unit.
    pub(crate) fn find(&self, needle: &Self, from: usize) -> Option<usize> {
        let start = self.byte_at(from);
        let found = self.text.get(start..)?.find(needle.as_str())?;
        Some(self.units_before(start + found))
    }

    /// The last place of `needle` at or before a unit.
    pub(crate) fn find_last(&self, needle: &Self, until: usize) -> Option<usize> {
        let end = self.byte_at(until).saturating_add(needle.text.len()).min(self.text.len());
        let end = (end..=self.text.len()).find(|&end| self.text.is_char_boundary(end))?;
        let found = self.text.get(..end)?.rfind(needle.as_str())?;
        Some(self.units_before(found))
    }

    /// Less than, as JavaScript sorts: by UTF-16 units.
    pub(crate) fn is_before(&self, other: &Self) -> bool {
        if self.is_ascii() && other.is_ascii() {
            return self.text < other.text;
        }
        self.text.encode_utf16().lt(other.text.encode_utf16())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_in_utf16() {
        let text = Text::new("aé😀b");
        assert_eq!(text.units(), 5);
        assert_eq!(text.slice(1, 2).as_str(), "é");
        assert_eq!(text.slice(2, 4).as_str(), "😀");
        assert_eq!(text.slice(2, 3).as_str(), "\u{fffd}");
        assert_eq!(text.unit(2), Some(0xd83d));
        assert_eq!(text.find(&Text::new("b"), 0), Some(4));
        assert_eq!(text.find(&Text::new("b"), 5), None);
        assert_eq!(text.find_last(&Text::new("a"), 9), Some(0));
        assert_eq!(text.byte_at(4), 7);
        assert_eq!(Text::new("ab").slice(5, 9).as_str(), "");
    }
}
