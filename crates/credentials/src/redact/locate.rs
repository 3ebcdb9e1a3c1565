//! Where the words of a command stand in its text, letter by letter: between the letters there may be signs that quote.

use std::ops::Range;

use stockade_shell::Span;

/// The place of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WordSpan {
    pub(super) range: Range<usize>,
    /// Where each byte of the word stands, if it is not spelled as it is read.
    pub(super) letters: Option<Vec<usize>>,
}

impl WordSpan {
    /// Returns where a part of the word stands.
    pub(super) fn part(&self, part: Range<usize>) -> Option<Range<usize>> {
        let Some(letters) = &self.letters else {
            let range = self.range.start + part.start..self.range.start + part.end;
            return (range.end <= self.range.end).then_some(range);
        };
        let last = part.end.checked_sub(1).filter(|last| *last >= part.start)?;
        Some(*letters.get(part.start)?..*letters.get(last)? + 1)
    }
}

/// Finds each word behind the one before.
pub(super) fn locate(text: &str, span: Span, words: &[&str]) -> Vec<Option<WordSpan>> {
    let mut at = span.start;
    let mut places = Vec::with_capacity(words.len());
    for word in words {
        let place = next(text, at..span.end.min(text.len()), word);
        at = place.as_ref().map_or(at, |place| place.range.end);
        places.push(place);
    }
    places
}

/// How far behind the word before a word is looked for: a long search for each of many words would take too long.
const NEAR: usize = 512;

fn next(text: &str, within: Range<usize>, word: &str) -> Option<WordSpan> {
    // A quote within quotes is spelled with four signs.
    let far = NEAR + word.len() + 3 * word.len().min(MAX_SPELLED);
    let end = text.floor_char_boundary(within.end.min(within.start.saturating_add(far)));
    let (searched, mut at) = (text.get(within.start..end).filter(|_| !word.is_empty())?, 0);
    let is_sign = |byte: Option<&u8>| {
        byte.is_none_or(|byte| !byte.is_ascii_alphanumeric() && !matches!(byte, b'_' | b'-' | b'.' | b'/'))
    };
    let bytes = text.as_bytes();
    while let Some(hit) = searched.get(at..)?.find(word) {
        let start = within.start + at + hit;
        let range = start..start + word.len();
        let before = start.checked_sub(1).filter(|_| start > within.start).and_then(|at| bytes.get(at));
        if is_sign(before) && is_sign(bytes.get(range.end)) {
            return Some(WordSpan { range, letters: None });
        }
        at += hit + word.chars().next().map_or(1, char::len_utf8);
    }
    let mut starts =
        (0..searched.len().min(NEAR)).filter_map(|at| Some((within.start + at, searched.get(at..)?)));
    starts.find_map(|(start, text)| spelled(start, text, word))
}

/// The longest word that is looked for in another spelling.
const MAX_SPELLED: usize = 4096;

/// Returns the place of a word with which a text begins: between its letters there are signs that quote.
fn spelled(start: usize, text: &str, word: &str) -> Option<WordSpan> {
    let mut rest = text;
    let first = word.chars().next()?;
    if word.len() > MAX_SPELLED || !rest.starts_with([first, '\\', '\'', '"']) {
        return None;
    }
    let mut letters = Vec::new();
    for c in word.chars() {
        while !rest.starts_with(c) {
            rest = rest.strip_prefix(['\\', '\'', '"'])?;
        }
        let at = start + text.len() - rest.len();
        letters.extend(at..at + c.len_utf8());
        rest = rest.strip_prefix(c)?;
    }
    Some(WordSpan { range: start..start + text.len() - rest.len(), letters: Some(letters) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_letter_of_a_word_is_found_between_quotes() {
        for (text, word) in [
            ("sh -c 'a '\\''b c'\\'' d'", "a 'b c' d"),
            ("x \"a \\\"b\\\" c\"", "a \"b\" c"),
            ("x --url='b c'", "--url=b c"),
            ("x a\\ b", "a b"),
            ("x a b", "a b"),
        ] {
            let span = Span { start: 0, end: text.len() };
            let program = text.split(' ').next().unwrap();
            let places = locate(text, span, &[program, word]);
            let place = places[1].as_ref().or(places[0].as_ref()).unwrap();
            for (at, letter) in word.char_indices().filter(|(_, letter)| letter.is_alphanumeric()) {
                let found = text.get(place.part(at..at + 1).unwrap());
                assert_eq!(found, Some(letter.to_string().as_str()), "{text}");
            }
            assert!(place.part(0..word.len() + 1).is_none(), "{text}");
        }
    }
}
