//! `[[ … ]]`

use crate::grammar::Keyword;
use crate::options::Shell;
use crate::parser::{Parser, Read};
use crate::read_error::ReadErrorKind;
use crate::tree::{Kind, Operand, Piece, Role, Word};
use crate::word::WordContext;

impl<'t> Parser<'t, '_, '_, '_> {
    /// Reads `[[ … ]]`.
    pub(crate) fn test(&mut self) -> Read<Kind<'t>> {
        if self.shell() == Shell::Sh {
            return Err(self.refuse_here(ReadErrorKind::Dialect));
        }
        self.eat_keyword(Keyword::OpenTest);
        let mut operands = Vec::new();
        match self.whole_test(&mut operands) {
            Ok(()) => Ok(Kind::Test(operands)),
            Err(error) => {
                let mut words = operands.into_iter().map(|operand| operand.word).collect();
                self.words_unless(Err(error), &mut words)
            }
        }
    }

    fn whole_test(&mut self, operands: &mut Vec<Operand<'t>>) -> Read<()> {
        self.alternatives(operands)?;
        self.skip_line_ends()?;
        if self.eat_test_end() { Ok(()) } else { Err(self.refuse_missing_command()) }
    }

    /// Reads conditions joined by `&&` and `||`.
    fn alternatives(&mut self, operands: &mut Vec<Operand<'t>>) -> Read<()> {
        loop {
            self.condition_term(operands)?;
            self.skip_line_ends()?;
            match (self.text.peek(), self.text.peek_second()) {
                (b'&', b'&') => self.text.eat(b'&') && self.text.eat(b'&'),
                (b'|', b'|') => self.text.eat(b'|') && self.text.eat(b'|'),
                _ => return Ok(()),
            };
        }
    }

    fn condition_term(&mut self, operands: &mut Vec<Operand<'t>>) -> Read<()> {
        self.skip_line_ends()?;
        while self.text.peek() == b'!' && matches!(self.text.peek_second(), b' ' | b'\t' | b'\n') {
            self.text.at += 1;
            self.skip_line_ends()?;
        }
        if self.text.eat(b'(') {
            self.deeper(|parser| parser.alternatives(operands))?;
            return if self.text.eat(b')') { Ok(()) } else { Err(self.refuse_missing_command()) };
        }
        let first = self.test_word(WordContext::Argument)?;
        if let Some(role) = first.bare().and_then(|name| unary(name)) {
            self.skip_blanks();
            if !self.is_test_end() && !matches!(self.text.peek(), b'&' | b'|' | b')') {
                let word = self.test_word(WordContext::Argument)?;
                operands.push(Operand { word, role });
                return Ok(());
            }
        }
        self.comparison(first, operands)
    }

    /// Reads the operator and the right side after the first word.
    fn comparison(&mut self, first: Word<'t>, operands: &mut Vec<Operand<'t>>) -> Read<()> {
        self.skip_line_ends()?;
        let sides = match self.text.peek() {
            b'<' | b'>' if self.text.peek_second() != b'(' => {
                self.text.at += 1;
                Some((WordContext::Argument, Role::Text))
            }
            b'&' | b'|' | b')' | 0 => None,
            _ if self.is_test_end() => None,
            _ => {
                let operator = self.test_word(WordContext::Argument)?;
                let sides = operator.bare().and_then(|name| binary(name));
                if sides.is_none() {
                    return Err(self.refuse_here(ReadErrorKind::Syntax));
                }
                sides
            }
        };
        let Some((context, role)) = sides else {
            operands.push(Operand { word: first, role: Role::Alone });
            return Ok(());
        };
        self.skip_blanks();
        let word = self.test_word(context)?;
        // Comparing with nothing is asking whether there is a value.
        let is_empty = |word: &Word<'_>| {
            word.pieces().iter().all(|piece| matches!(piece, Piece::Quoted(text) if text.is_empty()))
        };
        let role = if role == Role::Text && is_empty(&word) { Role::Alone } else { role };
        operands.push(Operand { word: first, role });
        operands.push(Operand { word, role });
        Ok(())
    }

    fn test_word(&mut self, context: WordContext) -> Read<Word<'t>> {
        if self.is_test_end() {
            return Err(self.refuse_here(ReadErrorKind::Syntax));
        }
        match self.word(context)? {
            Some(word) => Ok(word),
            None => Err(self.refuse_missing_command()),
        }
    }

    fn is_test_end(&mut self) -> bool {
        let mut ahead = self.text;
        ahead.eat(b']')
            && ahead.eat(b']')
            && matches!(ahead.peek(), 0 | b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b')' | b'<' | b'>')
    }

    fn eat_test_end(&mut self) -> bool {
        self.is_test_end() && self.text.eat(b']') && self.text.eat(b']')
    }
}

/// Returns the role of a unary operator's operand.
fn unary(name: &str) -> Option<Role> {
    let mut letters = name.strip_prefix('-')?.chars();
    match (letters.next()?, letters.next()) {
        ('v' | 'R', None) => Some(Role::Name),
        (letter, None) if "abcdefghknoprstuwxzGLNOS".contains(letter) => Some(Role::Alone),
        _ => None,
    }
}

/// Returns how the right side of a binary operator is parsed, and the role of both sides.
fn binary(name: &str) -> Option<(WordContext, Role)> {
    match name {
        "=" | "==" | "!=" => Some((WordContext::Pattern, Role::Text)),
        "=~" => Some((WordContext::Regex, Role::Text)),
        "-nt" | "-ot" | "-ef" => Some((WordContext::Argument, Role::Text)),
        "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" => Some((WordContext::Argument, Role::Number)),
        _ => None,
    }
}
