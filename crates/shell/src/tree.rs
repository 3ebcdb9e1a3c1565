//! Syntax tree: lists of pipelines of commands, made of words.
//!
//! Words borrow from the text where possible, and contain every substitution in them.

use std::borrow::Cow;

use crate::inline_vec::InlineVec;
use crate::span::Span;

/// Commands in the order in which they are written.
#[derive(Debug, Clone, Default)]
pub(crate) struct List<'t> {
    pub(crate) items: Vec<Item<'t>>,
}

/// A pipeline and its connection to the next one.
#[derive(Debug, Clone)]
pub(crate) struct Item<'t> {
    pub(crate) pipeline: Pipeline<'t>,
    pub(crate) then: Join,
}

/// Connection between two pipelines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Join {
    /// `;`, a line end, or the end of the list.
    Sequence,
    /// `&`: the pipeline before it runs in the background.
    Background,
    /// `&&`: the next runs where this one succeeds.
    And,
    /// `||`: the next runs where this one fails.
    Or,
}

/// Commands joined by `|`, or a single one.
#[derive(Debug, Clone)]
pub(crate) struct Pipeline<'t> {
    /// `!` or `time` before the first command.
    pub(crate) prefixes: Vec<Prefix>,
    pub(crate) commands: InlineVec<Command<'t>>,
    /// Whether any of the pipes is `|&`, which carries errors too.
    pub(crate) errors_too: bool,
}

/// A reserved word before a pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prefix {
    /// `!`, which turns success and failure round.
    Not,
    /// `time`, which measures the whole pipeline.
    Time,
}

/// One stage of a pipeline.
#[derive(Debug, Clone)]
pub(crate) enum Command<'t> {
    Simple(Simple<'t>),
    Compound(Box<Compound<'t>>),
}

/// Assignments, words and redirections in one command.
#[derive(Debug, Clone)]
pub(crate) struct Simple<'t> {
    pub(crate) span: Span,
    pub(crate) assignments: Vec<Assigned<'t>>,
    pub(crate) words: InlineVec<Word<'t>>,
    pub(crate) redirects: Vec<Redirected<'t>>,
}

/// A command composed of other commands.
#[derive(Debug, Clone)]
pub(crate) struct Compound<'t> {
    pub(crate) span: Span,
    pub(crate) kind: Kind<'t>,
    pub(crate) redirects: Vec<Redirected<'t>>,
}

/// The kinds of compound commands.
#[derive(Debug, Clone)]
pub(crate) enum Kind<'t> {
    /// `( … )`: a list in a process of its own.
    Subshell(List<'t>),
    /// `{ …; }`: a list in the shell itself.
    Group(List<'t>),
    /// `if`, `while`, `until`, `always`: the parts in order, each of which may or may not run.
    Clauses(Vec<List<'t>>),
    /// `for` and `select`: a list for each word.
    For { name: Cow<'t, str>, words: Vec<Word<'t>>, body: List<'t> },
    /// `for ((…))`: a list that is repeated by arithmetic.
    Counted { text: Cow<'t, str>, inside: Vec<Expansion<'t>>, body: List<'t> },
    /// `case`: lists that are chosen by patterns.
    Case { words: Vec<Word<'t>>, arms: Vec<List<'t>> },
    /// `(( … ))`: arithmetic as a command.
    Arithmetic { text: Cow<'t, str>, inside: Vec<Expansion<'t>>, span: Span },
    /// `[[ … ]]`: a condition with a grammar of its own.
    Test(Vec<Operand<'t>>),
    /// `name() …`: the definition of a function.
    Function { name: Option<Cow<'t, str>>, body: Command<'t> },
    /// `coproc …`: a command that runs beside the shell, joined to it by pipes.
    Coproc { name: Option<Cow<'t, str>>, command: Command<'t> },
}

/// A word that `[[ … ]]` compares or evaluates.
#[derive(Debug, Clone)]
pub(crate) struct Operand<'t> {
    pub(crate) word: Word<'t>,
    pub(crate) role: Role,
}

/// Use of a word in `[[ … ]]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Compared or matched with another.
    Text,
    /// Tested by itself: whether it is empty, or what kind of file it names.
    Alone,
    /// Evaluated as arithmetic, quoted or not.
    Number,
    /// Used as the name of a variable, which may have a subscript that is evaluated.
    Name,
}

/// An assignment as it is written: `name=value`.
#[derive(Debug, Clone)]
pub(crate) struct Assigned<'t> {
    pub(crate) span: Span,
    pub(crate) name: Cow<'t, str>,
    /// Evaluated parts inside `name[…]=`.
    pub(crate) subscript: Vec<Expansion<'t>>,
    /// The subscript as it is written.
    pub(crate) index: Cow<'t, str>,
    /// Whether it is written with `+=`.
    pub(crate) appends: bool,
    pub(crate) value: AssignedValue<'t>,
}

/// The right side of an assignment.
#[derive(Debug, Clone)]
pub(crate) enum AssignedValue<'t> {
    Word(Word<'t>),
    Array(Vec<Word<'t>>),
}

/// A redirection as it is written.
#[derive(Debug, Clone)]
pub(crate) struct Redirected<'t> {
    pub(crate) span: Span,
    /// The number, or the `{name}`, before the operator.
    pub(crate) descriptor: Option<Cow<'t, str>>,
    pub(crate) operator: RedirectOperator,
    pub(crate) target: Word<'t>,
    /// Which of the here-documents of the text it reads.
    pub(crate) heredoc: Option<usize>,
}

/// The operators that open, copy or close files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RedirectOperator {
    /// Opens a file for reading: `<`.
    Read,
    /// Empties a file and writes to it: `>`.
    Write,
    /// Writes at the end of a file: `>>`.
    Append,
    /// Writes even where `noclobber` is set: `>|`.
    Clobber,
    /// Opens a file for both: `<>`.
    ReadWrite,
    /// Output and errors to a file: `&>`, or `>&` before a word that is not a number.
    WriteBoth,
    /// Output and errors at the end of a file: `&>>`.
    AppendBoth,
    /// Copies or closes a descriptor for input: `<&`.
    DuplicateInput,
    /// Copies or closes a descriptor for output: `>&`.
    DuplicateOutput,
    /// A here-document follows: `<<` and `<<-`.
    Heredoc,
    /// The word itself is the input: `<<<`.
    HereString,
}

impl RedirectOperator {
    /// Returns how it is written.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "<",
            Self::Write => ">",
            Self::Append => ">>",
            Self::Clobber => ">|",
            Self::ReadWrite => "<>",
            Self::WriteBoth => "&>",
            Self::AppendBoth => "&>>",
            Self::DuplicateInput => "<&",
            Self::DuplicateOutput => ">&",
            Self::Heredoc => "<<",
            Self::HereString => "<<<",
        }
    }
}

/// The body of a here-document.
#[derive(Debug, Clone, Default)]
pub(crate) struct Heredoc<'t> {
    pub(crate) body: InlineVec<Piece<'t>>,
}

/// A word, with its expansions.
#[derive(Debug, Clone)]
pub(crate) struct Word<'t> {
    pub(crate) span: Span,
    pub(crate) marks: Marks,
    pub(crate) pieces: InlineVec<Piece<'t>>,
}

impl<'t> Word<'t> {
    /// Returns the pieces in order.
    pub(crate) fn pieces(&self) -> &[Piece<'t>] {
        &self.pieces
    }

    /// Returns the text of an unquoted word without any special character.
    pub(crate) fn bare(&self) -> Option<&Cow<'t, str>> {
        match &self.pieces {
            InlineVec::One(Piece::Bare(text)) => Some(text),
            _ => None,
        }
    }
}

/// A part of a word.
#[derive(Debug, Clone)]
pub(crate) enum Piece<'t> {
    /// Text outside quotes, in which globs, braces and tildes count.
    Bare(Cow<'t, str>),
    /// Text that quotes or a backslash protect.
    Quoted(Cow<'t, str>),
    /// Something that the shell replaces.
    Expansion(Box<Expansion<'t>>),
}

/// Special characters in the unquoted part of a word, one bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Marks(u8);

impl Marks {
    /// `*`, `?` or `[`, which make it a pattern for names of files.
    pub(crate) const GLOB: u8 = 1;
    /// `{`, which may begin a brace expansion.
    pub(crate) const BRACE: u8 = 2;
    /// A `~` at the start, or after `=` or `:`.
    pub(crate) const TILDE: u8 = 4;
    /// `=` or `#`: only the first byte of a word matters.
    pub(crate) const OTHER: u8 = 8;
    /// Braces outside and inside of `${…}`: bash pairs them before it knows which is which.
    pub(crate) const TANGLED: u8 = 16;
    /// A pattern in parentheses.
    pub(crate) const GROUP: u8 = 32;

    pub(crate) const fn has(self, mark: u8) -> bool {
        self.0 & mark != 0
    }

    pub(crate) const fn add(&mut self, marks: u8) {
        self.0 |= marks;
    }
}

/// Something that the shell replaces by text that cannot be known.
#[derive(Debug, Clone)]
pub(crate) struct Expansion<'t> {
    pub(crate) span: Span,
    pub(crate) quoted: bool,
    pub(crate) kind: ExpansionKind<'t>,
}

/// The kinds of expansions.
#[derive(Debug, Clone)]
pub(crate) enum ExpansionKind<'t> {
    /// `$name` and `${…}`, with the parts that are evaluated as arithmetic, and the expansions inside.
    Parameter {
        name: Cow<'t, str>,
        action: Action,
        result: ParameterResult,
        evaluated: Evaluated<'t>,
        inside: Vec<Expansion<'t>>,
    },
    /// `$(…)`: the output of commands.
    Command(List<'t>),
    /// `` `…` ``: the same in the old form.
    Backtick(List<'t>),
    /// `<(…)` and `>(…)`: a file that is a pipe to commands.
    Process(List<'t>),
    /// `$((…))` and `$[…]`: arithmetic, kept as written.
    Arithmetic { evaluates_names: bool, text: Cow<'t, str>, inside: Vec<Expansion<'t>> },
}

/// The parts of `${…}` that are evaluated as arithmetic, as written. Boxed, because most have none.
pub(crate) type Evaluated<'t> = Option<Box<Arithmetics<'t>>>;

/// The subscript of a variable, and the offset and length of its substring.
#[derive(Debug, Clone)]
pub(crate) struct Arithmetics<'t> {
    pub(crate) subscript: Cow<'t, str>,
    pub(crate) offset: Cow<'t, str>,
}

/// Result of an expansion relative to the value of its parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ParameterResult {
    /// The value itself is inserted, unchanged.
    Whole,
    /// A number that is counted: `${#x}`.
    Count,
    /// The value, or another in its place: `${x:-a}`, `${x+a}`.
    Defaulted,
    /// A part of the value, or a modified value.
    Changed,
    /// The value, after an assignment to the variable: `${x:=a}`.
    Assigned,
}

/// Side effect of an expansion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// Inserts the value, or a part of it.
    Value,
    /// Evaluates a subscript, an offset or a length as arithmetic, which may run commands in a value.
    Indirect,
    /// Uses the value as the name of another variable, whose subscript may run commands.
    Reference,
    /// Expands the value as a prompt (`@P`), which runs the substitutions in it.
    Prompt,
}
