//! Takes a skill apart into its head and its body.

use std::borrow::Cow;

/// A skill in two parts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Split<'t> {
    pub(crate) start: Start<'t>,
    pub(crate) body: &'t str,
    /// How many lines stand before the body.
    pub(crate) lines_before: usize,
    /// Whether the text begins with a byte order mark.
    pub(crate) mark: bool,
}

/// How a skill starts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Start<'t> {
    /// With a head. It stands on the second line.
    Head(&'t str),
    /// With something else.
    Body,
    /// With the line that opens a head, and none that closes it.
    Unclosed,
}

/// Splits a text whose line ends are line feeds. A head stands between two lines of three dashes, of which the first is
/// the first line of all.
///
/// A line that only begins with three dashes closes nothing here. There are readers for which it does; for them, what
/// is called unclosed here would have a body, and nobody should use a text that two readers take apart differently.
pub(crate) fn split(text: &str) -> Split<'_> {
    let (text, mark) = match text.strip_prefix('\u{feff}') {
        Some(rest) => (rest, true),
        None => (text, false),
    };
    let mut lines = text.split_inclusive('\n');
    let Some(opener) = lines.next().filter(|line| line.trim_end() == "---") else {
        return Split { start: Start::Body, body: text, lines_before: 0, mark };
    };
    let rest = text.get(opener.len()..).unwrap_or_default();
    let mut end = 0;
    for (number, line) in (2..).zip(lines) {
        if line.trim_end() == "---" {
            let (head, body) = rest.split_at_checked(end).unwrap_or_default();
            let body = body.strip_prefix(line).unwrap_or_default();
            return Split { start: Start::Head(head), body, lines_before: number, mark };
        }
        end += line.len();
    }
    Split { start: Start::Unclosed, body: rest, lines_before: 1, mark }
}

/// The same text with line feeds as line ends.
pub(crate) fn unix_lines(text: &str) -> Cow<'_, str> {
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
        let head = |text| Start::Head(text);
        for (text, start, body, lines_before) in [
            ("---\nname: x\n---\nbody", head("name: x\n"), "body", 3),
            ("---\nname: x\n---", head("name: x\n"), "", 3),
            ("--- \nname: x\n---\t\nbody", head("name: x\n"), "body", 3),
            ("---\n---\n", head(""), "", 2),
            ("\u{feff}---\na: 1\n---\nb", head("a: 1\n"), "b", 3),
            ("---\nname: x\n----\nbody", Start::Unclosed, "name: x\n----\nbody", 1),
            ("---\nname: x\n", Start::Unclosed, "name: x\n", 1),
            ("---\na: |\n  ---\n---\nb", head("a: |\n  ---\n"), "b", 4),
            ("---x\nbody", Start::Body, "---x\nbody", 0),
            ("\n---\na: 1\n---\n", Start::Body, "\n---\na: 1\n---\n", 0),
            ("", Start::Body, "", 0),
        ] {
            let split = split(text);
            assert_eq!(
                (split.start, split.body, split.lines_before),
                (start, body, lines_before),
                "{text:?}"
            );
        }
    }
}
