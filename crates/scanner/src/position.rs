//! Where an offset stands for a person: character, line and column.

/// A place in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Position {
    /// Characters before it.
    pub(crate) chars: usize,
    /// Its line, from 1.
    pub(crate) line: usize,
    /// Its column in characters, from 1.
    pub(crate) column: usize,
}

/// Turns ascending byte offsets into positions, reading the text once.
#[derive(Debug)]
pub(crate) struct Positions<'t> {
    rest: &'t [u8],
    offset: usize,
    at: Position,
}

impl<'t> Positions<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { rest: text.as_bytes(), offset: 0, at: Position { chars: 0, line: 1, column: 1 } }
    }

    /// Returns the position of `offset`, which must be no smaller than the one asked for before.
    pub(crate) fn advance(&mut self, offset: usize) -> Position {
        let step = offset.saturating_sub(self.offset).min(self.rest.len());
        let (passed, rest) = self.rest.split_at(step);
        self.at.chars += chars(passed);
        match memchr::memrchr(b'\n', passed) {
            Some(last) => {
                self.at.line += memchr::memchr_iter(b'\n', passed).count();
                self.at.column = chars(passed.get(last..).unwrap_or_default());
            }
            None => self.at.column += chars(passed),
        }
        self.rest = rest;
        self.offset += step;
        self.at
    }
}

/// Counts the characters that begin in `bytes`.
fn chars(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte & 0xC0 != 0x80).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_offset_agrees_with_counting_by_hand() {
        let text = "añb\n\n😀x\r\nlast\n";
        let mut positions = Positions::new(text);
        for (offset, _) in text.char_indices() {
            let before = text.get(..offset).unwrap();
            let line_start = before.rfind('\n').map_or(0, |at| at + 1);
            let expected = Position {
                chars: before.chars().count(),
                line: before.matches('\n').count() + 1,
                column: text.get(line_start..offset).unwrap().chars().count() + 1,
            };
            assert_eq!(positions.advance(offset), expected, "at {offset}");
        }
    }
}
