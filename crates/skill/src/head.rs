//! Takes a skill apart into its head and its body.

use std::borrow::Cow;

/// The text of a skill in two parts, its head and its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkillText<'t> {
    /// How it starts, with its head if it has one.
    pub start: HeadStart<'t>,
    /// What stands below the head; all of it, if there is none.
    pub body: &'t str,
    /// How many lines stand before the body.
    pub lines_before: usize,
    /// Whether the text begins with a byte order mark.
    pub mark: bool,
}

/// How the text of a skill starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadStart<'t> {
    /// With a head, which begins on the second line.
    Head(&'t str),
    /// With something else than the line that opens a head.
    Body,
    /// With the line that opens a head, and none that closes it.
    Unclosed,
}

/// Splits a text whose line ends are line feeds. A head stands between two lines of three dashes, of which the first is
/// the first line of all.
///
/// A line that only begins with three dashes closes nothing here. There are readers for which it does; for them, what
/// is called unclosed here would have a body, and nobody should use a text that two readers take apart differently.
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

/// The same text with line feeds as line ends.
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
