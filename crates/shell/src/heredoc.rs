//! Here-documents.
//!
//! The operator is on one line and the body begins on the next, so parsing it is deferred: the parser queues pending
//! here-documents, and `line_end` reads the bodies in the order of their operators, as every shell does.

use std::borrow::Cow;

use crate::inline_vec::InlineVec;
use crate::parser::{Nested, Parser, PendingHeredoc, Read};
use crate::read_error::ReadErrorKind;
use crate::tree::{Heredoc, Piece, Word};
use crate::word::{Builder, Quotes, WordContext};

/// Whether a byte begins an expansion in a body, or escapes one.
const fn expands(byte: u8) -> bool {
    matches!(byte, b'\\' | b'$' | b'`')
}

impl<'t, 's> Parser<'t, 's, '_, '_> {
    /// Reads the delimiter of a here-document and remembers that its body is to come.
    pub(crate) fn announce_heredoc(&mut self, strips_tabs: bool) -> Read<(Word<'t>, usize)> {
        let start = self.text.at;
        let Some(word) = self.word(WordContext::Argument)? else {
            return Err(self.refuse_here(ReadErrorKind::Syntax));
        };
        let mut delimiter = String::new();
        let mut quoted = false;
        for piece in word.pieces() {
            match piece {
                Piece::Bare(text) => delimiter.push_str(text),
                Piece::Quoted(text) => {
                    quoted = true;
                    delimiter.push_str(text);
                }
                Piece::Expansion(_) => return Err(self.refuse(ReadErrorKind::HeredocDelimiter, start)),
            }
        }
        // In a delimiter a `$` or a `\` is literal in some shells and not in others.
        if delimiter.contains(['\n', '$', '`', '\\']) || self.text.slice(start, self.text.at).contains("$'") {
            return Err(self.refuse(ReadErrorKind::HeredocDelimiter, start));
        }
        let index = self.state.heredocs.len();
        self.state.heredocs.push(Heredoc::default());
        self.pending.push(PendingHeredoc { index, delimiter, quoted, strips_tabs, after: self.text.at });
        Ok((word, index))
    }

    /// Skips a line end, and the bodies that begin after it.
    pub(crate) fn line_end(&mut self) -> Read<()> {
        let end = self.text.at;
        self.text.at += 1;
        if self.pending.is_empty() {
            return Ok(());
        }
        if self.outer_pending > 0 {
            return Err(self.refuse(ReadErrorKind::LineEndBeforeHeredoc, end));
        }
        for heredoc in std::mem::take(&mut self.pending) {
            if has_bare_line_end(self.text.slice(heredoc.after, end)) {
                return Err(self.refuse(ReadErrorKind::LineEndBeforeHeredoc, heredoc.after));
            }
            self.heredoc_body(&heredoc)?;
        }
        Ok(())
    }

    /// Refuses here-documents without a body.
    pub(crate) fn no_heredoc_is_pending(&self, outer: usize) -> Read<()> {
        match self.pending.get(outer) {
            None => Ok(()),
            Some(_) if self.may_end_with_the_text() => Ok(()),
            Some(heredoc) => Err(self.refuse(ReadErrorKind::UnterminatedHeredoc, heredoc.after)),
        }
    }

    fn heredoc_body(&mut self, heredoc: &PendingHeredoc) -> Read<()> {
        let start = self.text.at;
        let end = loop {
            let line_start = self.text.at;
            if self.text.rest().is_empty() {
                if self.may_end_with_the_text() {
                    break line_start;
                }
                return Err(self.refuse(ReadErrorKind::UnterminatedHeredoc, start));
            }
            if self.is_last_line(heredoc)? {
                break line_start;
            }
        };
        let after = self.text.at;
        let body = self.heredoc_pieces(heredoc, start, end)?;
        self.text.at = after;
        if let Some(slot) = self.state.heredocs.get_mut(heredoc.index) {
            slot.body = body;
        }
        Ok(())
    }

    /// Whether the end of the text counts as the last line. Every shell does this, and bash warns; but a completely
    /// parsed text may be put before others, and then a here-document would swallow them.
    const fn may_end_with_the_text(&self) -> bool {
        self.state.is_partial && self.state.is_outermost()
    }

    /// Moves over a line, and over those that an escaped line end joins to it where the body is expanded. Returns
    /// whether it is the delimiter.
    fn is_last_line(&mut self, heredoc: &PendingHeredoc) -> Read<bool> {
        self.step();
        let start = self.text.at;
        let mut last = self.physical_line();
        let mut line = Cow::Borrowed(last);
        while !heredoc.quoted && ends_in_escape(last) && !self.text.rest().is_empty() {
            last = self.physical_line();
            let joined = line.to_mut();
            joined.pop();
            joined.push_str(last);
        }
        let stripped = if heredoc.strips_tabs { line.trim_start_matches('\t') } else { &line };
        let is_last = stripped == heredoc.delimiter;
        // zsh removes the tabs of each line before it joins them, or does not.
        if is_last && heredoc.strips_tabs && matches!(line, Cow::Owned(_)) {
            return Err(self.refuse(ReadErrorKind::Dialect, start));
        }
        Ok(is_last)
    }

    fn physical_line(&mut self) -> &'s str {
        let start = self.text.at;
        let length = self.text.rest().find('\n').unwrap_or(self.text.rest().len());
        self.text.at = start + length;
        let line = self.text.slice(start, self.text.at);
        if self.text.raw(0) == b'\n' {
            self.text.at += 1;
        }
        line
    }

    fn heredoc_pieces(
        &mut self,
        heredoc: &PendingHeredoc,
        start: usize,
        end: usize,
    ) -> Read<InlineVec<Piece<'t>>> {
        let text = self.text.slice(start, end);
        // Shells remove escaped line ends from the whole body first: also within the quotes of a substitution, and
        // before they remove tabs.
        if !heredoc.quoted && text.contains("\\\n") && (heredoc.strips_tabs || text.contains('\'')) {
            return Err(self.refuse(ReadErrorKind::Dialect, start));
        }
        let strips = heredoc.strips_tabs && text.split('\n').any(|line| line.starts_with('\t'));
        if heredoc.quoted {
            let body = if strips { without_tabs(text).into() } else { self.cow(start, end) };
            return Ok(InlineVec::One(Piece::Quoted(body)));
        }
        if !strips && !text.bytes().any(expands) {
            let is_empty = text.is_empty();
            return Ok(if is_empty {
                InlineVec::None
            } else {
                InlineVec::One(Piece::Quoted(self.cow(start, end)))
            });
        }
        if strips {
            let stripped = without_tabs(text);
            let span = self.text.span(start, end);
            return self.expansions_in(Nested::Decoded(&stripped, span));
        }
        self.expansions_in(Nested::Part(start, end))
    }

    /// Reads a text to its end as the body of a here-document: expansions, and quotes that are only letters.
    pub(crate) fn expanded_text(&mut self) -> Read<InlineVec<Piece<'t>>> {
        let mut builder = Builder::default();
        let end = self.expanded_pieces(&mut builder);
        self.pieces_unless(end, &mut builder)?;
        Ok(builder.into_pieces())
    }

    fn expanded_pieces(&mut self, builder: &mut Builder<'t>) -> Read<()> {
        loop {
            self.quoted_run(expands, builder);
            match self.text.peek() {
                b'\\' => self.escaped_in_quotes(b"$`\\", builder)?,
                b'$' => self.dollar(Quotes::Double, builder)?,
                b'`' => self.backticks(Quotes::Double, builder)?,
                _ if self.text.rest().is_empty() => return Ok(()),
                _ => {}
            }
        }
    }
}

/// Returns whether a line ends in a backslash that is not itself escaped.
fn ends_in_escape(line: &str) -> bool {
    line.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}

/// Whether the rest of a line continues over a line end, other than an escaped one outside quotes.
fn has_bare_line_end(text: &str) -> bool {
    text.contains('\n') && (text.contains(['\'', '"', '`', '(']) || text.replace("\\\n", "").contains('\n'))
}

fn without_tabs(text: &str) -> String {
    let lines: Vec<&str> = text.split('\n').map(|line| line.trim_start_matches('\t')).collect();
    lines.join("\n")
}
