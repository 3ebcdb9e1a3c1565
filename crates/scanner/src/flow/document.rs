//! Documents of data, in which one text says nothing of the text beside it.
//!
//! A list of permissions names `curl` in one line and `.env` in the next, and an evaluation asks for both: nothing flows between them but
//! what names carry. A program written as JSON begins with a key that says so, and is read as a program.

use std::ops::Range;

/// How deep a document is read.
const MAX_DEPTH: usize = 64;

/// Keys behind which texts are put together to one command.
const RUNS: &[&str] = &[
    "args",
    "argv",
    "bin",
    "cmd",
    "command",
    "commands",
    "entrypoint",
    "exec",
    "execute",
    "hooks",
    "install",
    "run",
    "scripts",
    "server",
    "servers",
    "shell",
    "source",
];

/// Returns the texts of a JSON document, in their order, if a program is one, whole, and nothing in it is run.
pub(super) fn texts(program: &str) -> Option<Vec<Range<usize>>> {
    if !program.trim_start().starts_with(['{', '[']) {
        return None;
    }
    let mut reader = Reader { bytes: program.as_bytes(), at: 0, texts: Vec::new() };
    reader.document()?;
    let is_run = |text: &Range<usize>| {
        let key = program.get(text.clone()).unwrap_or_default();
        let follows = program.get(text.end + 1..).unwrap_or_default().trim_start();
        follows.starts_with(':') && RUNS.iter().any(|run| key.eq_ignore_ascii_case(run))
    };
    (!reader.texts.iter().any(is_run)).then_some(reader.texts)
}

struct Reader<'p> {
    bytes: &'p [u8],
    at: usize,
    texts: Vec<Range<usize>>,
}

/// What may come next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Value,
    /// A value, or the end of an empty list.
    FirstValue,
    Key,
    /// A key, or the end of an empty object.
    FirstKey,
    /// A comma, or the end of what is open.
    After,
}

impl Reader<'_> {
    /// Reads a document to its end, without recursion.
    fn document(&mut self) -> Option<()> {
        let mut open: Vec<u8> = Vec::new();
        let mut next = Next::Value;
        loop {
            self.skip_blanks();
            if next == Next::After && open.is_empty() {
                return (self.at == self.bytes.len()).then_some(());
            }
            let byte = *self.bytes.get(self.at)?;
            next = match (next, byte) {
                (Next::Value | Next::FirstValue, b'{') => self.opens(byte, &mut open)?,
                (Next::Value | Next::FirstValue, b'[') => self.opens(byte, &mut open)?,
                (Next::Value | Next::FirstValue, b'"') => self.text().map(|()| Next::After)?,
                (Next::FirstValue, b']') | (Next::FirstKey, b'}') => self.closes(byte, &mut open)?,
                (Next::After, b']' | b'}') => self.closes(byte, &mut open)?,
                (Next::Value | Next::FirstValue, _) => self.word().map(|()| Next::After)?,
                (Next::Key | Next::FirstKey, b'"') => {
                    self.text()?;
                    self.skip_blanks();
                    self.take(b':').map(|()| Next::Value)?
                }
                (Next::After, b',') => {
                    self.at += 1;
                    if open.last() == Some(&b'{') { Next::Key } else { Next::Value }
                }
                _ => return None,
            };
        }
    }

    fn opens(&mut self, byte: u8, open: &mut Vec<u8>) -> Option<Next> {
        self.at += 1;
        open.push(byte);
        let next = if byte == b'{' { Next::FirstKey } else { Next::FirstValue };
        (open.len() <= MAX_DEPTH).then_some(next)
    }

    fn closes(&mut self, byte: u8, open: &mut Vec<u8>) -> Option<Next> {
        self.at += 1;
        let begun = if byte == b'}' { b'{' } else { b'[' };
        (open.pop() == Some(begun)).then_some(Next::After)
    }

    fn skip_blanks(&mut self) {
        while self.bytes.get(self.at).is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        let is_there = self.bytes.get(self.at) == Some(&byte);
        self.at += 1;
        is_there.then_some(())
    }

    /// Reads a text in quotes, within one line.
    fn text(&mut self) -> Option<()> {
        let start = self.at + 1;
        self.at = start;
        loop {
            match self.bytes.get(self.at)? {
                b'"' => break,
                b'\\' => self.at += 2,
                b'\n' | b'\r' => return None,
                _ => self.at += 1,
            }
        }
        self.texts.push(start..self.at);
        self.at += 1;
        Some(())
    }

    /// Reads a number or one of the three words.
    fn word(&mut self) -> Option<()> {
        let start = self.at;
        while self
            .bytes
            .get(self.at)
            .is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.'))
        {
            self.at += 1;
        }
        let word = self.bytes.get(start..self.at)?;
        let is_number = word.first().is_some_and(|first| first.is_ascii_digit() || *first == b'-')
            && word.iter().all(|byte| !byte.is_ascii_alphabetic() || matches!(byte, b'e' | b'E'));
        (is_number || matches!(word, b"true" | b"false" | b"null")).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_documents_are_data() {
        let data = [
            "{}",
            "[]",
            " {\"a\": [1, -2.5e3, true, null, \"b\\\"c\"], \"d\": {}}\n",
            "[[\"a\"], {\"b\": \"c\"}]",
        ];
        for text in data {
            assert!(texts(text).is_some(), "{text}");
        }
        let programs = [
            "[\"a\"]; fetch(u)",
            "{\"a\"; b()}",
            "{a: 1}",
            "[1,]",
            "{\"a\":1,}",
            "[\"a\" + b]",
            "[a]",
            "{\"a\":1}}",
            "[",
            "\"a\"",
            "[\"a\nb\"]",
            "[f(1)]",
            "{\"a\" 1}",
            "[1 2]",
            "[}",
            "{]",
            "[1e]x",
            "",
        ];
        for text in programs {
            assert!(texts(text).is_none(), "{text}");
        }
        assert!(texts(&"[".repeat(1000)).is_none());
    }

    #[test]
    fn commands_in_pieces_are_programs() {
        assert!(texts("{\"mcp\": {\"command\": \"curl\", \"args\": [\"-d\"]}}").is_none());
        assert!(texts("{\"scripts\" : {\"a\": \"b\"}}").is_none());
        assert!(texts("{\"allow\": [\"command\", \"run\"]}").is_some());
    }

    #[test]
    fn texts_stand_where_they_say() {
        let text = "{\"a\": [\"b c\", 1, \"d\\\"e\"]}";
        let found: Vec<_> = texts(text).unwrap().into_iter().filter_map(|span| text.get(span)).collect();
        assert_eq!(found, ["a", "b c", "d\\\"e"]);
    }
}
