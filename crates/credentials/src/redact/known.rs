//! Values that are known to be secret, in whatever spelling a command prints them.

use std::ops::Range;
use stockade_text::{escape_markup, from_hex, percent_byte, to_hex};

use aho_corasick::AhoCorasick;
use base64::Engine as _;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};

/// The shortest spelling that is looked for: a shorter one would be found everywhere.
const LEAST_BYTES: usize = 6;

/// The shortest value that is looked for as a word by itself.
const LEAST_WORD: usize = 3;

/// The shortest line of a value of several lines that is looked for by itself.
const LEAST_LINE: usize = 12;

/// The values that are hidden wherever they stand, and what finds them.
#[derive(Clone, Default)]
pub(super) struct Known {
    values: Vec<String>,
    /// Values too short to be looked for within words.
    words: Vec<String>,
    /// Finds all spellings in one pass; none where there are too many for an automaton.
    finder: Option<AhoCorasick>,
}

impl Known {
    pub(super) fn add(&mut self, values: impl IntoIterator<Item = String>) {
        self.values.extend(values.into_iter().filter(|value| value.len() >= LEAST_BYTES));
        self.values.sort_unstable();
        self.values.dedup();
        let mut spellings: Vec<Vec<u8>> = self.values.iter().flat_map(|value| spellings(value)).collect();
        spellings.retain(|spelling| spelling.len() >= LEAST_BYTES);
        spellings.sort_unstable();
        spellings.dedup();
        self.finder = AhoCorasick::new(&spellings).ok();
    }

    /// Adds values that are also hidden where they are short, as words by themselves.
    pub(super) fn add_words(&mut self, values: impl IntoIterator<Item = String>) {
        let short = |value: &String| (LEAST_WORD..LEAST_BYTES).contains(&value.len());
        self.words.extend(values.into_iter().filter(short));
    }

    fn find_words(&self, text: &str, found: &mut Vec<Range<usize>>) {
        let in_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        for (at, word) in self.words.iter().flat_map(|word| text.match_indices(word.as_str())) {
            let (before, after) = (text.get(..at), text.get(at + word.len()..));
            let is_within = in_word(before.and_then(|text| text.chars().next_back()))
                || in_word(after.and_then(|text| text.chars().next()));
            found.extend((!is_within).then(|| at..at + word.len()));
        }
    }

    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// Finds every value, as it is and as it is read when the text is decoded.
    pub(super) fn find(&self, text: &str, found: &mut Vec<Range<usize>>) {
        self.find_words(text, found);
        if self.values.is_empty() {
            return;
        }
        let Some(finder) = &self.finder else {
            // Rather nothing than one of them.
            found.push(0..text.len());
            return;
        };
        found.extend(finder.find_overlapping_iter(text).map(|hit| around(text, hit.range())));
        for view in View::all(text) {
            let hits = finder.find_overlapping_iter(&view.bytes);
            found.extend(hits.filter_map(|hit| view.range(hit.range())).map(|range| around(text, range)));
        }
    }
}

/// Widens a match in Base64 by one character on each side. If the value is in the middle of an encoded text, these characters
/// encode bits of the value and of the text beside it.
fn around(text: &str, range: Range<usize>) -> Range<usize> {
    let is_encoded = |byte: Option<&u8>| {
        byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
    };
    let bytes = text.as_bytes();
    let inside = bytes.get(range.clone()).unwrap_or_default();
    let is_base64 = inside.iter().all(|byte| is_encoded(Some(byte)) || matches!(byte, b'-' | b'_'));
    let before =
        usize::from(is_base64 && is_encoded(range.start.checked_sub(1).and_then(|at| bytes.get(at))));
    let after = usize::from(is_base64 && is_encoded(bytes.get(range.end)));
    range.start - before..range.end + after
}

/// The spellings of a value that decoding the text around it does not undo.
fn spellings(value: &str) -> Vec<Vec<u8>> {
    let bytes = value.as_bytes();
    let hex = to_hex(bytes);
    let mut all = vec![
        bytes.to_vec(),
        hex.to_ascii_uppercase().into_bytes(),
        hex.into_bytes(),
        value.replace('\'', "'\\''").into_bytes(),
        value.replace('\'', "'\"'\"'").into_bytes(),
        value.replace(' ', "+").into_bytes(),
        escape_markup(value).into_owned().into_bytes(),
    ];
    all.extend(
        (0..3).flat_map(|skipped| [&STANDARD, &URL_SAFE].map(|alphabet| in_base64(bytes, skipped, alphabet))),
    );
    all.extend(
        value
            .lines()
            .map(str::trim)
            .filter(|line| line.len() >= LEAST_LINE)
            .map(|line| line.as_bytes().to_vec()),
    );
    all
}

/// The characters of base64 that a value alone makes, where so many bytes stand before it in the first group of three.
fn in_base64(value: &[u8], skipped: usize, alphabet: &base64::alphabet::Alphabet) -> Vec<u8> {
    let engine = GeneralPurpose::new(alphabet, GeneralPurposeConfig::new().with_encode_padding(false));
    let mut bytes = vec![0; skipped];
    bytes.extend_from_slice(value);
    let encoded = engine.encode(&bytes).into_bytes();
    let from = (skipped * 8).div_ceil(6);
    let to = bytes.len() * 8 / 6;
    encoded.get(from..to).unwrap_or_default().to_vec()
}

/// A text as something reads it that decodes it.
pub(super) struct View {
    bytes: Vec<u8>,
    /// Where each byte stands in the text, and where the last one ends.
    places: Vec<usize>,
}

impl View {
    /// Every reading of a text that differs from the text.
    fn all(text: &str) -> Vec<Self> {
        let mut views = Vec::new();
        if text.contains('%') {
            views.push(Self::of(text, percent));
        }
        if text.contains('\\') {
            let once = Self::of(text, backslash);
            // JSON within JSON.
            let twice = once.bytes.contains(&b'\\').then(|| once.decoded(backslash));
            views.push(once);
            views.extend(twice);
        }
        if text.contains(['\n', '\r']) {
            // Encoders break lines.
            views.push(Self::of(text, |rest| match rest.first()? {
                b'\n' | b'\r' => Some((Vec::new(), 1)),
                _ => None,
            }));
        }
        views
    }

    /// A text without the backslashes of JSON.
    pub(super) fn unescaped(text: &str) -> Self {
        Self::of(text, backslash)
    }

    pub(super) fn text(&self) -> Option<String> {
        String::from_utf8(self.bytes.clone()).ok()
    }

    fn of(text: &str, decode: impl Fn(&[u8]) -> Option<(Vec<u8>, usize)>) -> Self {
        Self { bytes: text.as_bytes().to_vec(), places: (0..=text.len()).collect() }.decoded(decode)
    }

    /// Decodes the view. `decode` returns the replacement for the start of its text, and how many bytes it replaces.
    fn decoded(&self, decode: impl Fn(&[u8]) -> Option<(Vec<u8>, usize)>) -> Self {
        let mut view = Self { bytes: Vec::with_capacity(self.bytes.len()), places: Vec::new() };
        let mut at = 0;
        while let Some(rest) = self.bytes.get(at..).filter(|rest| !rest.is_empty()) {
            let (read, taken) = decode(rest).unwrap_or_else(|| (rest.iter().take(1).copied().collect(), 1));
            let place = self.places.get(at).copied().unwrap_or_default();
            view.places.extend(read.iter().map(|_| place));
            view.bytes.extend(read);
            at += taken;
        }
        view.places.extend(self.places.last());
        view
    }

    pub(super) fn range(&self, range: Range<usize>) -> Option<Range<usize>> {
        Some(*self.places.get(range.start)?..*self.places.get(range.end)?)
    }
}

/// `%2F` is a slash.
fn percent(rest: &[u8]) -> Option<(Vec<u8>, usize)> {
    Some((vec![percent_byte(rest)?], 3))
}

/// `\n`, `\"`, `\u00e9` and `\x41`, as JSON, C and shells write them.
fn backslash(rest: &[u8]) -> Option<(Vec<u8>, usize)> {
    let (b'\\', escaped) = (rest.first()?, rest.get(1)?) else { return None };
    let hexadecimal = |length: usize| number(rest.get(2..2 + length)?).and_then(char::from_u32);
    let text = |c: char| c.to_string().into_bytes();
    match escaped {
        b'n' => Some((vec![b'\n'], 2)),
        b't' => Some((vec![b'\t'], 2)),
        b'r' => Some((vec![b'\r'], 2)),
        b'u' => hexadecimal(4).map(|c| (text(c), 6)),
        b'x' => Some((from_hex(rest.get(2..4)?)?, 4)),
        other => Some((vec![*other], 2)),
    }
}

fn number(digits: &[u8]) -> Option<u32> {
    let digits = std::str::from_utf8(digits)
        .ok()
        .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u32::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
    use proptest::prelude::*;

    fn hides(value: &str, text: &str) -> String {
        let mut known = Known::default();
        known.add([value.to_owned()]);
        let mut found = Vec::new();
        known.find(text, &mut found);
        let mut kept = text.as_bytes().to_vec();
        for range in found {
            kept[range].fill(b'#');
        }
        String::from_utf8_lossy(&kept).into_owned()
    }

    #[test]
    fn a_value_is_found_as_commands_print_it() {
        let value = "p%ss \"w'rd\"/é+1";
        let json = serde_json::to_string(value).unwrap();
        let encoded = STANDARD.encode(format!("user:{value} and more of it that makes the line long"));
        let wrapped = encoded.split_at(20);
        let printed = [
            value.to_owned(),
            json.clone(),
            serde_json::to_string(&json).unwrap(),
            "p\\u0025ss \\\"w'rd\\\"\\/\\u00e9+1".to_owned(),
            "p%25ss%20%22w%27rd%22%2F%C3%A9%2B1".to_owned(),
            "p%25ss%20%22w'rd%22/%c3%a9+1".to_owned(),
            format!("'{}'", value.replace('\'', "'\\''")),
            "p%ss\\ \\\"w\\'rd\\\"/é+1".to_owned(),
            value.bytes().map(|byte| format!("{byte:02x}")).collect(),
            value.bytes().map(|byte| format!("\\x{byte:02x}")).collect(),
            format!("{}\n{}", wrapped.0, wrapped.1),
        ];
        for text in printed {
            let kept = hides(value, &format!("a {text} z"));
            assert!(kept.starts_with("a ") && kept.ends_with(" z"), "{kept}");
            assert!(
                kept.matches('#').count() * 10 >= value.len() * 9 || kept.matches('#').count() > 12,
                "{text}: {kept}"
            );
        }
    }

    #[test]
    fn lines_of_a_key_are_found_by_themselves() {
        let key = "-----BEGIN X-----\nMIIEowIBAAKCAQEA0\nabcdefabcdefabcdef\n-----END X-----\n";
        assert!(!hides(key, "grep abcdefabcdefabcdef file").contains("abcdef"));
    }

    proptest! {
        #[test]
        fn base64_of_a_text_around_it_does_not_hide_it(value in "[a-zA-Z0-9!/+]{9,40}", before in "[a-z:]{0,7}", after in "[a-z]{0,7}") {
            let all = format!("{before}{value}{after}");
            for encoded in [STANDARD.encode(&all), URL_SAFE_NO_PAD.encode(&all)] {
                let kept = hides(&value, &encoded);
                // Nothing of the value itself is left: the rest encodes the text before and after it.
                prop_assert!(kept.bytes().filter(|byte| *byte != b'#').count() <= (before.len() + after.len()) * 4 / 3 + 4, "{}", kept);
            }
        }

        #[test]
        fn no_text_breaks_it(text in ".{0,60}|[%\\\\0-9a-fu]{0,40}", value in "[a-f0-9%]{6,9}") {
            let mut known = Known::default();
            known.add([value]);
            let mut found = Vec::new();
            known.find(&text, &mut found);
            for range in found {
                prop_assert!(range.end <= text.len() && text.is_char_boundary(range.start));
            }
        }
    }
}
