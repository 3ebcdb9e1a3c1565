//! Step 1: HTML comments, which a reader of the rendered page does not see.

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
    /// What is left; borrowed when there was no comment.
    pub text: Cow<'t, str>,
    /// How many comments were removed.
    pub count: usize,
    /// Whether the last of them was never closed and so reached to the end of the text.
    pub unterminated: bool,
}

/// Removes every HTML comment, leaving nothing in its place.
///
/// Where a comment ends is what browsers say it is (WHATWG HTML, tokenization): at `-->` or `--!>`, at once for `<!-->`
/// and `<!--->`, and at the end of the text when nothing closes it. That last case drops the rest of the text, since
/// it is what the reader of the rendered page sees; keeping it would leave open the very place that comments hide
/// things in. An opener that comes to be when a comment between its halves is cut out counts like any other, so that
/// the result never contains `<!--`. Code fences are no exception: a model reads into them.
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

/// Moves what stands before the next comment of `rest` to `kept` and returns what follows its opener.
///
/// The opener may have its first half in what was kept before: `<!-`, a comment that is gone, `-`.
fn next_comment<'t>(kept: &mut String, rest: &'t str) -> Option<&'t str> {
    if let Some(taken) = joined_opener(kept, rest) {
        kept.truncate(kept.len() - (OPENER.len() - taken));
        return Some(split(rest, taken).1);
    }
    let (before, comment) = split(rest, find_opener(rest)?);
    kept.push_str(before);
    Some(split(comment, OPENER.len()).1)
}

/// Returns where the first opener of `text` stands.
pub(crate) fn find_opener(text: &str) -> Option<usize> {
    OPENERS.find(text.as_bytes())
}

/// Returns how many bytes of `inside`, the text after an opener, still belong to the comment; `None` when nothing
/// closes it.
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

/// Returns how many bytes of `rest` complete an opener that begins at the end of `kept`.
fn joined_opener(kept: &str, rest: &str) -> Option<usize> {
    (1..OPENER.len()).find(|&taken| {
        let (head, tail) = split(OPENER, OPENER.len() - taken);
        kept.ends_with(head) && rest.starts_with(tail)
    })
}

/// Splits at a byte that is known to be a character border; all of the text otherwise.
fn split(text: &str, at: usize) -> (&str, &str) {
    text.split_at_checked(at).unwrap_or((text, ""))
}

/// The same removal over a stream of characters: for comments that only come to be through normalisation, in texts too
/// long or too expansive to be held as a whole.
#[derive(Debug)]
pub(crate) struct CommentFree<I> {
    chars: I,
    /// Characters that may still turn out to be the start of an opener: pieces of `<!--`, one after another.
    held: Vec<char>,
    /// How many of `held`, from the front, are free to go; they go last first from `ready`.
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
