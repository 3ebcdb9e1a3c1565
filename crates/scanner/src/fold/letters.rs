//! Letters that look like others, other forms of ASCII characters, and what nobody sees.

use std::ops::Range;

use super::layer::{Editor, Layer};
use super::quoting::is_word;
use super::tables::{Glyph, glyph};
use super::token::{is_foreign, tokens};

/// Writes as ASCII what reads as ASCII; `None` where nothing does.
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
    let look_alikes_count = look_alikes_are_a_disguise(token);
    let mut after_sign = false;
    for (at, letter) in token.char_indices() {
        let raw = start + at..start + at + letter.len_utf8();
        let reads_as = glyph(letter);
        match reads_as {
            Glyph::Plain => {}
            // What is behind an emoji, or within one, belongs to it.
            Glyph::Invisible if after_sign => {}
            Glyph::Invisible => editor.replace(raw, ""),
            Glyph::Compatible(ascii) => editor.replace(raw, &ascii),
            Glyph::LookAlike(ascii) if look_alikes_count => {
                editor.replace(raw, ascii.encode_utf8(&mut [0; 4]));
            }
            Glyph::LookAlike(_) => {}
        }
        after_sign = match reads_as {
            Glyph::Plain => !letter.is_ascii(),
            Glyph::Invisible => after_sign,
            Glyph::Compatible(_) | Glyph::LookAlike(_) => false,
        };
    }
}

/// A word of look-alikes is a disguise if it also holds ASCII letters, or if all of it spells a word of the rules.
/// A letter that looks like nothing in ASCII makes it an honest word.
fn look_alikes_are_a_disguise(word: &str) -> bool {
    let (mut ascii, mut spelled) = (false, String::new());
    for letter in word.chars() {
        match glyph(letter) {
            Glyph::Plain if letter.is_ascii_alphabetic() => {
                ascii = true;
                spelled.push(letter);
            }
            Glyph::Plain if letter.is_alphabetic() => return false,
            Glyph::Plain => {}
            Glyph::Invisible => {}
            Glyph::Compatible(plain) => spelled.push_str(&plain),
            Glyph::LookAlike(plain) => spelled.push(plain),
        }
    }
    ascii || is_word(&spelled)
}
