//! Numbers.

use super::{Lexer, Token, is_name_part};
use crate::EvalError;

/// Prefixes of numbers, with their base.
const PREFIXES: &[(&str, u32)] = &[("0x", 16), ("0X", 16), ("0o", 8), ("0O", 8), ("0b", 2), ("0B", 2)];

impl Lexer<'_> {
    pub(super) fn number(&mut self) -> Result<Token, EvalError> {
        let prefix = PREFIXES.iter().find(|(prefix, _)| self.rest().starts_with(prefix));
        let number = match prefix {
            Some(&(prefix, radix)) => {
                self.at += prefix.len();
                let digits = self.digits(radix)?;
                from_digits(&digits, radix).ok_or_else(|| self.wrong("a number needs digits"))?
            }
            None => self.decimal()?,
        };
        match self.peek() {
            Some('n') => Err(self
                .wrong("BigInt does not exist here")
                .fix("leave out the n: numbers are exact up to 2**53")),
            Some(c) if is_name_part(c) => Err(self.wrong("a name cannot begin right after a number")),
            _ => Ok(Token::Number(number)),
        }
    }

    fn decimal(&mut self) -> Result<f64, EvalError> {
        let mut text = self.digits(10)?;
        if text.len() > 1 && text.starts_with('0') {
            return Err(self.wrong("a number does not begin with 0").fix("for octal, write 0o…"));
        }
        if self.peek() == Some('.') {
            self.bump();
            text.push('.');
            text.push_str(&self.digits(10)?);
        }
        if let Some('e' | 'E') = self.peek() {
            self.bump();
            text.push('e');
            if let Some(sign @ ('+' | '-')) = self.peek() {
                self.bump();
                text.push(sign);
            }
            let digits = self.digits(10)?;
            if digits.is_empty() {
                return Err(self.wrong("the exponent needs digits"));
            }
            text.push_str(&digits);
        }
        text.parse().map_err(|_| self.wrong("this is no number"))
    }

    /// Digits with `_` between them.
    fn digits(&mut self, radix: u32) -> Result<String, EvalError> {
        let rest = self.rest();
        let len = rest.find(|c: char| !c.is_digit(radix) && c != '_').unwrap_or(rest.len());
        let text = rest.get(..len).unwrap_or_default();
        if text.starts_with('_') || text.ends_with('_') || text.contains("__") {
            return Err(self.wrong("_ stands between digits only"));
        }
        self.at += len;
        Ok(text.replace('_', ""))
    }
}

/// Returns the number nearest to digits of a base. Exact for as many digits as a number can represent.
pub(crate) fn from_digits(digits: &str, radix: u32) -> Option<f64> {
    if digits.is_empty() {
        return None;
    }
    if let Ok(number) = u64::from_str_radix(digits, radix) {
        return Some(number as f64);
    }
    digits
        .chars()
        .try_fold(0.0, |sum, digit| Some(sum * f64::from(radix) + f64::from(digit.to_digit(radix)?)))
}
