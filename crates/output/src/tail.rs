//! Shortening: the last lines of a text that fit, and the beginning of a long line.

use crate::cut;

/// How much of the end of a text is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TailLimits {
    /// At most that many lines are kept.
    pub max_lines: usize,
    /// At most that many bytes are kept.
    pub max_bytes: usize,
    /// At most that many characters are kept.
    pub max_chars: usize,
}

/// Which limit shortened a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Truncation {
    /// The text is whole.
    #[default]
    None,
    /// The text had too many lines.
    Lines,
    /// The text had too many bytes.
    Bytes,
    /// The text had too many characters.
    Characters,
}

/// The end of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextTail<'t> {
    /// The part of the text that is kept.
    pub text: &'t str,
    /// Which limit dropped the rest.
    pub truncation: Truncation,
    /// How many lines are kept.
    pub lines: usize,
    /// How many lines there were. A line break at the very end begins no further line.
    pub total_lines: usize,
    /// How many bytes there were.
    pub total_bytes: usize,
    /// Not even the last line fits, so only its end is kept.
    pub first_line_is_cut: bool,
}

impl Default for TailLimits {
    /// Returns no limits at all.
    fn default() -> Self {
        Self { max_lines: usize::MAX, max_bytes: usize::MAX, max_chars: usize::MAX }
    }
}

/// Returns the last whole lines of a text that fit, or the end of its last line when that alone is too long.
///
/// ```
/// use stockade_output::{TailLimits, tail_of};
///
/// let limits = TailLimits { max_bytes: 12, ..TailLimits::default() };
/// assert_eq!(tail_of("first line\nsecond\nthird\n", &limits).text, "third\n");
/// ```
#[must_use]
pub fn tail_of<'t>(text: &'t str, limits: &TailLimits) -> TextTail<'t> {
    let total_lines = count_lines(text);
    let (start, truncation) = last_lines(text, limits);
    let (start, first_line_is_cut) = if start == text.len() && !text.is_empty() {
        (last_characters(text, limits), true)
    } else {
        (start, false)
    };
    let kept = text.get(start..).unwrap_or_default();
    let truncation = if start == 0 { Truncation::None } else { truncation };
    let lines = count_lines(kept);
    TextTail { text: kept, truncation, lines, total_lines, total_bytes: text.len(), first_line_is_cut }
}

/// Returns where the last whole lines that fit begin, and what keeps the line before them out.
fn last_lines(text: &str, limits: &TailLimits) -> (usize, Truncation) {
    let (mut start, mut chars) = (text.len(), 0);
    for (count, line) in text.split_inclusive('\n').rev().enumerate() {
        chars += line.chars().count();
        if count >= limits.max_lines {
            return (start, Truncation::Lines);
        }
        if text.len() - start + line.len() > limits.max_bytes {
            return (start, Truncation::Bytes);
        }
        if chars > limits.max_chars {
            return (start, Truncation::Characters);
        }
        start -= line.len();
    }
    (start, Truncation::None)
}

/// Returns where the end of a text begins that fits without regard to lines.
fn last_characters(text: &str, limits: &TailLimits) -> usize {
    if limits.max_lines == 0 {
        return text.len();
    }
    let by_bytes = text.len().saturating_sub(limits.max_bytes);
    let kept_chars = text.char_indices().rev().take(limits.max_chars).last();
    let by_chars = kept_chars.map_or(text.len(), |(at, _)| at);
    cut::ceil(text, by_bytes.max(by_chars))
}

pub(super) fn count_lines(text: &str) -> usize {
    text.split_inclusive('\n').count()
}

/// Returns a line as it is, or its beginning with a note that more follows.
#[must_use]
pub fn truncate_line(line: &str, max_chars: usize) -> String {
    let kept = cut::head(line, max_chars);
    if kept.len() == line.len() { line.to_owned() } else { format!("{kept}... [truncated]") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail(text: &str, max_lines: usize, max_bytes: usize, max_chars: usize) -> (&str, Truncation, bool) {
        let tail = tail_of(text, &TailLimits { max_lines, max_bytes, max_chars });
        (tail.text, tail.truncation, tail.first_line_is_cut)
    }

    #[test]
    fn the_last_whole_lines_are_kept() {
        let many = usize::MAX;
        for (text, lines, bytes, chars, expected) in [
            ("a\nb\nc", many, many, many, ("a\nb\nc", Truncation::None, false)),
            ("a\nb\nc\n", 2, many, many, ("b\nc\n", Truncation::Lines, false)),
            ("a\nbb\ncc", many, 5, many, ("bb\ncc", Truncation::Bytes, false)),
            ("a\nbb\ncc", many, 4, many, ("cc", Truncation::Bytes, false)),
            ("é\néé\néé", many, many, 4, ("éé", Truncation::Characters, false)),
            ("a\nlonger", many, 4, many, ("nger", Truncation::Bytes, true)),
            ("ééé", many, 3, many, ("é", Truncation::Bytes, true)),
            ("", many, 0, 0, ("", Truncation::None, false)),
            ("\n\n\n", 1, many, many, ("\n", Truncation::Lines, false)),
        ] {
            assert_eq!(tail(text, lines, bytes, chars), expected, "{text:?} {lines} {bytes} {chars}");
        }
    }

    #[test]
    fn a_long_line_says_that_it_goes_on() {
        assert_eq!(truncate_line("short", 10), "short");
        assert_eq!(truncate_line("a long line", 6), "a long... [truncated]");
    }
}
