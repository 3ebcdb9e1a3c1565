//! Partial results for a text that cannot be parsed completely.
//!
//! A denial must not depend on the text behind a command: `rm -rf /; echo "${x:-'a'}"` deletes everything although
//! the meaning of its second half is uncertain. So an error does not discard the text before it. While it propagates
//! through the levels of the grammar, each of them wraps its own parts around the result of the level below: words
//! around an expansion, a pipeline around a command, a list around a pipeline. Compilers call this error recovery in
//! "panic mode"; like them, the parser continues behind the next separator (`resume`), since that text may run as
//! well.
//!
//! A partial result is a reason to refuse and never one to allow: the place of the error contains something unknown,
//! and the text behind it may in truth be quoted.

use std::borrow::Cow;

use crate::inline_vec::InlineVec;
use crate::options::ReadOptions;
use crate::parser::{Admission, Parsed, Parser, Read, State};
use crate::read_error::ReadError;
use crate::span::Span;
use crate::text::Origin;
use crate::tree::{
    Action, Assigned, AssignedValue, Command, Compound, Expansion, ExpansionKind, Item, Join, Kind, List,
    Marks, ParameterResult, Piece, Pipeline, RedirectOperator, Redirected, Simple, Word,
};
use crate::word::Builder;

/// Maximum number of resumptions. No real command has more errors.
const MAX_RESUMPTIONS: usize = 32;

/// Maximum size of a text that is parsed as far as possible although it is longer than [`ReadOptions::max_bytes`].
/// Linux accepts no program argument longer than 128 KiB, so a longer text can only come from a file or a pipe.
const MAX_PARTIAL_BYTES: usize = 1024 * 1024;

/// The part in which reading failed, as far as it was recognised.
#[derive(Debug)]
pub(crate) enum Partial<'t> {
    Command(Command<'t>),
    Word(Word<'t>),
    Redirect(Redirected<'t>),
    Assignment(Assigned<'t>),
}

/// As much of a text as could be read.
#[derive(Debug)]
pub(crate) struct PartlyParsed<'t> {
    pub(crate) parsed: Parsed<'t>,
    /// Whether a limit excluded parts of the text.
    pub(crate) is_cut: bool,
    /// Whether it was read to its end after all, with the end of the text for that of a here-document.
    pub(crate) is_whole: bool,
}

/// Reads as much of a text as there is to understand.
pub(crate) fn parse_partly<'t>(
    text: &str,
    borrowed: Option<&'t str>,
    origin: Origin,
    options: &ReadOptions,
) -> PartlyParsed<'t> {
    let mut state = State::new(options, Admission::AsTheShell, text.is_ascii());
    state.is_partial = true;
    let mut resumed = Resumed { items: Vec::new(), error: None, ahead: vec![Start::at(0)] };
    let mut is_cut = text.len() > MAX_PARTIAL_BYTES;
    let mut tried = Vec::new();
    while let Some(start) = resumed.ahead.pop().filter(|_| !is_cut) {
        let from = start.at + separators(text.get(start.at..).unwrap_or_default());
        if from >= text.len() || tried.contains(&from) {
            continue;
        }
        is_cut = tried.len() > MAX_RESUMPTIONS;
        tried.push(from);
        let error = resumed.read(text, borrowed, origin, Start { at: from, ..start }, &mut state);
        is_cut |= error.is_some_and(|error| error.kind.is_limit());
    }
    PartlyParsed {
        is_whole: !is_cut && resumed.error.is_none() && !text.as_bytes().contains(&0),
        parsed: Parsed {
            list: List { items: resumed.items },
            heredocs: state.heredocs,
            translated: state.translated,
            steps: state.steps,
        },
        is_cut,
    }
}

/// A position at which parsing begins.
#[derive(Debug, Clone, Copy)]
struct Start {
    at: usize,
    /// Another place, which is tried as well unless everything from the first one on can be read.
    otherwise: Option<usize>,
}

impl Start {
    const fn at(at: usize) -> Self {
        Self { at, otherwise: None }
    }
}

/// The result so far, and the position at which parsing resumes.
struct Resumed<'t> {
    items: Vec<Item<'t>>,
    error: Option<ReadError>,
    ahead: Vec<Start>,
}

impl<'t> Resumed<'t> {
    /// Reads from a place to the end or to the first error.
    fn read(
        &mut self,
        text: &str,
        borrowed: Option<&'t str>,
        origin: Origin,
        start: Start,
        state: &mut State<'t, '_>,
    ) -> Option<ReadError> {
        state.in_quotes = 0;
        let mut parser = Parser::new(text, borrowed, origin, state);
        parser.text.at = start.at;
        let result = parser.whole();
        let at = parser.text.at;
        match result {
            Ok(list) => {
                self.items.extend(list.items);
                // Only a NUL, at which a shell stops, leaves something to read.
                self.ahead.push(Start::at(at + 1));
                None
            }
            Err(error) => {
                self.items.extend(parser.take_command().map(item));
                self.ahead.extend(start.otherwise.map(Start::at));
                self.resume(text, at, error, state);
                self.error = self.error.or(Some(error));
                Some(error)
            }
        }
    }

    /// Finds out where to go on behind an error.
    fn resume(&mut self, text: &str, at: usize, error: ReadError, state: &State<'_, '_>) {
        let at = if error.kind.is_open_quote() {
            // Everything before was certain, so this quote opens a string, and the shell searches for its end as
            // well. Behind an error it may be the end of a quoted string that was taken for the start of one.
            if self.error.is_none() {
                return;
            }
            state.failed_from.get() + 1
        } else {
            at
        };
        let find = |wanted: &[u8]| {
            let rest = text.as_bytes().get(at..).unwrap_or_default();
            rest.iter().position(|byte| wanted.contains(byte)).map(|length| at + length + 1)
        };
        let separator = find(SEPARATORS);
        let quote = find(b"\"").filter(|_| state.in_quotes > 0);
        match (quote, separator) {
            (Some(at), otherwise) => self.ahead.push(Start { at, otherwise }),
            (None, Some(at)) => self.ahead.push(Start::at(at)),
            (None, None) => {}
        }
    }
}

/// Separators between and around commands.
const SEPARATORS: &[u8] = b";&|\n()`";

/// Returns the number of blanks and separators at the start of a text.
fn separators(text: &str) -> usize {
    text.bytes().take_while(|byte| SEPARATORS.contains(byte) || matches!(byte, b' ' | b'\t')).count()
}

impl<'t> Parser<'t, '_, '_, '_> {
    /// Returns a list, or keeps it if the following text cannot be parsed.
    pub(crate) fn list_unless(&mut self, end: Read<()>, mut list: List<'t>) -> Read<List<'t>> {
        match end {
            Ok(()) => Ok(list),
            Err(error) => {
                list.items.extend(self.take_command().map(item));
                self.keep(Kind::Group(list));
                Err(error)
            }
        }
    }

    /// Returns the parts of a command, or keeps them if one of them cannot be parsed.
    pub(crate) fn clauses_unless<T>(&mut self, end: Read<T>, clauses: &mut Vec<List<'t>>) -> Read<T> {
        if end.is_err() {
            let mut clauses = std::mem::take(clauses);
            clauses.extend(self.take_command().map(list_of));
            self.keep(Kind::Clauses(clauses));
        }
        end
    }

    /// Keeps the words before an unparsable list, and the parsed part of the list.
    pub(crate) fn words_unless<T>(&mut self, end: Read<T>, words: &mut Vec<Word<'t>>) -> Read<T> {
        if end.is_err() {
            let words = std::mem::take(words);
            let arms = self.take_command().map(list_of).into_iter().collect();
            self.keep(Kind::Case { words, arms });
        }
        end
    }

    /// Keeps a command that is followed by an unparsable redirection.
    pub(crate) fn keep_compound(&mut self, kind: Kind<'t>) {
        let span = self.text.span(self.text.at, self.text.at);
        let mut items = vec![item(compound(kind, span))];
        items.extend(self.take_command().map(item));
        self.keep(Kind::Group(List { items }));
    }

    /// Keeps the commands of a pipeline, one of which cannot be parsed.
    pub(crate) fn keep_pipeline(&mut self, mut pipeline: Pipeline<'t>) {
        if let Some(command) = self.take_command() {
            pipeline.commands.push(command);
        }
        let items = vec![Item { pipeline, then: Join::Sequence }];
        self.keep(Kind::Group(List { items }));
    }

    /// Keeps a simple command, a part of which cannot be parsed.
    pub(crate) fn keep_simple(&mut self, mut command: Simple<'t>) {
        let at = self.text.at;
        match self.state.partial.take() {
            Some(Partial::Redirect(redirect)) => command.redirects.push(redirect),
            Some(Partial::Assignment(assignment)) => command.assignments.push(assignment),
            Some(Partial::Word(word)) => command.words.push(word),
            Some(Partial::Command(inner)) => {
                let word = self.unknown_word(InlineVec::None, Some(inner));
                command.words.push(word);
            }
            None if command.words.is_empty() => {}
            None => {
                let word = self.unknown_word(InlineVec::None, None);
                command.words.push(word);
            }
        }
        command.span = Span::new(command.span.start, self.text.span(at, at).end);
        if !command.assignments.is_empty() || !command.words.is_empty() || !command.redirects.is_empty() {
            self.state.partial = Some(Partial::Command(Command::Simple(command)));
        }
    }

    /// Keeps a redirection to a file with an unparsable name.
    pub(crate) fn keep_redirect(
        &mut self,
        start: usize,
        operator: RedirectOperator,
        descriptor: Option<Cow<'t, str>>,
    ) {
        let (span, target) = (self.text.span(start, self.text.at), self.kept_word());
        let redirect = Redirected { span, descriptor, operator, target, heredoc: None };
        self.state.partial = Some(Partial::Redirect(redirect));
    }

    /// Keeps an assignment with an unparsable value.
    pub(crate) fn keep_assignment(&mut self, start: usize, name: Cow<'t, str>, appends: bool) {
        let (span, value) = (self.text.span(start, self.text.at), AssignedValue::Word(self.kept_word()));
        let assigned =
            Assigned { span, name, subscript: Vec::new(), index: Cow::Borrowed(""), appends, value };
        self.state.partial = Some(Partial::Assignment(assigned));
    }

    /// Takes the partial result as a word.
    pub(crate) fn kept_word(&mut self) -> Word<'t> {
        match self.state.partial.take() {
            Some(Partial::Word(word)) => word,
            other => {
                self.state.partial = other;
                let inner = self.take_command();
                self.unknown_word(InlineVec::None, inner)
            }
        }
    }

    /// Keeps the beginning of a word.
    pub(crate) fn keep_pieces(&mut self, builder: Builder<'t>) {
        let inner = self.take_command();
        let word = self.unknown_word(builder.into_pieces(), inner);
        self.state.partial = Some(Partial::Word(word));
    }

    /// Keeps the content of an unparsable construct.
    pub(crate) fn pieces_unless<T>(&mut self, end: Read<T>, inside: &mut Builder<'t>) -> Read<T> {
        if end.is_err() {
            self.keep_pieces(std::mem::take(inside));
        }
        end
    }

    /// Returns a word that begins with `pieces`, runs `inner`, and continues in an unknown way.
    fn unknown_word(&self, mut pieces: InlineVec<Piece<'t>>, inner: Option<Command<'t>>) -> Word<'t> {
        let span = self.text.span(self.text.at, self.text.at);
        let mut replaced = |kind| {
            pieces.push(Piece::Expansion(Box::new(Expansion { span, quoted: false, kind })));
        };
        if let Some(inner) = inner {
            replaced(ExpansionKind::Command(list_of(inner)));
        }
        // The unparsable part may be any text of any number of words.
        replaced(ExpansionKind::Parameter {
            name: Cow::Borrowed("*"),
            action: Action::Value,
            result: ParameterResult::Changed,
            evaluated: None,
            inside: Vec::new(),
        });
        Word { span, marks: Marks::default(), pieces }
    }

    /// Takes the partial result as a command.
    pub(crate) fn take_command(&mut self) -> Option<Command<'t>> {
        Some(match self.state.partial.take()? {
            Partial::Command(command) => command,
            Partial::Word(word) => {
                let span = word.span;
                compound(Kind::Case { words: vec![word], arms: Vec::new() }, span)
            }
            Partial::Redirect(redirect) => self.only(|simple| simple.redirects.push(redirect)),
            Partial::Assignment(assignment) => self.only(|simple| simple.assignments.push(assignment)),
        })
    }

    fn only(&self, fill: impl FnOnce(&mut Simple<'t>)) -> Command<'t> {
        let span = self.text.span(self.text.at, self.text.at);
        let (assignments, redirects) = (Vec::new(), Vec::new());
        let mut simple = Simple { span, assignments, words: InlineVec::None, redirects };
        fill(&mut simple);
        Command::Simple(simple)
    }

    fn keep(&mut self, kind: Kind<'t>) {
        let span = self.text.span(self.text.at, self.text.at);
        self.state.partial = Some(Partial::Command(compound(kind, span)));
    }
}

fn compound(kind: Kind<'_>, span: Span) -> Command<'_> {
    Command::Compound(Box::new(Compound { span, kind, redirects: Vec::new() }))
}

fn list_of(command: Command<'_>) -> List<'_> {
    List { items: vec![item(command)] }
}

fn item(command: Command<'_>) -> Item<'_> {
    let pipeline = Pipeline { prefixes: Vec::new(), commands: InlineVec::One(command), errors_too: false };
    Item { pipeline, then: Join::Sequence }
}
