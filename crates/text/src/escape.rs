//! Escaping of untrusted text for terminals.
//!
//! A terminal interprets control characters: text could hide lines, change the title or type an answer for the user.
//! Characters without a glyph hide content, and bidirectional controls reorder it ("Trojan Source", CVE-2021-42574).
//! All of them are written as escapes: `\u{1b}`.

mod hidden;

use std::borrow::Cow;
use std::fmt;
use std::path::Path;

use hidden::HIDDEN;

/// Returns the text with every character escaped that a terminal would not print as is.
///
/// ```
/// use stockade_text::escape;
///
/// assert_eq!(escape("gpj.\u{202e}exe\n"), r"gpj.\u{202e}exe\n");
/// ```
#[must_use]
pub fn escape(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_printable) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        push_escaped(&mut escaped, c);
    }
    Cow::Owned(escaped)
}

/// Escapes text of several lines and keeps its line ends.
#[must_use]
pub fn escape_lines(text: &str) -> String {
    text.split_inclusive('\n').fold(String::with_capacity(text.len()), |mut escaped, line| {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        escaped.push_str(&escape(line));
        escaped.push_str(end);
        escaped
    })
}

/// Returns a file name as text. Bytes that are not UTF-8 are escaped as `\xff`.
#[must_use]
pub fn escape_path(path: &Path) -> String {
    let mut escaped = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        escaped.push_str(&escape(chunk.valid()));
        for byte in chunk.invalid() {
            escaped.push_str(&format!("\\x{byte:02x}"));
        }
    }
    escaped
}

/// Appends one character, escaped if necessary.
pub fn push_escaped(text: &mut String, c: char) {
    text.extend(written_out(c));
}

/// Wrapper whose [`Display`](fmt::Display) output is that of [`escape`], for messages.
///
/// ```
/// use stockade_text::Escaped;
///
/// assert_eq!(format!("no tool `{}`", Escaped("a\u{1b}[2J")), r"no tool `a\u{1b}[2J`");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Escaped<'t>(pub &'t str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().flat_map(written_out).try_for_each(|c| fmt::Write::write_char(f, c))
    }
}

/// Whether a terminal prints the character as is and in place.
#[must_use]
pub fn is_printable(c: char) -> bool {
    match c {
        ' '..='~' => true,
        _ if c.is_control() || is_noncharacter(c) => false,
        _ => !is_hidden(c),
    }
}

/// Returns the characters to print for a character: itself, or its escape.
fn written_out(c: char) -> impl Iterator<Item = char> {
    let (plain, short, long) = match c {
        _ if is_printable(c) => (Some(c), None, None),
        '\n' | '\r' | '\t' => (None, Some(c.escape_default()), None),
        _ => (None, None, Some(c.escape_unicode())),
    };
    plain.into_iter().chain(short.into_iter().flatten()).chain(long.into_iter().flatten())
}

/// Whether the code point is a Unicode noncharacter. XML cannot represent U+FFFE and U+FFFF.
const fn is_noncharacter(c: char) -> bool {
    matches!(c, '\u{fdd0}'..='\u{fdef}') || c as u32 & 0xfffe == 0xfffe
}

fn is_hidden(c: char) -> bool {
    let after = HIDDEN.partition_point(|(first, _)| *first <= c);
    let range = after.checked_sub(1).and_then(|at| HIDDEN.get(at));
    range.is_some_and(|(_, last)| c <= *last)
}

#[cfg(test)]
mod tests {
    use super::{Escaped, escape, escape_lines, escape_path};
    use std::borrow::Cow;

    #[test]
    fn plain_text_is_untouched() {
        for text in ["", "Run `make`.", "žluťoučký 漢字 🎉 e\u{301}"] {
            assert!(matches!(escape(text), Cow::Borrowed(t) if t == text));
        }
    }

    #[test]
    fn what_a_terminal_obeys_is_written_out() {
        let cases = [
            ("\u{1b}[2J", "\\u{1b}[2J"),
            ("a\u{9b}31m", "a\\u{9b}31m"),
            ("\u{7}\u{8}\u{7f}", "\\u{7}\\u{8}\\u{7f}"),
            ("a\nb\tc\r", "a\\nb\\tc\\r"),
            ("\u{202e}txt.exe", "\\u{202e}txt.exe"),
            ("c\u{200b}url", "c\\u{200b}url"),
            ("\u{e0041}\u{fe0f}\u{3164}", "\\u{e0041}\\u{fe0f}\\u{3164}"),
            ("\u{2028}", "\\u{2028}"),
            ("\u{fdd0}\u{ffff}\u{1fffe}", "\\u{fdd0}\\u{ffff}\\u{1fffe}"),
        ];
        for (text, shown) in cases {
            assert_eq!(escape(text), shown);
            assert_eq!(Escaped(text).to_string(), shown);
        }
    }

    #[test]
    fn line_ends_can_be_kept() {
        assert_eq!(escape_lines("a\tb\r\n\n\u{1b}"), "a\\tb\\r\n\n\\u{1b}");
    }

    #[cfg(unix)]
    #[test]
    fn names_that_are_no_text_are_shown_whole() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt as _;
        use std::path::Path;

        let path = Path::new(OsStr::from_bytes(b"a/\xFF\x1B\xC3\xA9"));
        assert_eq!(escape_path(path), "a/\\xff\\u{1b}é");
    }
}
