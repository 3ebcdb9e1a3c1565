//! Tokens as shells and readers delimit them, including the characters that can disguise them.

use std::ops::Range;

/// Bytes inspected at once. Most texts contain few relevant bytes.
const CHUNK: usize = 32;

/// Returns the stretches of letters, quoting and non-ASCII characters around each byte for which `matters` is true of
/// it and its neighbours; beyond the text, the neighbours are spaces.
pub(super) fn tokens(
    text: &str,
    matters: impl Fn(u8, u8, u8) -> bool + Copy,
) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let sign = find(text.as_bytes(), at, matters)?;
        let token = token_around(text.as_bytes(), at, sign)?;
        at = token.end;
        Some(token)
    })
}

/// Whether a byte is a control character or not ASCII.
#[inline]
pub(super) const fn is_foreign(byte: u8) -> bool {
    (byte >= 0x7F) | ((byte < b' ') & (byte != b'\t') & (byte != b'\n') & (byte != b'\r'))
}

/// Whether a byte quotes, or begins a variable.
#[inline]
pub(super) const fn is_quote(byte: u8) -> bool {
    (byte == b'\\') | (byte == b'\'') | (byte == b'"') | (byte == b'$')
}

/// Returns the token around a byte, beginning no earlier than `at`.
fn token_around(bytes: &[u8], at: usize, sign: usize) -> Option<Range<usize>> {
    let letters = bytes.get(at..sign)?.iter().rev().take_while(|&&byte| is_in_token(byte)).count();
    let mut end = sign;
    loop {
        end += bytes.get(end..)?.iter().take_while(|&&byte| is_in_token(byte)).count();
        match continued_line(bytes, end) {
            Some(length) => end += length,
            None => return Some(sign - letters..end),
        }
    }
}

/// Returns the offset of the first relevant byte from `at` on.
fn find(bytes: &[u8], mut at: usize, matters: impl Fn(u8, u8, u8) -> bool + Copy) -> Option<usize> {
    let byte = |at: Option<usize>| at.and_then(|at| bytes.get(at)).copied().unwrap_or(b' ');
    while at < bytes.len() {
        // Three overlapping views, one byte apart, give previous, middle and next; the first byte has no previous
        // one.
        if at > 0 && has_none(bytes.get(at - 1..).unwrap_or_default(), matters) {
            at += CHUNK;
        } else {
            let end = bytes.len().min(at + CHUNK);
            let place = |&at: &usize| matters(byte(at.checked_sub(1)), byte(Some(at)), byte(Some(at + 1)));
            match (at..end).find(place) {
                Some(place) => return Some(place),
                None => at = end,
            }
        }
    }
    None
}

/// Whether none of the next [`CHUNK`] bytes behind the first matters. Written to be vectorised.
fn has_none(bytes: &[u8], matters: impl Fn(u8, u8, u8) -> bool) -> bool {
    let from = |at: usize| bytes.get(at..).and_then(<[u8]>::first_chunk::<CHUNK>);
    let (Some(before), Some(middle), Some(after)) = (from(0), from(1), from(2)) else { return false };
    let each = before.iter().zip(middle).zip(after);
    !each.fold(false, |any, ((&before, &byte), &after)| any | matters(before, byte, after))
}

/// A line end behind a backslash belongs to the word that it splits.
fn continued_line(bytes: &[u8], at: usize) -> Option<usize> {
    let after_slash = at.checked_sub(1).and_then(|before| bytes.get(before)) == Some(&b'\\');
    match bytes.get(at..) {
        Some([b'\n', ..]) if after_slash => Some(1),
        Some([b'\r', b'\n', ..]) if after_slash => Some(2),
        _ => None,
    }
}

/// Whether a byte is part of a token: a letter, quoting, or not ASCII.
#[inline]
pub(super) const fn is_in_token(byte: u8) -> bool {
    // Branch-free, so that the compiler can vectorise it: hence `|` instead of `||`.
    let letter = (byte | 0x20).wrapping_sub(b'a') < 26;
    let digit = byte.wrapping_sub(b'0') < 10;
    let other = (byte == b'@') | (byte == b'*') | (byte == b'{') | (byte == b'}') | (byte == b'_');
    letter | digit | other | is_quote(byte) | is_foreign(byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_hold_what_is_asked_for() {
        let text = "a b'c|dé \\\n\\\r\ne\\\n f \u{1}g $x h";
        let of = |matters: fn(u8, u8, u8) -> bool| {
            tokens(text, matters).filter_map(|token| text.get(token)).collect::<Vec<_>>()
        };
        assert_eq!(of(|_, byte, _| is_quote(byte)), ["b'c", "\\\n\\\r\ne\\\n", "$x"]);
        assert_eq!(of(|_, byte, _| is_foreign(byte)), ["dé", "\u{1}g"]);
        assert_eq!(of(|before, byte, after| (before, byte, after) == (b' ', b'a', b' ')), ["a"]);
        assert_eq!(of(|before, byte, after| (before, byte, after) == (b' ', b'h', b' ')), ["h"]);
    }

    #[test]
    fn a_sign_is_found_wherever_it_stands() {
        for at in 0..3 * CHUNK {
            let text = "x ".repeat(at) + "'" + &" x".repeat(CHUNK);
            assert_eq!(find(text.as_bytes(), 0, |_, byte, _| is_quote(byte)), Some(2 * at));
        }
        assert_eq!(find(" x".repeat(CHUNK).as_bytes(), 0, |_, byte, _| is_quote(byte)), None);
    }
}
