//! What a command does, as far as its text tells.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use crate::read_error::ReadErrorKind;
use crate::span::Span;
use crate::tree::RedirectOperator;

/// Everything that a text runs, opens and sets, in the order in which it is written.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Actions<'t> {
    /// Every program, builtin and function that can run, also through wrappers and nested texts.
    pub runs: Vec<Run<'t>>,
    /// Every file that a redirection opens.
    pub redirects: Vec<Redirect<'t>>,
    /// Every variable that is set, for one command or for the shell.
    pub assignments: Vec<Assignment<'t>>,
    /// The variables whose values commands are given, by command.
    pub uses: Vec<VariableUse>,
    /// Every substitution, also in texts that a nested shell runs.
    pub substitutions: Vec<Substitution>,
    /// Everything that may do more than the lists above say.
    pub hazards: Vec<ShellHazard>,
    /// Which programs give what they write to which others.
    pub flows: Vec<Flow>,
    /// The programs that run in a shell of their own, by their place in `runs`: a `cd` among them ends with them. What
    /// lies within another stands before it.
    pub own_shells: Vec<Range<usize>>,
    /// Every function that is defined.
    pub functions: Vec<Function<'t>>,
}

/// Variables whose values a command is given: in its words, in its here-documents and here-strings, or by way of other variables.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct VariableUse {
    /// Their names. `${!…}` is one that a variable names (`${!x}`), and `${…}` for any, where there are too many.
    pub names: Vec<String>,
    /// The programs that are given them, by their place in [`Actions::runs`].
    pub runs: Range<usize>,
}

/// A program, builtin or function that can run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Run<'t> {
    /// The name and the arguments after all quotes are removed.
    pub argv: Vec<Arg<'t>>,
    /// Where it is written.
    pub span: Span,
    /// The programs it runs through, the outermost first: `["sudo", "sh"]`.
    pub call_chain: Vec<Cow<'static, str>>,
    /// How it comes to run.
    pub invocation: InvocationKind,
    /// Whether the program before it adds arguments at run time, as `xargs` does.
    pub open_ended: bool,
    /// Whether it runs beside other programs: in a pipeline, or in the background.
    pub alongside: bool,
}

/// Output of some programs that others take in. Programs are named by their place in [`Actions::runs`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Flow {
    /// The programs that write.
    pub from: Range<usize>,
    /// The programs that read.
    pub into: Range<usize>,
    /// How it is taken in.
    pub through: DataFlow,
}

/// How a program takes in what another one wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DataFlow {
    /// As its standard input.
    Input,
    /// As a part of its words, or as a file named there.
    Words,
}

/// A function that is defined.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Function<'t> {
    /// The name, where it is certain.
    pub name: Option<Cow<'t, str>>,
    /// The programs that its body runs, by their place in [`Actions::runs`].
    pub runs: Range<usize>,
}

/// How a program comes to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InvocationKind {
    /// The shell runs it.
    AsWritten,
    /// The name is that of a function which the same text defines before: its body is listed instead.
    Function,
    /// Another program runs it, or a builtin evaluates text that names it.
    Nested,
    /// Another program runs it on another machine or in a container.
    Elsewhere,
}

/// A word of a command.
///
/// There will be no third kind: whoever decides about a word has to say what holds for both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arg<'t> {
    /// The word is certain. A `~` at its start stands for a home directory or for another that the shell knows, and so it does in bash after the `=` and the
    /// `:` of a word that looks like an assignment.
    Known(Cow<'t, str>),
    /// The word depends on a variable, a file name or the output of a command.
    Unknown {
        /// What the first word begins with.
        prefix: Cow<'t, str>,
        /// How many words it becomes.
        count: WordCount,
        /// The word without its quotes: a special character that quotes protect has a backslash before it, a
        /// variable is `${name}`, and any other expansion `$()`. Empty when even that is not certain.
        spelling: Cow<'t, str>,
    },
}

/// How many words an unknown argument becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WordCount {
    /// Exactly one word, whatever it holds.
    One,
    /// None, one or several.
    Any,
}

impl<'t> Arg<'t> {
    /// Returns the text of a word that is certain.
    #[must_use]
    pub fn known(&self) -> Option<&str> {
        match self {
            Self::Known(text) => Some(text),
            Self::Unknown { .. } => None,
        }
    }

    pub(crate) const fn any() -> Self {
        Self::Unknown { prefix: Cow::Borrowed(""), count: WordCount::Any, spelling: Cow::Borrowed("") }
    }

    /// Returns the word without its first `length` bytes.
    #[must_use]
    pub fn without_prefix(&self, length: usize) -> Self {
        let cut = |text: &Cow<'t, str>| match text {
            Cow::Borrowed(text) => Cow::Borrowed(text.get(length..).unwrap_or_default()),
            Cow::Owned(text) => Cow::Owned(text.get(length..).unwrap_or_default().to_owned()),
        };
        match self {
            Self::Known(text) => Self::Known(cut(text)),
            Self::Unknown { prefix, count, spelling } => {
                let spelling = Cow::Owned(without_spelled(spelling, length).to_owned());
                Self::Unknown { prefix: cut(prefix), count: *count, spelling }
            }
        }
    }
}

/// Returns a spelling without what spells the first `length` bytes.
fn without_spelled(spelling: &str, length: usize) -> &str {
    let mut left = length;
    let mut protects = false;
    for (at, character) in spelling.char_indices() {
        if !protects && character == '\\' {
            protects = true;
            continue;
        }
        if left == 0 {
            return spelling.get(at - usize::from(protects)..).unwrap_or_default();
        }
        left = left.saturating_sub(character.len_utf8());
        protects = false;
    }
    ""
}

impl fmt::Display for Arg<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(text) => f.write_str(text),
            Self::Unknown { prefix, .. } => write!(f, "{prefix}…"),
        }
    }
}

impl Run<'_> {
    /// Returns the name as it is written, when it is certain.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        self.argv.first().and_then(Arg::known)
    }

    /// Returns whether every word is certain.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.argv.iter().all(|arg| arg.known().is_some())
    }
}

/// A file that a redirection opens.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Redirect<'t> {
    /// The operator that is written.
    pub operator: RedirectOperator,
    /// The descriptor that is redirected, where one is written.
    pub descriptor: Option<Cow<'t, str>>,
    /// The file, or the descriptor that is copied.
    pub target: Arg<'t>,
    /// The programs whose output or input it is, by their place in [`Actions::runs`].
    pub runs: Range<usize>,
    /// Where it is written.
    pub span: Span,
}

impl Redirect<'_> {
    /// Returns whether a file is opened, rather than a descriptor copied or closed.
    #[must_use]
    pub const fn opens_file(&self) -> bool {
        !matches!(self.operator, RedirectOperator::DuplicateInput | RedirectOperator::DuplicateOutput)
    }

    /// Returns whether the file is written to.
    #[must_use]
    pub const fn writes(&self) -> bool {
        self.opens_file() && !matches!(self.operator, RedirectOperator::Read)
    }
}

/// A variable that is set, unset or declared.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Assignment<'t> {
    /// The name of the variable.
    pub name: Cow<'t, str>,
    /// The value that it is set to. Empty where it is not set.
    pub value: Arg<'t>,
    /// What happens to the variable.
    pub change: VariableChange,
    /// Whether programs that are started see it.
    pub exported: bool,
    /// What it is set for.
    pub scope: AssignmentScope,
    /// Where it is written.
    pub span: Span,
}

/// What happens to a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum VariableChange {
    /// It gets a value.
    Set,
    /// Its value may be gone, for the shell or for programs that it starts: `unset x`, `local x`, `declare -a x`, `export -n x`.
    Unset,
    /// Programs that are started see it from now on: `export x`.
    Exported,
}

/// What a variable is set for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AssignmentScope {
    /// The one command after it.
    Command,
    /// The builtin `read` after it, which starts no program.
    Reading,
    /// The rest of the text.
    Shell,
}

/// A command whose output, or a file that stands for it, becomes part of another command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Substitution {
    /// How it is written.
    pub form: SubstitutionForm,
    /// Where it is written.
    pub span: Span,
}

/// The ways to write a substitution: these are all that shells have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SubstitutionForm {
    /// The form in which substitutions nest, `$(…)`.
    Dollar,
    /// The old form, `` `…` ``, in which backslashes are read twice.
    Backtick,
    /// A file that stands for a command: `<(…)` and `>(…)`.
    Process,
}

/// Something that may do more than the text shows.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShellHazard {
    /// Which kind of hazard it is.
    pub kind: HazardKind,
    /// Where it is written.
    pub span: Span,
}

/// The ways in which a text may do more than it shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum HazardKind {
    /// A builtin evaluates quoted text, and finds a substitution in it.
    EvaluatedText,
    /// A value that is not known is evaluated, as arithmetic or as the name of a variable: `a[$(id)]` in it runs `id`.
    EvaluatedData,
    /// A text is replaced by its translation from a file, which is expanded: `$"…"`.
    TranslatedText,
    /// A builtin sets a variable whose name is not known.
    UnknownVariable,
    /// An option or a variable changes how the shell reads what follows, or what names stand for there.
    ChangedShell,
    /// A value is expanded as a prompt, which runs the substitutions in it.
    PromptText,
    /// The text that a shell runs is not known before it runs.
    UnknownText,
    /// The text that a shell runs was not read.
    UnreadText(ReadErrorKind),
    /// The options of a wrapper are not all known: what it runs may begin elsewhere.
    UnknownOption,
    /// The name is that of a function or an alias that may or may not be defined.
    Shadowed,
    /// Programs run programs more often than is followed.
    TooDeep,
}

impl HazardKind {
    /// Returns what it means, for people.
    #[must_use]
    pub const fn message(self) -> &'static str {
        match self {
            Self::EvaluatedText => "quoted text is evaluated, and a substitution in it runs",
            Self::EvaluatedData => {
                "a value that is not known is evaluated, and `a[$(…)]` in it runs a command"
            }
            Self::TranslatedText => {
                "a translated string is replaced from a file, and a substitution in it runs"
            }
            Self::UnknownVariable => "the name of the variable that is set is not known beforehand",
            Self::ChangedShell => "it changes how the shell reads what follows, or what names stand for",
            Self::PromptText => "a value is expanded as a prompt, which runs what is in it",
            Self::UnknownText => "the text that is run is not known beforehand",
            Self::UnreadText(reason) => reason.message(),
            Self::UnknownOption => "an option of a wrapper is not known, so what it runs is not certain",
            Self::Shadowed => "a function or an alias may replace this name",
            Self::TooDeep => "too many programs run each other",
        }
    }
}

impl fmt::Display for HazardKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}
