//! `${…}` with its operators.

use std::borrow::Cow;

use super::{expansions, is_name_start, is_parameter_start};
use crate::options::Shell;
use crate::parser::{Parser, Read};
use crate::read_error::ReadErrorKind;
use crate::tree::{Action, Arithmetics, Evaluated, ExpansionKind, ParameterResult};
use crate::word::{Builder, Quotes};

impl<'t> Parser<'t, '_, '_, '_> {
    /// Reads `${…}` from the brace on.
    pub(super) fn braced(&mut self, start: usize, quotes: Quotes) -> Read<ExpansionKind<'t>> {
        self.text.eat(b'{');
        self.deeper(|parser| {
            let mut inside = Builder::default();
            let read = parser.braced_into(start, quotes, &mut inside);
            let mut kind = parser.pieces_unless(read, &mut inside)?;
            if let ExpansionKind::Parameter { inside: held, .. } = &mut kind {
                *held = expansions(inside);
            }
            Ok(kind)
        })
    }

    /// Parses `${…}` from its name on; its content is added to `inside`.
    fn braced_into(
        &mut self,
        start: usize,
        quotes: Quotes,
        inside: &mut Builder<'t>,
    ) -> Read<ExpansionKind<'t>> {
        let counts = self.text.peek() == b'#';
        let (name, mut action) = self.braced_name(start, inside)?;
        let subscript = self.text.at;
        while self.text.peek() == b'[' {
            self.text.at += 1;
            if self.evaluated(inside, b'[', b']', start)? && action == Action::Value {
                action = Action::Indirect;
            }
        }
        let operator = self.text.at;
        if action == Action::Reference && self.lists_names(subscript) {
            action = Action::Value;
        }
        let result = self.result(counts && name != "#");
        action = self.operator(action, start)?;
        self.operand(start, quotes, inside)?;
        let evaluated = self.arithmetics(subscript, operator);
        Ok(ExpansionKind::Parameter { name, action, result, evaluated, inside: Vec::new() })
    }

    /// Whether `${!x…}` lists the keys of an array, or variable names with this prefix.
    fn lists_names(&mut self, subscript: usize) -> bool {
        let keys = matches!(self.text.slice(subscript, self.text.at), "[@]" | "[*]");
        keys && self.text.peek() == b'}'
            || matches!(self.text.peek(), b'*' | b'@') && self.text.peek_second() == b'}'
    }

    /// Returns the effect of the operator at this position on a value.
    fn result(&mut self, counts: bool) -> ParameterResult {
        match (self.text.peek(), self.text.peek_second()) {
            (b'}', _) if counts => ParameterResult::Count,
            (b'}', _) => ParameterResult::Whole,
            (b'=', _) | (b':', b'=') => ParameterResult::Assigned,
            (b'-' | b'+' | b'?', _) | (b':', b'-' | b'+' | b'?') => ParameterResult::Defaulted,
            // zsh(1): `${name::=word}` assigns always.
            (b':', b':') if self.shell() == Shell::Zsh => ParameterResult::Assigned,
            _ => ParameterResult::Changed,
        }
    }

    /// Returns the evaluated parts of the expansion that was just parsed.
    fn arithmetics(&self, subscript: usize, operator: usize) -> Evaluated<'t> {
        let end = self.text.at - 1;
        let takes_part = match self.text.slice(operator, end).as_bytes() {
            [b':', b'-' | b'=' | b'?' | b'+' | b':', ..] => false,
            // zsh(1), Modifiers: `${x:h}`.
            [b':', letter, ..] => self.shell() != Shell::Zsh || !letter.is_ascii_alphabetic(),
            _ => false,
        };
        (takes_part || subscript < operator).then(|| {
            let offset = if takes_part { self.cow(operator + 1, end) } else { Cow::Borrowed("") };
            Box::new(Arithmetics { subscript: self.cow(subscript, operator), offset })
        })
    }

    /// Parses the name in `${…}`, with its optional prefix.
    pub(super) fn braced_name(
        &mut self,
        start: usize,
        inside: &mut Builder<'t>,
    ) -> Read<(Cow<'t, str>, Action)> {
        if self.text.peek() == b'(' && self.shell() == Shell::Zsh {
            self.zsh_flags(start)?;
        }
        let mut action = Action::Value;
        let second = self.text.peek_second();
        match self.text.peek() {
            b'!' if second != b'}' => {
                self.text.at += 1;
                action = Action::Reference;
            }
            b'#' if is_parameter_start(second) && !matches!(second, b'#' | b'-' | b'?') => self.text.at += 1,
            b'#' if matches!(second, b'?' | b'-') => self.text.at += 1,
            _ => {}
        }
        match self.text.peek() {
            b'0'..=b'9' => Ok((self.digits(), action)),
            byte if is_name_start(byte) => Ok((self.name(), action)),
            b'$' if self.shell() == Shell::Zsh && self.text.peek_second() == b'{' => {
                self.dollar(Quotes::Double, inside)?;
                Ok((Cow::Borrowed(""), action))
            }
            byte if is_parameter_start(byte) => {
                self.text.at += 1;
                Ok((self.cow(self.text.at - 1, self.text.at), action))
            }
            _ if self.text.rest().is_empty() => Err(self.refuse(ReadErrorKind::UnterminatedExpansion, start)),
            _ => Err(self.refuse_here(ReadErrorKind::BadExpansion)),
        }
    }

    pub(super) fn digits(&mut self) -> Cow<'t, str> {
        let start = self.text.at;
        while self.text.peek().is_ascii_digit() {
            self.text.at += 1;
        }
        self.cow(start, self.text.at)
    }

    /// Parses the operator after the name, as far as it determines the action.
    pub(super) fn operator(&mut self, action: Action, start: usize) -> Read<Action> {
        match self.text.peek() {
            // dash takes this brace for an operator, and continues to the next one.
            b':' if self.text.peek_second() == b'}' && self.shell() == Shell::Sh => {
                Err(self.refuse_here(ReadErrorKind::BadExpansion))
            }
            b'@' => {
                let transform = self.text.peek_second();
                // An unknown transformation is an error in bash; treating it as the most dangerous one is safe.
                Ok(if transform.eq_ignore_ascii_case(&b'p') { Action::Prompt } else { action })
            }
            // The offset and the length of `${x:a:b}` are arithmetic.
            b':' => Ok(match self.text.peek_second() {
                b'-' | b'=' | b'?' | b'+' => action,
                _ if action == Action::Value && self.shell() != Shell::Zsh => Action::Indirect,
                _ => action,
            }),
            b'}' | b'-' | b'=' | b'?' | b'+' | b'#' | b'%' | b'/' | b'^' | b',' | b'*' | b'~' => Ok(action),
            _ if !self.text.rest().contains('}') => {
                Err(self.refuse(ReadErrorKind::UnterminatedExpansion, start))
            }
            // `"${row["a"].mean():.2f}"`, which was meant for another language, is an error in bash: nothing on this
            // line runs. Treating it as an indirection, and parsing its content, is safe.
            _ if self.shell() == Shell::Bash => Ok(Action::Reference),
            _ => Err(self.refuse_here(ReadErrorKind::BadExpansion)),
        }
    }

    /// Reads up to the `}` that ends an expansion.
    pub(super) fn operand(&mut self, start: usize, quotes: Quotes, inside: &mut Builder<'t>) -> Read<()> {
        loop {
            match self.text.peek() {
                b'}' => break,
                b'\'' if quotes == Quotes::Double && !self.means_nothing_within_single_quotes() => {
                    return Err(self.refuse_here(ReadErrorKind::QuoteInBraces));
                }
                b'\'' => self.skip_single_quotes()?,
                b'"' => {
                    let quoted = self.text.at;
                    self.double_quoted(inside)?;
                    // `"${x:-"{a,b}"}"`: bash takes the inner quotes for the end of the outer ones when it searches
                    // for braces.
                    if quotes == Quotes::Double && self.text.slice(quoted, self.text.at).contains('{') {
                        return Err(self.refuse(ReadErrorKind::QuoteInBraces, quoted));
                    }
                }
                b'$' => self.dollar(quotes, inside)?,
                b'`' => self.backticks(quotes, inside)?,
                b'<' | b'>' if quotes == Quotes::None && self.text.peek_second() == b'(' => {
                    self.process_substitution(inside)?;
                }
                // bash also replaces these within quotes in some of the operators.
                b'<' | b'>' if self.text.peek_second() == b'(' => {
                    return Err(self.refuse_here(ReadErrorKind::Dialect));
                }
                // `${x:-=(a)}` and `${x:-*(e:a:)}` run `a`.
                b'(' if self.shell() == Shell::Zsh && quotes == Quotes::None => {
                    return Err(self.refuse_here(ReadErrorKind::ZshSyntax));
                }
                b'{' if self.shell() == Shell::Zsh => return Err(self.refuse_here(ReadErrorKind::ZshSyntax)),
                b'\\' => {
                    self.text.at += 1;
                    self.text.skip_character();
                }
                0 if self.text.rest().is_empty() => {
                    return Err(self.refuse(ReadErrorKind::UnterminatedExpansion, start));
                }
                _ => self.text.skip_character(),
            }
        }
        self.text.at += 1;
        Ok(())
    }

    /// Whether the text up to the next single quote has the same meaning quoted and unquoted.
    fn means_nothing_within_single_quotes(&self) -> bool {
        let inside = self.text.rest().get(1..).unwrap_or_default().split_once('\'');
        inside.is_some_and(|(inside, _)| {
            !inside.contains(['}', '{', '$', '`', '"', '\\', '<', '>', '(', ')', '\n'])
        })
    }

    /// Reads the flags in `${(…)name}`, of which some evaluate the value.
    pub(super) fn zsh_flags(&mut self, start: usize) -> Read<()> {
        let flags =
            self.text.rest().find(')').map(|length| self.text.slice(self.text.at + 1, self.text.at + length));
        match flags {
            Some(flags) if are_harmless_flags(flags) => {
                self.text.at += flags.len() + 2;
                Ok(())
            }
            _ => Err(self.refuse(ReadErrorKind::ZshEvalFlag, start)),
        }
    }
}

/// Flags of `${(…)name}` that split, join, order, quote and count without evaluating anything.
fn are_harmless_flags(flags: &str) -> bool {
    let mut characters = flags.chars();
    while let Some(flag) = characters.next() {
        match flag {
            '@' | 'A' | 'C' | 'F' | 'L' | 'O' | 'Q' | 'U' | 'V' | 'W' | 'a' | 'c' | 'f' | 'i' | 'k' | 'n'
            | 'o' | 'q' | 't' | 'u' | 'v' | 'w' | 'z' | '0' | '-' | '+' => {}
            'j' | 's' => {
                let Some(delimiter) = characters.next() else { return false };
                if !characters
                    .by_ref()
                    .take_while(|c| *c != delimiter)
                    .all(|c| !matches!(c, '$' | '`' | '\\'))
                {
                    return false;
                }
            }
            _ => return false,
        }
    }
    true
}
