//! Command substitutions in both spellings, and process substitutions.

use std::borrow::Cow;

use crate::parser::{Nested, Parser, Read};
use crate::read_error::ReadErrorKind;
use crate::tree::{Command, Expansion, ExpansionKind, List};
use crate::word::{Builder, Quotes};

impl<'t> Parser<'t, '_, '_, '_> {
    /// Reads `$(…)` or `$((…))` from the parenthesis on.
    pub(super) fn dollar_parenthesis(&mut self, start: usize) -> Read<ExpansionKind<'t>> {
        if self.text.peek_second() == b'(' {
            self.text.eat(b'(');
            self.text.eat(b'(');
            return self.arithmetic(start);
        }
        self.text.at += 1;
        Ok(ExpansionKind::Command(self.substituted(start)?))
    }

    /// Reads commands up to the `)` that ends a substitution.
    pub(super) fn substituted(&mut self, start: usize) -> Read<List<'t>> {
        let outer = std::mem::replace(&mut self.outer_pending, self.pending.len());
        let heredocs = self.state.heredocs.len();
        let list = self.deeper(Self::list)?;
        let end = self.substitution_end(start);
        let list = self.list_unless(end, list)?;
        self.outer_pending = outer;
        // bash 5.2 prints such a substitution again before it runs it, and loses separators.
        if self.state.heredocs.len() > heredocs && !is_one_command(&list) {
            let end = Err(self.refuse(ReadErrorKind::HeredocInSubstitution, start));
            return self.list_unless(end, list);
        }
        Ok(list)
    }

    fn substitution_end(&mut self, start: usize) -> Read<()> {
        if self.text.eat(b')') {
            return self.no_heredoc_is_pending(self.outer_pending);
        }
        Err(if self.text.is_at_end() {
            self.refuse(ReadErrorKind::UnterminatedSubstitution, start)
        } else {
            self.refuse_here(ReadErrorKind::Syntax)
        })
    }

    /// Reads `<(…)` or `>(…)`.
    pub(crate) fn process_substitution(&mut self, builder: &mut Builder<'t>) -> Read<()> {
        let start = self.text.at;
        self.text.at += 1;
        self.text.eat(b'(');
        let list = self.substituted(start)?;
        let span = self.text.span(start, self.text.at);
        builder.expansion(Expansion { span, quoted: false, kind: ExpansionKind::Process(list) });
        Ok(())
    }

    /// Parses `` `…` ``: its escapes are removed first, and the result is a text of its own.
    pub(crate) fn backticks(&mut self, quotes: Quotes, builder: &mut Builder<'t>) -> Read<()> {
        self.step();
        let start = self.text.at;
        let inside = start + 1;
        self.text.at = inside;
        loop {
            match self.text.raw(0) {
                b'`' => break,
                b'\\' => {
                    self.text.at += 1;
                    self.text.skip_character();
                }
                0 => return Err(self.refuse(ReadErrorKind::UnterminatedSubstitution, start)),
                _ => self.text.at += 1,
            }
        }
        let end = self.text.at;
        self.text.at += 1;
        let span = self.text.span(start, self.text.at);
        let written = self.text.slice(inside, end);
        // Escaped line ends go from backticks before anything is read, also from single quotes in them.
        let joins_quoted = written.contains("\\\n") && written.contains('\'');
        let braces_quoted = quotes == Quotes::Double && written.contains('"') && written.contains('{');
        let list = match without_escapes(written, quotes) {
            Cow::Borrowed(_) => self.commands_in(Nested::Part(inside, end))?,
            Cow::Owned(text) => self.commands_in(Nested::Decoded(&text, span))?,
        };
        if joins_quoted || braces_quoted {
            let end = Err(self.refuse(ReadErrorKind::QuoteInBackticks, start));
            self.list_unless(end, list)?;
            return Ok(());
        }
        builder.expansion(Expansion {
            span,
            quoted: quotes == Quotes::Double,
            kind: ExpansionKind::Backtick(list),
        });
        Ok(())
    }
}

/// Returns whether a list is a single simple command.
fn is_one_command(list: &List<'_>) -> bool {
    match &*list.items {
        [item] => matches!(&*item.pipeline.commands, [Command::Simple(_)]),
        items => items.is_empty(),
    }
}

/// Returns whether a list is a single pipeline of simple commands.
pub(super) fn is_one_pipeline(list: &List<'_>) -> bool {
    match &*list.items {
        [item] => item.pipeline.commands.iter().all(|command| matches!(command, Command::Simple(_))),
        items => items.is_empty(),
    }
}

/// Removes the escapes that backticks need.
fn without_escapes(text: &str, quotes: Quotes) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let protected =
            |next: &char| matches!(next, '$' | '`' | '\\') || (quotes == Quotes::Double && *next == '"');
        let kept = if character == '\\' { characters.next_if(protected) } else { None };
        plain.push(kept.unwrap_or(character));
    }
    if plain.len() == text.len() { Cow::Borrowed(text) } else { Cow::Owned(plain) }
}
