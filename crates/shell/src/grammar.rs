//! Lists and pipelines.

use crate::inline_vec::InlineVec;
use crate::options::Shell;
use crate::parser::{Parser, Read};
use crate::read_error::ReadErrorKind;
use crate::tree::{Command, Item, Join, Kind, List, Pipeline, Prefix};

impl<'t> Parser<'t, '_, '_, '_> {
    /// Parses commands until a token that cannot begin one: the end, `)`, `;;` or a closing reserved word.
    pub(crate) fn list(&mut self) -> Read<List<'t>> {
        self.skip_line_ends()?;
        if self.is_list_end() {
            return Ok(List::default());
        }
        let first = self.pipeline()?;
        self.list_after(first)
    }

    /// Parses the rest of a list after its first pipeline.
    pub(crate) fn list_after(&mut self, first: Pipeline<'t>) -> Read<List<'t>> {
        // Nearly every list has one pipeline.
        let mut list = List { items: Vec::with_capacity(1) };
        list.items.push(Item { pipeline: first, then: Join::Sequence });
        let end = self.list_items(&mut list);
        self.list_unless(end, list)
    }

    fn list_items(&mut self, list: &mut List<'t>) -> Read<()> {
        loop {
            let follows =
                list.items.last().is_some_and(|item| may_precede_closing(&item.pipeline, self.shell()));
            let then = self.join(follows)?;
            if let Some(last) = list.items.last_mut() {
                last.then = then;
            }
            self.skip_line_ends()?;
            if self.is_list_end() {
                let is_complete = !matches!(then, Join::And | Join::Or);
                return if is_complete { Ok(()) } else { Err(self.refuse_missing_command()) };
            }
            list.items.push(Item { pipeline: self.pipeline()?, then: Join::Sequence });
        }
    }

    /// Reads a list that must not be empty.
    pub(crate) fn filled_list(&mut self) -> Read<List<'t>> {
        let list = self.list()?;
        if list.items.is_empty() {
            return Err(self.refuse_missing_command());
        }
        Ok(list)
    }

    /// Returns the error for a missing command.
    pub(crate) fn refuse_missing_command(&mut self) -> super::read_error::ReadError {
        let reason =
            if self.text.is_at_end() { ReadErrorKind::UnterminatedCommand } else { ReadErrorKind::Syntax };
        self.refuse_here(reason)
    }

    fn is_list_end(&mut self) -> bool {
        match self.text.peek() {
            0 | b')' => true,
            // `;;`, `;&` and `;|` end an arm of `case`; a single `;` in the place of a command is for others to refuse.
            b';' => matches!(self.text.peek_second(), b';' | b'&' | b'|'),
            _ => self.keyword().is_some_and(Keyword::closes),
        }
    }

    /// Parses the separator after a pipeline. After a compound command a closing word may follow directly: `(a)
    /// done`.
    fn join(&mut self, closing_may_follow: bool) -> Read<Join> {
        self.skip_blanks();
        let join = match (self.text.peek(), self.text.peek_second()) {
            (b'&', b'&') => {
                self.text.eat(b'&');
                Join::And
            }
            (b'|', b'|') => {
                self.text.eat(b'|');
                Join::Or
            }
            // zsh also writes `&|` and `&!` for a disowned background job.
            (b'&', b'|' | b'!') if self.shell() == Shell::Zsh => {
                self.text.eat(b'&');
                Join::Background
            }
            (b'&', _) => Join::Background,
            (b';', b';' | b'&' | b'|') => return Ok(Join::Sequence),
            (b';', _) => Join::Sequence,
            (b'\n', _) => {
                self.line_end()?;
                return Ok(Join::Sequence);
            }
            (0 | b')', _) => return Ok(Join::Sequence),
            _ if self.shell() == Shell::Zsh && self.keyword() == Some(Keyword::CloseBrace) => {
                return Ok(Join::Sequence);
            }
            _ if closing_may_follow && self.keyword().is_some_and(Keyword::closes) => {
                return Ok(Join::Sequence);
            }
            _ => return Err(self.refuse_here(ReadErrorKind::Syntax)),
        };
        self.text.peek();
        self.text.at += 1;
        Ok(join)
    }

    /// Reads commands joined by pipes.
    pub(crate) fn pipeline(&mut self) -> Read<Pipeline<'t>> {
        let prefixes = self.prefixes()?;
        let mut pipeline = Pipeline { prefixes, commands: InlineVec::None, errors_too: false };
        match self.stages(&mut pipeline) {
            Ok(()) => Ok(pipeline),
            Err(error) => {
                self.keep_pipeline(pipeline);
                Err(error)
            }
        }
    }

    fn stages(&mut self, pipeline: &mut Pipeline<'t>) -> Read<()> {
        if !pipeline.prefixes.is_empty() && self.is_pipeline_end() {
            // `time` and `!` alone are commands of their own in bash only.
            if self.shell() != Shell::Bash {
                return Err(self.refuse_missing_command());
            }
            return Ok(());
        }
        loop {
            pipeline.commands.push(self.command()?);
            self.skip_blanks();
            match (self.text.peek(), self.text.peek_second()) {
                (b'|', b'|') => break,
                (b'|', b'&') => {
                    if self.shell() == Shell::Sh {
                        return Err(self.refuse_here(ReadErrorKind::Dialect));
                    }
                    self.text.eat(b'|');
                    self.text.eat(b'&');
                    // `|&` also pipes standard error, which changes the input of the next program but not which
                    // programs run.
                    pipeline.errors_too = true;
                }
                (b'|', _) => {
                    self.text.eat(b'|');
                }
                _ => break,
            }
            self.skip_line_ends()?;
            if self.text.is_at_end() {
                return Err(self.refuse_missing_command());
            }
            if self.shell() != Shell::Bash && self.keyword() == Some(Keyword::Time) {
                return Err(self.refuse_here(ReadErrorKind::Dialect));
            }
        }
        Ok(())
    }

    /// Reads `!` and `time` before a pipeline.
    fn prefixes(&mut self) -> Read<Vec<Prefix>> {
        let mut prefixes = Vec::new();
        loop {
            self.skip_blanks();
            match self.keyword() {
                Some(Keyword::Bang) => {
                    self.text.eat(b'!');
                    // `!(` is a pattern where extended globs are on.
                    if self.text.peek() == b'(' {
                        return Err(self.refuse_here(ReadErrorKind::Dialect));
                    }
                    if self.shell() != Shell::Bash && !prefixes.is_empty() {
                        return Err(self.refuse_here(ReadErrorKind::Dialect));
                    }
                    prefixes.push(Prefix::Not);
                }
                Some(Keyword::Time) => {
                    // zsh takes it for a program in some places, and dash always does.
                    let is_first =
                        self.text.slice(0, self.text.at).trim().is_empty() && self.state.is_outermost();
                    if self.shell() == Shell::Sh || (self.shell() == Shell::Zsh && !is_first) {
                        return Err(self.refuse_here(ReadErrorKind::Dialect));
                    }
                    self.eat_keyword(Keyword::Time);
                    prefixes.push(Prefix::Time);
                    self.time_options();
                }
                _ => return Ok(prefixes),
            }
            if prefixes.len() > MAX_PREFIXES {
                return Err(self.refuse_here(ReadErrorKind::TooDeep));
            }
        }
    }

    /// Skips the `-p` and the `--` that the reserved word `time` accepts in bash.
    fn time_options(&mut self) {
        if self.shell() != Shell::Bash {
            return;
        }
        for option in ["-p", "--"] {
            self.skip_blanks();
            let mut ahead = self.text;
            if option.bytes().all(|byte| ahead.eat(byte)) && ends_word(ahead.peek()) {
                self.text = ahead;
            }
        }
    }

    fn is_pipeline_end(&mut self) -> bool {
        self.skip_blanks();
        match self.text.peek() {
            // `&>` is a redirection.
            b'&' => self.text.peek_second() != b'>',
            next => matches!(next, 0 | b'\n' | b';' | b'|' | b')'),
        }
    }

    fn command(&mut self) -> Read<Command<'t>> {
        self.step();
        self.skip_blanks();
        self.count_one_more()?;
        if let Some(compound) = self.compound()? {
            return Ok(Command::Compound(Box::new(compound)));
        }
        self.simple()
    }

    /// Moves over blanks, escaped line ends and a comment, up to the next word or the end of the line.
    #[inline]
    pub(crate) fn skip_blanks(&mut self) {
        if matches!(self.text.raw(0), b' ' | b'\t' | b'\\' | b'#') {
            self.skip_blanks_here();
        }
    }

    fn skip_blanks_here(&mut self) {
        while matches!(self.text.peek(), b' ' | b'\t') {
            self.text.at += 1;
        }
        if self.text.raw(0) == b'#' {
            let rest = self.text.rest();
            self.text.at += rest.find('\n').unwrap_or(rest.len());
        }
    }

    /// Moves over blanks, comments and line ends, and over the here-documents between them.
    pub(crate) fn skip_line_ends(&mut self) -> Read<()> {
        loop {
            self.skip_blanks();
            if self.text.peek() != b'\n' {
                return Ok(());
            }
            self.line_end()?;
        }
    }

    /// Returns the reserved word at this position.
    pub(crate) fn keyword(&mut self) -> Option<Keyword> {
        if !may_begin_keyword(self.text.peek()) {
            return None;
        }
        let mut ahead = self.text;
        // A copy on the stack: escaped line ends may split a reserved word, so it need not be contiguous in the text.
        let mut word = [0_u8; MAX_KEYWORD_BYTES];
        let mut length = 0;
        loop {
            let byte = ahead.peek();
            if matches!(byte, 0 | b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>') {
                break;
            }
            *word.get_mut(length)? = byte;
            length += 1;
            ahead.at += 1;
        }
        let word = word.get(..length)?;
        KEYWORDS.iter().find(|(text, _)| text.as_bytes() == word).map(|(_, keyword)| *keyword)
    }

    /// Skips this reserved word if it is at this position.
    pub(crate) fn eat_keyword(&mut self, keyword: Keyword) -> bool {
        if self.keyword() != Some(keyword) {
            return false;
        }
        let text = KEYWORDS.iter().find(|(_, found)| *found == keyword).map_or("", |(text, _)| text);
        for byte in text.bytes() {
            self.text.eat(byte);
        }
        true
    }

    /// Skips this reserved word, or refuses the text in its place.
    pub(crate) fn expect_keyword(&mut self, keyword: Keyword) -> Read<()> {
        self.skip_line_ends()?;
        if self.eat_keyword(keyword) { Ok(()) } else { Err(self.refuse_missing_command()) }
    }
}

/// More than a few `! ! !` is not a command that anyone writes.
const MAX_PREFIXES: usize = 8;

/// Reserved words, which have a meaning only where a command may begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keyword {
    Bang,
    Case,
    CloseBrace,
    Coproc,
    Do,
    Done,
    Elif,
    Else,
    Esac,
    Fi,
    For,
    Function,
    If,
    OpenBrace,
    OpenTest,
    Select,
    Then,
    Time,
    Until,
    While,
}

impl Keyword {
    /// Returns whether it ends a list.
    const fn closes(self) -> bool {
        matches!(
            self,
            Self::CloseBrace
                | Self::Do
                | Self::Done
                | Self::Elif
                | Self::Else
                | Self::Esac
                | Self::Fi
                | Self::Then
        )
    }
}

/// Returns whether a word means something else in the place of a command.
pub(crate) fn is_reserved(word: &str) -> bool {
    const IN_ZSH: &[&str] = &["foreach", "end", "repeat", "always", "nocorrect", "noglob", "-"];
    KEYWORDS.iter().any(|(text, _)| *text == word) || IN_ZSH.contains(&word) || word == "]]"
}

/// Returns whether a shell knows a reserved word right after a pipeline: after `)`, `}`, `]]`, `fi`, `done` and `esac`.
fn may_precede_closing(pipeline: &Pipeline<'_>, shell: Shell) -> bool {
    let mut last = pipeline.commands.last();
    while let Some(Command::Compound(compound)) = last {
        match &compound.kind {
            Kind::Function { body, .. } => last = Some(body),
            Kind::Coproc { command, .. } => last = Some(command),
            // The short forms of zsh end like any command.
            Kind::Clauses(_) | Kind::For { .. } | Kind::Counted { .. } if shell == Shell::Zsh => {
                return false;
            }
            _ => return compound.redirects.is_empty(),
        }
    }
    false
}

/// Whether a word before this byte ends there.
const fn ends_word(byte: u8) -> bool {
    matches!(byte, 0 | b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')')
}

/// Returns whether a reserved word begins with a byte.
const fn may_begin_keyword(byte: u8) -> bool {
    matches!(byte, b'!' | b'[' | b'{' | b'}' | b'c'..=b'f' | b'i' | b's'..=b'u' | b'w')
}

const MAX_KEYWORD_BYTES: usize = 8;

const KEYWORDS: &[(&str, Keyword)] = &[
    ("!", Keyword::Bang),
    ("case", Keyword::Case),
    ("}", Keyword::CloseBrace),
    ("coproc", Keyword::Coproc),
    ("do", Keyword::Do),
    ("done", Keyword::Done),
    ("elif", Keyword::Elif),
    ("else", Keyword::Else),
    ("esac", Keyword::Esac),
    ("fi", Keyword::Fi),
    ("for", Keyword::For),
    ("function", Keyword::Function),
    ("if", Keyword::If),
    ("{", Keyword::OpenBrace),
    ("[[", Keyword::OpenTest),
    ("select", Keyword::Select),
    ("then", Keyword::Then),
    ("time", Keyword::Time),
    ("until", Keyword::Until),
    ("while", Keyword::While),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reserved_word_begins_and_fits() {
        for (text, _) in KEYWORDS {
            assert!(text.bytes().next().is_some_and(may_begin_keyword), "{text}");
            assert!(text.len() <= MAX_KEYWORD_BYTES, "{text}");
        }
    }
}
