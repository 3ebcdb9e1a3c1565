//! Rejects commands that hide other commands in substitutions.
//!
//! This is the first check before a shell: an accepted command runs what it shows and nothing else. It uses the result of the
//! shell parser, so quotes, comments, here-documents and arithmetic are interpreted as by the shell: `echo '$(id)'` is accepted
//! and `echo $'\'' $(id)` is not.

use std::fmt;

use stockade_shell::{
    Actions, HazardKind, ReadError, ReadErrorKind, ReadOptions, Script, Shell, Span, SubstitutionForm,
    refused_character,
};

/// The result of the validator.
#[derive(Debug, Clone)]
#[must_use]
pub enum Validation<'t> {
    /// It runs no hidden command.
    Accepted(Validated<'t>),
    /// It runs a hidden command, or may do so.
    Rejected(Rejection),
}

impl<'t> Validation<'t> {
    /// Returns the reason for a rejection.
    #[must_use]
    pub const fn rejection(&self) -> Option<&Rejection> {
        match self {
            Self::Accepted(_) => None,
            Self::Rejected(rejection) => Some(rejection),
        }
    }

    /// Returns the command, if it was accepted.
    #[must_use]
    pub fn accepted(self) -> Option<Validated<'t>> {
        match self {
            Self::Accepted(validated) => Some(validated),
            Self::Rejected(_) => None,
        }
    }
}

/// An accepted command, which proves that its text was parsed.
#[derive(Debug, Clone)]
pub struct Validated<'t> {
    text: &'t str,
    script: Script<'t>,
}

impl<'t> Validated<'t> {
    /// Returns the text to run.
    #[must_use]
    pub const fn text(&self) -> &'t str {
        self.text
    }

    /// Returns the parsed script.
    #[must_use]
    pub const fn script(&self) -> &Script<'t> {
        &self.script
    }
}

/// Why a command was rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rejection {
    /// The finding.
    pub kind: RejectionKind,
    /// Its position.
    pub span: Span,
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (bytes {} to {})", self.kind, self.span.start, self.span.end)
    }
}

/// The kinds of findings that reject a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RejectionKind {
    /// A command substitution in the modern form, `$(…)`.
    CommandSubstitution,
    /// A command substitution in the old form, `` `…` ``.
    Backtick,
    /// A process substitution, `<(…)` or `>(…)`.
    ProcessSubstitution,
    /// A process substitution of zsh, `=(…)`.
    ZshProcessSubstitution,
    /// A path expansion of zsh, `=name`.
    ZshEquals,
    /// Quoted text that a builtin evaluates: `eval 'id'`, `test -v 'a[$(id)]'`.
    EvaluatedText,
    /// A value that is expanded as a prompt: `${x@P}`.
    PromptTransform,
    /// An option or variable that changes how the shell parses the rest: `set -o histexpand`.
    ChangedShell,
    /// A value that zsh evaluates, `${(e)x}`.
    ZshEvalFlag,
    /// A glob qualifier of zsh that runs code.
    ZshGlobExec,
    /// A character that looks different from how the shell parses it.
    ControlCharacter,
    /// An unterminated quote, substitution or command.
    Unterminated,
    /// Something that could not be parsed, with the reason.
    Unreadable(ReadErrorKind),
}

impl RejectionKind {
    /// Returns the stable name, for machines.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::CommandSubstitution => "command_substitution",
            Self::Backtick => "backtick",
            Self::ProcessSubstitution => "process_substitution",
            Self::ZshProcessSubstitution => "zsh_process_substitution",
            Self::ZshEquals => "zsh_equals",
            Self::EvaluatedText => "arith_eval",
            Self::PromptTransform => "prompt_transform",
            Self::ChangedShell => "changed_shell",
            Self::ZshEvalFlag => "zsh_eval_flag",
            Self::ZshGlobExec => "zsh_glob_exec",
            Self::ControlCharacter => "control_char",
            Self::Unterminated => "unterminated",
            Self::Unreadable(reason) => reason.code(),
        }
    }
}

impl fmt::Display for RejectionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CommandSubstitution => "command substitution $(…) runs another command",
            Self::Backtick => "backticks run another command",
            Self::ProcessSubstitution => "process substitution <(…) or >(…) runs another command",
            Self::ZshProcessSubstitution => "zsh replaces =(…) by the output of a command",
            Self::ZshEquals => "zsh replaces =name by the path of a program",
            Self::EvaluatedText => "a builtin evaluates quoted text",
            Self::PromptTransform => "a value is expanded as a prompt, which runs commands in it",
            Self::ChangedShell => "the following text would be parsed differently by the shell",
            Self::ZshEvalFlag => "zsh evaluates the value of this parameter",
            Self::ZshGlobExec => "zsh may run code in a glob qualifier",
            Self::ControlCharacter => "a character is displayed differently from how the shell reads it",
            Self::Unterminated => "the command is incomplete",
            Self::Unreadable(reason) => reason.message(),
        })
    }
}

/// Options of the validator.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ValidatorOptions {
    /// The shell that will run the command, and limits.
    pub read: ReadOptions,
    /// The rejected kinds.
    pub checks: ValidatorChecks,
}

/// Sets of rejected kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ValidatorChecks {
    /// Everything that can run a hidden command.
    #[default]
    All,
    /// Substitutions and unparsed text; quoted text that a builtin evaluates is accepted.
    Substitutions,
}

/// Decides whether `text` may be passed to a shell unchanged.
pub fn validate<'t>(text: &'t str, options: &ValidatorOptions) -> Validation<'t> {
    match check(text, options) {
        Ok(script) => Validation::Accepted(Validated { text, script }),
        Err(rejection) => Validation::Rejected(rejection),
    }
}

fn check<'t>(text: &'t str, options: &ValidatorOptions) -> Result<Script<'t>, Rejection> {
    // A substitution is the better explanation, so it is searched before deceptive characters.
    let script =
        Script::read_despite_appearance(text, &options.read).map_err(|error| refused(text, error))?;
    let actions = script.actions();
    if let Some(first) = actions.substitutions.iter().min_by_key(|found| found.span) {
        let evaluated = first_hazard(&actions).filter(|_| options.checks == ValidatorChecks::All);
        return Err(match evaluated {
            Some(hazard) if hazard.span.start <= first.span.start => hazard,
            _ => Rejection { kind: kind_of(first.form), span: first.span },
        });
    }
    if let Some(error) = refused_character(text) {
        return Err(refused(text, error));
    }
    let script = Script::read(text, &options.read).map_err(|error| refused(text, error))?;
    if options.checks == ValidatorChecks::All {
        if let Some(rejection) = first_hazard(&actions) {
            return Err(rejection);
        }
        if let Some(rejection) = evaluating_builtin(&actions, options.read.shell) {
            return Err(rejection);
        }
    }
    Ok(script)
}

const fn kind_of(form: SubstitutionForm) -> RejectionKind {
    match form {
        SubstitutionForm::Dollar => RejectionKind::CommandSubstitution,
        SubstitutionForm::Backtick => RejectionKind::Backtick,
        SubstitutionForm::Process => RejectionKind::ProcessSubstitution,
    }
}

/// Returns the first text that is evaluated although it is quoted.
fn first_hazard(actions: &Actions<'_>) -> Option<Rejection> {
    let rejected = actions.hazards.iter().filter_map(|hazard| {
        let kind = match hazard.kind {
            HazardKind::EvaluatedText => RejectionKind::EvaluatedText,
            HazardKind::PromptText => RejectionKind::PromptTransform,
            HazardKind::ChangedShell => RejectionKind::ChangedShell,
            _ => return None,
        };
        Some(Rejection { kind, span: hazard.span })
    });
    rejected.min_by_key(|rejection| rejection.span)
}

/// Returns the first builtin that runs text in its arguments.
fn evaluating_builtin(actions: &Actions<'_>, shell: Shell) -> Option<Rejection> {
    let evaluates = |name: &str| match name {
        "eval" => true,
        "print" => shell == Shell::Zsh,
        _ => false,
    };
    let evaluates_its_text = |program: &str| {
        matches!(program, "eval" | "trap" | "mapfile" | "readarray" | "complete" | "compgen" | "bind")
    };
    actions.runs.iter().find_map(|run| {
        let name = run.program()?;
        let prompts = || {
            run.argv
                .iter()
                .any(|arg| arg.known().is_some_and(|word| word.starts_with('-') && word.contains('P')))
        };
        let evaluated = evaluates(name) && run.argv.len() > 1 && (name == "eval" || prompts());
        if evaluated || run.call_chain.iter().any(|program| evaluates_its_text(program)) {
            let kind =
                if name == "print" { RejectionKind::ZshEvalFlag } else { RejectionKind::EvaluatedText };
            return Some(Rejection { kind, span: run.span });
        }
        None
    })
}

/// Converts an error of the parser.
fn refused(text: &str, error: ReadError) -> Rejection {
    let kind = match error.kind {
        ReadErrorKind::UnterminatedQuote
        | ReadErrorKind::UnterminatedSubstitution
        | ReadErrorKind::UnterminatedExpansion
        | ReadErrorKind::UnterminatedHeredoc
        | ReadErrorKind::UnterminatedCommand
        | ReadErrorKind::TrailingBackslash => RejectionKind::Unterminated,
        ReadErrorKind::ControlCharacter
        | ReadErrorKind::DeceptiveCharacter
        | ReadErrorKind::InvisibleCharacter => RejectionKind::ControlCharacter,
        // Where arithmetic does not end in `))`, shells read the same text as nested substitutions.
        ReadErrorKind::AmbiguousArithmetic
        | ReadErrorKind::ArithmeticSubstitution
        | ReadErrorKind::HeredocInSubstitution => RejectionKind::CommandSubstitution,
        ReadErrorKind::QuoteInBraces if text.contains("$(") => RejectionKind::CommandSubstitution,
        ReadErrorKind::QuoteInBraces if text.contains('`') => RejectionKind::Backtick,
        ReadErrorKind::ZshProcessSubstitution => RejectionKind::ZshProcessSubstitution,
        ReadErrorKind::ZshEquals => RejectionKind::ZshEquals,
        ReadErrorKind::ZshEvalFlag => RejectionKind::ZshEvalFlag,
        ReadErrorKind::ZshGlobQualifier => RejectionKind::ZshGlobExec,
        reason => RejectionKind::Unreadable(reason),
    };
    Rejection { kind, span: error.span }
}
