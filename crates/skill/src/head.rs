//! Splits a skill into front matter and body.

use std::borrow::Cow;

/// A skill's text, split into front matter and body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkillText<'t> {
    /// How it starts, with its front matter if present.
    pub start: HeadStart<'t>,
    /// The text below the front matter; all of it without front matter.
    pub body: &'t str,
    /// Number of lines before the body.
    pub lines_before: usize,
    /// Whether the text begins with a byte order mark.
    pub mark: bool,
}

/// How a skill's text starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadStart<'t> {
    /// With front matter, which begins on the second line.
    Head(&'t str),
    /// With anything but the line that opens front matter.
    Body,
    /// With an opening line without a closing line.
    Unclosed,
}

/// Splits a text with line feeds as line ends. Front matter is enclosed by two lines of three dashes, the first of
/// which is the first line of the text.
///
/// A line that only begins with three dashes does not close it. Some parsers accept such a line; for them, an
/// unclosed front matter would have a body, and a text that two parsers split differently should not be used.
#[must_use]
pub fn split_head(text: &str) -> SkillText<'_> {
    let (text, mark) = match text.strip_prefix('\u{feff}') {
        Some(rest) => (rest, true),
        None => (text, false),
    };
    let mut lines = text.split_inclusive('\n');
    let Some(opener) = lines.next().filter(|line| line.trim_end() == "---") else {
        return SkillText { start: HeadStart::Body, body: text, lines_before: 0, mark };
    };
    let rest = text.get(opener.len()..).unwrap_or_default();
    let mut end = 0;
    for (number, line) in (2..).zip(lines) {
        if line.trim_end() == "---" {
            let (head, body) = rest.split_at_checked(end).unwrap_or_default();
            let body = body.strip_prefix(line).unwrap_or_default();
            return SkillText { start: HeadStart::Head(head), body, lines_before: number, mark };
        }
        end += line.len();
    }
    SkillText { start: HeadStart::Unclosed, body: rest, lines_before: 1, mark }
}

/// Converts line ends to line feeds.
#[must_use]
pub fn unix_lines(text: &str) -> Cow<'_, str> {
    if memchr::memchr(b'\r', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_found() {
        let head = |text| HeadStart::Head(text);
        for (text, start, body, lines_before) in [
            ("---\nname: x\n---\nbody", head("name: x\n"), "body", 3),
            ("---\nname: x\n---", head("name: x\n"), "", 3),
            ("--- \nname: x\n---\t\nbody", head("name: x\n"), "body", 3),
            ("---\n---\n", head(""), "", 2),
            ("\u{feff}---\na: 1\n---\nb", head("a: 1\n"), "b", 3),
            ("---\nname: x\n----\nbody", HeadStart::Unclosed, "name: x\n----\nbody", 1),
            ("---\nname: x\n", HeadStart::Unclosed, "name: x\n", 1),
            ("---\na: |\n  ---\n---\nb", head("a: |\n  ---\n"), "b", 4),
            ("---x\nbody", HeadStart::Body, "---x\nbody", 0),
            ("\n---\na: 1\n---\n", HeadStart::Body, "\n---\na: 1\n---\n", 0),
            ("", HeadStart::Body, "", 0),
        ] {
            let split = split_head(text);
            assert_eq!(
                (split.start, split.body, split.lines_before),
                (start, body, lines_before),
                "{text:?}"
            );
        }
    }
}
