//! Expansions that begin with `$`: names here, longer forms in the files of this folder.

use std::borrow::Cow;

use crate::ansi;
use crate::options::Shell;
use crate::parser::{Parser, Read};
use crate::read_error::ReadErrorKind;
use crate::tree::{Action, Expansion, ExpansionKind, ParameterResult, Piece};
use crate::word::{Builder, Quotes};

mod arithmetic;
mod braced;
mod substitution;

impl<'t> Parser<'t, '_, '_, '_> {
    /// Parses an expansion that begins with `$`.
    pub(crate) fn dollar(&mut self, quotes: Quotes, builder: &mut Builder<'t>) -> Read<()> {
        self.step();
        let start = self.text.at;
        self.text.at += 1;
        let kind = match self.text.peek() {
            b'(' => self.dollar_parenthesis(start)?,
            b'{' => self.braced(start, quotes)?,
            // dash prints `$[1+1]`, bash counts it.
            b'[' if self.shell() == Shell::Sh => return Err(self.refuse_here(ReadErrorKind::Dialect)),
            b'[' => self.bracket_arithmetic(start)?,
            // Inside double quotes `$'` is a dollar and a quote, so quoted text could be taken for commands.
            b'\'' if quotes == Quotes::None => return self.ansi_quoted(start, builder),
            b'"' if quotes == Quotes::None => return self.translated(start, builder),
            byte if is_parameter_start(byte) => self.plain_parameter(),
            b'=' | b'~' | b'^' | b'+' if self.shell() == Shell::Zsh => {
                return Err(self.refuse_here(ReadErrorKind::ZshSyntax));
            }
            _ => {
                let dollar = Cow::Borrowed("$");
                builder.push(if quotes == Quotes::None {
                    Piece::Bare(dollar)
                } else {
                    Piece::Quoted(dollar)
                });
                return Ok(());
            }
        };
        self.count_one_more_word()?;
        builder.expansion(Expansion {
            span: self.text.span(start, self.text.at),
            quoted: quotes == Quotes::Double,
            kind,
        });
        Ok(())
    }

    /// Reads `$name` from its name on.
    fn plain_parameter(&mut self) -> ExpansionKind<'t> {
        let name = match self.text.peek() {
            byte if is_name_start(byte) => self.name(),
            _ => {
                self.text.at += 1;
                self.cow(self.text.at - 1, self.text.at)
            }
        };
        ExpansionKind::Parameter {
            name,
            action: Action::Value,
            result: ParameterResult::Whole,
            evaluated: None,
            inside: Vec::new(),
        }
    }

    /// Reads a name, over escaped line ends.
    pub(crate) fn name(&mut self) -> Cow<'t, str> {
        let start = self.text.at;
        while is_name_byte(self.text.raw(0)) {
            self.text.at += 1;
        }
        let mut name = self.cow(start, self.text.at);
        while is_name_byte(self.text.peek()) {
            name.to_mut().push(char::from(self.text.raw(0)));
            self.text.at += 1;
        }
        name
    }

    /// Reads `$'…'`.
    fn ansi_quoted(&mut self, start: usize, builder: &mut Builder<'t>) -> Read<()> {
        if self.shell() == Shell::Sh {
            return Err(self.refuse_here(ReadErrorKind::Dialect));
        }
        self.text.at += 1;
        let inside = self.text.at;
        loop {
            match self.text.raw(0) {
                b'\'' => break,
                b'\\' => {
                    self.text.at += 1;
                    self.text.skip_character();
                }
                // NUL marks the end of the text here, and never occurs in an admitted one.
                0 => return Err(self.refuse(ReadErrorKind::UnterminatedQuote, start)),
                _ => self.text.at += 1,
            }
        }
        let decoded = match self.text.slice(inside, self.text.at) {
            plain if !plain.contains('\\') => self.cow(inside, self.text.at),
            // zsh keeps the NUL, which truncates the word for every program that receives it.
            nul if ansi::is_nul(nul) && builder.is_empty() && self.ends_word_behind_quote() => {
                Cow::Borrowed("")
            }
            escaped => Cow::Owned(
                ansi::decode(escaped, self.shell())
                    .ok_or_else(|| self.refuse(ReadErrorKind::AnsiQuote, start))?,
            ),
        };
        self.text.at += 1;
        builder.push(Piece::Quoted(decoded));
        Ok(())
    }

    /// Whether the quote at this position ends its word.
    fn ends_word_behind_quote(&mut self) -> bool {
        matches!(self.text.peek_second(), 0 | b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b')' | b'<' | b'>')
    }

    /// Parses `$"…"`, which only bash knows. A translation may replace its text, and expansions in the translation
    /// run: that is a hazard of its own, while the text itself is parsed like any other, so that rules see its
    /// content.
    fn translated(&mut self, start: usize, builder: &mut Builder<'t>) -> Read<()> {
        if self.shell() == Shell::Sh {
            return Err(self.refuse(ReadErrorKind::Dialect, start));
        }
        // zsh has no translations: it keeps the dollar before an ordinary quoted string.
        if self.shell() == Shell::Zsh {
            builder.push(Piece::Bare(Cow::Borrowed("$")));
        } else if self.state.translated.is_none() {
            self.state.translated = Some(self.text.span(start, start + 2));
        }
        self.double_quoted(builder)
    }

    /// Reads `( … )` with balanced parentheses, and returns the expansions in it.
    pub(crate) fn parenthesised(&mut self) -> Read<Vec<Expansion<'t>>> {
        let mut inside = Builder::default();
        let end = self.parenthesised_pieces(&mut inside);
        self.pieces_unless(end, &mut inside)?;
        Ok(expansions(inside))
    }

    fn parenthesised_pieces(&mut self, inside: &mut Builder<'t>) -> Read<()> {
        let start = self.text.at;
        let mut depth = 0_usize;
        loop {
            match self.text.peek() {
                // The parenthesis that opens is counted too, so that one left means the end.
                b'(' => depth += 1,
                b')' if depth == 1 => break,
                b')' => depth -= 1,
                b'\'' => {
                    self.skip_single_quotes()?;
                    continue;
                }
                b'"' => {
                    self.double_quoted(inside)?;
                    continue;
                }
                b'$' => {
                    self.dollar(Quotes::None, inside)?;
                    continue;
                }
                b'`' => {
                    self.backticks(Quotes::None, inside)?;
                    continue;
                }
                b'<' | b'>' if self.text.peek_second() == b'(' => {
                    self.process_substitution(inside)?;
                    continue;
                }
                b'\n' => return Err(self.refuse_here(ReadErrorKind::Syntax)),
                b'\\' => self.text.at += 1,
                0 if self.text.rest().is_empty() => {
                    return Err(self.refuse(ReadErrorKind::UnterminatedCommand, start));
                }
                _ => {}
            }
            self.text.skip_character();
        }
        self.text.at += 1;
        Ok(())
    }
}

/// Returns the expansions among the pieces, dropping the text between them.
pub(crate) fn expansions(builder: Builder<'_>) -> Vec<Expansion<'_>> {
    let pieces = builder.into_pieces().into_iter();
    let expansion = |piece| match piece {
        Piece::Expansion(expansion) => Some(*expansion),
        Piece::Bare(_) | Piece::Quoted(_) => None,
    };
    pieces.filter_map(expansion).collect()
}

const fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

const fn is_name_byte(byte: u8) -> bool {
    is_name_start(byte) || byte.is_ascii_digit()
}

const fn is_parameter_start(byte: u8) -> bool {
    is_name_byte(byte) || matches!(byte, b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!')
}

/// Returns whether a text is a name that can be assigned to.
pub(crate) fn is_name(text: &str) -> bool {
    text.bytes().next().is_some_and(is_name_start) && text.bytes().all(is_name_byte)
}
