//! The actions of a command, as far as its text determines them.

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
    /// The variables whose values commands receive, by command.
    pub uses: Vec<VariableUse>,
    /// The variables whose values `[[ … ]]`, `case` and `(( … ))` compare.
    pub comparisons: Vec<Comparison>,
    /// Every substitution, also in texts that a nested shell runs.
    pub substitutions: Vec<Substitution>,
    /// Hazards: parts that may do more than the lists above contain.
    pub hazards: Vec<ShellHazard>,
    /// Data flow from the output of programs to the input of others.
    pub flows: Vec<Flow>,
    /// The programs that run in a subshell, by their indices in `runs`: a `cd` among them ends with them. A range
    /// within another comes before it.
    pub own_shells: Vec<Range<usize>>,
    /// Every function that is defined.
    pub functions: Vec<Function<'t>>,
}

/// Variables whose values a command receives: in its words, in here-documents and here-strings, or through other
/// variables.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct VariableUse {
    /// Their names. `${!…}` is one that a variable names (`${!x}`), and `${…}` for any, where there are too many.
    pub names: Vec<String>,
    /// Those of them of which a command may receive a part, or a modified value.
    pub parts: Vec<String>,
    /// The programs that receive them, by their indices in [`Actions::runs`].
    pub runs: Range<usize>,
}

/// Variables whose values a condition of the shell compares: `[[ $x == a* ]]`, `case $x in`. That a variable is empty is not listed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Comparison {
    /// Their names, as in a [`VariableUse`].
    pub names: Vec<String>,
    /// The position of the condition.
    pub span: Span,
}

/// A program, builtin or function that can run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Run<'t> {
    /// The name and the arguments after all quotes are removed.
    pub argv: Vec<Arg<'t>>,
    /// Position in the text.
    pub span: Span,
    /// The programs it runs through, the outermost first: `["sudo", "sh"]`.
    pub call_chain: Vec<Cow<'static, str>>,
    /// How it is started.
    pub invocation: InvocationKind,
    /// Whether the program before it adds arguments at run time, as `xargs` does.
    pub open_ended: bool,
    /// Whether it runs beside other programs: in a pipeline, or in the background.
    pub alongside: bool,
    /// The text on its standard input, where it is written in the command and the program is an interpreter that may run it
    /// as code: a here-document of `python3`.
    pub input: Option<String>,
}

/// Output of some programs that others read. Programs are identified by their indices in [`Actions::runs`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Flow {
    /// The programs that write.
    pub from: Range<usize>,
    /// The programs that read.
    pub into: Range<usize>,
    /// The channel of the flow.
    pub through: DataFlow,
}

/// How a program receives the output of another.
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
    /// The name, if it is certain.
    pub name: Option<Cow<'t, str>>,
    /// The programs that its body runs, by their place in [`Actions::runs`].
    pub runs: Range<usize>,
}

/// How a program is started.
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
/// Deliberately exhaustive: code that decides about a word has to handle both cases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arg<'t> {
    /// The word is certain. A `~` at its start is a home directory or another directory that the shell knows; in bash
    /// also after the `=` and the `:` of a word that looks like an assignment.
    Known(Cow<'t, str>),
    /// The word depends on a variable, a file name or the output of a command.
    Unknown {
        /// Known beginning of the first word.
        prefix: Cow<'t, str>,
        /// How many words it becomes.
        count: WordCount,
        /// The word without its quotes: a special character protected by quotes is escaped with a backslash, a
        /// variable is `${name}`, and any other expansion `$()`. Empty if even that is uncertain.
        spelling: Cow<'t, str>,
    },
}

/// How many words an unknown argument becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WordCount {
    /// Exactly one word of any content.
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

/// Returns a spelling without the part for the first `length` bytes.
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
    /// The programs that have this output or input, by their indices in [`Actions::runs`].
    pub runs: Range<usize>,
    /// Position in the text.
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
    /// The assigned value. Empty for other changes.
    pub value: Arg<'t>,
    /// The change of the variable.
    pub change: VariableChange,
    /// Whether programs that are started see it.
    pub exported: bool,
    /// Scope of the assignment.
    pub scope: AssignmentScope,
    /// Position in the text.
    pub span: Span,
}

/// A change of a variable.
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

/// Scope of an assignment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AssignmentScope {
    /// The one command after it.
    Command,
    /// The builtin `read` after it, which starts no program.
    Reading,
    /// The rest of the text.
    Shell,
}

/// A command whose output, or a file that represents it, becomes part of another command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Substitution {
    /// How it is written.
    pub form: SubstitutionForm,
    /// Position in the text.
    pub span: Span,
}

/// The ways to write a substitution: these are all that shells have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SubstitutionForm {
    /// The form in which substitutions nest, `$(…)`.
    Dollar,
    /// The old form, `` `…` ``, in which backslashes are read twice.
    Backtick,
    /// A file that represents a command: `<(…)` and `>(…)`.
    Process,
}

/// Something that may do more than the text shows.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShellHazard {
    /// Which kind of hazard it is.
    pub kind: HazardKind,
    /// Position in the text.
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
    /// A builtin sets a variable with an unknown name.
    UnknownVariable,
    /// An option or a variable changes how the shell parses the following text, or the meaning of names in it.
    ChangedShell,
    /// A value is expanded as a prompt, which runs the substitutions in it.
    PromptText,
    /// The text that a shell runs is not known before it runs.
    UnknownText,
    /// The text that a shell runs was not read.
    UnreadText(ReadErrorKind),
    /// Some options of a wrapper are unknown: the wrapped command may begin elsewhere.
    UnknownOption,
    /// The name is that of a function or an alias that may or may not be defined.
    Shadowed,
    /// Programs run programs more often than is followed.
    TooDeep,
}

impl HazardKind {
    /// Returns a description for display.
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
            Self::ChangedShell => {
                "it changes how the shell parses the following text, or the meaning of names"
            }
            Self::PromptText => "a value is expanded as a prompt, which runs commands in it",
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
