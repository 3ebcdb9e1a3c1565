//! Splits a program in any language into statements.

use std::ops::Range;

use crate::rule::Region;

/// Maximum size of a statement. A longer one is read in parts.
const MAX_STATEMENT: usize = 4096;

/// Maximum tracked nesting of blocks.
const MAX_DEPTH: usize = 32;

/// Returns the statements of a program in order: lines, joined where a bracket or a backslash continues them, and
/// split at separators. Comments are dropped.
pub(super) fn statements(program: &str, region: Region) -> Vec<Range<usize>> {
    let mut reader = Reader {
        bytes: program.as_bytes(),
        region,
        start: 0,
        open: 0,
        braces: Vec::new(),
        found: Vec::new(),
    };
    // The line that opens a fence belongs to it.
    let is_fence = program.trim_start().starts_with("```") || program.trim_start().starts_with("~~~");
    let body = if is_fence { program.split_once('\n').map_or("", |(_, body)| body) } else { program };
    if region == Region::Code && is_data(body) {
        return lines(program);
    }
    let mut at = 0;
    while at < reader.bytes.len() {
        at = reader.step(at);
    }
    reader.end(reader.bytes.len());
    let mut found = reader.found;
    // A statement ends within a character only where it was cut; move to the boundary.
    for span in &mut found {
        *span = program.floor_char_boundary(span.start)..program.floor_char_boundary(span.end);
    }
    found
}

/// Whether a statement was cut because of its length, and continues in the next.
pub(super) const fn is_cut(statement: &Range<usize>) -> bool {
    // A cut is moved back to a character boundary, at most by three bytes.
    statement.end - statement.start >= MAX_STATEMENT - 4
}

/// Whether a program is a single JSON value without calls.
fn is_data(body: &str) -> bool {
    let body = body.trim().trim_end_matches(['`', '~']).trim_end();
    let closer = if body.starts_with('{') { '}' } else { ']' };
    let begins = body.strip_prefix(['{', '[']).is_some_and(|rest| {
        rest.starts_with(['\n', '\r', ' ', '\t', '"']) && rest.trim_start().starts_with(['"', '{'])
    });
    begins && body.ends_with(closer) && !calls(body)
}

/// Whether a call's bracket occurs outside of quotes.
fn calls(body: &str) -> bool {
    let (mut is_quoted, mut is_escaped) = (false, false);
    body.bytes().any(|byte| {
        let was_escaped = is_escaped;
        is_escaped = byte == b'\\' && !was_escaped;
        match byte {
            b'"' if !was_escaped => is_quoted = !is_quoted,
            b'\n' => is_quoted = false,
            b'(' | b';' => return !is_quoted,
            _ => {}
        }
        false
    })
}

/// Returns the lines of a data file, such as JSON, in which each line is independent.
fn lines(program: &str) -> Vec<Range<usize>> {
    let mut start = 0;
    let line = |line: &str| {
        let span = start..start + line.len();
        start = span.end;
        span
    };
    program.split_inclusive('\n').map(line).collect()
}

struct Reader<'p> {
    bytes: &'p [u8],
    region: Region,
    /// Start of the statement.
    start: usize,
    /// Number of its open brackets.
    open: usize,
    /// The open braces: of a block, with the number of brackets open around it, or of a value.
    braces: Vec<Option<usize>>,
    found: Vec<Range<usize>>,
}

impl Reader<'_> {
    /// Processes one byte, or a whole comment or quoted string, and returns the next offset.
    fn step(&mut self, at: usize) -> usize {
        let byte = self.byte(at);
        if at - self.start >= MAX_STATEMENT {
            self.end(at);
        }
        match byte {
            b'\\' => return at + 2,
            b'\'' | b'"' | b'`' => return self.quoted(at, byte),
            b'(' | b'[' => self.open += 1,
            b')' | b']' => self.open = self.open.saturating_sub(1),
            b'#' | b'/' if self.is_comment(at) => {
                let end = self.line_end(at);
                // Within a call or a pipe, a line end does not end the statement.
                let said = self.bytes.get(self.start..at).unwrap_or_default();
                if said.iter().all(u8::is_ascii_whitespace) {
                    self.start = end;
                }
                return end;
            }
            b'{' if self.region == Region::Code && self.braces.len() < MAX_DEPTH => {
                let is_block = self.line_ends_after(at) && self.follows_a_head(at);
                self.braces.push(is_block.then_some(self.open));
                if is_block {
                    self.open = 0;
                    self.end(at + 1);
                } else {
                    self.open += 1;
                }
            }
            b'}' if self.region == Region::Code => match self.braces.pop() {
                Some(Some(outer)) => {
                    self.end(at);
                    self.open = outer;
                }
                Some(None) => self.open = self.open.saturating_sub(1),
                None => self.end(at),
            },
            b'\n' if self.open == 0 && !self.is_carried_on(at) => self.end(at + 1),
            b';' if self.open == 0 => self.end(at + 1),
            b'&' | b'|' if self.open == 0 && self.byte(at + 1) == byte && self.is_shell() => {
                self.end(at);
                self.start = at + 2;
                return at + 2;
            }
            _ => {}
        }
        at + 1
    }

    fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(b'\n')
    }

    fn is_shell(&self) -> bool {
        self.region != Region::Code
    }

    fn end(&mut self, at: usize) {
        let at = at.min(self.bytes.len());
        let is_something = self
            .bytes
            .get(self.start..at)
            .is_some_and(|it| it.iter().any(|byte| !byte.is_ascii_whitespace()));
        if is_something {
            self.found.push(self.start..at);
        }
        self.start = at;
    }

    /// Skips a quoted string that ends in its line. An unclosed quote is not a quote.
    fn quoted(&self, at: usize, quote: u8) -> usize {
        let mut end = at + 1;
        while end < self.bytes.len() && self.byte(end) != b'\n' && end - at < MAX_STATEMENT {
            match self.byte(end) {
                b'\\' => end += 2,
                byte if byte == quote => return end + 1,
                _ => end += 1,
            }
        }
        at + 1
    }

    fn is_comment(&self, at: usize) -> bool {
        let is_one = match self.byte(at) {
            b'#' => true,
            _ => self.byte(at + 1) == b'/' && !self.is_shell(),
        };
        is_one && self.begins_line(at)
    }

    fn line_end(&self, at: usize) -> usize {
        let rest = self.bytes.get(at..).unwrap_or_default();
        memchr::memchr(b'\n', rest).map_or(self.bytes.len(), |end| at + end + 1)
    }

    /// Whether only blanks precede in the line. Inspects only a few bytes.
    fn begins_line(&self, at: usize) -> bool {
        let near = self.bytes.get(at.saturating_sub(64)..at).unwrap_or_default();
        let blank = near.iter().rev().find(|byte| !matches!(byte, b' ' | b'\t'));
        blank.is_none_or(|byte| *byte == b'\n')
    }

    fn line_ends_after(&self, at: usize) -> bool {
        let near = self.bytes.get(at + 1..self.bytes.len().min(at + 9)).unwrap_or_default();
        near.iter().find(|byte| !matches!(byte, b' ' | b'\t' | b'\r')).is_none_or(|byte| *byte == b'\n')
    }

    /// Whether a brace opens a block rather than a value: it follows a closing bracket, an arrow or a word.
    fn follows_a_head(&self, at: usize) -> bool {
        let near = self.bytes.get(at.saturating_sub(8)..at).unwrap_or_default();
        let last = near.iter().rev().find(|byte| !matches!(byte, b' ' | b'\t'));
        last.is_some_and(|byte| matches!(byte, b')' | b'>') || byte.is_ascii_alphanumeric())
    }

    /// Whether a pipe at the end of a line, or at the start of the next, continues the command.
    fn is_carried_on(&self, at: usize) -> bool {
        let before = self.bytes.get(at.saturating_sub(8)..at).unwrap_or_default();
        let last = before.iter().rev().find(|byte| !byte.is_ascii_whitespace());
        let after = self.bytes.get(at + 1..self.bytes.len().min(at + 64)).unwrap_or_default();
        let first = after.iter().position(|byte| !matches!(byte, b' ' | b'\t'));
        let next = first.and_then(|first| after.get(first..));
        self.is_shell()
            && (last == Some(&b'|')
                || next.is_some_and(|next| next.starts_with(b"|") && !next.starts_with(b"||")))
            || next.is_some_and(|next| next.starts_with(b".")) && !self.is_shell()
    }
}
