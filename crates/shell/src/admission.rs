//! Permitted characters, checked before parsing.
//!
//! A person cannot judge a text whose appearance differs from what the shell reads, and shells, terminals and parsers
//! disagree about control characters: bash takes a carriage return for a letter, so `a<CR>#; rm x` runs `rm`.
//!
//! Bidirectional controls are the attack that "Trojan Source" describes (CVE-2021-42574); the invisible characters are the
//! default ignorable ones of UAX #44 and the spaces of its general category Zs.

use crate::read_error::{ReadError, ReadErrorKind};
use crate::span::Span;

/// Returns the first character that is refused everywhere, quoted or not.
///
/// Tab and line feed are the only control characters that pass.
#[must_use]
pub fn refused_character(text: &str) -> Option<ReadError> {
    if is_plain(text) {
        return None;
    }
    text.char_indices().find_map(|(at, character)| {
        let reason = refused_everywhere(character)?;
        Some(ReadError::new(reason, Span::new(at, at + character.len_utf8())))
    })
}

/// Returns the first character of an unquoted run that is permitted only inside quotes.
pub(crate) fn refused_unquoted(run: &str) -> Option<(usize, char)> {
    run.char_indices().find(|(_, character)| in_table(OUTSIDE_QUOTES, *character))
}

/// Whether a text consists of harmless ASCII characters, so that no character can be refused.
pub(crate) fn is_plain(text: &str) -> bool {
    /// Number of bytes compared together, so that the compiler vectorises the loop.
    const TOGETHER: usize = 64;
    let all_plain = |bytes: &[u8]| bytes.iter().fold(true, |all, byte| all & is_plain_byte(*byte));
    text.as_bytes().chunks(TOGETHER).all(all_plain)
}

/// Returns whether a byte can only be a harmless ASCII character.
const fn is_plain_byte(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b' '..=b'~')
}

fn refused_everywhere(character: char) -> Option<ReadErrorKind> {
    match character {
        '\t' | '\n' => None,
        '\0'..='\x1f' | '\x7f'..='\u{9f}' => Some(ReadErrorKind::ControlCharacter),
        _ => in_table(EVERYWHERE, character).then_some(ReadErrorKind::DeceptiveCharacter),
    }
}

fn in_table(table: &[(char, char)], character: char) -> bool {
    table.iter().any(|(first, last)| (*first..=*last).contains(&character))
}

/// Characters that deceive even inside quotes: they reorder the displayed text, or encode hidden text.
const EVERYWHERE: &[(char, char)] = &[
    ('\u{061c}', '\u{061c}'),   // Arabic letter mark
    ('\u{200e}', '\u{200f}'),   // left-to-right and right-to-left marks
    ('\u{202a}', '\u{202e}'),   // embeddings and overrides
    ('\u{2066}', '\u{206f}'),   // isolates and deprecated format characters
    ('\u{fff9}', '\u{fffb}'),   // interlinear annotation
    ('\u{1bca0}', '\u{1bca3}'), // shorthand format controls
    ('\u{1d173}', '\u{1d17a}'), // musical format controls
    ('\u{e0000}', '\u{e0fff}'), // tags and supplementary variation selectors
];

/// Characters that look like a space or like nothing. Inside quotes they are data (an emoji needs its variation
/// selector); outside they join what looks like two words.
const OUTSIDE_QUOTES: &[(char, char)] = &[
    ('\u{00a0}', '\u{00a0}'), // no-break space
    ('\u{00ad}', '\u{00ad}'), // soft hyphen
    ('\u{034f}', '\u{034f}'), // combining grapheme joiner
    ('\u{115f}', '\u{1160}'), // Hangul fillers
    ('\u{1680}', '\u{1680}'), // Ogham space
    ('\u{17b4}', '\u{17b5}'), // Khmer inherent vowels
    ('\u{180b}', '\u{180f}'), // Mongolian selectors and separator
    ('\u{2000}', '\u{200d}'), // typographic spaces, zero-width space, joiners
    ('\u{2028}', '\u{2029}'), // line and paragraph separators
    ('\u{202f}', '\u{202f}'), // narrow no-break space
    ('\u{205f}', '\u{2065}'), // mathematical space, word joiner, invisible operators
    ('\u{2800}', '\u{2800}'), // empty Braille pattern
    ('\u{3000}', '\u{3000}'), // ideographic space
    ('\u{3164}', '\u{3164}'), // Hangul filler
    ('\u{fe00}', '\u{fe0f}'), // variation selectors
    ('\u{feff}', '\u{feff}'), // byte order mark
    ('\u{ffa0}', '\u{ffa0}'), // half-width Hangul filler
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_and_deceptive_characters_are_refused_with_their_place() {
        let rows = [
            ("ls\0", Some((ReadErrorKind::ControlCharacter, 2, 3))),
            ("ls\r\nid", Some((ReadErrorKind::ControlCharacter, 2, 3))),
            ("a\u{85}b", Some((ReadErrorKind::ControlCharacter, 1, 3))),
            ("echo 'a\u{202e}b'", Some((ReadErrorKind::DeceptiveCharacter, 7, 10))),
            ("echo a\u{e0041}", Some((ReadErrorKind::DeceptiveCharacter, 6, 10))),
            ("echo\ta\nb", None),
            ("echo '\u{2705}\u{fe0f}'", None),
        ];
        for (text, expected) in rows {
            let found = refused_character(text).map(|error| (error.kind, error.span.start, error.span.end));
            assert_eq!(found, expected, "{text:?}");
        }
    }

    #[test]
    fn tables_are_in_order() {
        for table in [EVERYWHERE, OUTSIDE_QUOTES] {
            assert!(table.iter().all(|(first, last)| first <= last));
            assert!(table.windows(2).all(|pair| pair[0].1 < pair[1].0));
        }
    }
}
