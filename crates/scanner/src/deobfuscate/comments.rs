//! HTML comments inside a command: `ba<!-- -->sh` is `bash` on a rendered page, and once the text is cleaned.
//!
//! A comment with nothing before it on its line stays, unless a command goes on there. One file in twenty has such comments;
//! to read all of those twice costs more than it finds, since what follows such a comment is found as it stands, but for
//! the patterns that ask for the beginning of a line.

use memchr::memmem;

use super::layer::{Editor, Layer};

const OPENER: &str = "<!--";

/// Cuts out the comments that stand within something; `None` where there are none. One that nothing closes stays.
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

/// Returns how many bytes belong to the comment at the beginning of a text: it ends as in a browser.
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

/// Whether what stands before a comment can go on behind it: visible ASCII on the same line, or what continues a command.
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
