//! What follows a `$`, backticks, and process substitutions.

use std::borrow::Cow;

use super::ansi;
use super::options::Shell;
use super::parser::{Nested, Parser, Read};
use super::refusal::Obstacle;
use super::tree::{Action, Command, Expansion, ExpansionKind, List, Piece};
use super::word::{Builder, Quotes};

impl<'t> Parser<'t, '_, '_, '_> {
    /// Reads what begins with a `$`.
    pub(super) fn dollar(&mut self, quotes: Quotes, builder: &mut Builder<'t>) -> Read<()> {
        self.step();
        let start = self.text.at;
        self.text.at += 1;
        let kind = match self.text.peek() {
            b'(' => self.dollar_parenthesis(start)?,
            b'{' => self.braced(start, quotes)?,
            b'[' if self.shell() == Shell::Sh => return Err(self.refuse_here(Obstacle::Dialect)),
            b'[' => self.bracket_arithmetic(start)?,
            b'\'' if quotes == Quotes::None => return self.ansi_quoted(start, builder),
            b'"' if quotes == Quotes::None => return self.translated(start, builder),
            byte if is_parameter_start(byte) => self.plain_parameter(),
            b'=' | b'~' | b'^' | b'+' if self.shell() == Shell::Zsh => {
                return Err(self.refuse_here(Obstacle::ZshSyntax));
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
        ExpansionKind::Parameter { name, action: Action::Value, inside: Vec::new() }
    }

    /// Reads a name, over escaped line ends.
    pub(super) fn name(&mut self) -> Cow<'t, str> {
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
            return Err(self.refuse_here(Obstacle::Dialect));
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
                0 => return Err(self.refuse(Obstacle::UnterminatedQuote, start)),
                _ => self.text.at += 1,
            }
        }
        let decoded = match self.text.slice(inside, self.text.at) {
            plain if !plain.contains('\\') => self.cow(inside, self.text.at),
            escaped => Cow::Owned(
                ansi::decode(escaped, self.shell()).ok_or_else(|| self.refuse(Obstacle::AnsiQuote, start))?,
            ),
        };
        self.text.at += 1;
        builder.push(Piece::Quoted(decoded));
        Ok(())
    }

    /// Reads `$"…"`, which only bash knows. A translation may replace its text.
    fn translated(&mut self, start: usize, builder: &mut Builder<'t>) -> Read<()> {
        if self.shell() == Shell::Sh {
            return Err(self.refuse(Obstacle::Dialect, start));
        }
        if self.shell() == Shell::Zsh {
            builder.push(Piece::Bare(Cow::Borrowed("$")));
        }
        self.double_quoted(builder)
    }

    /// Reads `$(…)` or `$((…))` from the parenthesis on.
    fn dollar_parenthesis(&mut self, start: usize) -> Read<ExpansionKind<'t>> {
        if self.text.peek_second() == b'(' {
            self.text.eat(b'(');
            self.text.eat(b'(');
            return self.arithmetic(start);
        }
        self.text.at += 1;
        Ok(ExpansionKind::Command(self.substituted(start)?))
    }

    /// Reads commands up to the `)` that ends a substitution.
    fn substituted(&mut self, start: usize) -> Read<List<'t>> {
        let outer = std::mem::replace(&mut self.outer_pending, self.pending.len());
        let heredocs = self.state.heredocs.len();
        let list = self.deeper(Self::list)?;
        if !self.text.eat(b')') {
            let unterminated = self.text.is_at_end();
            let reason = if unterminated { Obstacle::UnterminatedSubstitution } else { Obstacle::Syntax };
            return Err(if unterminated { self.refuse(reason, start) } else { self.refuse_here(reason) });
        }
        self.no_heredoc_is_pending(self.outer_pending)?;
        self.outer_pending = outer;
        // bash 5.2 prints such a substitution again before it runs it, and loses separators doing so.
        if self.state.heredocs.len() > heredocs && !is_one_command(&list) {
            return Err(self.refuse(Obstacle::HeredocInSubstitution, start));
        }
        Ok(list)
    }

    /// Reads `<(…)` or `>(…)`.
    pub(super) fn process_substitution(&mut self, builder: &mut Builder<'t>) -> Read<()> {
        let start = self.text.at;
        self.text.at += 1;
        self.text.eat(b'(');
        let list = self.substituted(start)?;
        let span = self.text.span(start, self.text.at);
        builder.expansion(Expansion { span, quoted: false, kind: ExpansionKind::Process(list) });
        Ok(())
    }

    /// Reads `` `…` ``: its escapes are removed first, and what remains is a text of its own.
    pub(super) fn backticks(&mut self, quotes: Quotes, builder: &mut Builder<'t>) -> Read<()> {
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
                0 => return Err(self.refuse(Obstacle::UnterminatedSubstitution, start)),
                _ => self.text.at += 1,
            }
        }
        let end = self.text.at;
        self.text.at += 1;
        let span = self.text.span(start, self.text.at);
        let written = self.text.slice(inside, end);
        if quotes == Quotes::Double && written.contains('"') && written.contains('{') {
            return Err(self.refuse(Obstacle::QuoteInBackticks, start));
        }
        let list = match without_escapes(written, quotes) {
            Cow::Borrowed(_) => self.commands_in(Nested::Part(inside, end))?,
            Cow::Owned(text) => self.commands_in(Nested::Decoded(&text, span))?,
        };
        builder.expansion(Expansion {
            span,
            quoted: quotes == Quotes::Double,
            kind: ExpansionKind::Backtick(list),
        });
        Ok(())
    }

    /// Reads the rest of `$((…))` or `((…))`.
    pub(super) fn arithmetic(&mut self, start: usize) -> Read<ExpansionKind<'t>> {
        let mut inside = Builder::default();
        let names = self.evaluated(&mut inside, b'(', b')', start)?;
        if !self.text.eat(b')') {
            return Err(self.refuse(Obstacle::AmbiguousArithmetic, start));
        }
        Ok(ExpansionKind::Arithmetic { evaluates_names: names, inside: expansions(inside) })
    }

    /// Reads `$[…]`.
    fn bracket_arithmetic(&mut self, start: usize) -> Read<ExpansionKind<'t>> {
        self.text.eat(b'[');
        let mut inside = Builder::default();
        let names = self.evaluated(&mut inside, b'[', b']', start)?;
        Ok(ExpansionKind::Arithmetic { evaluates_names: names, inside: expansions(inside) })
    }

    /// Reads arithmetic up to the byte that closes it. Returns whether names occur in it: their values are
    /// evaluated in turn.
    pub(super) fn evaluated(
        &mut self,
        builder: &mut Builder<'t>,
        open: u8,
        close: u8,
        start: usize,
    ) -> Read<bool> {
        let mut inside = Builder::default();
        let mut depth = 0_usize;
        let mut names = false;
        loop {
            match self.text.peek() {
                byte if byte == close && depth == 0 => break,
                byte if byte == close => depth -= 1,
                byte if byte == open => depth += 1,
                b'$' | b'`' | b'"' => {
                    names = true;
                    self.evaluated_expansion(&mut inside)?;
                    continue;
                }
                // Where a subscript holds a parenthesis, bash may read no assignment at all.
                b'(' | b')' if close == b']' => return Err(self.refuse_here(Obstacle::AmbiguousArithmetic)),
                b'\'' if close == b']' => self.skip_plain_key()?,
                b'\'' => return Err(self.refuse_here(Obstacle::AmbiguousArithmetic)),
                b'\\' => self.text.at += 1,
                0 => return Err(self.refuse(Obstacle::UnterminatedExpansion, start)),
                byte => names |= is_name_start(byte),
            }
            self.text.skip_character();
        }
        self.text.at += 1;
        for expansion in expansions(inside) {
            builder.expansion(expansion);
        }
        Ok(names)
    }

    /// Reads an expansion inside arithmetic. Shells look for the end of a substitution there in different ways:
    /// only one plain pipeline on one line is read alike by all.
    fn evaluated_expansion(&mut self, builder: &mut Builder<'t>) -> Read<()> {
        let start = self.text.at;
        let mut inside = Builder::default();
        match self.text.peek() {
            b'"' => self.double_quoted(&mut inside)?,
            b'$' => self.dollar(Quotes::Double, &mut inside)?,
            _ => self.backticks(Quotes::Double, &mut inside)?,
        }
        let inside = expansions(inside);
        // bash also spells such a substitution again before it runs it, and loses the quotes of `$'…'` doing so.
        let written = self.text.slice(start, self.text.at);
        if written.contains('\n') || written.contains("$'") || !inside.iter().all(is_plain) {
            return Err(self.refuse(Obstacle::ArithmeticSubstitution, start));
        }
        for expansion in inside {
            builder.expansion(expansion);
        }
        Ok(())
    }

    /// Moves to the end of a quoted key of an array, which must hold nothing that could be evaluated.
    fn skip_plain_key(&mut self) -> Read<()> {
        let start = self.text.at;
        self.skip_single_quotes()?;
        self.text.at -= 1;
        if self.text.slice(start + 1, self.text.at).contains(['$', '`', '[', ']', '"', '\\', '}', '\n']) {
            return Err(self.refuse(Obstacle::QuoteInBraces, start));
        }
        Ok(())
    }

    /// Reads `${…}` from the brace on.
    fn braced(&mut self, start: usize, quotes: Quotes) -> Read<ExpansionKind<'t>> {
        self.text.eat(b'{');
        self.deeper(|parser| {
            let mut inside = Builder::default();
            let (name, mut action) = parser.braced_name(start, &mut inside)?;
            while parser.text.peek() == b'[' {
                parser.text.at += 1;
                if parser.evaluated(&mut inside, b'[', b']', start)? && action == Action::Value {
                    action = Action::Indirect;
                }
            }
            action = parser.operator(action, start)?;
            parser.operand(start, quotes, &mut inside)?;
            Ok(ExpansionKind::Parameter { name, action, inside: expansions(inside) })
        })
    }

    /// Reads the name in `${…}`, with what may stand before it.
    fn braced_name(&mut self, start: usize, inside: &mut Builder<'t>) -> Read<(Cow<'t, str>, Action)> {
        if self.text.peek() == b'(' && self.shell() == Shell::Zsh {
            self.zsh_flags(start)?;
        }
        let mut action = Action::Value;
        let second = self.text.peek_second();
        match self.text.peek() {
            b'!' if second != b'}' => {
                self.text.at += 1;
                action = Action::Indirect;
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
            _ if self.text.rest().is_empty() => Err(self.refuse(Obstacle::UnterminatedExpansion, start)),
            _ => Err(self.refuse_here(Obstacle::BadExpansion)),
        }
    }

    fn digits(&mut self) -> Cow<'t, str> {
        let start = self.text.at;
        while self.text.peek().is_ascii_digit() {
            self.text.at += 1;
        }
        self.cow(start, self.text.at)
    }

    /// Reads the operator after the name, as far as it decides what the expansion does.
    fn operator(&mut self, action: Action, start: usize) -> Read<Action> {
        match self.text.peek() {
            b'@' => {
                let transform = self.text.peek_second();
                // An unknown transformation is an error in bash; reading it as the worst one costs nothing.
                Ok(if transform.eq_ignore_ascii_case(&b'p') { Action::Prompt } else { action })
            }
            // The offset and the length of `${x:a:b}` are arithmetic.
            b':' => Ok(match self.text.peek_second() {
                b'-' | b'=' | b'?' | b'+' => action,
                _ if action == Action::Value && self.shell() != Shell::Zsh => Action::Indirect,
                _ => action,
            }),
            b'}' | b'-' | b'=' | b'?' | b'+' | b'#' | b'%' | b'/' | b'^' | b',' | b'*' | b'~' => Ok(action),
            _ if !self.text.rest().contains('}') => Err(self.refuse(Obstacle::UnterminatedExpansion, start)),
            _ => Err(self.refuse_here(Obstacle::BadExpansion)),
        }
    }

    /// Reads up to the `}` that ends an expansion.
    fn operand(&mut self, start: usize, quotes: Quotes, inside: &mut Builder<'t>) -> Read<()> {
        loop {
            match self.text.peek() {
                b'}' => break,
                b'\'' if quotes == Quotes::Double => return Err(self.refuse_here(Obstacle::QuoteInBraces)),
                b'\'' => self.skip_single_quotes()?,
                b'"' => self.double_quoted(inside)?,
                b'$' => self.dollar(quotes, inside)?,
                b'`' => self.backticks(quotes, inside)?,
                b'<' | b'>' if quotes == Quotes::None && self.text.peek_second() == b'(' => {
                    self.process_substitution(inside)?;
                }
                b'{' if self.shell() == Shell::Zsh => return Err(self.refuse_here(Obstacle::ZshSyntax)),
                b'\\' => {
                    self.text.at += 1;
                    self.text.skip_character();
                }
                0 if self.text.rest().is_empty() => {
                    return Err(self.refuse(Obstacle::UnterminatedExpansion, start));
                }
                _ => self.text.skip_character(),
            }
        }
        self.text.at += 1;
        Ok(())
    }

    /// Reads the flags in `${(…)name}`, of which some evaluate the value.
    fn zsh_flags(&mut self, start: usize) -> Read<()> {
        let flags =
            self.text.rest().find(')').map(|length| self.text.slice(self.text.at + 1, self.text.at + length));
        match flags {
            Some(flags) if are_harmless_flags(flags) => {
                self.text.at += flags.len() + 2;
                Ok(())
            }
            _ => Err(self.refuse(Obstacle::ZshEvalFlag, start)),
        }
    }

    /// Reads `( … )` with balanced parentheses, and returns the expansions in it.
    pub(super) fn parenthesised(&mut self) -> Read<Vec<Expansion<'t>>> {
        let start = self.text.at;
        let mut inside = Builder::default();
        let mut depth = 0_usize;
        loop {
            match self.text.peek() {
                b'(' => depth += 1,
                b')' if depth == 1 => break,
                b')' => depth -= 1,
                b'\'' => {
                    self.skip_single_quotes()?;
                    continue;
                }
                b'"' => {
                    self.double_quoted(&mut inside)?;
                    continue;
                }
                b'$' => {
                    self.dollar(Quotes::None, &mut inside)?;
                    continue;
                }
                b'`' => {
                    self.backticks(Quotes::None, &mut inside)?;
                    continue;
                }
                b'<' | b'>' if self.text.peek_second() == b'(' => {
                    self.process_substitution(&mut inside)?;
                    continue;
                }
                b'\n' => return Err(self.refuse_here(Obstacle::Syntax)),
                b'\\' => self.text.at += 1,
                0 if self.text.rest().is_empty() => {
                    return Err(self.refuse(Obstacle::UnterminatedCommand, start));
                }
                _ => {}
            }
            self.text.skip_character();
        }
        self.text.at += 1;
        Ok(expansions(inside))
    }
}

/// Returns the expansions among the pieces, dropping the text between them.
pub(super) fn expansions(builder: Builder<'_>) -> Vec<Expansion<'_>> {
    let pieces = builder.into_pieces().into_iter();
    let expansion = |piece| match piece {
        Piece::Expansion(expansion) => Some(*expansion),
        Piece::Bare(_) | Piece::Quoted(_) => None,
    };
    pieces.filter_map(expansion).collect()
}

/// Returns whether a list is a single simple command.
pub(super) fn is_one_command(list: &List<'_>) -> bool {
    match list.items.as_slice() {
        [item] => matches!(item.pipeline.commands.as_slice(), [Command::Simple(_)]),
        items => items.is_empty(),
    }
}

/// Returns whether a list is a single pipeline of simple commands.
fn is_one_pipeline(list: &List<'_>) -> bool {
    match list.items.as_slice() {
        [item] => item.pipeline.commands.iter().all(|command| matches!(command, Command::Simple(_))),
        items => items.is_empty(),
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

/// Flags of `${(…)name}` that split, join, order, quote and count, but evaluate nothing.
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
