//! Marks lines of a command that imitate messages of the calling program, where both go to the same stream.
//!
//! A line of the command that begins with the caller's prefix gets an addition before its colon. So a line that begins with
//! prefix and colon is never the command's. Output is not delayed for that, because the decision is made at the colon. Two
//! readers are modelled, and a line that deceives either is marked: a terminal, which interprets escape sequences and cursor
//! movements, and a program, which reads lines.

/// The addition before the colon.
const SAYS: &[u8] = b" (the command says)";

/// Marks imitated messages in the output of a command.
#[derive(Debug)]
pub struct MessageMarker {
    readers: [Reader; 2],
    is_at_start: bool,
}

impl MessageMarker {
    /// Returns a marker for lines that begin with this ASCII word and a colon.
    #[must_use]
    pub fn new(word: &'static str) -> Self {
        let reader = |obeys| Reader {
            word: word.as_bytes(),
            obeys,
            at: At::Start(0),
            escape: Escape::None,
            before: [0; 2],
        };
        Self { readers: [reader(Obeys::Escapes), reader(Obeys::Lines)], is_at_start: true }
    }

    /// Whether the next byte begins a line.
    #[must_use]
    pub const fn is_at_start(&self) -> bool {
        self.is_at_start
    }

    /// Returns the next bytes of the output, marked.
    #[must_use]
    pub fn mark(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut marked = Vec::with_capacity(bytes.len());
        for byte in bytes {
            // Not `any`: both readers must see every byte.
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

/// What a reader interprets.
#[derive(Debug, PartialEq, Eq)]
enum Obeys {
    /// Only the ends of lines.
    Lines,
    /// Escape sequences as well, as a terminal does.
    Escapes,
}

/// The position of a reader in a line.
#[derive(Debug, Clone, Copy)]
enum At {
    /// At its start, with this many letters of the word read.
    Start(usize),
    Within,
}

/// The position in an escape sequence.
#[derive(Debug)]
enum Escape {
    None,
    Begun,
    /// A control sequence, which ends with a letter.
    Sequence,
    /// A string sequence, such as a window title.
    Text,
}

/// A reader that may be deceived.
#[derive(Debug)]
struct Reader {
    word: &'static [u8],
    obeys: Obeys,
    at: At,
    escape: Escape,
    /// The last two bytes, the later one last.
    before: [u8; 2],
}

impl Reader {
    /// Reads a byte. Returns whether the line imitates a message of the caller with this byte.
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
        // Backspace may move to the start of the line.
        if is_break || byte == 0x08 {
            self.at = At::Start(0);
            // C1 control characters of one byte, see ECMA-48.
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
        // Blanks, invisible characters, and non-ASCII letters, which may look like a blank or a colon.
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

    /// Whether a byte belongs to an escape sequence. Any sequence that may move the cursor to the start of a line is assumed to.
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
            // Only SGR sequences (colours) never move the cursor.
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
        let mut marker = MessageMarker::new("stockade");
        // The result does not depend on how the output is split into chunks.
        let whole = marker.mark(text.as_bytes());
        let mut marker = MessageMarker::new("stockade");
        let pieces: Vec<u8> = text.bytes().flat_map(|byte| marker.mark(&[byte])).collect();
        assert_eq!(whole, pieces, "{text:?}");
        assert_eq!(marker.is_at_start(), text.is_empty() || text.ends_with('\n'));
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
