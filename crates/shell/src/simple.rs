//! Simple commands: assignments, words and redirections.

use std::borrow::Cow;

use crate::expansion::{expansions, is_name};
use crate::inline_vec::InlineVec;
use crate::options::Shell;
use crate::parser::{Parser, Read};
use crate::read_error::ReadErrorKind;
use crate::tree::{
    Assigned, AssignedValue, Command, Compound, Kind, Marks, Piece, RedirectOperator, Redirected, Simple,
    Word,
};
use crate::word::{Builder, WordContext};

impl<'t> Parser<'t, '_, '_, '_> {
    /// Reads a simple command, or a function that is defined in the form `name() …`.
    pub(crate) fn simple(&mut self) -> Read<Command<'t>> {
        let start = self.text.at;
        let mut command = Simple {
            span: self.text.span(start, start),
            assignments: Vec::new(),
            words: InlineVec::None,
            redirects: Vec::new(),
        };
        let end = match self.simple_parts(&mut command) {
            Ok(end) => end,
            Err(error) => {
                self.keep_simple(command);
                return Err(error);
            }
        };
        if command.assignments.is_empty() && command.words.is_empty() && command.redirects.is_empty() {
            return Err(self.refuse_missing_command());
        }
        // Only after the first word does the parenthesis distinguish `f() …` from a command.
        if self.text.peek() == b'(' {
            return self.function_after_name(command);
        }
        command.span = self.text.span(start, end);
        Ok(Command::Simple(command))
    }

    /// Parses the parts of a simple command, and returns its end.
    fn simple_parts(&mut self, command: &mut Simple<'t>) -> Read<usize> {
        let mut end = self.text.at;
        let mut may_assign = true;
        while self.simple_part(command, may_assign)? {
            end = self.text.at;
            may_assign &= command.words.last().is_none_or(|word| self.is_modifier(word));
        }
        Ok(end)
    }

    /// Reads one assignment, word or redirection. Returns whether there was one.
    fn simple_part(&mut self, command: &mut Simple<'t>, may_assign: bool) -> Read<bool> {
        self.skip_blanks();
        if may_begin_redirect(self.text.peek())
            && let Some(redirect) = self.redirect()?
        {
            command.redirects.push(redirect);
            return Ok(true);
        }
        if may_assign && let Some(after_name) = self.assigned_name()? {
            command.assignments.push(self.assignment(after_name)?);
            return Ok(true);
        }
        // `{ echo }` is a whole group for zsh; bash would print the brace and go on.
        if self.shell() == Shell::Zsh && self.is_bare_close_brace() {
            return Ok(false);
        }
        let start = self.text.at;
        let Some(word) = self.word(WordContext::Argument)? else { return Ok(false) };
        if self.shell() == Shell::Zsh {
            self.refuse_only_zsh(&word, may_assign, start)?;
        }
        if self.shell() == Shell::Zsh && may_assign && self.text.slice(start, start + 1) == "{" {
            return Err(self.refuse(ReadErrorKind::ZshSyntax, start));
        }
        // Behind this word, busybox takes `||` and `&&` for words too.
        if self.shell() == Shell::Sh && word.bare().is_some_and(|text| text == "[[") {
            return Err(self.refuse(ReadErrorKind::Dialect, start));
        }
        // `declare x=(a b)` and similar builtins accept an array where other commands take a word.
        let declares = command.words.first().and_then(Word::bare).is_some_and(|name| is_declaration(name));
        command.words.push(word);
        if declares && self.text.peek() == b'(' {
            self.declared_array(command)?;
        }
        Ok(true)
    }

    /// Whether a word is a zsh precommand modifier, after which the command begins: `nocorrect x=1 a`.
    fn is_modifier(&self, word: &Word<'t>) -> bool {
        self.shell() == Shell::Zsh && word.bare().is_some_and(|text| text == "nocorrect")
    }

    /// zsh also sets `1=x`, names a descriptor in `{x} > f` and `{x} &> f` with blanks before the operator, and
    /// accepts one in `1&>f`.
    fn refuse_only_zsh(&mut self, word: &Word<'t>, is_first: bool, start: usize) -> Read<()> {
        let Some(Piece::Bare(text)) = word.pieces().first() else { return Ok(()) };
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let sets =
            is_first && digits > 0 && text.get(digits..).is_some_and(|rest| rest.starts_with(['=', '+']));
        let copies = digits == text.len() && self.redirects_both();
        let name = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
        self.skip_blanks();
        let redirects = matches!(self.text.peek(), b'<' | b'>') || self.redirects_both();
        let names = name.is_some_and(is_name) && redirects;
        // None of them is common enough to be supported: refusing is safe for all.
        if sets || names || copies { Err(self.refuse(ReadErrorKind::ZshSyntax, start)) } else { Ok(()) }
    }

    /// Whether `&>` is at this position.
    fn redirects_both(&mut self) -> bool {
        self.text.peek() == b'&' && self.text.peek_second() == b'>'
    }

    /// zsh ends a group at a separate `}`, also after arguments.
    fn is_bare_close_brace(&mut self) -> bool {
        self.text.peek() == b'}'
            && matches!(self.text.peek_second(), 0 | b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b')')
    }

    /// Reads the `( … )` of `declare name=( … )`.
    fn declared_array(&mut self, command: &mut Simple<'t>) -> Read<()> {
        let Some(word) = command.words.last_mut() else { return Ok(()) };
        let name = word
            .bare()
            .and_then(|text| text.strip_suffix('='))
            .map(|name| name.strip_suffix('+').unwrap_or(name));
        if !name.is_some_and(is_name) {
            return Err(self.refuse_here(ReadErrorKind::Syntax));
        }
        let start = self.text.at;
        for element in self.array()? {
            // Keep the expansions of the elements; the text of the array is not an argument of the command.
            let expansions = element.pieces.into_iter().filter(|piece| matches!(piece, Piece::Expansion(_)));
            expansions.for_each(|expansion| word.pieces.push(expansion));
            word.pieces.push(Piece::Bare(Cow::Borrowed(" ")));
        }
        word.pieces.push(Piece::Bare(self.cow(start, self.text.at)));
        word.marks.add(Marks::GLOB);
        Ok(())
    }

    /// Parses `name=value`, whose name ends at `after_name`.
    fn assignment(&mut self, after_name: usize) -> Read<Assigned<'t>> {
        let start = self.text.at;
        let name = self.cow(start, after_name);
        self.text.at = after_name;
        let mut subscript = Builder::default();
        let mut index = Cow::Borrowed("");
        if self.text.raw(0) == b'[' {
            self.text.at += 1;
            let inside = self.text.at;
            self.evaluated(&mut subscript, b'[', b']', start)?;
            index = self.cow(inside, self.text.at - 1);
            let blank =
                self.text.slice(inside, self.text.at).contains([' ', '\t', '\n', ';', '&', '|', '<', '>']);
            if blank && subscript.is_empty() || !matches!(self.text.raw(0), b'=' | b'+') {
                return Err(self.refuse(ReadErrorKind::AssignmentName, start));
            }
        }
        let appends = self.text.raw(0) == b'+';
        if appends {
            self.text.at += 1;
        }
        if self.text.raw(0) != b'=' {
            return Err(self.refuse(ReadErrorKind::AssignmentName, start));
        }
        self.text.at += 1;
        let value = match self.assigned_value() {
            Ok(value) => value,
            Err(error) => {
                self.keep_assignment(start, name, appends);
                return Err(error);
            }
        };
        let span = self.text.span(start, self.text.at);
        Ok(Assigned { span, name, subscript: expansions(subscript), index, appends, value })
    }

    /// Returns the end of the name, if this is an assignment.
    fn assigned_name(&self) -> Read<Option<usize>> {
        let rest = self.text.rest();
        let length = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        // Nearly every word ends here, or continues with a letter that no assignment has.
        let goes_on = matches!(self.text.raw(length), b'=' | b'+' | b'[' | b'\\');
        if !goes_on || !rest.get(..length).is_some_and(is_name) {
            return Ok(None);
        }
        let rest = rest.get(length..).unwrap_or_default();
        if is_broken_assignment(rest) {
            return Err(self.refuse(ReadErrorKind::AssignmentName, self.text.at));
        }
        let is_assigned = rest.starts_with('=') || rest.starts_with("+=") || rest.starts_with('[');
        Ok(is_assigned.then_some(self.text.at + length))
    }

    fn assigned_value(&mut self) -> Read<AssignedValue<'t>> {
        let start = self.text.at;
        if self.text.peek() == b'(' {
            return Ok(AssignedValue::Array(self.array()?));
        }
        let word = self.word(WordContext::Argument)?;
        if self.text.peek() == b'(' {
            return Err(self.refuse_here(ReadErrorKind::Syntax));
        }
        let span = self.text.span(start, self.text.at);
        let empty = || Word { span, marks: Marks::default(), pieces: InlineVec::None };
        let word = word.unwrap_or_else(empty);
        if self.shell() == Shell::Zsh && self.text.slice(start, self.text.at).contains(":=") {
            return Err(self.refuse(ReadErrorKind::ZshEquals, start));
        }
        Ok(AssignedValue::Word(word))
    }

    /// Reads `( … )`, the elements of an array.
    pub(crate) fn array(&mut self) -> Read<Vec<Word<'t>>> {
        let start = self.text.at;
        if self.shell() == Shell::Sh {
            return Err(self.refuse_here(ReadErrorKind::Dialect));
        }
        self.text.eat(b'(');
        let mut elements = Vec::new();
        let end = self.array_elements(start, &mut elements);
        self.words_unless(end, &mut elements)?;
        Ok(elements)
    }

    fn array_elements(&mut self, start: usize, elements: &mut Vec<Word<'t>>) -> Read<()> {
        loop {
            self.skip_line_ends()?;
            if self.text.eat(b')') {
                // Text directly behind it would be part of the same word.
                return if self.is_word_end() {
                    Ok(())
                } else {
                    Err(self.refuse_here(ReadErrorKind::Syntax))
                };
            }
            let element = self.text.at;
            match self.word(WordContext::Argument)? {
                // bash prints an array in a substitution again before it runs it, and loses such a backslash.
                Some(_)
                    if !self.state.is_outermost()
                        && has_escaped_operator(self.text.slice(element, self.text.at)) =>
                {
                    return Err(self.refuse(ReadErrorKind::Dialect, element));
                }
                // bash searches for the end of a subscript beyond the word, and beyond the array.
                Some(_) if is_open_subscript(self.text.slice(element, self.text.at)) => {
                    return Err(self.refuse(ReadErrorKind::AssignmentName, element));
                }
                // Without `extglob`, a pattern in parentheses is an error here, after which bash runs the following lines: those of
                // the array, as commands.
                Some(word) if self.shell() == Shell::Bash && word.marks.has(Marks::GROUP) => {
                    return Err(self.refuse(ReadErrorKind::Dialect, element));
                }
                Some(word) => elements.push(word),
                None if self.text.is_at_end() => {
                    return Err(self.refuse(ReadErrorKind::UnterminatedCommand, start));
                }
                None => return Err(self.refuse_here(ReadErrorKind::Syntax)),
            }
        }
    }

    /// Whether no word continues here.
    fn is_word_end(&mut self) -> bool {
        matches!(self.text.peek(), 0 | b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b')' | b'<' | b'>')
    }

    /// Reads the redirections after a compound command.
    pub(crate) fn redirects(&mut self) -> Read<Vec<Redirected<'t>>> {
        let mut redirects = Vec::new();
        self.skip_blanks();
        loop {
            match self.redirect() {
                Ok(None) => return Ok(redirects),
                Ok(Some(redirect)) => redirects.push(redirect),
                Err(error) => {
                    let mut targets = redirects.into_iter().map(|redirect| redirect.target).collect();
                    return self.words_unless(Err(error), &mut targets);
                }
            }
            self.skip_blanks();
        }
    }

    /// Parses a redirection, if one begins here.
    fn redirect(&mut self) -> Read<Option<Redirected<'t>>> {
        let start = self.text.at;
        let Some(descriptor) = self.descriptor() else { return Ok(None) };
        let is_long = descriptor.as_ref().is_some_and(|name| name.len() > 1 && !name.starts_with('{'));
        // dash too knows only descriptors of one digit.
        if self.shell() == Shell::Sh && is_long {
            return Err(self.refuse(ReadErrorKind::Dialect, start));
        }
        // zsh reads a number as a word if an escaped line end follows it: `rm 2\⏎>x` removes `2`.
        let is_word_in_zsh = descriptor.is_some() && self.text.rest().starts_with(ESCAPED_LINE_END);
        if self.shell() == Shell::Zsh && (is_long || is_word_in_zsh || is_numeric_pattern(self.text.rest())) {
            return Err(self.refuse(ReadErrorKind::ZshSyntax, start));
        }
        let Some(operator) = self.operator_of_redirect()? else {
            self.text.at = start;
            return Ok(None);
        };
        self.count_one_more()?;
        // dash reads the name in braces as a word.
        if self.shell() == Shell::Sh && descriptor.as_deref().is_some_and(|name| name.starts_with('{')) {
            return Err(self.refuse(ReadErrorKind::Dialect, start));
        }
        // `>&!` and `&>|` overwrite in zsh; elsewhere the mark would be the name of the file.
        let writes_both = matches!(
            operator,
            RedirectOperator::DuplicateOutput | RedirectOperator::WriteBoth | RedirectOperator::AppendBoth
        );
        if self.shell() == Shell::Zsh && writes_both && matches!(self.text.peek(), b'!' | b'|') {
            return Err(self.refuse(ReadErrorKind::ZshSyntax, start));
        }
        self.skip_blanks();
        let strips_tabs =
            operator == RedirectOperator::Heredoc && self.text.slice(start, self.text.at).contains("<<-");
        let (target, heredoc) = if operator == RedirectOperator::Heredoc {
            let (word, index) = self.announce_heredoc(strips_tabs)?;
            (word, Some(index))
        } else {
            self.check_closing(operator)?;
            match self.word(WordContext::Argument) {
                Ok(Some(word)) => (word, None),
                Ok(None) => return Err(self.refuse_missing_command()),
                Err(error) => {
                    self.keep_redirect(start, operator, descriptor);
                    return Err(error);
                }
            }
        };
        let span = self.text.span(start, self.text.at);
        let operator = self.with_target(operator, descriptor.as_deref(), &target, start)?;
        Ok(Some(Redirected { span, descriptor, operator, target, heredoc }))
    }

    /// bash reads the `-` of `<&-` as a separate word, whatever follows it.
    fn check_closing(&mut self, operator: RedirectOperator) -> Read<()> {
        let copies = matches!(operator, RedirectOperator::DuplicateInput | RedirectOperator::DuplicateOutput);
        let ends = matches!(
            self.text.peek_second(),
            0 | b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>'
        );
        if copies && self.text.peek() == b'-' && !ends {
            return Err(self.refuse_here(ReadErrorKind::Dialect));
        }
        Ok(())
    }

    /// Returns the meaning of an operator before this target: `>&word` redirects both outputs to a file.
    fn with_target(
        &self,
        operator: RedirectOperator,
        descriptor: Option<&str>,
        target: &Word<'t>,
        start: usize,
    ) -> Read<RedirectOperator> {
        let is_known = target.pieces().iter().all(|piece| !matches!(piece, Piece::Expansion(_)));
        match (operator, descriptor) {
            (RedirectOperator::DuplicateInput | RedirectOperator::DuplicateOutput, _)
                if target.bare().is_some_and(|text| is_descriptor(text)) =>
            {
                Ok(operator)
            }
            (RedirectOperator::DuplicateOutput, None) if self.shell() != Shell::Sh => {
                Ok(RedirectOperator::WriteBoth)
            }
            (RedirectOperator::DuplicateInput | RedirectOperator::DuplicateOutput, _) if is_known => {
                Err(self.refuse(ReadErrorKind::Dialect, start))
            }
            _ => Ok(operator),
        }
    }

    /// Parses the number or the `{name}` before an operator. Returns `None` if no redirection begins here.
    #[expect(clippy::option_option, reason = "no redirection, one without a descriptor, one with it")]
    fn descriptor(&mut self) -> Option<Option<Cow<'t, str>>> {
        let first = self.text.peek();
        if matches!(first, b'<' | b'>') || self.redirects_both() {
            return Some(None);
        }
        let start = self.text.at;
        let rest = self.text.rest();
        let length = match first {
            b'0'..=b'9' => length_of_number(rest),
            b'{' => 1 + rest.find('}').filter(|end| rest.get(1..*end).is_some_and(is_joined_name))?,
            _ => return None,
        };
        let mut after = self.text;
        after.at += length;
        if !matches!(after.peek(), b'<' | b'>') || after.peek_second() == b'(' {
            return None;
        }
        self.text.at = start + length;
        let written = self.cow(start, start + length);
        Some(Some(if written.contains(ESCAPED_LINE_END) { joined(&written).into() } else { written }))
    }

    /// Parses the operator of a redirection. `<(` and `>(` are not redirections.
    fn operator_of_redirect(&mut self) -> Read<Option<RedirectOperator>> {
        if self.text.peek_second() == b'(' {
            return Ok(None);
        }
        if self.text.eat(b'&') {
            if self.shell() == Shell::Sh {
                return Err(self.refuse_here(ReadErrorKind::Dialect));
            }
            self.text.eat(b'>');
            return Ok(Some(if self.text.eat(b'>') {
                RedirectOperator::AppendBoth
            } else {
                RedirectOperator::WriteBoth
            }));
        }
        let operator = if self.text.eat(b'<') { self.input_operator() } else { self.output_operator() };
        if operator == RedirectOperator::HereString && self.shell() == Shell::Sh {
            return Err(self.refuse_here(ReadErrorKind::Dialect));
        }
        Ok(Some(operator))
    }

    fn input_operator(&mut self) -> RedirectOperator {
        match self.text.peek() {
            b'<' => {
                self.text.eat(b'<');
                if self.text.eat(b'<') {
                    return RedirectOperator::HereString;
                }
                self.text.eat(b'-');
                RedirectOperator::Heredoc
            }
            b'&' => self.then(b'&', RedirectOperator::DuplicateInput),
            b'>' => self.then(b'>', RedirectOperator::ReadWrite),
            _ => RedirectOperator::Read,
        }
    }

    fn output_operator(&mut self) -> RedirectOperator {
        self.text.eat(b'>');
        let operator = match self.text.peek() {
            b'>' => self.then(b'>', RedirectOperator::Append),
            b'|' => self.then(b'|', RedirectOperator::Clobber),
            b'&' => self.then(b'&', RedirectOperator::DuplicateOutput),
            _ => RedirectOperator::Write,
        };
        let forces = self.shell() == Shell::Zsh
            && matches!(operator, RedirectOperator::Write | RedirectOperator::Append);
        if forces && matches!(self.text.peek(), b'!' | b'|') {
            self.text.at += 1;
        }
        operator
    }

    fn then(&mut self, byte: u8, operator: RedirectOperator) -> RedirectOperator {
        self.text.eat(byte);
        operator
    }

    /// Reads `() …` after the name of a function.
    fn function_after_name(&mut self, command: Simple<'t>) -> Read<Command<'t>> {
        let Simple { assignments, words, redirects, .. } = command;
        let only_name = assignments.is_empty() && redirects.is_empty() && words.len() == 1;
        let name = words.first().and_then(Word::bare).filter(|_| only_name).cloned();
        self.text.eat(b'(');
        self.skip_blanks();
        if name.is_none() || !self.text.eat(b')') {
            return Err(self.refuse_here(ReadErrorKind::Syntax));
        }
        let body = self.function_body()?;
        let span = command.span;
        let kind = Kind::Function { name, body };
        Ok(Command::Compound(Box::new(Compound { span, kind, redirects: Vec::new() })))
    }
}

/// Whether a redirection may begin with this byte: an operator, a number, or `{name}`.
const fn may_begin_redirect(byte: u8) -> bool {
    matches!(byte, b'<' | b'>' | b'&' | b'{' | b'0'..=b'9')
}

const ESCAPED_LINE_END: &str = "\\\n";

/// Returns a stretch of text without its escaped line ends, as a shell reads it.
fn joined(text: &str) -> String {
    text.replace(ESCAPED_LINE_END, "")
}

/// Whether escaped line ends break a name before its `=`, or the `+=` after it: some shells only read an assignment.
fn is_broken_assignment(after_name: &str) -> bool {
    let mut after = after_name;
    while let Some(more) = after.strip_prefix(ESCAPED_LINE_END) {
        after = more.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
    }
    let appends = after.strip_prefix('+').map(|rest| rest.trim_start_matches(ESCAPED_LINE_END));
    let is_broken =
        after.len() < after_name.len() || appends.is_some_and(|rest| rest.len() + 1 < after.len());
    is_broken && (after.starts_with(['=', '[']) || appends.is_some_and(|rest| rest.starts_with('=')))
}

/// Whether a stretch of text is a name, also when its lines are joined.
fn is_joined_name(text: &str) -> bool {
    is_name(text) || (text.contains(ESCAPED_LINE_END) && is_name(&joined(text)))
}

/// Returns how long a number is, with the escaped line ends in it.
fn length_of_number(text: &str) -> usize {
    let mut end = 0;
    while let Some(rest) = text.get(end..) {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let line_end = rest.get(digits..).is_some_and(|rest| rest.starts_with(ESCAPED_LINE_END));
        let goes_on = || rest.as_bytes().get(digits + ESCAPED_LINE_END.len()).is_some_and(u8::is_ascii_digit);
        end += digits;
        if !(line_end && goes_on()) {
            break;
        }
        end += ESCAPED_LINE_END.len();
    }
    end
}

/// Whether an element of an array begins with an unclosed bracket.
fn is_open_subscript(written: &str) -> bool {
    written.starts_with('[') && !written.contains(']')
}

/// Whether a backslash precedes a character that would end a word.
fn has_escaped_operator(written: &str) -> bool {
    written
        .as_bytes()
        .windows(2)
        .any(|pair| matches!(pair, [b'\\', b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>']))
}

/// Whether this begins a zsh pattern for file names: `<1-3>`, `<->`.
fn is_numeric_pattern(rest: &str) -> bool {
    let digits_of = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let Some(low) = rest.strip_prefix('<') else { return false };
    let Some(high) = low.get(digits_of(low)..).and_then(|rest| rest.strip_prefix('-')) else { return false };
    high.get(digits_of(high)..).is_some_and(|rest| rest.starts_with('>'))
}

/// Returns whether a target is the number of a descriptor, perhaps one that is moved, or closes one.
fn is_descriptor(target: &str) -> bool {
    let digits = target.strip_suffix('-').unwrap_or(target);
    digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a builtin accepts assignments as arguments.
pub(crate) fn is_declaration(name: &str) -> bool {
    matches!(name, "declare" | "typeset" | "local" | "export" | "readonly" | "integer" | "float")
}
