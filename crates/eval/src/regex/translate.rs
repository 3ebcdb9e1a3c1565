//! From the notation of JavaScript to that of the engine.

use std::iter::Peekable;
use std::str::Chars;

use crate::{ErrorKind, EvalError};

const DIGIT: &str = "0-9";
const WORD: &str = "0-9A-Za-z_";
const SPACE: &str =
    r"\t\n\x0B\x0C\r \u{A0}\u{1680}\u{2000}-\u{200A}\u{2028}\u{2029}\u{202F}\u{205F}\u{3000}\u{FEFF}";
const LINE_ENDS: &str = r"\n\r\u{2028}\u{2029}";
/// A class that matches no character.
const NEVER: &str = r"[^\s\S]";

/// A class that a letter after a backslash stands for, and whether it is what is not in it.
const CLASSES: &[(char, &str, bool)] = &[
    ('d', DIGIT, false),
    ('D', DIGIT, true),
    ('w', WORD, false),
    ('W', WORD, true),
    ('s', SPACE, false),
    ('S', SPACE, true),
];

/// What a regular expression may not hold, since it would need backtracking.
const REFUSED: &[(&str, &str)] = &[
    ("(?=", "looking ahead"),
    ("(?!", "looking ahead"),
    ("(?<=", "looking behind"),
    ("(?<!", "looking behind"),
];

/// Translates an expression.
pub(super) fn translate(
    source: &str,
    is_unicode: bool,
    dot_is_all: bool,
    is_multi_line: bool,
) -> Result<String, EvalError> {
    let mut translator = Translator {
        rest: source.chars().peekable(),
        out: String::with_capacity(source.len() + 16),
        is_unicode,
        dot_is_all,
        is_multi_line,
        can_repeat: false,
    };
    translator.run()?;
    Ok(translator.out)
}

struct Translator<'s> {
    rest: Peekable<Chars<'s>>,
    out: String,
    is_unicode: bool,
    dot_is_all: bool,
    is_multi_line: bool,
    /// Whether something stands before that may be repeated.
    can_repeat: bool,
}

impl Translator<'_> {
    fn run(&mut self) -> Result<(), EvalError> {
        while let Some(c) = self.rest.next() {
            let could_repeat = std::mem::replace(&mut self.can_repeat, !matches!(c, '^' | '|' | '('));
            match c {
                '*' | '+' | '?' | '{' if self.is_quantifier(c) => {
                    if !could_repeat {
                        return Err(wrong("there is nothing to repeat"));
                    }
                    self.quantifier(c);
                }
                '\\' => self.escape(false)?,
                '[' => self.class()?,
                '(' => self.group()?,
                '}' | ']' => self.literal(c),
                '.' if self.dot_is_all => self.out.push_str("(?s:.)"),
                '.' => self.out.push_str(&format!("[^{LINE_ENDS}]")),
                '^' if !self.is_multi_line => self.out.push_str(r"\A"),
                '$' if !self.is_multi_line => self.out.push_str(r"\z"),
                '^' | '$' | '|' | ')' => self.out.push(c),
                c => self.literal(c),
            }
        }
        Ok(())
    }

    fn rest(&self) -> String {
        self.rest.clone().take(8).collect()
    }

    fn literal(&mut self, c: char) {
        // Whatever is not a letter may be escaped; letters that are would mean something.
        if c.is_ascii() && !c.is_ascii_alphanumeric() && !c.is_ascii_control() && c != ' ' && c != '_' {
            self.out.push('\\');
        }
        self.out.push(c);
    }

    fn group(&mut self) -> Result<(), EvalError> {
        let head = format!("({}", self.rest());
        if let Some((_, what)) = REFUSED.iter().find(|(start, _)| head.starts_with(start)) {
            return Err(refused(what));
        }
        self.out.push('(');
        if head.starts_with("(?:") {
            self.rest.by_ref().take(2).for_each(drop);
            self.out.push_str("?:");
        } else if head.starts_with("(?<") {
            self.rest.by_ref().take(2).for_each(drop);
            self.out.push_str("?<");
            self.name()?;
        } else if head.starts_with("(?") {
            return Err(wrong("a group begins with ( or (?: or (?<name>"));
        }
        Ok(())
    }

    fn name(&mut self) -> Result<(), EvalError> {
        for c in self.rest.by_ref() {
            self.out.push(c);
            match c {
                '>' => return Ok(()),
                c if c.is_alphanumeric() || c == '_' => {}
                _ => break,
            }
        }
        Err(wrong("the name of a group is made of letters, digits and _"))
    }

    /// Whether a character begins a repetition; a brace may stand for itself.
    fn is_quantifier(&self, c: char) -> bool {
        c != '{' || self.bounds().is_some()
    }

    /// What stands in the braces of a repetition.
    fn bounds(&self) -> Option<String> {
        let inside: String = self.rest.clone().take_while(|&c| c != '}').take(24).collect();
        let is_closed = self.rest.clone().nth(inside.chars().count()) == Some('}');
        let (least, most) = inside.split_once(',').unwrap_or((&inside, "0"));
        let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let fits = is_closed && !least.is_empty() && are_digits(least) && are_digits(most);
        fits.then_some(inside)
    }

    /// Copies a repetition, and the `?` that makes it reluctant.
    fn quantifier(&mut self, c: char) {
        self.out.push(c);
        if c == '{'
            && let Some(inside) = self.bounds()
        {
            self.out.push_str(&inside);
            self.out.push('}');
            self.rest.by_ref().take(inside.chars().count() + 1).for_each(drop);
        }
        if self.rest.next_if_eq(&'?').is_some() {
            self.out.push('?');
        }
        self.can_repeat = false;
    }

    fn class(&mut self) -> Result<(), EvalError> {
        let is_negated = self.rest.next_if_eq(&'^').is_some();
        if self.rest.next_if_eq(&']').is_some() {
            self.out.push_str(if is_negated { r"(?s:.)" } else { NEVER });
            return Ok(());
        }
        self.out.push_str(if is_negated { "[^" } else { "[" });
        let mut after_class = false;
        loop {
            let Some(c) = self.rest.next() else { return Err(wrong("a [ is never closed")) };
            let was_class = std::mem::take(&mut after_class);
            match c {
                ']' => break,
                '\\' => {
                    after_class = self.rest.peek().is_some_and(|c| CLASSES.iter().any(|row| row.0 == *c));
                    self.escape(true)?;
                }
                '-' => {
                    let next = self.rest();
                    let class_follows = next.strip_prefix('\\').and_then(|rest| rest.chars().next());
                    let class_follows = class_follows.is_some_and(|c| CLASSES.iter().any(|row| row.0 == c));
                    let stands_alone =
                        self.out.ends_with('[') || self.out.ends_with("[^") || next.starts_with(']');
                    if was_class || class_follows || stands_alone {
                        self.out.push('\\');
                    }
                    self.out.push('-');
                }
                c => self.literal(c),
            }
        }
        self.out.push(']');
        Ok(())
    }

    fn escape(&mut self, in_class: bool) -> Result<(), EvalError> {
        let Some(c) = self.rest.next() else { return Err(wrong("nothing follows the backslash")) };
        if let Some((_, members, is_negated)) = CLASSES.iter().find(|(name, ..)| *name == c) {
            let negation = if *is_negated { "^" } else { "" };
            self.out.push_str(&format!("[{negation}{members}]"));
            return Ok(());
        }
        match c {
            'b' if in_class => self.out.push_str(r"\x08"),
            'b' => self.out.push_str(r"(?-u:\b)"),
            'B' if !in_class => self.out.push_str(r"(?-u:\B)"),
            'n' | 't' | 'r' | 'f' | 'v' => self.out.extend(['\\', c]),
            '0' => self.code(0),
            '1'..='9' | 'k' => return Err(refused("referring back to a group")),
            'c' => {
                let letter = self.rest.next().filter(char::is_ascii_alphabetic);
                let Some(letter) = letter else { return Err(wrong("a letter follows \\c")) };
                self.code(u32::from(letter.to_ascii_uppercase()) - 64);
            }
            'x' => {
                let code = self.hex(2)?;
                self.code(code);
            }
            'u' => self.unicode()?,
            'p' | 'P' if self.is_unicode => self.property(c)?,
            c if c.is_ascii_alphanumeric() && self.is_unicode => {
                return Err(wrong("there is no such escape"));
            }
            c => self.literal(c),
        }
        Ok(())
    }

    fn code(&mut self, code: u32) {
        match char::from_u32(code) {
            Some(_) => self.out.push_str(&format!("\\u{{{code:X}}}")),
            // Half a character is in no text.
            None => self.out.push_str(NEVER),
        }
    }

    fn hex(&mut self, digits: usize) -> Result<u32, EvalError> {
        let text: String = self.rest.by_ref().take(digits).collect();
        let is_hex = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        u32::from_str_radix(&text, 16)
            .ok()
            .filter(|_| is_hex)
            .ok_or_else(|| wrong("an escape lacks hexadecimal digits"))
    }

    fn unicode(&mut self) -> Result<(), EvalError> {
        if self.rest.next_if_eq(&'{').is_some() {
            let digits: String = self.rest.by_ref().take_while(|&c| c != '}').collect();
            let code = u32::from_str_radix(&digits, 16).ok().filter(|code| *code <= 0x10_ffff);
            let Some(code) = code else { return Err(wrong("\\u{…} holds no character's number")) };
            self.code(code);
            return Ok(());
        }
        let first = self.hex(4)?;
        let mut ahead = self.rest.clone();
        if (0xd800..0xdc00).contains(&first) && ahead.next() == Some('\\') && ahead.next() == Some('u') {
            self.rest = ahead;
            let second = self.hex(4)?;
            self.code(0x1_0000 + ((first - 0xd800) << 10) + second.saturating_sub(0xdc00));
            return Ok(());
        }
        self.code(first);
        Ok(())
    }

    fn property(&mut self, c: char) -> Result<(), EvalError> {
        if self.rest.next_if_eq(&'{').is_none() {
            return Err(wrong("a property is written \\p{…}"));
        }
        let name: String = self.rest.by_ref().take_while(|&c| c != '}').take(64).collect();
        if !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '=') {
            return Err(wrong("a property is written \\p{…}"));
        }
        self.out.push_str(&format!("\\{c}{{{name}}}"));
        Ok(())
    }
}

fn wrong(message: &str) -> EvalError {
    EvalError::new(ErrorKind::Syntax, format!("the regular expression is wrong: {message}"))
}

fn refused(what: &str) -> EvalError {
    EvalError::new(
        ErrorKind::Forbidden,
        format!("{what} does not exist in regular expressions here: it takes too long"),
    )
    .fix("use a plainer expression, and look at the rest with includes, startsWith or slice")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notation_is_translated() {
        for (source, meant) in [
            (r"a\d", r"a[0-9]"),
            (r"[\w-.]", r"[[0-9A-Za-z_]\-\.]"),
            (r"[a-z&&b]", r"[a-z\&\&b]"),
            (r"[[]", r"[\[]"),
            (r"^a$", r"\Aa\z"),
            (r"x{2}{", r"x{2}\{"),
            (r"a\/b", r"a\/b"),
            (r"\u0041", r"\u{41}"),
            (r"[^]", r"(?s:.)"),
        ] {
            assert_eq!(translate(source, false, false, false).unwrap(), meant, "{source}");
        }
    }

    #[test]
    fn what_backtracks_is_refused() {
        for source in ["(?=a)", "(?!a)", "(?<=a)", "(?<!a)", r"(a)\1", r"(?<n>a)\k<n>"] {
            assert_eq!(
                translate(source, false, false, false).unwrap_err().kind,
                ErrorKind::Forbidden,
                "{source}"
            );
        }
    }
}
