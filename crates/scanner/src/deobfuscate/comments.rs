//! HTML comments inside a command: `ba<!-- -->sh` is `bash` on a rendered page, and in cleaned text.
//!
//! A comment at the start of a line is kept, unless it interrupts a command. One file in twenty has such comments;
//! scanning all of those twice would cost more than it finds, since the text behind the comment is matched as is,
//! except by patterns that require the start of a line.

use memchr::memmem;

use super::layer::{Editor, Layer};

const OPENER: &str = "<!--";

/// Removes the comments within a line; `None` for a line without comments. An unclosed comment is kept.
pub(super) fn cut(text: &str) -> Option<Layer> {
    let mut editor = Editor::new(text);
    let mut at = 0;
    while let Some(opener) = text.get(at..).and_then(|rest| memmem::find(rest.as_bytes(), OPENER.as_bytes()))
    {
        let start = at + opener;
        let (before, comment) = text.split_at_checked(start)?;
        let Some(length) = comment_length(comment) else { break };
        at = start + length;
        if leads_on(before) {
            editor.replace(start..at, "");
        }
    }
    editor.finish()
}

/// Returns the length of the comment at the start of a text: it ends as in a browser.
fn comment_length(text: &str) -> Option<usize> {
    let inside = text.strip_prefix(OPENER)?;
    let at_once = [">", "->"].into_iter().find(|end| inside.starts_with(end));
    let ends = || memchr::memchr_iter(b'>', text.as_bytes()).map(|at| at + 1);
    let closes =
        |end: &usize| text.get(..*end).is_some_and(|head| head.ends_with("-->") || head.ends_with("--!>"));
    match at_once {
        Some(end) => Some(OPENER.len() + end.len()),
        None => ends().find(closes),
    }
}

/// Whether the text before a comment can continue behind it: visible ASCII on the same line, or a command's
/// continuation.
fn leads_on(before: &str) -> bool {
    before.trim_end_matches([' ', '\t']).ends_with(|last: char| last.is_ascii_graphic())
        || before.trim_ascii_end().ends_with(['|', '\\'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_inside_something_are_cut() {
        let cases = [
            ("ba<!-- x -->sh", "bash"),
            ("| <!---->sh", "| sh"),
            ("|\n <!-- a\n-->\nsh", "|\n \nsh"),
            ("a<!-->b<!--->c<!-- > --!>d<!-- <!-- -->e", "abcde"),
        ];
        for (text, wanted) in cases {
            assert_eq!(cut(text).unwrap().text(), wanted, "{text:?}");
        }
    }

    #[test]
    fn others_stay() {
        for text in ["", "<!-- a -->b", "text\n<!-- a -->\n", "a<!-- b", "a<!--b->c", "a --> b"] {
            assert!(cut(text).is_none(), "{text:?}");
        }
    }
}
