//! Step 1: HTML comments, which do not appear on the rendered page.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memchr_iter;
use memchr::memmem::Finder;

use crate::work;

pub(crate) const OPENER: &str = "<!--";

static OPENERS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(OPENER));

/// A text without its HTML comments.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WithoutComments<'t> {
    /// The remaining text; borrowed if there was no comment.
    pub text: Cow<'t, str>,
    /// Number of removed comments.
    pub count: usize,
    /// Whether the last comment was never closed and so extended to the end of the text.
    pub unterminated: bool,
}

/// Removes every HTML comment, leaving nothing in its place.
///
/// Comments end where browsers end them (WHATWG HTML, tokenization): at `-->` or `--!>`, at once for `<!-->` and
/// `<!--->`, and at the end of the text if nothing closes them. In the last case the rest of the text is dropped,
/// because a reader of the rendered page does not see it either; keeping it would preserve the hiding place. An
/// opener that arises when a comment between its halves is removed counts like any other, so the result never
/// contains `<!--`. Code fences are no exception: a model reads them.
///
/// ```
/// use stockade_sanitize::strip_html_comments;
///
/// let without = strip_html_comments("a <!-- one --> b <!-<!-- two -->- three --> c");
/// assert_eq!((without.text.as_ref(), without.count), ("a  b  c", 3));
/// ```
#[must_use]
pub fn strip_html_comments(text: &str) -> WithoutComments<'_> {
    if find_opener(text).is_none() {
        return WithoutComments { text: Cow::Borrowed(text), count: 0, unterminated: false };
    }
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    let (mut count, mut unterminated) = (0, false);
    while let Some(inside) = next_comment(&mut kept, rest) {
        count += 1;
        match comment_len(inside) {
            Some(len) => rest = split(inside, len).1,
            None => (rest, unterminated) = ("", true),
        }
    }
    kept.push_str(rest);
    WithoutComments { text: Cow::Owned(kept), count, unterminated }
}

/// Moves the text before the next comment of `rest` to `kept` and returns the text after its opener.
///
/// The first half of the opener may be in `kept` already: `<!-`, a removed comment, `-`.
fn next_comment<'t>(kept: &mut String, rest: &'t str) -> Option<&'t str> {
    if let Some(taken) = joined_opener(kept, rest) {
        kept.truncate(kept.len() - (OPENER.len() - taken));
        return Some(split(rest, taken).1);
    }
    let (before, comment) = split(rest, find_opener(rest)?);
    kept.push_str(before);
    Some(split(comment, OPENER.len()).1)
}

/// Returns the offset of the first opener in `text`.
pub(crate) fn find_opener(text: &str) -> Option<usize> {
    OPENERS.find(text.as_bytes())
}

/// Returns the number of bytes of `inside`, the text after an opener, that belong to the comment; `None` if it is
/// unclosed.
fn comment_len(inside: &str) -> Option<usize> {
    let bytes = inside.as_bytes();
    if bytes.starts_with(b">") {
        return Some(1);
    }
    if bytes.starts_with(b"->") {
        return Some(2);
    }
    memchr_iter(b'>', bytes).map(|at| at + 1).find(|&end| {
        work::step();
        let head = bytes.get(..end).unwrap_or_default();
        head.ends_with(b"-->") || head.ends_with(b"--!>")
    })
}

/// Returns the number of bytes of `rest` that complete an opener begun at the end of `kept`.
fn joined_opener(kept: &str, rest: &str) -> Option<usize> {
    (1..OPENER.len()).find(|&taken| {
        let (head, tail) = split(OPENER, OPENER.len() - taken);
        kept.ends_with(head) && rest.starts_with(tail)
    })
}

/// Splits at a byte that is a known character boundary; otherwise returns all of the text.
fn split(text: &str, at: usize) -> (&str, &str) {
    text.split_at_checked(at).unwrap_or((text, ""))
}

/// Removes comments from a stream of characters: for comments that arise through normalisation, in texts too long or
/// too expansive to hold in memory.
#[derive(Debug)]
pub(crate) struct CommentFree<I> {
    chars: I,
    /// Characters that may still become an opener: fragments of `<!--`, one after another.
    held: Vec<char>,
    /// How many of `held`, from the front, can be emitted; they are emitted from `ready` in reverse.
    ready: Vec<char>,
    pub(crate) count: usize,
    pub(crate) unterminated: bool,
}

impl<I: Iterator<Item = char>> CommentFree<I> {
    pub(crate) fn new(chars: I) -> Self {
        Self { chars, held: Vec::new(), ready: Vec::new(), count: 0, unterminated: false }
    }

    /// Skips the comment whose opener was just read.
    fn skip_comment(&mut self) {
        self.count += 1;
        let mut window = ['\0'; 4];
        for (nth, c) in self.chars.by_ref().enumerate() {
            work::step();
            window.rotate_left(1);
            window[3] = c;
            let at_once = matches!((nth, window), (0, [.., '>']) | (1, [.., '-', '>']));
            let closes = at_once || matches!(window, [.., '-', '-', '>'] | ['-', '-', '!', '>']);
            if closes {
                return;
            }
        }
        self.unterminated = true;
    }
}

impl<I: Iterator<Item = char>> Iterator for CommentFree<I> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        loop {
            if let Some(c) = self.ready.pop() {
                return Some(c);
            }
            let Some(c) = self.chars.next() else {
                self.ready.extend(self.held.drain(..).rev());
                return self.ready.pop();
            };
            work::step();
            self.held.push(c);
            if self.held.ends_with(&['<', '!', '-', '-']) {
                self.held.truncate(self.held.len() - OPENER.len());
                self.skip_comment();
            } else if !matches!(self.held.as_slice(), [.., '<'] | [.., '<', '!'] | [.., '<', '!', '-']) {
                self.ready.extend(self.held.drain(..).rev());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CommentFree, strip_html_comments};

    // text, what is left, comments, unterminated
    const CASES: &[(&str, &str, usize, bool)] = &[
        ("no comment", "no comment", 0, false),
        ("a<!--x-->b", "ab", 1, false),
        ("<!---->", "", 1, false),
        ("<!-- a --!> b --> c", " b --> c", 1, false),
        ("<!--> seen -->", " seen -->", 1, false),
        ("<!---> seen -->", " seen -->", 1, false),
        ("<!--!> not seen -->", "", 1, false),
        ("<!--->-->", "-->", 1, false),
        ("a <!-- never closed", "a ", 1, true),
        ("a <!--", "a ", 1, true),
        ("<!-- <!-- inner --> seen -->", " seen -->", 1, false),
        ("<!-<!-- x -->- hidden -->", "", 2, false),
        ("<<!-- x -->!-- hidden -->b", "b", 2, false),
        ("<!<!---->-<!---->- hidden -->b", "b", 3, false),
        ("<!-<!-- x -->- hidden", "", 2, true),
        ("< !-- x -->", "< !-- x -->", 0, false),
        ("<!- x ->", "<!- x ->", 0, false),
        ("--> seen", "--> seen", 0, false),
    ];

    #[test]
    fn comments_go_as_a_browser_sees_them() {
        for &(text, left, count, unterminated) in CASES {
            let without = strip_html_comments(text);
            assert_eq!(
                (without.text.as_ref(), without.count, without.unterminated),
                (left, count, unterminated),
                "{text}"
            );
        }
    }

    #[test]
    fn a_stream_of_characters_is_read_the_same_way() {
        for &(text, left, count, unterminated) in CASES {
            let mut stream = CommentFree::new(text.chars());
            assert_eq!(stream.by_ref().collect::<String>(), left, "{text}");
            assert_eq!((stream.count, stream.unterminated), (count, unterminated), "{text}");
        }
    }
}
