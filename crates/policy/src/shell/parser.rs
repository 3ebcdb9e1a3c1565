//! The state of a reader, and the entry point.
//!
//! The grammar is spread over the files beside this one, each an `impl Parser`:
//! `word` (quotes), `expansion` (`$`, backticks, `<(…)`), `heredoc`, `simple` (one command), `grammar` (lists and
//! pipelines), `compound` (groups, loops, functions) and `test` (`[[ … ]]`).
//!
//! There is no recovery: the first thing that is not understood ends the reading. Every step moves forward, so the
//! time is proportional to the text; nesting is counted, so the stack is bounded.

use std::borrow::Cow;

use super::admission;
use super::few::Few;
use super::options::{ReadOptions, Shell};
use super::refusal::{Obstacle, Unanalysable};
use super::span::Span;
use super::text::{Origin, Text};
use super::tree::{Heredoc, List, Piece};

/// The result of reading a part of a text.
pub(super) type Read<T> = Result<T, Unanalysable>;

/// What was read from a text.
#[derive(Debug, Clone)]
pub(super) struct Parsed<'t> {
    pub(super) list: List<'t>,
    pub(super) heredocs: Vec<Heredoc<'t>>,
    /// How many steps reading took, for tests of linearity.
    pub(super) steps: usize,
}

/// Reads a whole text. `borrowed` is the text itself where the result may borrow from it.
pub(super) fn parse<'t>(
    text: &str,
    borrowed: Option<&'t str>,
    origin: Origin,
    options: &ReadOptions,
    admission: Admission,
) -> Read<Parsed<'t>> {
    let whole = Text::new(text, origin).span(0, text.len());
    if text.len() > options.max_bytes {
        return Err(Unanalysable::new(Obstacle::TooLong, whole));
    }
    let is_plain = admission::is_plain(text);
    if !is_plain && let Some(refusal) = not_admitted(text, admission) {
        let span = Text::new(text, origin).span(refusal.span.start, refusal.span.end);
        return Err(Unanalysable::new(refusal.reason, span));
    }
    let mut state = State {
        options,
        admission,
        ascii: is_plain || text.is_ascii(),
        heredocs: Vec::new(),
        commands: 0,
        words: 0,
        depth: 0,
        steps: 0,
    };
    let mut parser = Parser::new(text, borrowed, origin, &mut state);
    let list = parser.whole()?;
    Ok(Parsed { list, heredocs: state.heredocs, steps: state.steps })
}

/// Returns the first character that keeps a text from being read. A NUL, which ends texts here, always does.
fn not_admitted(text: &str, admission: Admission) -> Option<Unanalysable> {
    if let Some(nul) = text.bytes().position(|byte| byte == 0) {
        return Some(Unanalysable::new(Obstacle::ControlCharacter, Span::new(nul, nul + 1)));
    }
    match admission {
        Admission::Checked => admission::refused(text),
        Admission::AsTheShell => None,
    }
}

/// Reads a text in which only substitutions mean something, as a builtin that evaluates it does.
pub(super) fn parse_expanded<'t>(
    text: &str,
    span: Span,
    options: &ReadOptions,
) -> Read<(Few<Piece<'t>>, Vec<Heredoc<'t>>)> {
    let admission = Admission::AsTheShell;
    let mut state = State {
        options,
        admission,
        ascii: text.is_ascii(),
        heredocs: Vec::new(),
        commands: 0,
        words: 0,
        depth: 0,
        steps: 0,
    };
    let pieces = Parser::new(text, None, Origin::Decoded(span), &mut state).expanded_text()?;
    Ok((pieces, state.heredocs))
}

/// Whether characters that deceive the reader are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Admission {
    /// They are refused.
    Checked,
    /// They are read as the shell reads them: as letters.
    AsTheShell,
}

/// What the readers of a text and of the texts inside it share.
#[derive(Debug)]
pub(super) struct State<'t, 'p> {
    pub(super) options: &'p ReadOptions,
    pub(super) admission: Admission,
    pub(super) ascii: bool,
    pub(super) heredocs: Vec<Heredoc<'t>>,
    commands: usize,
    words: usize,
    depth: usize,
    steps: usize,
}

/// A reader of one text, or of one decoded text inside it.
#[derive(Debug)]
pub(super) struct Parser<'t, 's, 'p, 'o> {
    pub(super) text: Text<'s>,
    /// The same text, where what is read may borrow from it.
    borrowed: Option<&'t str>,
    pub(super) state: &'p mut State<'t, 'o>,
    /// Here-documents whose bodies begin after the next line end.
    pub(super) pending: Vec<PendingHeredoc>,
    /// How many of them began outside the substitution that is being read.
    pub(super) outer_pending: usize,
}

/// A text inside a text.
#[derive(Debug, Clone, Copy)]
pub(super) enum Nested<'x> {
    /// A part of it, as it is written.
    Part(usize, usize),
    /// What a part of it spells; everything in it is found at that part.
    Decoded(&'x str, Span),
}

/// A here-document that was announced on the current line.
#[derive(Debug)]
pub(super) struct PendingHeredoc {
    pub(super) index: usize,
    pub(super) delimiter: String,
    pub(super) quoted: bool,
    pub(super) strips_tabs: bool,
    /// Where its announcement ended.
    pub(super) after: usize,
}

impl<'t, 's, 'p, 'o> Parser<'t, 's, 'p, 'o> {
    pub(super) fn new(
        text: &'s str,
        borrowed: Option<&'t str>,
        origin: Origin,
        state: &'p mut State<'t, 'o>,
    ) -> Self {
        Self { text: Text::new(text, origin), borrowed, state, pending: Vec::new(), outer_pending: 0 }
    }

    /// Reads commands up to the end of the text.
    pub(super) fn whole(&mut self) -> Read<List<'t>> {
        let list = self.list()?;
        if !self.text.is_at_end() {
            return Err(self.refuse_here(Obstacle::Syntax));
        }
        self.no_heredoc_is_pending(0)?;
        Ok(list)
    }

    /// Reads commands from a text inside this one.
    pub(super) fn commands_in(&mut self, nested: Nested<'_>) -> Read<List<'t>> {
        let (text, borrowed, origin) = self.locate(nested);
        self.deeper(|parser| Parser::new(text, borrowed, origin, parser.state).whole())
    }

    /// Reads a text inside this one in which only expansions mean something.
    pub(super) fn expansions_in(&mut self, nested: Nested<'_>) -> Read<Few<Piece<'t>>> {
        let (text, borrowed, origin) = self.locate(nested);
        self.deeper(|parser| Parser::new(text, borrowed, origin, parser.state).expanded_text())
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
    pub(super) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.state.depth >= self.state.options.max_depth {
            return Err(self.refuse(Obstacle::TooDeep, self.text.at));
        }
        self.state.depth += 1;
        let result = read(self);
        self.state.depth -= 1;
        result
    }

    /// Counts one step of work.
    pub(super) fn step(&mut self) {
        self.state.steps += 1;
    }

    /// Returns the text between two places, borrowed where that is possible.
    pub(super) fn cow(&self, start: usize, end: usize) -> Cow<'t, str> {
        match self.borrowed.and_then(|text| text.get(start..end)) {
            Some(text) => Cow::Borrowed(text),
            None => Cow::Owned(self.text.slice(start, end).to_owned()),
        }
    }

    pub(super) fn shell(&self) -> Shell {
        self.state.options.shell
    }

    /// Returns a refusal of what was read since `start`.
    pub(super) fn refuse(&self, reason: Obstacle, start: usize) -> Unanalysable {
        Unanalysable::new(reason, self.text.span(start, self.text.at.max(start)))
    }

    /// Returns a refusal of the next character.
    pub(super) fn refuse_here(&self, reason: Obstacle) -> Unanalysable {
        let width = self.text.rest().chars().next().map_or(0, char::len_utf8);
        Unanalysable::new(reason, self.text.span(self.text.at, self.text.at + width))
    }

    /// Counts one more word or expansion.
    pub(super) fn count_one_more_word(&mut self) -> Read<()> {
        self.state.words += 1;
        if self.state.words > self.state.options.max_words {
            return Err(self.refuse_here(Obstacle::TooManyWords));
        }
        Ok(())
    }

    /// Counts one more command or redirection.
    pub(super) fn count_one_more(&mut self) -> Read<()> {
        self.state.commands += 1;
        if self.state.commands > self.state.options.max_commands {
            return Err(self.refuse_here(Obstacle::TooManyCommands));
        }
        Ok(())
    }
}

impl State<'_, '_> {
    /// Returns whether nothing is nested around what is being read.
    pub(super) const fn is_outermost(&self) -> bool {
        self.depth == 0
    }

    /// Returns whether the compound command that is being read stands in nothing else.
    pub(super) const fn is_outermost_compound(&self) -> bool {
        self.depth <= 1
    }
}
