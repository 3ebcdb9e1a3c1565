//! The line of a finding, with the found part underlined.

use std::ops::Range;

use unicode_width::UnicodeWidthChar as _;

use stockade_text::{is_printable, push_escaped};

/// Maximum cells of a source line: before the match, of the match, and in total.
const CELLS_BEFORE: usize = 40;
const CELLS_FOUND: usize = 72;
const CELLS: usize = 96;

/// Maximum bytes that are read on either side: a text may be a single line of many megabytes.
const BYTES_AROUND: usize = 512;

/// Character that marks where text was omitted.
const CUT: char = '…';

/// Cells of a tab, which is shown as spaces.
const TAB: usize = 4;

/// An escaped line of text, and where to underline it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Snippet {
    /// The line, or the part around the match.
    pub(crate) line: String,
    /// Cells before the found part.
    pub(crate) indent: usize,
    /// Cells of the found part, at least one.
    pub(crate) width: usize,
    /// The found part, in bytes of the line.
    pub(crate) found: Range<usize>,
    /// Whether the match continues on later lines.
    pub(crate) goes_on: bool,
}

impl Snippet {
    /// Cuts the first line of `span` out of `text`.
    pub(crate) fn of(text: &str, span: &Range<usize>) -> Self {
        let (before, rest) = text.split_at_checked(span.start).unwrap_or((text, ""));
        let (found, after) = rest.split_at_checked(span.len()).unwrap_or((rest, ""));
        let before = last_line(before);
        let (found, goes_on) = first_line(found);
        let after = if goes_on { "" } else { first_line(after).0 };

        let mut snippet = Self { goes_on, ..Self::default() };
        snippet.indent = snippet.push_end(before, CELLS_BEFORE);
        let start = snippet.line.len();
        snippet.width = snippet.push_start(found, CELLS_FOUND).max(1);
        snippet.found = start..snippet.line.len();
        let left = CELLS.saturating_sub(snippet.indent + snippet.width);
        snippet.push_start(after, left);
        snippet.line.truncate(snippet.line.trim_end_matches(' ').len());
        snippet.found.end = snippet.found.end.min(snippet.line.len());
        snippet.found.start = snippet.found.start.min(snippet.found.end);
        snippet
    }

    /// Appends the start of `text` that fits, and returns its cells.
    fn push_start(&mut self, text: &str, cells: usize) -> usize {
        let start = clip_end(text, BYTES_AROUND);
        let (shown, width, kept) = fit(start.chars(), cells);
        self.line.extend(shown);
        let cut = kept < text.chars().take(kept + 1).count();
        if cut {
            self.line.push(CUT);
        }
        width + usize::from(cut)
    }

    /// Appends the end of `text` that fits, and returns its cells.
    fn push_end(&mut self, text: &str, cells: usize) -> usize {
        let end = clip_start(text, BYTES_AROUND);
        let (mut shown, width, kept) = fit(end.chars().rev(), cells);
        shown.reverse();
        let cut = kept < text.chars().rev().take(kept + 1).count();
        if cut {
            self.line.push(CUT);
        }
        self.line.extend(shown);
        width + usize::from(cut)
    }
}

/// Returns the characters as they are shown as far as they fit, their cells, and how many characters that were.
fn fit(chars: impl Iterator<Item = char>, cells: usize) -> (Vec<String>, usize, usize) {
    let mut shown = Vec::new();
    let mut total = 0;
    for c in chars {
        let (text, width) = show(c);
        if total + width > cells {
            break;
        }
        total += width;
        shown.push(text);
    }
    let kept = shown.len();
    (shown, total, kept)
}

/// Returns how a character is shown, and its cells.
fn show(c: char) -> (String, usize) {
    match c {
        '\t' => (" ".repeat(TAB), TAB),
        // Selects the color form of an emoji. It is common and harmless, so escaping it would be noise.
        '\u{fe0f}' => (String::new(), 0),
        _ if is_printable(c) => (c.to_string(), c.width().unwrap_or(0)),
        _ => {
            let mut text = String::new();
            push_escaped(&mut text, c);
            let width = text.len();
            (text, width)
        }
    }
}

/// Returns the text after the last line end, or the last bytes of it.
fn last_line(text: &str) -> &str {
    // One byte more than is shown, so that the cut is detected.
    let end = clip_start(text, BYTES_AROUND + 4);
    end.rsplit_once('\n').map_or(end, |(_, line)| line)
}

/// Returns the text before the first line end, or the first bytes of it, and whether there was a line end with more
/// after it.
fn first_line(text: &str) -> (&str, bool) {
    let start = clip_end(text, BYTES_AROUND + 4);
    match start.split_once('\n') {
        Some((line, _)) => (line.strip_suffix('\r').unwrap_or(line), text.len() > line.len() + 1),
        None => (start, false),
    }
}

/// Returns at most the first `bytes`.
fn clip_end(text: &str, bytes: usize) -> &str {
    text.split_at_checked(text.floor_char_boundary(bytes)).map_or(text, |(start, _)| start)
}

/// Returns at most the last `bytes`.
fn clip_start(text: &str, bytes: usize) -> &str {
    let at = text.ceil_char_boundary(text.len().saturating_sub(bytes));
    text.split_at_checked(at).map_or(text, |(_, end)| end)
}

#[cfg(test)]
mod tests {
    use super::{CELLS, Snippet};
    use proptest::prelude::*;

    /// Shows the part in «».
    fn snippet(marked: &str) -> String {
        let start = marked.find('«').unwrap();
        let text = marked.replace('«', "");
        let end = text.find('»').unwrap();
        let text = text.replace('»', "");
        let snippet = Snippet::of(&text, &(start..end));
        format!("{}\n{}{}", snippet.line, " ".repeat(snippet.indent), "^".repeat(snippet.width))
    }

    #[test]
    fn lines_are_underlined_where_they_should_be() {
        let cases = [
            ("before\nx «abc» y\nafter", "x abc y\n  ^^^"),
            ("«abc»", "abc\n^^^"),
            ("\t«abc»\tx", "    abc    x\n    ^^^"),
            ("漢字 «abc»", "漢字 abc\n     ^^^"),
            ("«漢字» abc", "漢字 abc\n^^^^"),
            ("e\u{301}e\u{301} «abc»", "e\u{301}e\u{301} abc\n   ^^^"),
            ("⚠\u{fe0f} «abc»", "⚠ abc\n  ^^^"),
            ("a\u{1b}[2J «abc»", "a\\u{1b}[2J abc\n           ^^^"),
            ("«c\u{200b}url»", "c\\u{200b}url\n^^^^^^^^^^^^"),
            ("x «abc\r\ndef» y", "x abc\n  ^^^"),
            ("x «»", "x\n  ^"),
        ];
        for (marked, shown) in cases {
            assert_eq!(snippet(marked), shown, "{marked:?}");
        }
    }

    #[test]
    fn long_lines_are_cut_on_both_sides() {
        let marked = format!("{}«{}»{}", "b".repeat(100), "f".repeat(10), "a".repeat(100));
        let line = format!("…{}{}{}…", "b".repeat(40), "f".repeat(10), "a".repeat(45));
        assert_eq!(snippet(&marked), format!("{line}\n{}{}", " ".repeat(41), "^".repeat(10)));
        let long_find = snippet(&format!("«{}»", "f".repeat(1_000_000)));
        assert_eq!(long_find, format!("{}…\n{}", "f".repeat(72), "^".repeat(73)));
    }

    #[test]
    fn a_finding_can_span_lines() {
        assert!(Snippet::of("ab\ncd", &(0..5)).goes_on);
        assert!(!Snippet::of("ab\ncd", &(0..3)).goes_on);
    }

    proptest! {
        #[test]
        fn any_line_fits(text: String, from: prop::sample::Index, to: prop::sample::Index) {
            let border = |at: usize| text.floor_char_boundary(at);
            let (a, b) = (border(from.index(text.len() + 1)), border(to.index(text.len() + 1)));
            let snippet = Snippet::of(&text, &(a.min(b)..a.max(b)));
            let safe = snippet.line.chars().all(|c| !c.is_control());
            prop_assert!(safe);
            prop_assert!(snippet.indent + snippet.width <= CELLS + 3);
        }
    }
}
