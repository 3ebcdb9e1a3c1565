//! Step 4: the size limit.

use std::borrow::Cow;
use std::iter;

use unicode_segmentation::GraphemeCursor;

use crate::class::{Class, class};
use crate::plain::char_offset;
use crate::work;

/// Appended to a truncated text. It does not count towards the limit.
pub const TRUNCATION_MARKER: &str = "\n[TRUNCATED]";

/// How many characters [`enforce`] has to see beyond the limit: a marker, half an opener and the start of the next
/// character.
pub(crate) const BEYOND_LIMIT: usize = 20;

/// Longest user-perceived character that is never split. A real one has a handful of code points; a longer one is a
/// flood, and is cut like any text.
const MAX_GRAPHEME: usize = 64;

/// Truncates `text` after `max_chars` characters, or a little before to keep a grapheme whole, and appends the
/// marker. Returns whether it did.
///
/// A text that ends in the marker was truncated before: measure it without the marker, so that a second pass changes
/// nothing.
pub(crate) fn enforce(text: Cow<'_, str>, max_chars: usize) -> (Cow<'_, str>, bool) {
    let measured = text.strip_suffix(TRUNCATION_MARKER).unwrap_or(&text);
    if measured.len() <= max_chars {
        return (text, false);
    }
    let Some(limit) = char_offset(measured, max_chars) else { return (text, false) };
    let cut = cut_before(&text, limit);
    let mut body = match text {
        Cow::Owned(mut owned) => {
            owned.truncate(cut);
            owned
        }
        Cow::Borrowed(borrowed) => {
            let mut owned = String::with_capacity(cut + TRUNCATION_MARKER.len());
            owned.push_str(borrowed.get(..cut).unwrap_or_default());
            owned
        }
    };
    body.push_str(TRUNCATION_MARKER);
    (Cow::Owned(body), true)
}

/// Returns the last offset at or before `limit` where `text` may be cut.
fn cut_before(text: &str, limit: usize) -> usize {
    let before = text.get(..limit).unwrap_or_default();
    let starts = before.char_indices().rev().map(|(at, _)| at);
    let mut places = iter::once(limit).chain(starts).take(MAX_GRAPHEME);
    match places.find(|&at| is_boundary(text, at)) {
        // A joiner at the end has nothing to join.
        Some(at) => before.get(..at).unwrap_or_default().trim_end_matches(['\u{200C}', '\u{200D}']).len(),
        // The cut ignores graphemes here, so also remove the invisible characters that were kept for their
        // neighbours.
        None => before.trim_end_matches(|c| class(c) == Class::Stripped).len(),
    }
}

fn is_boundary(text: &str, at: usize) -> bool {
    work::step();
    // The whole text is available, so the cursor never asks for more.
    GraphemeCursor::new(at, text.len(), true).is_boundary(text, 0).unwrap_or(true)
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::enforce;

    // text, limit, result
    const CUTS: &[(&str, usize, &str)] = &[
        ("", 0, ""),
        ("a", 0, "\n[TRUNCATED]"),
        ("abc", 3, "abc"),
        ("abcd", 3, "abc\n[TRUNCATED]"),
        ("😀😀😀", 2, "😀😀\n[TRUNCATED]"),
        // g + ring is one grapheme of two characters.
        ("abg\u{30a}c", 3, "ab\n[TRUNCATED]"),
        ("abg\u{30a}c", 4, "abg\u{30a}\n[TRUNCATED]"),
        ("🇩🇪🇫🇷", 3, "🇩🇪\n[TRUNCATED]"),
        ("g\u{30a}", 1, "\n[TRUNCATED]"),
        // Truncated before.
        ("abc\n[TRUNCATED]", 3, "abc\n[TRUNCATED]"),
        ("abcd\n[TRUNCATED]", 3, "abc\n[TRUNCATED]"),
    ];

    #[test]
    fn texts_are_cut_between_graphemes() {
        for &(text, limit, want) in CUTS {
            assert_eq!(enforce(Cow::Borrowed(text), limit).0, want, "{text:?} at {limit}");
        }
    }

    #[test]
    fn a_flood_is_no_grapheme() {
        let flood = "\u{1100}".repeat(1000);
        let (body, truncated) = enforce(Cow::Borrowed(&flood), 500);
        assert!(truncated);
        assert_eq!(body.chars().filter(|&c| c == '\u{1100}').count(), 500);
    }
}
