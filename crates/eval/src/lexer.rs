//! Lexer, one token at a time: only the parser knows whether a `/` divides or begins a regular expression.

mod escape;
mod number;

pub(crate) use number::from_digits;

use std::collections::HashMap;
use std::rc::Rc;

use crate::ast::Symbol;
use crate::text::Text;
use crate::{ErrorKind, EvalError, SourceSpan};

/// A token: the smallest piece of source with a meaning.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Token {
    End,
    /// A name or a word of the language.
    Word(Symbol),
    Number(f64),
    Text(Text),
    /// The backtick that begins a template.
    Template,
    Mark(&'static str),
}

/// The longest first: the first that fits is it.
const MARKS: &[&str] = &[
    ">>>=", "...", "===", "!==", "**=", "<<=", ">>=", ">>>", "&&=", "||=", "??=", "=>", "==", "!=", "<=",
    ">=", "&&", "||", "??", "?.", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<", ">>",
    "**", "{", "}", "(", ")", "[", "]", ";", ",", "<", ">", "+", "-", "*", "/", "%", "&", "|", "^", "!", "~",
    "?", ":", "=", ".",
];

/// The tokens of a source.
#[derive(Debug)]
pub(crate) struct Lexer<'s> {
    source: &'s str,
    at: usize,
    symbols: HashMap<Rc<str>, Symbol>,
    names: Vec<Rc<str>>,
    /// Whether a line ended before the last token.
    pub(crate) after_line: bool,
    /// Whether the last token is a word with an escape in it: such a word is a name, never a keyword.
    pub(crate) is_escaped: bool,
}

impl<'s> Lexer<'s> {
    pub(crate) fn new(source: &'s str) -> Self {
        Self {
            source,
            at: 0,
            symbols: HashMap::new(),
            names: Vec::new(),
            after_line: false,
            is_escaped: false,
        }
    }

    pub(crate) fn name(&self, symbol: Symbol) -> &str {
        self.names.get(symbol.0 as usize).map_or("", |name| name)
    }

    pub(crate) fn shared_name(&self, symbol: Symbol) -> Rc<str> {
        self.names.get(symbol.0 as usize).map_or_else(|| "".into(), Rc::clone)
    }

    pub(crate) fn source(&self) -> &'s str {
        self.source
    }

    pub(crate) fn into_names(self) -> Vec<Rc<str>> {
        self.names
    }

    fn rest(&self) -> &'s str {
        self.source.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    /// Start of the next token, before any white space.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// Returns the next token, and its position.
    pub(crate) fn next(&mut self) -> Result<(Token, SourceSpan), EvalError> {
        self.skip_space()?;
        self.is_escaped = false;
        let start = self.at;
        let token = self.token()?;
        Ok((token, SourceSpan { start, end: self.at }))
    }

    fn token(&mut self) -> Result<Token, EvalError> {
        let Some(c) = self.peek() else { return Ok(Token::End) };
        if is_name_start(c) || c == '\\' {
            return self.word().map(Token::Word);
        }
        let digit_follows = self.rest().as_bytes().get(1).is_some_and(u8::is_ascii_digit);
        if c.is_ascii_digit() || (c == '.' && digit_follows) {
            return self.number();
        }
        if c == '"' || c == '\'' {
            self.bump();
            return self.quoted(c).map(|text| Token::Text(Text::new(text)));
        }
        if c == '`' {
            self.bump();
            return Ok(Token::Template);
        }
        self.mark(c)
    }

    fn mark(&mut self, c: char) -> Result<Token, EvalError> {
        let rest = self.rest();
        // `a?.5:b` is a choice, not a chain.
        let is_choice = rest.starts_with("?.") && rest.as_bytes().get(2).is_some_and(u8::is_ascii_digit);
        let found = MARKS.iter().find(|mark| rest.starts_with(**mark) && !(is_choice && **mark == "?."));
        let Some(mark) = found else { return Err(self.unknown(c)) };
        self.at += mark.len();
        Ok(Token::Mark(mark))
    }

    fn unknown(&self, c: char) -> EvalError {
        let span = SourceSpan { start: self.at, end: self.at + c.len_utf8() };
        match c {
            '#' => self.wrong("private members do not exist here: there are no classes"),
            '@' => self.wrong("decorators do not exist here"),
            c => self.wrong(format!("the character {c:?} means nothing here")),
        }
        .at(span)
    }

    /// A syntax error where the lexer is.
    fn wrong(&self, message: impl Into<String>) -> EvalError {
        EvalError::new(ErrorKind::Syntax, message).at(SourceSpan { start: self.at, end: self.at })
    }

    fn word(&mut self) -> Result<Symbol, EvalError> {
        let rest = self.rest();
        let len = rest.find(|c| !is_name_part(c)).unwrap_or(rest.len());
        let name = rest.get(..len).unwrap_or_default();
        self.at += len;
        if self.peek() == Some('\\') { self.escaped_word(name) } else { Ok(self.symbol(name)) }
    }

    /// Reads the rest of a word with escapes, each of which must be valid at its position.
    fn escaped_word(&mut self, begun: &str) -> Result<Symbol, EvalError> {
        let mut name = begun.to_owned();
        while let Some(c) = self.peek() {
            let c = if c == '\\' {
                self.bump();
                if self.bump() != Some('u') {
                    return Err(self.wrong("an escape in a name is \\u and a number"));
                }
                let mut text = String::new();
                self.unicode(&mut text)?;
                let c = text.chars().next().unwrap_or_default();
                if !(if name.is_empty() { is_name_start(c) } else { is_name_part(c) }) {
                    return Err(self.wrong("an escape in a name must encode a letter or a digit"));
                }
                c
            } else if is_name_part(c) {
                self.bump();
                c
            } else {
                break;
            };
            name.push(c);
        }
        self.is_escaped = true;
        Ok(self.symbol(&name))
    }

    fn symbol(&mut self, name: &str) -> Symbol {
        if let Some(symbol) = self.symbols.get(name) {
            return *symbol;
        }
        let symbol = Symbol(u32::try_from(self.names.len()).unwrap_or(u32::MAX));
        let name: Rc<str> = name.into();
        self.names.push(Rc::clone(&name));
        self.symbols.insert(name, symbol);
        symbol
    }

    /// Whether one of the directives that begin at a position has this text, without escapes.
    pub(crate) fn directives_say(&self, first: SourceSpan, wanted: &str) -> bool {
        let mut ahead = Lexer::new(self.source);
        ahead.at = first.start;
        loop {
            let Ok((Token::Text(_), span)) = ahead.next() else { return false };
            let written = self.source.get(span.start + 1..span.end.saturating_sub(1)).unwrap_or_default();
            let end = ahead.at;
            let ends = match ahead.next() {
                Ok((Token::Mark(";" | "}") | Token::End, _)) => true,
                Ok((Token::Text(_) | Token::Word(_) | Token::Number(_), _)) => ahead.after_line,
                Ok((Token::Mark("{" | "!" | "~" | "++" | "--"), _)) => ahead.after_line,
                _ => false,
            };
            if !ends {
                return false;
            }
            if written == wanted {
                return true;
            }
            ahead.at = end;
            ahead.skip_semicolon();
        }
    }

    fn skip_semicolon(&mut self) {
        let before = self.at;
        if !matches!(self.next(), Ok((Token::Mark(";"), _))) {
            self.at = before;
        }
    }

    /// Whether a word follows on the same line.
    pub(crate) fn follows_on_line(&self, word: &str) -> bool {
        let mut ahead = Lexer::new(self.source);
        ahead.at = self.at;
        matches!(ahead.next(), Ok((Token::Word(symbol), _)) if ahead.name(symbol) == word)
            && !ahead.after_line
    }

    fn skip_space(&mut self) -> Result<(), EvalError> {
        self.after_line = false;
        loop {
            let rest = self.rest();
            if rest.starts_with("//") {
                self.at += rest.find(is_line_end).unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                let Some(len) = rest.get(2..).and_then(|rest| rest.find("*/")).map(|len| len + 2) else {
                    return Err(self.wrong("the comment never ends").fix("close it with */"));
                };
                self.after_line |= rest.get(..len).is_some_and(|text| text.contains(is_line_end));
                self.at += len + 2;
            } else {
                match self.peek() {
                    Some(c) if is_line_end(c) => self.after_line = true,
                    Some(c) if c.is_whitespace() || c == '\u{feff}' => {}
                    _ => return Ok(()),
                }
                self.bump();
            }
        }
    }

    /// The body and the flags of a regular expression, after its first `/` at `start`.
    pub(crate) fn regex(&mut self, start: usize) -> Result<(Rc<str>, Rc<str>), EvalError> {
        self.at = start + 1;
        let mut in_class = false;
        let body_start = self.at;
        loop {
            match self.bump() {
                None => return Err(self.wrong("the regular expression never ends")),
                Some(c) if is_line_end(c) => return Err(self.wrong("the regular expression never ends")),
                Some('\\') => {
                    if self.bump().is_none_or(is_line_end) {
                        return Err(self.wrong("the regular expression never ends"));
                    }
                }
                Some('[') => in_class = true,
                Some(']') => in_class = false,
                Some('/') if !in_class => break,
                Some(_) => {}
            }
        }
        let body = self.source.get(body_start..self.at - 1).unwrap_or_default();
        let rest = self.rest();
        let len = rest.find(|c| !is_name_part(c)).unwrap_or(rest.len());
        let flags = rest.get(..len).unwrap_or_default();
        self.at += len;
        Ok((body.into(), flags.into()))
    }

    /// The next text of a template, and whether an expression follows it.
    pub(crate) fn template_text(&mut self) -> Result<(Text, bool), EvalError> {
        let mut text = String::new();
        loop {
            match self.bump() {
                None => return Err(self.wrong("the template never ends").fix("close it with `")),
                Some('`') => return Ok((Text::new(text), false)),
                Some('$') if self.peek() == Some('{') => {
                    self.bump();
                    return Ok((Text::new(text), true));
                }
                Some('\\') => self.escape(&mut text)?,
                Some('\r') => {
                    if self.peek() == Some('\n') {
                        self.bump();
                    }
                    text.push('\n');
                }
                Some(c) => text.push(c),
            }
        }
    }
}

fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

pub(crate) fn is_name_start(c: char) -> bool {
    c == '_' || c == '$' || unicode_ident::is_xid_start(c) || matches!(c, '\u{309b}' | '\u{309c}')
}

pub(crate) fn is_name_part(c: char) -> bool {
    c == '$'
        || unicode_ident::is_xid_continue(c)
        || matches!(c, '\u{200c}' | '\u{200d}' | '\u{309b}' | '\u{309c}')
}
