//! JSON and lists of results, cut between two elements.

mod json;

use crate::cut;
use json::{Answer, Lexer};

/// The deepest nesting that ordinary parsers accept. What is deeper is not treated as JSON.
const MAX_DEPTH: usize = 128;

/// Keeps the beginning of a JSON text such that it still parses; of any other text, whole paragraphs or lines.
///
/// Elements are kept or dropped whole: the cut is in the outermost list of which at least one element fits, and the
/// objects around it are closed. A single string without which nothing, or less than half of what may be kept, would be
/// left is shortened instead. Memory is bounded by what may be kept, however long the source is.
pub(crate) struct Structured {
    max_chars: usize,
    kept: String,
    chars: usize,
    mode: Mode,
    /// The open lists and objects, below the list of top-level values.
    frames: Vec<Frame>,
    string: Option<OpenString>,
}

enum Mode {
    /// Everything so far is JSON.
    Json(Lexer),
    /// It is not JSON: keep one character more than fits, to know that it does not.
    Text,
    /// That one was space, and so was all that went with it: as long as nothing else comes, nothing is lost.
    Space,
    /// Enough is known: the rest cannot be kept.
    Full,
}

/// A list or object that is open.
struct Frame {
    kind: Kind,
    /// How many of its elements are complete.
    elements: usize,
    /// Where the last of them ends in what is kept, or where the list or object begins.
    border: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    List,
    Object,
}

/// A string value that is open.
struct OpenString {
    start: usize,
    /// Up to where it can be cut without splitting an escape.
    border: usize,
}

/// What was kept, and whether that is less than there was.
pub(crate) struct Kept {
    pub(crate) text: String,
    pub(crate) is_cut: bool,
}

impl Structured {
    pub(crate) fn new(max_chars: usize) -> Self {
        Self {
            max_chars,
            kept: String::new(),
            chars: 0,
            mode: Mode::Json(Lexer::default()),
            frames: vec![Frame { kind: Kind::List, elements: 0, border: 0 }],
            string: None,
        }
    }

    /// Takes more text; what cannot be kept is ignored.
    pub(crate) fn push(&mut self, text: &str) {
        for character in text.chars() {
            match &mut self.mode {
                Mode::Full => return,
                Mode::Text => self.push_text(character),
                Mode::Space if is_space(character) => {}
                Mode::Space => self.mode = Mode::Full,
                Mode::Json(lexer) => {
                    let answer = lexer.push(character);
                    self.push_json(character, answer);
                }
            }
        }
    }

    /// Returns whether nothing that follows could be kept.
    pub(crate) fn is_full(&self) -> bool {
        matches!(self.mode, Mode::Full)
    }

    /// Returns what is kept. `is_whole` says whether the source came to its end.
    pub(crate) fn finish(mut self, is_whole: bool) -> Kept {
        match &mut self.mode {
            Mode::Full => Kept { text: self.kept, is_cut: true },
            Mode::Space => Kept { text: self.kept, is_cut: !is_whole },
            Mode::Json(lexer) if is_whole && lexer.is_complete() => Kept { text: self.kept, is_cut: false },
            Mode::Json(_) if !is_whole => {
                self.cut_json();
                Kept { text: self.kept, is_cut: true }
            }
            Mode::Json(_) | Mode::Text => {
                let kept = cut::head_by_blocks(&self.kept, self.max_chars);
                let is_cut = !is_whole || kept.len() < self.kept.len();
                Kept { text: kept.to_owned(), is_cut }
            }
        }
    }

    fn push_text(&mut self, character: char) {
        self.kept.push(character);
        self.chars += 1;
        if self.chars > self.max_chars {
            self.cut_text();
        }
    }

    fn push_json(&mut self, character: char, answer: Answer) {
        let depth = self.frames.len() - 1;
        if matches!(answer, Answer::Blank) && depth == 0 && self.chars >= self.max_chars {
            return; // Space after the last value: nothing is lost with it.
        }
        if matches!(answer, Answer::NotJson) || (depth >= MAX_DEPTH && matches!(answer, Answer::Opened(_))) {
            self.mode = Mode::Text;
            return self.push_text(character);
        }
        if matches!(answer, Answer::EndsScalarBefore | Answer::EndsScalarBeforeClosing) {
            self.complete_element();
        }
        self.kept.push(character);
        self.chars += 1;
        self.follow(answer);
        if !self.fits() {
            if matches!(answer, Answer::BeginsString) {
                self.string = None; // There is no room to end it.
            }
            self.cut_json();
            self.mode = Mode::Full;
        } else if let (Answer::StringMayEnd, Some(string)) = (answer, &mut self.string) {
            string.border = self.kept.len();
        }
    }

    /// Whether what is kept, with all that is open closed, is no more than may be kept.
    fn fits(&self) -> bool {
        let closers = self.frames.len() - 1 + usize::from(self.string.is_some());
        self.chars + closers <= self.max_chars
    }

    /// Keeps track of what is open after a character was added.
    fn follow(&mut self, answer: Answer) {
        let end = self.kept.len();
        match answer {
            Answer::Opened(kind) => self.frames.push(Frame { kind, elements: 0, border: end }),
            Answer::Closed | Answer::EndsScalarBeforeClosing => {
                self.frames.pop();
                self.complete_element();
            }
            Answer::EndsScalar => {
                self.string = None;
                // The last letter of `null` may be one too many.
                if self.fits() {
                    self.complete_element();
                }
            }
            Answer::BeginsString => self.string = Some(OpenString { start: end, border: end }),
            Answer::StringMayEnd
            | Answer::Blank
            | Answer::Other
            | Answer::EndsScalarBefore
            | Answer::NotJson => {}
        }
    }

    fn complete_element(&mut self) {
        let border = self.kept.len();
        if let Some(frame) = self.frames.last_mut() {
            frame.elements += 1;
            frame.border = border;
        }
    }

    /// Cuts what is kept so that it parses; falls back to a cut as text when nothing would be left.
    fn cut_json(&mut self) {
        let has_whole_element = self.frames.iter().any(|frame| frame.elements > 0);
        let is_worth_cutting =
            |string: &&OpenString| !has_whole_element || string.border - string.start > self.max_chars / 2;
        if let Some(string) = self.string.as_ref().filter(is_worth_cutting) {
            self.kept.truncate(string.border);
            self.kept.push('"');
            return self.close_frames();
        }
        let last = self.frame_to_cut();
        self.frames.truncate(last + 1);
        let border = self.frames.last().map_or(0, |frame| frame.border);
        let left = self.kept.get(..border).unwrap_or_default();
        // Space before the first value can leave no room for the value to be closed.
        if left.is_empty() || left.chars().count() + last > self.max_chars {
            return self.cut_text();
        }
        self.kept.truncate(border);
        self.close_frames();
    }

    /// Returns the outermost list with a whole element, else the innermost of all that have one.
    fn frame_to_cut(&self) -> usize {
        let mut with_elements = 0;
        for (index, frame) in self.frames.iter().enumerate() {
            if frame.elements > 0 {
                with_elements = index;
                if frame.kind == Kind::List {
                    break;
                }
            }
        }
        // Without any whole element, the outermost value is left, empty.
        if with_elements == 0 && self.frames.first().is_some_and(|top| top.elements == 0) {
            return (self.frames.len() - 1).min(1);
        }
        with_elements
    }

    fn close_frames(&mut self) {
        while self.frames.len() > 1 {
            match self.frames.pop().map(|frame| frame.kind) {
                Some(Kind::Object) => self.kept.push('}'),
                _ => self.kept.push(']'),
            }
        }
    }

    fn cut_text(&mut self) {
        let end = cut::head_by_blocks(&self.kept, self.max_chars).len();
        let is_lost = self.kept.get(end..).is_none_or(|lost| !lost.chars().all(is_space));
        self.kept.truncate(end);
        self.mode = if is_lost { Mode::Full } else { Mode::Space };
    }
}

/// The space of JSON.
const fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\r' | '\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str, max_chars: usize) -> String {
        let mut structured = Structured::new(max_chars);
        structured.push(text);
        let kept = structured.finish(true);
        assert!(kept.text.chars().count() <= max_chars, "{text}: {}", kept.text);
        assert_eq!(kept.is_cut, kept.text != text.trim_end(), "{text}: {}", kept.text);
        kept.text
    }

    #[test]
    fn json_is_cut_between_elements_and_still_parses() {
        for (text, max_chars, kept) in [
            ("[1,2,3]", 7, "[1,2,3]"),
            ("[1,2,3]", 6, "[1,2]"),
            ("[1,2,3]\n", 7, "[1,2,3]"),
            ("[11,22]", 4, "[11]"),
            ("[11,22]", 3, "[]"),
            (r#"{"a":1,"b":[{"c":1},{"c":2}]}"#, 24, r#"{"a":1,"b":[{"c":1}]}"#),
            (r#"{"a":1,"b":[{"c":1,"d":22222222}]}"#, 24, r#"{"a":1,"b":[{"c":1}]}"#),
            (r#"{"a":1,"b":{"c":[true,false]}}"#, 28, r#"{"a":1,"b":{"c":[true]}}"#),
            (r#"{"a":1,"b":[{"c":null}]}"#, 23, r#"{"a":1}"#),
            (r#"[{"a":1},{"b":[1,2,3]}]"#, 20, r#"[{"a":1}]"#),
            (r#"[[1,2],[3,4],[5,6]]"#, 15, "[[1,2],[3,4]]"),
            ("{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n", 20, "{\"a\":1}\n{\"a\":2}"),
            (r#"{"text":"abcdefghijklmnopqrstuvwxyz"}"#, 20, r#"{"text":"abcdefghi"}"#),
            (r#"{"text":"abc\u00e9\ud83d\udc4d\ud83d\udc4d"}"#, 30, r#"{"text":"abc\u00e9"}"#),
            (r#"["one","two"]"#, 10, r#"["one"]"#),
            (r#""a long string alone""#, 9, r#""a long ""#),
            ("  [ 1 , 2 ]  ", 9, "  [ 1]"),
            ("  [1]", 4, "  []"),
            // Not even an empty list has room.
            ("   [1]", 4, "   ["),
        ] {
            assert_eq!(cut(text, max_chars), kept, "{text} at {max_chars}");
        }
    }

    #[test]
    fn what_is_not_json_is_cut_between_paragraphs_or_lines() {
        for (text, max_chars, kept) in [
            ("1. First result\n\n2. Second result\n\n3. Third", 40, "1. First result\n\n2. Second result"),
            ("[not json]\nsecond line\nthird", 25, "[not json]\nsecond line"),
            ("{\"a\": undefined, \"b\": 12}", 12, "{\"a\": undefi"),
            ("12345678", 4, "1234"),
            // A string that could not even be empty.
            (r#"{"key":"x"}"#, 9, "{}"),
            (r#"{"key":"xyz"}"#, 10, r#"{"key":""}"#),
            // All that is missing is space.
            ("not json\n   ", 9, "not json"),
            ("not json\n   x", 9, "not json"),
        ] {
            assert_eq!(cut(text, max_chars), kept, "{text} at {max_chars}");
        }
    }

    #[test]
    fn a_source_that_was_not_read_to_its_end_parses_too() {
        let mut structured = Structured::new(100);
        structured.push(r#"{"results":[{"n":1},{"n":2},{"n":"#);
        let kept = structured.finish(false);
        assert_eq!((kept.text.as_str(), kept.is_cut), (r#"{"results":[{"n":1},{"n":2}]}"#, true));
    }

    #[test]
    fn nesting_that_no_parser_accepts_is_text() {
        let text = "[".repeat(200) + &"]".repeat(200);
        assert_eq!(cut(&text, 300).len(), 300);
    }
}
