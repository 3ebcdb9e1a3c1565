//! Look-alike letters, other forms of ASCII characters, and invisible characters.

use std::ops::Range;

use super::layer::{Editor, Layer};
use super::quoting::is_word;
use super::tables::{Glyph, glyph};
use super::token::{is_foreign, tokens};

/// Replaces characters that read as ASCII by ASCII; `None` for a text without any.
pub(super) fn unmask(text: &str) -> Option<Layer> {
    let mut editor = Editor::new(text);
    tokens(text, |_, byte, _| is_foreign(byte)).for_each(|token| unmask_token(&mut editor, text, token));
    editor.finish()
}

fn unmask_token(editor: &mut Editor<'_>, text: &str, range: Range<usize>) {
    let start = range.start;
    let token = text.get(range).unwrap_or_default();
    if token.chars().all(|letter| glyph(letter) == Glyph::Plain) {
        return;
    }
    let look_alikes_count = look_alikes_are_an_obfuscation(token);
    let mut after_sign = false;
    for (at, letter) in token.char_indices() {
        let raw = start + at..start + at + letter.len_utf8();
        let reads_as = glyph(letter);
        match reads_as {
            Glyph::Plain => {}
            // Invisible characters behind or within an emoji belong to it.
            Glyph::Invisible if after_sign => {}
            Glyph::Invisible => editor.replace(raw, ""),
            Glyph::Compatible(ascii) => editor.replace(raw, &ascii),
            Glyph::LookAlike(ascii) if look_alikes_count => {
                editor.replace(raw, ascii.encode_utf8(&mut [0; 4]));
            }
            Glyph::LookAlike(_) => {}
        }
        after_sign = match reads_as {
            Glyph::Plain => !is_of_a_word(letter),
            Glyph::Invisible => after_sign,
            Glyph::Compatible(_) | Glyph::LookAlike(_) => false,
        };
    }
}

/// Whether an invisible character behind this one disguises a word: ASCII, or a letter or mark of an alphabet in
/// which the rules have words.
fn is_of_a_word(letter: char) -> bool {
    letter.is_ascii() || matches!(letter, '\u{400}'..='\u{1FFF}' | '\u{3000}'..='\u{D7FF}')
}

/// Look-alikes are an obfuscation beside ASCII, in a word that also contains ASCII letters, or if a whole word of
/// them spells a word of the rules. A letter without an ASCII look-alike makes the word honest.
fn look_alikes_are_an_obfuscation(word: &str) -> bool {
    let (mut is_beside, mut has_ascii, mut is_whole, mut spelled) = (false, false, true, String::new());
    // Whether the previous letter was a look-alike, and how many quotes follow it.
    let (mut before, mut quotes) = (None, 0);
    for letter in word.chars() {
        let reads_as = glyph(letter);
        let is_look_alike = match reads_as {
            Glyph::Invisible => continue,
            Glyph::Plain if matches!(letter, '\\' | '\'' | '"') => {
                quotes += 1;
                continue;
            }
            Glyph::Plain if !letter.is_ascii() && letter.is_alphabetic() => return false,
            Glyph::Plain => {
                (is_whole, has_ascii) = (false, has_ascii || letter.is_ascii_alphabetic());
                (letter.is_ascii_alphanumeric() || letter == '_').then_some(false)
            }
            Glyph::Compatible(plain) => {
                spelled.push_str(&plain);
                has_ascii |= plain.starts_with(|first: char| first.is_ascii_alphabetic());
                plain.starts_with(|first: char| first.is_ascii_alphanumeric()).then_some(false)
            }
            Glyph::LookAlike(plain) => {
                spelled.push(plain);
                Some(true)
            }
        };
        is_beside |= quotes <= 2 && before.is_some() && is_look_alike.is_some() && before != is_look_alike;
        (before, quotes) = (is_look_alike, 0);
    }
    is_beside && has_ascii || is_whole && is_word(&spelled)
}
