//! The strings of documents in JSON, as they are read: what is a command in them has other quotes than the document.

use std::ops::Range;

use super::known::View;

/// A string of a document.
pub(super) struct Quoted {
    pub(super) text: String,
    view: View,
    start: usize,
}

impl Quoted {
    /// Returns where a part of the string stands in the document.
    pub(super) fn place(&self, part: Range<usize>) -> Option<Range<usize>> {
        let place = self.view.range(part)?;
        Some(self.start + place.start..self.start + place.end)
    }
}

/// Whether a text is a document in JSON, as far as its beginning tells: no command of a shell begins so.
pub(super) fn is_document(text: &str) -> bool {
    let text = text.trim_start();
    let inner = text.trim_start_matches(['[', ' ', '\t', '\r', '\n']);
    let behind = |rest: &str| {
        let string = rest.trim_start().strip_prefix('"')?;
        string.get(end_of_string(string) + 1..)?.trim_start().bytes().next()
    };
    match inner.strip_prefix('{') {
        Some(rest) => behind(rest) == Some(b':'),
        None => text.starts_with('[') && matches!(behind(inner), Some(b',' | b']')),
    }
}

/// Returns the strings of several words, if the text is a document. Others are read as well as they are written.
pub(super) fn strings(text: &str) -> impl Iterator<Item = Quoted> {
    let text = if is_document(text) { text } else { "" };
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text.get(at..)?.find('"')? + 1;
        let length = end_of_string(text.get(start..)?);
        at = start + length + 1;
        Some(start..start + length)
    })
    .filter_map(|place| Some((place.start, text.get(place)?)))
    .filter(|(_, string)| string.contains([' ', '\\']))
    .filter_map(|(start, string)| {
        let view = View::unescaped(string);
        Some(Quoted { text: view.text()?, view, start })
    })
}

/// How long a string is that a quote ends.
fn end_of_string(text: &str) -> usize {
    let mut is_escaped = false;
    let ends = |byte: u8| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    };
    text.bytes().position(ends).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_of_documents_are_read_and_placed() {
        let text = r#"{"a": "x y", "b": "say \"hi\"\n\u00e9nd", "c": "word", "d": "open \\""#;
        let found: Vec<Quoted> = strings(text).collect();
        let read: Vec<&str> = found.iter().map(|string| string.text.as_str()).collect();
        assert_eq!(read, ["x y", "say \"hi\"\n\u{e9}nd", "open \\"]);
        let (at, end) = (found[1].text.find("hi").unwrap(), found[1].text.len());
        assert_eq!(text.get(found[1].place(at..at + 2).unwrap()), Some("hi"));
        assert_eq!(text.get(found[1].place(end - 4..end).unwrap()), Some("\\u00e9nd"));
        assert_eq!(strings("echo \"a b\"").count(), 0);
        assert_eq!(strings("").count(), 0);
        for text in ["[{\"a\":1}]", "[\"a\", 1]", " {\n \"a\" : 1}", "[[\"a\"]]"] {
            assert!(is_document(text), "{text}");
        }
        for text in ["{ \"a\" b; }", "[ \"a\" = b ]", "[ -n \"a\" ]", "{a,b}", "(\"a\": 1)", "{\"a"] {
            assert!(!is_document(text), "{text}");
        }
        assert!(!is_document(&"[".repeat(100_000)));
    }
}
