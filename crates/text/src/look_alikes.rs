//! Words that read as Latin but contain letters of other scripts.

use std::ops::Range;

/// Letters of other scripts that are drawn like a Latin letter, from the confusables of UTS #39.
const LOOK_ALIKES: &[&str] = &[
    "АВЕЅІЈКМНОРСТУХҮԌԚԜԁԛԝаеіјѕорсухһҽӏ", // Cyrillic
    "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϲοαινρυϳ",              // Greek
    "ՕՏՍցոսօհզյ",                          // Armenian
];

/// Whether some word of `text` mixes Latin letters with look-alikes and no other letters. A word with unmistakable
/// letters of the other script cannot be confused; a technical term such as `μs` is not reported.
#[must_use]
pub fn poses_as_latin(text: &str) -> bool {
    let mut at = 0;
    while let Some(suspect) = find_suspect(text, at) {
        let word = word_around(text, suspect);
        if is_mixed(text.get(word.clone()).unwrap_or_default()) {
            return true;
        }
        // Advance past the character itself (two bytes) in case it is not a letter and the word is empty.
        at = word.end.max(suspect + 2);
    }
    false
}

/// Returns the offset of the next character of these scripts or of a neighbouring block, starting at `from`.
fn find_suspect(text: &str, from: usize) -> Option<usize> {
    let rest = text.as_bytes().get(from..)?;
    // Testing whole blocks without an early exit compiles to a few vector instructions.
    let (blocks, _) = rest.as_chunks::<64>();
    let has_suspect = |block: &[u8; 64]| block.iter().fold(false, |any, &byte| any | begins_suspect(byte));
    let skipped = blocks.iter().position(has_suspect).unwrap_or(blocks.len()) * 64;
    let within = rest.get(skipped..)?.iter().position(|&byte| begins_suspect(byte))?;
    Some(from + skipped + within)
}

/// Whether a byte begins a character of U+0340 to U+05BF, the range of Greek, Cyrillic and Armenian.
const fn begins_suspect(byte: u8) -> bool {
    matches!(byte, 0xCD..=0xD6)
}

/// Returns the range of the word around `at`.
fn word_around(text: &str, at: usize) -> Range<usize> {
    let (before, after) = text.split_at_checked(at).unwrap_or(("", text));
    let stem = before.trim_end_matches(char::is_alphabetic);
    let rest = after.trim_start_matches(char::is_alphabetic);
    stem.len()..text.len() - rest.len()
}

/// Whether a word mixes Latin letters with look-alikes and no other letters.
pub(crate) fn is_disguised(word: &str) -> bool {
    !word.is_ascii() && is_mixed(word)
}

fn is_mixed(word: &str) -> bool {
    let (mut latin, mut alike) = (false, false);
    for c in word.chars() {
        match c {
            'a'..='z' | 'A'..='Z' => latin = true,
            _ if LOOK_ALIKES.iter().any(|letters| letters.contains(c)) => alike = true,
            _ => return false,
        }
    }
    latin && alike
}

#[cfg(test)]
mod tests {
    use super::{LOOK_ALIKES, begins_suspect, poses_as_latin};

    #[test]
    fn words_that_pose_as_latin_are_found() {
        for text in ["p\u{430}ypal", "use \u{0455}udo now", "run g\u{03bf}ogle", "(\u{0421}url)"] {
            assert!(poses_as_latin(text), "{text}");
        }
    }

    #[test]
    fn honest_texts_are_not() {
        for text in
            ["paypal", "привет, мир", "10 μs", "Δt", "JSON-файл", "PDFов", "Ωmega", "日本語 text", "café"]
        {
            assert!(!poses_as_latin(text), "{text}");
        }
    }

    #[test]
    fn suspects_are_told_by_their_first_byte() {
        for c in LOOK_ALIKES.iter().flat_map(|letters| letters.chars()) {
            assert!(begins_suspect(c.to_string().as_bytes()[0]), "{c:?}");
        }
    }

    #[test]
    fn marks_and_signs_beside_words_are_passed_over() {
        assert!(!poses_as_latin("abc\u{37E} \u{345} x\u{345}"));
        assert!(poses_as_latin("abc\u{37E} \u{345} p\u{430}ypal"));
    }
}
