//! Texts: shared, never changed, and counted in UTF-16 units as JavaScript does.

use std::rc::Rc;

/// A text. Half of a character of two UTF-16 units is a character of its own, until it meets the other half.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Text {
    text: Rc<str>,
    /// Its length in UTF-16 units; the same as in bytes only where all is ASCII.
    units: usize,
}

impl Text {
    pub(crate) fn new(text: impl Into<Rc<str>>) -> Self {
        let text = text.into();
        if text.is_ascii() {
            return Self { units: text.len(), text };
        }
        let text = if has_halves(&text) { joined(&text).into() } else { text };
        Self { units: text.chars().map(width).sum(), text }
    }

    /// The text of UTF-16 units, halves of characters among them.
    pub(crate) fn of_units(units: &[u16]) -> Self {
        let text: String = char::decode_utf16(units.iter().copied())
            .map(|c| c.unwrap_or_else(|half| char_of(u32::from(half.unpaired_surrogate()))))
            .collect();
        Self::new(text)
    }

    /// Returns the size of the text with surrogate pairs split, if it contains any.
    pub(crate) fn bytes_in_halves(&self) -> Option<usize> {
        // Each surrogate takes as many bytes as the whole character.
        let whole = if self.is_ascii() { 0 } else { self.text.chars().filter(|c| width(*c) == 2).count() };
        (whole > 0).then(|| self.text.len().saturating_add(whole.saturating_mul(4)))
    }

    /// Returns the text with surrogate pairs split. A part cut from it is an ordinary text.
    pub(crate) fn in_halves(&self) -> Self {
        let Some(bytes) = self.bytes_in_halves() else { return self.clone() };
        let mut text = String::with_capacity(bytes);
        text.extend(self.units_of().map(|unit| char_of(u32::from(unit))));
        Self { text: text.into(), units: self.units }
    }

    /// The text in UTF-16 units.
    pub(crate) fn units_of(&self) -> impl Iterator<Item = u16> {
        self.text
            .chars()
            .flat_map(|c| match half_of(c) {
                Some(half) => [Some(half), None],
                None => {
                    let mut room = [0; 2];
                    let units = c.encode_utf16(&mut room);
                    [units.first().copied(), units.get(1).copied()]
                }
            })
            .flatten()
    }

    /// The text with U+FFFD in place of halves of characters.
    pub(crate) fn well_formed(&self) -> Rc<str> {
        if self.is_ascii() || !has_halves(&self.text) {
            return Rc::clone(&self.text);
        }
        let units: Vec<u16> = self.units_of().collect();
        String::from_utf16_lossy(&units).into()
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
        // Only a part that begins or ends within a character is assembled unit by unit.
        let (from, to) = (self.byte_at(start), self.byte_at(end));
        if self.units_before(from) == start && self.units_before(to) == end {
            return Self::new(self.text.get(from..to).unwrap_or_default());
        }
        let mut units = Vec::with_capacity(end - start);
        units.extend(self.units_of().skip(start).take(end - start));
        Self::of_units(&units)
    }

    /// The unit at a place.
    pub(crate) fn unit(&self, at: usize) -> Option<u16> {
        if self.is_ascii() {
            return self.text.as_bytes().get(at).copied().map(u16::from);
        }
        self.units_of().nth(at)
    }

    /// Returns the size of the character at a byte: two surrogates that could not be joined are one.
    pub(crate) fn char_len(&self, byte: usize) -> usize {
        let mut rest = self.text.get(byte..).unwrap_or_default().chars();
        let Some(first) = rest.next() else { return 0 };
        let halves = half_of(first).zip(rest.next().and_then(half_of));
        let is_pair =
            halves.is_some_and(|(first, second)| join(u32::from(first), u32::from(second)).is_some());
        if is_pair { 2 * first.len_utf8() } else { first.len_utf8() }
    }

    /// How many units lie before a byte.
    pub(crate) fn units_before(&self, byte: usize) -> usize {
        if self.is_ascii() {
            return byte;
        }
        self.text.get(..byte).map_or(self.units, |text| text.chars().map(width).sum())
    }

    /// Returns the byte offset of a unit; for the second half of a character, the start of the character.
    pub(crate) fn byte_at(&self, unit: usize) -> usize {
        if self.is_ascii() {
            return unit.min(self.text.len());
        }
        let mut units = 0;
        for (at, c) in self.text.char_indices() {
            if units + width(c) > unit {
                return at;
            }
            units += width(c);
        }
        self.text.len()
    }

    /// The place of `needle` at or after a unit.
    pub(crate) fn find(&self, needle: &Self, from: usize) -> Option<usize> {
        if has_halves(&needle.text) {
            return self.find_unit_by_unit(needle, from);
        }
        let start = self.byte_at(from);
        let found = self.text.get(start..)?.find(needle.as_str())?;
        Some(self.units_before(start + found))
    }

    /// As `find`, where a half may be found within a character.
    fn find_unit_by_unit(&self, needle: &Self, from: usize) -> Option<usize> {
        let all: Vec<u16> = self.units_of().collect();
        let wanted: Vec<u16> = needle.units_of().collect();
        let places = all.get(from..)?.windows(wanted.len().max(1)).position(|part| part == wanted);
        places.map(|place| place + from)
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
        self.units_of().lt(other.units_of())
    }
}

/// First code point that encodes a surrogate: private use characters, which input texts must not contain.
const FIRST_HALF: u32 = 0x10_f800;

/// The character of a number; halves of characters have one, too.
pub(crate) fn char_of(number: u32) -> char {
    let number = if (0xd800..0xe000).contains(&number) { number - 0xd800 + FIRST_HALF } else { number };
    char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// Returns the surrogate that a character encodes.
pub(crate) fn half_of(c: char) -> Option<u16> {
    let number = u32::from(c).checked_sub(FIRST_HALF)?;
    u16::try_from(number + 0xd800).ok()
}

/// Whether a code point is reserved, because it encodes a surrogate here.
pub(crate) fn is_reserved(number: u32) -> bool {
    (FIRST_HALF..=0x10_ffff).contains(&number)
}

/// Whether a text contains encoded surrogates.
pub(crate) fn has_halves(text: &str) -> bool {
    // Such characters begin with this byte.
    text.as_bytes().contains(&0xf4) && text.chars().any(|c| half_of(c).is_some())
}

/// The character of two halves.
pub(crate) fn join(first: u32, second: u32) -> Option<u32> {
    let is_pair = (0xd800..0xdc00).contains(&first) && (0xdc00..0xe000).contains(&second);
    is_pair.then(|| 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00))
}

/// The numbers of the characters of a text, or of its UTF-16 units.
pub(crate) fn numbers_of(text: &str, is_whole: bool) -> Vec<u32> {
    if is_whole {
        return text.chars().map(|c| half_of(c).map_or(u32::from(c), u32::from)).collect();
    }
    Text::new(text).units_of().map(u32::from).collect()
}

fn width(c: char) -> usize {
    if half_of(c).is_some() { 1 } else { c.len_utf16() }
}

/// Joins adjacent surrogates to characters.
fn joined(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let second = half_of(c).map(u32::from);
        let first = out.chars().next_back().and_then(half_of).map(u32::from);
        let whole = first.zip(second).and_then(|(first, second)| join(first, second));
        // The last private characters stay two halves, since their numbers mean halves here.
        match whole.filter(|whole| !is_reserved(*whole)) {
            Some(whole) => {
                out.pop();
                out.push(char_of(whole));
            }
            None => out.push(c),
        }
    }
    out
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
        assert_eq!(text.slice(2, 3).unit(0), Some(0xd83d));
        assert_eq!(&*text.slice(2, 3).well_formed(), "\u{fffd}");
        let both = format!("{}{}", text.slice(2, 3).as_str(), text.slice(3, 4).as_str());
        assert_eq!(Text::new(both).as_str(), "😀");
        assert_eq!(text.unit(2), Some(0xd83d));
        assert_eq!(text.find(&Text::new("b"), 0), Some(4));
        assert_eq!(text.find(&Text::new("b"), 5), None);
        assert_eq!(text.find_last(&Text::new("a"), 9), Some(0));
        assert_eq!(text.byte_at(4), 7);
        assert_eq!(Text::new("ab").slice(5, 9).as_str(), "");
    }
}
