//! Where a text may be cut.

use unicode_segmentation::{GraphemeCursor, GraphemeIncomplete};

/// How far a cut moves to keep together what is seen as one character. Attackers stack thousands of accents on a letter.
const MAX_CLUSTER_BYTES: usize = 128;

/// Returns the place at or before `at` where `text` can be cut without splitting a character, or what is seen as one.
pub(crate) fn floor(text: &str, at: usize) -> usize {
    let at = text.floor_char_boundary(at);
    if is_boundary(text, at) {
        return at;
    }
    let near = at.saturating_sub(MAX_CLUSTER_BYTES);
    let mut cursor = GraphemeCursor::new(at, text.len(), true);
    match cursor.prev_boundary(text, 0) {
        Ok(Some(boundary)) if boundary >= near => boundary,
        _ => at,
    }
}

/// Returns the place at or after `at` where `text` can be cut without splitting a character, or what is seen as one.
pub(crate) fn ceil(text: &str, at: usize) -> usize {
    let at = text.ceil_char_boundary(at);
    if is_boundary(text, at) {
        return at;
    }
    let mut cursor = GraphemeCursor::new(at, text.len(), true);
    match cursor.next_boundary(text, 0) {
        Ok(Some(boundary)) if boundary <= at.saturating_add(MAX_CLUSTER_BYTES) => boundary,
        _ => at,
    }
}

fn is_boundary(text: &str, at: usize) -> bool {
    let answer: Result<bool, GraphemeIncomplete> =
        GraphemeCursor::new(at, text.len(), true).is_boundary(text, 0);
    answer.unwrap_or(true)
}

/// Returns where the character with that number begins, or the end of the text.
pub(crate) fn nth_char(text: &str, n: usize) -> usize {
    text.char_indices().nth(n).map_or(text.len(), |(at, _)| at)
}

/// Returns the beginning of a text, at most that many characters, as far as it can be cut there.
pub(crate) fn head(text: &str, max_chars: usize) -> &str {
    let end = nth_char(text, max_chars);
    let end = if end == text.len() { end } else { floor(text, end) };
    text.get(..end).unwrap_or_default()
}

/// Returns the beginning of a text, cut after a paragraph or at least after a line where one ends in its second half.
pub(crate) fn head_by_blocks(text: &str, max_chars: usize) -> &str {
    let kept = head(text, max_chars);
    if kept.len() == text.len() {
        return kept;
    }
    let borders = [kept.rfind("\n\n"), kept.rfind('\n')];
    match borders.into_iter().flatten().find(|end| *end >= kept.len() / 2) {
        Some(end) => kept.get(..end).unwrap_or(kept),
        None => kept,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_keeps_together_what_is_seen_as_one_character() {
        for (text, at, before, after) in [
            ("abc", 1, 1, 1),
            ("é", 1, 0, 2),
            ("e\u{301}x", 1, 0, 3),
            ("👩\u{200d}👩\u{200d}👧!", 7, 0, 18),
            ("🇳🇴🇸🇪", 4, 0, 8),
            ("a\r\nb", 2, 1, 3),
            ("", 0, 0, 0),
            ("ab", 9, 2, 2),
        ] {
            assert_eq!((floor(text, at), ceil(text, at)), (before, after), "{text:?} at {at}");
        }
    }

    #[test]
    fn a_tower_of_accents_is_cut_in_the_middle() {
        let text = format!("a{}", "\u{301}".repeat(10_000));
        assert_eq!(head(&text, 5_000).chars().count(), 5_000);
    }

    #[test]
    fn paragraphs_are_kept_whole_where_that_costs_little() {
        assert_eq!(head_by_blocks("first one\n\nsecond", 12), "first one");
        assert_eq!(head_by_blocks("a\n\nbcdefghijklm", 12), "a\n\nbcdefghij");
        assert_eq!(head_by_blocks("short", 12), "short");
    }
}
