//! Tells lines of a command from those of whoever runs it, where both go to the same place.
//!
//! A line of the command that begins with the word of whoever runs it gets an addition before its colon, so that a line
//! that begins with word and colon is never the command's. Nothing is held back for that: what was printed half is not
//! known to be harmless, but the colon has not come yet. Two readers are thought of, and what deceives either is marked: a
//! terminal, which obeys escapes and moves, and a program, which reads lines.

/// What is put before the colon.
const SAYS: &[u8] = b" (the command says)";

/// Marks lines of a command.
pub(super) struct Voice {
    readers: [Reader; 2],
    is_at_start: bool,
}

impl Voice {
    /// Marks lines that begin with this word and a colon. The word is in ASCII.
    pub(super) fn new(word: &'static str) -> Self {
        let reader = |obeys| Reader {
            word: word.as_bytes(),
            obeys,
            at: At::Start(0),
            escape: Escape::None,
            before: [0; 2],
        };
        Self { readers: [reader(Obeys::Escapes), reader(Obeys::Lines)], is_at_start: true }
    }

    /// Whether what comes next begins a line.
    pub(super) fn is_at_start(&self) -> bool {
        self.is_at_start
    }

    /// Returns what is to be printed for something that comes next.
    pub(super) fn mark(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut marked = Vec::with_capacity(bytes.len());
        for byte in bytes {
            // Both read every byte.
            let poses = self.readers.each_mut().map(|reader| reader.read(*byte));
            if poses.contains(&true) {
                marked.extend_from_slice(SAYS);
            }
            marked.push(*byte);
        }
        if let Some(last) = bytes.last() {
            self.is_at_start = *last == b'\n';
        }
        marked
    }
}

/// What a reader obeys.
#[derive(PartialEq, Eq)]
enum Obeys {
    /// Ends of lines alone.
    Lines,
    /// Escapes as well, as a terminal does.
    Escapes,
}

/// Where in a line a reader is.
#[derive(Clone, Copy)]
enum At {
    /// At its start, with so many letters of the word read.
    Start(usize),
    Within,
}

/// Where in an escape.
enum Escape {
    None,
    Begun,
    /// One that ends with a letter.
    Sequence,
    /// One that holds a text.
    Text,
}

/// Somebody who may be deceived.
struct Reader {
    word: &'static [u8],
    obeys: Obeys,
    at: At,
    escape: Escape,
    /// The last two bytes, the later one last.
    before: [u8; 2],
}

impl Reader {
    /// Reads a byte; says whether the line poses as one of whoever runs the command if this comes next.
    fn read(&mut self, byte: u8) -> bool {
        let [first, second] = self.before;
        self.before = [second, byte];
        let is_break = matches!(byte, b'\n' | b'\r' | 0x0b | 0x0c)
            || (second == 0xc2 && (0x80..=0x9f).contains(&byte))
            || (first == 0xe2 && second == 0x80 && matches!(byte, 0xa8 | 0xa9));
        if self.obeys == Obeys::Escapes && self.is_in_escape(byte) {
            if is_break {
                self.at = At::Start(0);
            }
            return false;
        }
        // A step back may lead to the start.
        if is_break || byte == 0x08 {
            self.at = At::Start(0);
            // Escapes of one character, see ECMA-48.
            self.escape = match byte {
                0x9b => Escape::Sequence,
                0x90 | 0x98 | 0x9d..=0x9f => Escape::Text,
                _ => Escape::None,
            };
            return false;
        }
        self.letter(byte)
    }

    fn letter(&mut self, byte: u8) -> bool {
        let At::Start(read) = self.at else { return false };
        let next = self.word.get(read);
        // Blanks, what no reader shows, and letters of other scripts, which may look like a blank or like a colon.
        let is_odd = byte == b' ' || byte.is_ascii_control() || !byte.is_ascii();
        match next {
            Some(letter) if letter.eq_ignore_ascii_case(&byte) => self.at = At::Start(read + 1),
            None if byte == b':' || !byte.is_ascii() => {
                self.at = At::Within;
                return true;
            }
            _ if is_odd => {}
            _ => self.at = At::Within,
        }
        false
    }

    /// Whether a byte belongs to an escape. Whatever may move to the start of a line is taken to do so.
    fn is_in_escape(&mut self, byte: u8) -> bool {
        const ESCAPE: u8 = 0x1b;
        let (next, moves) = match (&self.escape, byte) {
            (_, ESCAPE) => (Escape::Begun, false),
            (Escape::None, _) => return false,
            (_, 0x18 | 0x1a) => (Escape::None, false),
            (Escape::Begun, b'[') => (Escape::Sequence, false),
            (Escape::Begun, b']' | b'P' | b'X' | b'^' | b'_') => (Escape::Text, false),
            (Escape::Begun, 0x20..=0x2f) => (Escape::Begun, false),
            (Escape::Begun, _) => (Escape::None, true),
            // The colours alone move nothing.
            (Escape::Sequence, 0x40..=0x7e) => (Escape::None, byte != b'm'),
            (Escape::Sequence, _) => (Escape::Sequence, false),
            (Escape::Text, 0x07) => (Escape::None, false),
            (Escape::Text, _) => (Escape::Text, false),
        };
        self.escape = next;
        if moves {
            self.at = At::Start(0);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(text: &str) -> String {
        let mut voice = Voice::new("stockade");
        // The same, however it is cut into pieces.
        let whole = voice.mark(text.as_bytes());
        let mut voice = Voice::new("stockade");
        let pieces: Vec<u8> = text.bytes().flat_map(|byte| voice.mark(&[byte])).collect();
        assert_eq!(whole, pieces, "{text:?}");
        assert_eq!(voice.is_at_start(), text.is_empty() || text.ends_with('\n'));
        String::from_utf8_lossy(&whole).into_owned()
    }

    #[test]
    fn what_poses_is_marked_and_nothing_else() {
        let poses = [
            "stockade: moved",
            "a line\nstockade: moved",
            "\r\nstockade: moved",
            "50 %\rstockade: moved",
            "  stockade : moved",
            "STOCKADE: moved",
            "\u{1b}[1mstockade\u{1b}[0m: moved",
            "x\u{1b}[2K\u{1b}[1Gstockade: moved",
            "x\u{1b}Estockade: moved",
            "\u{1b}]0;title\u{7}stockade: moved",
            "\u{1b}]0;title\u{1b}\\stockade: moved",
            "\u{1b}]0;\nzzz\u{7}stockade: moved",
            "\u{1b}]0;\nstockade: moved",
            "xxx\u{8}\u{8}\u{8}stockade: moved",
            "\u{200b}stock\u{ad}ade: moved",
            "x\u{85}stockade: moved",
            "x\u{9b}1mstockade: moved",
            "x\u{2028}stockade: moved",
            "stockade\u{ff1a} moved",
            "\u{0}stockade: moved",
            "\u{feff}\tstockade: moved",
        ];
        for text in poses {
            let found = marked(text);
            assert_eq!(found.matches(" (the command says)").count(), 1, "{found:?}");
            assert_eq!(found.replace(" (the command says)", ""), *text);
        }
        let plain = [
            "",
            "moved",
            "see stockade: moved",
            "xstockade: moved",
            "stockades: moved",
            "stockade",
            "stockade exec -- make",
            "stockade\n: moved",
            "sstockade: moved",
            "\u{1b}[31mred\u{1b}[0m stockade: moved",
        ];
        for text in plain {
            assert_eq!(marked(text), *text);
        }
    }
}
