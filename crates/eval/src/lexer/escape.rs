//! Quoted strings, and escapes in them.

use super::{Lexer, is_line_end};
use crate::EvalError;
use crate::text::{char_of, is_reserved};

impl Lexer<'_> {
    /// The text up to the closing quote.
    pub(super) fn quoted(&mut self, quote: char) -> Result<String, EvalError> {
        let mut text = String::new();
        loop {
            match self.bump() {
                None | Some('\n' | '\r') => {
                    return Err(self.wrong("the text never ends").fix(format!("close it with {quote}")));
                }
                Some(c) if c == quote => return Ok(text),
                Some('\\') => self.escape(&mut text)?,
                Some(c) => text.push(c),
            }
        }
    }

    /// Reads the escape behind a backslash.
    pub(super) fn escape(&mut self, text: &mut String) -> Result<(), EvalError> {
        let Some(c) = self.bump() else { return Err(self.wrong("nothing follows the backslash")) };
        let meant = match c {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'v' => '\u{b}',
            '0' if !self.peek().is_some_and(|c| c.is_ascii_digit()) => '\0',
            '0'..='9' => return Err(self.wrong("octal escapes do not exist here").fix("write \\x..")),
            'x' => return self.hex(2).map(|code| push_unit(text, code)),
            'u' => return self.unicode(text),
            '\r' => {
                if self.peek() == Some('\n') {
                    self.bump();
                }
                return Ok(());
            }
            c if is_line_end(c) => return Ok(()),
            c => c,
        };
        text.push(meant);
        Ok(())
    }

    pub(super) fn unicode(&mut self, text: &mut String) -> Result<(), EvalError> {
        if self.peek() == Some('{') {
            self.bump();
            return self.braced(text);
        }
        let first = self.hex(4)?;
        // Adjacent surrogates become a character when the text is made.
        push_unit(text, first);
        Ok(())
    }

    fn braced(&mut self, text: &mut String) -> Result<(), EvalError> {
        let rest = self.rest();
        let digits = rest.split_once('}').map(|(digits, _)| digits);
        let code = digits.filter(|digits| digits.len() <= 8).and_then(|digits| {
            let code = u32::from_str_radix(digits, 16).ok()?;
            (code <= 0x10_ffff).then_some((code, digits.len()))
        });
        let Some((code, len)) = code else { return Err(self.wrong("\\u{…} holds no character's number")) };
        if is_reserved(code) {
            return Err(self.wrong("the last private characters of Unicode do not exist here"));
        }
        self.at += len + 1;
        push_unit(text, code);
        Ok(())
    }

    fn hex(&mut self, digits: usize) -> Result<u32, EvalError> {
        let text = self.rest().get(..digits).filter(|text| text.bytes().all(|b| b.is_ascii_hexdigit()));
        let code = text.and_then(|text| u32::from_str_radix(text, 16).ok());
        let Some(code) = code else {
            return Err(self.wrong(format!("the escape needs {digits} hexadecimal digits")));
        };
        self.at += digits;
        Ok(code)
    }
}

/// A surrogate is kept until its other half follows.
fn push_unit(text: &mut String, code: u32) {
    text.push(char_of(code));
}
