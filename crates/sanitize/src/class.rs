//! What each character means for normalisation: a lookup in a generated table.

mod table;

#[cfg(test)]
mod generate;

use unicode_normalization::char::decompose_compatible;

/// The four classes of characters that one walk over the text distinguishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// Unchanged, and a boundary for normalisation: no character before it changes because of it.
    Inert = 0,
    /// Removed, unless its neighbours give it a meaning ([`crate::invisible::kept_len`]).
    Stripped = 1,
    /// Replaced by a fixed sequence of inert characters ([`expand`]).
    Mapped = 2,
    /// Needs full normalisation: combining marks, Hangul vowels, characters that decompose and compose again.
    Complex = 3,
}

/// Returns the class of `c`.
pub(crate) fn class(c: char) -> Class {
    let code = c as usize;
    // A code point past the table means a bug in the table; full normalisation is right for every character.
    let bits = match table::INDEX.get(code / 64) {
        Some(&block) => table::BLOCKS.get(usize::from(block)).and_then(|block| block.get(code % 64 / 4)),
        None => return class_of_high_planes(c),
    };
    match bits.map(|bits| bits >> (code % 4 * 2) & 3) {
        Some(0) => Class::Inert,
        Some(1) => Class::Stripped,
        Some(2) => Class::Mapped,
        _ => Class::Complex,
    }
}

/// Returns the offset, starting at `at`, of the first character that is not a three-byte character in an all-inert
/// block. The first two bytes identify the block. This skips most symbols and all ideographs.
pub(crate) fn skip_inert(text: &[u8], at: usize) -> usize {
    let mut at = at;
    while let Some(&[lead @ 0xE0..=0xEF, second, _]) = text.get(at..).and_then(<[u8]>::first_chunk)
        && table::INDEX.get(usize::from(lead & 15) << 6 | usize::from(second & 63)) == Some(&table::INERT)
    {
        at += 3;
    }
    at
}

/// The planes after the third contain only private use, the tag and selector block, and noncharacters.
fn class_of_high_planes(c: char) -> Class {
    let code = u32::from(c);
    match code {
        0xE_0000..=0xE_0FFF => Class::Stripped,
        _ if code & 0xFFFE == 0xFFFE => Class::Stripped,
        _ => Class::Inert,
    }
}

/// Calls `each` with the characters that replace the mapped character `c`.
pub(crate) fn expand(c: char, each: impl FnMut(char)) {
    match replacement(c) {
        Some(other) => Some(other).into_iter().for_each(each),
        None => decompose_compatible(c, each),
    }
}

/// Returns the single replacement of `c` where it is known without the decomposition tables.
///
/// NFKC does not touch line ends, but removing an invisible line separator would join two lines.
pub(crate) fn replacement(c: char) -> Option<char> {
    match c {
        '\r' | '\u{2028}' | '\u{2029}' => Some('\n'),
        '\u{FF01}'..='\u{FF5E}' => char::from_u32(u32::from(c) - 0xFEE0),
        _ => None,
    }
}

/// Whether `c` is a pictograph or symbol that may be followed by a presentation selector. Digits, `#` and `*` are
/// excluded, as are characters that normalisation replaces.
pub(crate) fn is_emoji(c: char) -> bool {
    let code = u32::from(c);
    let after = table::EMOJI.partition_point(|&(first, _)| first <= code);
    after.checked_sub(1).and_then(|nth| table::EMOJI.get(nth)).is_some_and(|&(_, last)| code <= last)
}

#[cfg(test)]
mod tests {
    use unicode_normalization::UnicodeNormalization;

    use super::{Class, class, expand, is_emoji, skip_inert};

    fn every_char() -> impl Iterator<Item = char> {
        '\0'..=char::MAX
    }

    #[test]
    fn every_class_is_what_normalisation_and_the_list_of_invisible_characters_say() {
        for c in every_char() {
            assert_eq!(class(c), super::generate::class_from_unicode(c), "U+{:04X}", u32::from(c));
        }
    }

    #[test]
    fn what_is_skipped_is_inert_and_most_of_what_is_inert_is_skipped() {
        let skipped = |c: &char| skip_inert(c.to_string().as_bytes(), 0) > 0;
        assert!(every_char().filter(skipped).all(|c| class(c) == Class::Inert));
        assert!("漢字✓─│█".chars().all(|c| skipped(&c)));
        assert_eq!(skip_inert("a漢✓ é".as_bytes(), 1), 7);
        assert_eq!(skip_inert("漢".as_bytes(), 3), 3);
    }

    #[test]
    fn mapped_characters_become_inert_ones_just_as_nfkc_says() {
        for c in every_char().filter(|&c| class(c) == Class::Mapped) {
            let mut mapped = String::new();
            expand(c, |part| mapped.push(part));
            assert!(mapped.chars().all(|part| class(part) == Class::Inert), "U+{:04X}", u32::from(c));
            if !matches!(c, '\r' | '\u{2028}' | '\u{2029}') {
                assert_eq!(mapped, c.to_string().nfkc().collect::<String>());
            }
        }
    }

    #[test]
    fn emoji_are_inert_and_never_the_end_of_a_decomposition() {
        for c in every_char() {
            let last = c.to_string().nfkd().last().unwrap();
            assert!(!is_emoji(c) || class(c) == Class::Inert);
            assert!(last == c || !is_emoji(last), "U+{:04X}", u32::from(c));
        }
    }
}
