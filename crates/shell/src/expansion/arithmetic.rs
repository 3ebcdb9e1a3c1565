//! Arithmetic, in which names are evaluated in turn.

use std::borrow::Cow;

use super::substitution::is_one_pipeline;
use super::{expansions, is_name_start};
use crate::parser::{Parser, Read};
use crate::read_error::ReadErrorKind;
use crate::tree::{Expansion, ExpansionKind};
use crate::word::{Builder, Quotes};

impl<'t> Parser<'t, '_, '_, '_> {
    /// Reads the rest of `$((…))` or `((…))`.
    pub(crate) fn arithmetic(&mut self, start: usize) -> Read<ExpansionKind<'t>> {
        let mut inside = Builder::default();
        let read = self.parenthesised_arithmetic(start, &mut inside);
        let (evaluates_names, text) = self.pieces_unless(read, &mut inside)?;
        Ok(ExpansionKind::Arithmetic { evaluates_names, text, inside: expansions(inside) })
    }

    fn parenthesised_arithmetic(
        &mut self,
        start: usize,
        inside: &mut Builder<'t>,
    ) -> Read<(bool, Cow<'t, str>)> {
        let begin = self.text.at;
        let names = self.evaluated(inside, b'(', b')', start)?;
        let text = self.cow(begin, self.text.at - 1);
        if !self.text.eat(b')') {
            return Err(self.refuse(ReadErrorKind::AmbiguousArithmetic, start));
        }
        // bash counts every parenthesis, also in `${x:-(}`, and takes unbalanced ones for nested subshells.
        let written = self.text.slice(start, self.text.at);
        let count = |parenthesis: u8| written.bytes().filter(|byte| *byte == parenthesis).count();
        if count(b'(') != count(b')') {
            return Err(self.refuse(ReadErrorKind::AmbiguousArithmetic, start));
        }
        Ok((names, text))
    }

    /// Reads `$[…]`.
    pub(super) fn bracket_arithmetic(&mut self, start: usize) -> Read<ExpansionKind<'t>> {
        self.text.eat(b'[');
        let mut inside = Builder::default();
        let begin = self.text.at;
        let names = self.evaluated(&mut inside, b'[', b']', start)?;
        let text = self.cow(begin, self.text.at - 1);
        Ok(ExpansionKind::Arithmetic { evaluates_names: names, text, inside: expansions(inside) })
    }

    /// Reads arithmetic up to the byte that closes it. Returns whether names occur in it: their values are
    /// evaluated in turn.
    pub(crate) fn evaluated(
        &mut self,
        builder: &mut Builder<'t>,
        open: u8,
        close: u8,
        start: usize,
    ) -> Read<bool> {
        let mut inside = Builder::default();
        let names = self.evaluated_pieces(&mut inside, open, close, start);
        let names = self.pieces_unless(names, &mut inside)?;
        for expansion in expansions(inside) {
            builder.expansion(expansion);
        }
        Ok(names)
    }

    fn evaluated_pieces(
        &mut self,
        inside: &mut Builder<'t>,
        open: u8,
        close: u8,
        start: usize,
    ) -> Read<bool> {
        let (mut depth, mut brackets) = (0_usize, 0_usize);
        let mut names = false;
        loop {
            match self.text.peek() {
                byte if byte == close && depth == 0 && (brackets == 0 || close == b']') => break,
                byte if byte == close && depth > 0 => depth -= 1,
                byte if byte == open => depth += 1,
                b'$' | b'`' | b'"' => {
                    names = true;
                    self.evaluated_expansion(inside)?;
                    continue;
                }
                // If a subscript contains a parenthesis, bash may not read an assignment at all.
                b'(' | b')' if close == b']' => {
                    return Err(self.refuse_here(ReadErrorKind::AmbiguousArithmetic));
                }
                b'\'' if close == b']' => self.skip_plain_key()?,
                b'\'' => return Err(self.refuse_here(ReadErrorKind::AmbiguousArithmetic)),
                // zsh takes unbalanced ones for nested subshells.
                b'[' if close == b')' => brackets += 1,
                b']' if close == b')' => {
                    brackets = brackets
                        .checked_sub(1)
                        .ok_or_else(|| self.refuse_here(ReadErrorKind::AmbiguousArithmetic))?;
                }
                b')' if depth == 0 => return Err(self.refuse_here(ReadErrorKind::AmbiguousArithmetic)),
                // zsh may then not read it as arithmetic at all.
                b'\\' if close == b')' => return Err(self.refuse_here(ReadErrorKind::AmbiguousArithmetic)),
                b'\\' => self.text.at += 1,
                0 => return Err(self.refuse(ReadErrorKind::UnterminatedExpansion, start)),
                byte => names |= is_name_start(byte),
            }
            self.text.skip_character();
        }
        self.text.at += 1;
        Ok(names)
    }

    /// Parses an expansion inside arithmetic. Shells search for the end of a substitution there in different ways:
    /// only a single plain pipeline on one line is read alike by all.
    pub(super) fn evaluated_expansion(&mut self, builder: &mut Builder<'t>) -> Read<()> {
        let start = self.text.at;
        let mut inside = Builder::default();
        match self.text.peek() {
            b'"' => self.double_quoted(&mut inside)?,
            b'$' => self.dollar(Quotes::Double, &mut inside)?,
            _ => self.backticks(Quotes::Double, &mut inside)?,
        }
        let inside = expansions(inside);
        // bash also prints such a substitution again before it runs it, and loses the quotes of `$'…'`. In backticks
        // it counts parentheses as outside of them, where quotes begin and end elsewhere.
        let written = self.text.slice(start, self.text.at);
        let is_counted_otherwise =
            written.starts_with('`') && written.contains(['(', ')']) && written.contains(['\'', '"', '\\']);
        if written.contains('\n')
            || written.contains("$'")
            || is_counted_otherwise
            || !inside.iter().all(is_plain)
        {
            let mut kept = Builder::default();
            inside.into_iter().for_each(|expansion| kept.expansion(expansion));
            self.keep_pieces(kept);
            return Err(self.refuse(ReadErrorKind::ArithmeticSubstitution, start));
        }
        for expansion in inside {
            builder.expansion(expansion);
        }
        Ok(())
    }

    /// Moves to the end of a quoted array key, which must not contain anything that is evaluated.
    pub(super) fn skip_plain_key(&mut self) -> Read<()> {
        let start = self.text.at;
        self.skip_single_quotes()?;
        self.text.at -= 1;
        if self.text.slice(start + 1, self.text.at).contains(['$', '`', '[', ']', '"', '\\', '}', '\n']) {
            return Err(self.refuse(ReadErrorKind::QuoteInBraces, start));
        }
        Ok(())
    }
}

/// Returns whether no substitution in an expansion is more than a pipeline of simple commands.
fn is_plain(expansion: &Expansion<'_>) -> bool {
    match &expansion.kind {
        ExpansionKind::Command(list) | ExpansionKind::Backtick(list) => is_one_pipeline(list),
        ExpansionKind::Parameter { inside, .. } => inside.iter().all(is_plain),
        ExpansionKind::Process(_) | ExpansionKind::Arithmetic { .. } => true,
    }
}
