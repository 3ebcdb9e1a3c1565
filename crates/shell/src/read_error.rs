//! Why a text was not read.

use crate::span::Span;

/// A command that was not read, because the reader is not sure that every shell reads it the same way.
///
/// It can never lead to permission: an unreadable text is not allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{kind} (bytes {} to {})", span.start, span.end)]
#[non_exhaustive]
pub struct ReadError {
    /// The construct that was met.
    pub kind: ReadErrorKind,
    /// Where it met it.
    pub span: Span,
}

impl ReadError {
    /// Returns the error for the bytes in `span`.
    pub(crate) const fn new(kind: ReadErrorKind, span: Span) -> Self {
        Self { kind, span }
    }
}

impl ReadErrorKind {
    /// Whether a limit was reached: the text beyond it was not inspected.
    pub(crate) const fn is_limit(self) -> bool {
        matches!(self, Self::TooDeep | Self::TooManyCommands | Self::TooManyWords)
    }

    /// Whether the end of a quoted string was searched up to the end of the text.
    #[must_use]
    pub const fn is_open_quote(self) -> bool {
        matches!(
            self,
            Self::UnterminatedQuote
                | Self::UnterminatedSubstitution
                | Self::UnterminatedExpansion
                | Self::UnterminatedHeredoc
        )
    }
}

/// The reasons for not reading a text, each with the sentence that explains it.
macro_rules! reasons {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $message:literal;)*) => {
        /// A construct that is not read.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum ReadErrorKind { $($(#[$doc])* $name,)* }

        impl ReadErrorKind {
            /// Every reason there is.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Returns the stable name, for machines.
            #[must_use]
            pub const fn code(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }

            /// Returns a description for display.
            #[must_use]
            pub const fn message(self) -> &'static str {
                match self { $(Self::$name => $message,)* }
            }
        }
    };
}

reasons! {
    /// The text is longer than the limit.
    TooLong = "too_long", "the command is longer than the limit";
    /// Constructs are nested deeper than the limit.
    TooDeep = "too_deep", "commands are nested too deeply";
    /// There are more commands and redirections than the limit.
    TooManyCommands = "too_many_commands", "there are more commands and redirections in it than the limit";
    /// There are more words and expansions than the limit.
    TooManyWords = "too_many_words", "there are more words and expansions in it than the limit";
    /// A control character other than tab and line feed.
    ControlCharacter = "control_character", "a control character is not shown but is read by the shell";
    /// A character that changes the direction in which text is shown, or that is never shown.
    DeceptiveCharacter = "deceptive_character", "an invisible character hides or reorders what is shown";
    /// An unquoted character that looks like a space, or like nothing, but is part of a word.
    InvisibleCharacter = "invisible_character", "an invisible or space-like character is part of a word";
    /// A quote that is not closed.
    UnterminatedQuote = "unterminated_quote", "a quote is not closed";
    /// A substitution that is not closed.
    UnterminatedSubstitution = "unterminated_substitution", "a substitution is not closed";
    /// An expansion that is not closed.
    UnterminatedExpansion = "unterminated_expansion", "an expansion is not closed";
    /// A here-document without its last line.
    UnterminatedHeredoc = "unterminated_heredoc", "a here-document does not end";
    /// An incomplete group, loop or condition.
    UnterminatedCommand = "unterminated_command", "the command is incomplete";
    /// A backslash with nothing after it.
    TrailingBackslash = "trailing_backslash", "a backslash has nothing to quote";
    /// The shell would report a syntax error here.
    Syntax = "syntax", "this is not where the shell expects it";
    /// `${…}` with something that is not an expansion in it.
    BadExpansion = "bad_expansion", "this is not an expansion that every shell knows";
    /// `$((` or `((` that does not end in `))`: shells then read it as nested subshells, or not at all.
    AmbiguousArithmetic = "ambiguous_arithmetic", "arithmetic that could also be a nested subshell";
    /// A substitution inside arithmetic that is more than one pipeline of plain commands.
    ArithmeticSubstitution = "arithmetic_substitution", "too much inside arithmetic to be read alike by every shell";
    /// A single quote inside `"${…}"`, which quotes in some operators and not in others.
    QuoteInBraces = "quote_in_braces", "a single quote inside \"${…}\" quotes only sometimes";
    /// Quotes and braces in backticks that are themselves inside quotes: bash expands such braces as if they were
    /// not quoted.
    QuoteInBackticks = "quote_in_backticks", "quotes and braces inside quoted backticks are not read alike";
    /// A here-document inside a substitution together with other commands.
    HeredocInSubstitution = "heredoc_in_substitution", "a here-document beside other commands in a substitution";
    /// A line end inside a word while the body of a here-document is still to come.
    LineEndBeforeHeredoc = "line_end_before_heredoc", "a line ends inside a word before a here-document begins";
    /// A here-document whose delimiter contains an expansion.
    HeredocDelimiter = "heredoc_delimiter", "the delimiter of a here-document is not plain";
    /// An assignment whose name is broken over lines, or whose subscript is not one word.
    AssignmentName = "assignment_name", "the name of an assignment is not plain";
    /// `$'…'` that spells a NUL, or bytes that are not text.
    AnsiQuote = "ansi_quote", "$'…' spells something that is not text";
    /// Something that shells of the chosen family disagree about.
    Dialect = "dialect", "shells disagree about what this means";
    /// zsh: `=(…)`.
    ZshProcessSubstitution = "zsh_process_substitution", "zsh replaces =(…) by the output of a command";
    /// zsh: `=name`.
    ZshEquals = "zsh_equals", "zsh replaces =name by the path of a program";
    /// zsh: `${(e)…}` and other flags that evaluate.
    ZshEvalFlag = "zsh_eval_flag", "zsh evaluates the value of this parameter";
    /// zsh: a glob qualifier that runs code, or that is not known not to.
    ZshGlobQualifier = "zsh_glob_exec", "zsh may run code in a glob qualifier";
    /// zsh: a form of its own that is not read.
    ZshSyntax = "zsh_syntax", "a form that only zsh has";
}

impl std::fmt::Display for ReadErrorKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.message())
    }
}
