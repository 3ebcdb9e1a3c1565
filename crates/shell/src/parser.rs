//! The state of a reader, and the entry point.
//!
//! The grammar is spread over the files beside this one, each an `impl Parser`:
//! `word` (quotes), `expansion` (`$`, backticks, `<(…)`), `heredoc`, `simple` (one command), `grammar` (lists and
//! pipelines), `compound` (groups, loops, functions) and `test` (`[[ … ]]`).
//!
//! The method is predictive recursive descent with two bytes of lookahead, without a separate lexer: in a shell the
//! lexer needs the parser (POSIX.1, XCU 2.3 and 2.10), since the meaning of `in`, `}` or `#` depends on the preceding
//! text. dash, mvdan/sh and Oils let the parser drive the lexer in the same way; generated parsers (bash's own in
//! yacc, tree-sitter-bash) feed the parser's state back into the lexer by hand. Unlike those, this parser knows three
//! dialects and refuses text on which versions of one of them disagree. How it is tested: `cargo xtask oracle`
//! against real shells, `benches/peers` against other parsers.
//!
//! The first construct that is not understood ends parsing with an error. The commands recognised before it are kept
//! (`partial`), because a denial must not depend on the text behind them. Every step moves forward, so the time is
//! linear; nesting is counted, so the stack is bounded.

use std::borrow::Cow;
use std::cell::Cell;

use crate::admission;
use crate::inline_vec::InlineVec;
use crate::options::{ReadOptions, Shell};
use crate::partial::Partial;
use crate::read_error::{ReadError, ReadErrorKind};
use crate::span::Span;
use crate::text::{Origin, Text};
use crate::tree::{Heredoc, List, Piece};

/// The result of reading a part of a text.
pub(crate) type Read<T> = Result<T, ReadError>;

/// Result of parsing a text.
#[derive(Debug, Clone)]
pub(crate) struct Parsed<'t> {
    pub(crate) list: List<'t>,
    pub(crate) heredocs: Vec<Heredoc<'t>>,
    /// Position of the first `$"…"`.
    pub(crate) translated: Option<Span>,
    /// How many steps reading took, for tests of linearity.
    pub(crate) steps: usize,
}

/// Reads a whole text. `borrowed` is the text itself where the result may borrow from it.
pub(crate) fn parse<'t>(
    text: &str,
    borrowed: Option<&'t str>,
    origin: Origin,
    options: &ReadOptions,
    admission: Admission,
) -> Read<Parsed<'t>> {
    let whole = Text::new(text, origin).span(0, text.len());
    if text.len() > options.max_bytes {
        return Err(ReadError::new(ReadErrorKind::TooLong, whole));
    }
    let is_plain = admission::is_plain(text);
    if !is_plain && let Some(error) = not_admitted(text, admission) {
        let span = Text::new(text, origin).span(error.span.start, error.span.end);
        return Err(ReadError::new(error.kind, span));
    }
    let mut state = State::new(options, admission, is_plain || text.is_ascii());
    let mut parser = Parser::new(text, borrowed, origin, &mut state);
    let list = parser.whole()?;
    Ok(Parsed { list, heredocs: state.heredocs, translated: state.translated, steps: state.steps })
}

/// Returns the first character that prevents parsing. A NUL, which ends texts here, always does.
fn not_admitted(text: &str, admission: Admission) -> Option<ReadError> {
    if let Some(nul) = text.bytes().position(|byte| byte == 0) {
        return Some(ReadError::new(ReadErrorKind::ControlCharacter, Span::new(nul, nul + 1)));
    }
    match admission {
        Admission::Checked => admission::refused_character(text),
        Admission::AsTheShell => None,
    }
}

/// A text in which only substitutions mean something, as far as it can be read.
pub(crate) struct Expanded<'t> {
    pub(crate) pieces: InlineVec<Piece<'t>>,
    pub(crate) heredocs: Vec<Heredoc<'t>>,
    pub(crate) translated: Option<Span>,
    pub(crate) error: Option<ReadError>,
}

/// Reads a text in which only substitutions mean something, as a builtin that evaluates it does.
pub(crate) fn parse_expanded<'t>(text: &str, span: Span, options: &ReadOptions) -> Expanded<'t> {
    let mut state = State::new(options, Admission::AsTheShell, text.is_ascii());
    let mut parser = Parser::new(text, None, Origin::Decoded(span), &mut state);
    let (pieces, error) = match parser.expanded_text() {
        Ok(pieces) => (pieces, None),
        Err(error) => (parser.kept_word().pieces, Some(error)),
    };
    Expanded { pieces, heredocs: state.heredocs, translated: state.translated, error }
}

/// Whether characters that deceive the reader are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admission {
    /// Characters that deceive a person are refused.
    Checked,
    /// They are read as the shell reads them: as letters.
    AsTheShell,
}

/// State shared by the parsers of a text and of the texts inside it.
#[derive(Debug)]
pub(crate) struct State<'t, 'p> {
    pub(crate) options: &'p ReadOptions,
    pub(crate) admission: Admission,
    pub(crate) ascii: bool,
    pub(crate) heredocs: Vec<Heredoc<'t>>,
    /// Position of the first `$"…"`, in any of the texts.
    pub(crate) translated: Option<Span>,
    /// The recognised part of the command in which parsing failed. Each level of the grammar that propagates an error
    /// wraps its own parts around it.
    pub(crate) partial: Option<Partial<'t>>,
    /// Start of the unparsable part, in the text of its parser.
    pub(crate) failed_from: Cell<usize>,
    /// Whether as much as possible is read, of a text that cannot be read to its end.
    pub(crate) is_partial: bool,
    /// How many double quotes are open.
    pub(crate) in_quotes: usize,
    commands: usize,
    words: usize,
    depth: usize,
    pub(crate) steps: usize,
}

/// A reader of one text, or of one decoded text inside it.
#[derive(Debug)]
pub(crate) struct Parser<'t, 's, 'p, 'o> {
    pub(crate) text: Text<'s>,
    /// The same text, if the tree may borrow from it.
    borrowed: Option<&'t str>,
    pub(crate) state: &'p mut State<'t, 'o>,
    /// Here-documents whose bodies begin after the next line end.
    pub(crate) pending: Vec<PendingHeredoc>,
    /// How many of them began outside the substitution that is being read.
    pub(crate) outer_pending: usize,
}

/// A text inside a text.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Nested<'x> {
    /// A part of it, as it is written.
    Part(usize, usize),
    /// Decoded text of a part; everything in it has the position of that part.
    Decoded(&'x str, Span),
}

/// A here-document that was announced on the current line.
#[derive(Debug)]
pub(crate) struct PendingHeredoc {
    pub(crate) index: usize,
    pub(crate) delimiter: String,
    pub(crate) quoted: bool,
    pub(crate) strips_tabs: bool,
    /// Where its announcement ended.
    pub(crate) after: usize,
}

impl<'t, 's, 'p, 'o> Parser<'t, 's, 'p, 'o> {
    pub(crate) fn new(
        text: &'s str,
        borrowed: Option<&'t str>,
        origin: Origin,
        state: &'p mut State<'t, 'o>,
    ) -> Self {
        Self { text: Text::new(text, origin), borrowed, state, pending: Vec::new(), outer_pending: 0 }
    }

    /// Reads commands up to the end of the text.
    pub(crate) fn whole(&mut self) -> Read<List<'t>> {
        let list = self.list()?;
        let end = if self.text.is_at_end() {
            self.no_heredoc_is_pending(0)
        } else {
            Err(self.refuse_here(ReadErrorKind::Syntax))
        };
        self.list_unless(end, list)
    }

    /// Reads commands from a text inside this one.
    pub(crate) fn commands_in(&mut self, nested: Nested<'_>) -> Read<List<'t>> {
        let (text, borrowed, origin) = self.locate(nested);
        let read = self.deeper(|parser| Parser::new(text, borrowed, origin, parser.state).whole());
        self.located_here(read)
    }

    /// Reads a text inside this one in which only expansions mean something.
    pub(crate) fn expansions_in(&mut self, nested: Nested<'_>) -> Read<InlineVec<Piece<'t>>> {
        let (text, borrowed, origin) = self.locate(nested);
        let read = self.deeper(|parser| Parser::new(text, borrowed, origin, parser.state).expanded_text());
        self.located_here(read)
    }

    /// Maps an error in an inner text to its position in this text.
    fn located_here<T>(&self, read: Read<T>) -> Read<T> {
        if read.is_err() {
            self.state.failed_from.set(self.text.at);
        }
        read
    }

    fn locate<'x>(&self, nested: Nested<'x>) -> (&'x str, Option<&'t str>, Origin)
    where
        's: 'x,
    {
        match nested {
            Nested::Part(start, end) => {
                let borrowed = self.borrowed.and_then(|text| text.get(start..end));
                (self.text.slice(start, end), borrowed, self.text.origin_of(start))
            }
            Nested::Decoded(text, span) => (text, None, Origin::Decoded(span)),
        }
    }

    /// Reads something one level deeper.
    pub(crate) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.state.depth >= self.state.options.max_depth {
            return Err(self.refuse(ReadErrorKind::TooDeep, self.text.at));
        }
        self.state.depth += 1;
        let result = read(self);
        self.state.depth -= 1;
        result
    }

    /// Counts one step of work.
    pub(crate) fn step(&mut self) {
        self.state.steps += 1;
    }

    /// Returns the text between two places, borrowed where that is possible.
    pub(crate) fn cow(&self, start: usize, end: usize) -> Cow<'t, str> {
        match self.borrowed.and_then(|text| text.get(start..end)) {
            Some(text) => Cow::Borrowed(text),
            None => Cow::Owned(self.text.slice(start, end).to_owned()),
        }
    }

    pub(crate) fn shell(&self) -> Shell {
        self.state.options.shell
    }

    /// Returns the error for the text since `start`.
    pub(crate) fn refuse(&self, kind: ReadErrorKind, start: usize) -> ReadError {
        self.state.failed_from.set(start);
        ReadError::new(kind, self.text.span(start, self.text.at.max(start)))
    }

    /// Returns the error for the next character.
    pub(crate) fn refuse_here(&self, kind: ReadErrorKind) -> ReadError {
        let width = self.text.rest().chars().next().map_or(0, char::len_utf8);
        ReadError::new(kind, self.text.span(self.text.at, self.text.at + width))
    }

    /// Counts one more word or expansion.
    pub(crate) fn count_one_more_word(&mut self) -> Read<()> {
        self.state.words += 1;
        if self.state.words > self.state.options.max_words {
            return Err(self.refuse_here(ReadErrorKind::TooManyWords));
        }
        Ok(())
    }

    /// Counts one more command or redirection.
    pub(crate) fn count_one_more(&mut self) -> Read<()> {
        self.state.commands += 1;
        if self.state.commands > self.state.options.max_commands {
            return Err(self.refuse_here(ReadErrorKind::TooManyCommands));
        }
        Ok(())
    }
}

impl<'p> State<'_, 'p> {
    pub(crate) const fn new(options: &'p ReadOptions, admission: Admission, ascii: bool) -> Self {
        Self {
            options,
            admission,
            ascii,
            heredocs: Vec::new(),
            translated: None,
            partial: None,
            failed_from: Cell::new(0),
            is_partial: false,
            in_quotes: 0,
            commands: 0,
            words: 0,
            depth: 0,
            steps: 0,
        }
    }

    /// Whether nothing is nested around the current position.
    pub(crate) const fn is_outermost(&self) -> bool {
        self.depth == 0
    }

    /// Whether the current compound command is not nested in another.
    pub(crate) const fn is_outermost_compound(&self) -> bool {
        self.depth <= 1
    }
}
