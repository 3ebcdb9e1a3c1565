//! One thing that a command does, with the verdict on it.

use std::fmt;

use stockade_text::Shown;

use crate::hazards;
use crate::rules::effect::{Effect, Layer};
use crate::rules::rule::CommandRule;
use crate::validator::RejectionKind;
use stockade_shell::{Assignment, HazardKind, ReadErrorKind, Redirect, Run, Span};

/// One thing that a command does.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Part<'t, 'p> {
    /// What this part of the command does.
    pub action: Action<'t>,
    /// Where it is written.
    pub span: Span,
    /// What may become of it.
    pub effect: Effect,
    /// What decided on this part.
    pub cause: Cause<'p>,
    /// Whether the words that are added when it runs are names of files which it may show.
    pub(super) adds_harmless_names: bool,
}

/// What a part of a command does.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Action<'t> {
    /// Runs a program, a builtin or a function.
    Run(Run<'t>),
    /// Writes a file by redirection.
    Write(Redirect<'t>),
    /// Sets a variable that may change what programs run or read.
    Set(Assignment<'t>),
    /// Something about the whole text, or about what could not be read.
    Whole,
}

/// What decided on a part.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Cause<'p> {
    /// A rule matches the command for certain.
    Rule {
        /// The rule.
        rule: &'p CommandRule,
        /// Who wrote it.
        layer: Layer,
    },
    /// A rule may match, depending on what happens when the command runs.
    MayMatch {
        /// The rule.
        rule: &'p CommandRule,
        /// Who wrote it.
        layer: Layer,
    },
    /// A program that no rule knows is given words that a rule denies: it may run them.
    Carries {
        /// The rule.
        rule: &'p CommandRule,
        /// Who wrote it.
        layer: Layer,
    },
    /// The program only runs another command, on which a part of its own decides.
    StepsAside,
    /// A dangerous shape, whatever the rules say.
    Hazard(hazards::Hazard),
    /// No rule says anything.
    Unmatched,
    /// The name of the program is only known when the command runs.
    ComputedName,
    /// A file is written, and no rule for the command permits that.
    WritesFile,
    /// A variable is set that changes what programs run or read, or that is not known to change nothing, and no rule permits that.
    SetsVariable,
    /// Something may do more than the text shows.
    Uncertain(HazardKind),
    /// The text was not read.
    NotRead(ReadErrorKind),
    /// The validator rejects the text, and the policy permits no hidden command.
    Rejected(RejectionKind),
    /// There is nothing to run.
    Nothing,
}

impl<'t, 'p> Part<'t, 'p> {
    /// Returns the program that is run, if it is a run.
    #[must_use]
    pub const fn run(&self) -> Option<&Run<'t>> {
        match &self.action {
            Action::Run(run) => Some(run),
            _ => None,
        }
    }

    /// Raises the verdict, with the reason. Where a built-in rule is as strict, the danger is the better reason: a rule speaks of
    /// all that a program may do, and a danger of what this command does.
    pub(super) fn raise(&mut self, effect: Effect, cause: Cause<'p>) {
        let is_closer = effect == self.effect
            && matches!(cause, Cause::Hazard(_))
            && matches!(self.cause, Cause::Rule { layer: Layer::BuiltIn, .. });
        if effect > self.effect || is_closer {
            self.effect = effect;
            self.cause = cause;
        }
    }
}

impl<'p> Cause<'p> {
    /// Returns the rule that decided, and its layer.
    #[must_use]
    pub const fn rule(&self) -> Option<(&'p CommandRule, Layer)> {
        match self {
            Self::Rule { rule, layer } | Self::MayMatch { rule, layer } | Self::Carries { rule, layer } => {
                Some((rule, *layer))
            }
            _ => None,
        }
    }

    /// Returns a stable name of what decided: the name of a rule or of a hazard, or what there was instead.
    #[must_use]
    pub fn id(&self) -> &str {
        match self {
            Self::Rule { rule, .. } | Self::MayMatch { rule, .. } | Self::Carries { rule, .. } => &rule.id,
            Self::Hazard(hazard) => hazard.id,
            Self::StepsAside => "steps_aside",
            Self::Unmatched => "unmatched",
            Self::ComputedName => "computed_name",
            Self::WritesFile => "writes_file",
            Self::SetsVariable => "sets_variable",
            Self::Uncertain(_) => "uncertain",
            Self::NotRead(reason) => reason.code(),
            Self::Rejected(_) => "validator",
            Self::Nothing => "nothing_to_run",
        }
    }
}

impl fmt::Display for Cause<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = |rule: &CommandRule| {
            if rule.reason.is_empty() { String::new() } else { format!(": {}", Shown(&rule.reason)) }
        };
        match self {
            Self::Rule { rule, layer } => write!(f, "{layer} rule `{}`{}", Shown(&rule.id), reason(rule)),
            Self::MayMatch { rule, layer } => write!(
                f,
                "{layer} rule `{}` may match: options stand between its words, or a word is not certain",
                Shown(&rule.id)
            ),
            Self::Carries { rule, layer } => write!(
                f,
                "no rule knows this program, and it may run the words that {layer} rule `{}` denies",
                Shown(&rule.id)
            ),
            Self::Hazard(hazard) => write!(f, "{}: {}", hazard.id, Shown(&hazard.reason)),
            Self::StepsAside => f.write_str("it only runs another command, which is judged by itself"),
            Self::Unmatched => f.write_str("no rule matches"),
            Self::ComputedName => f.write_str("the name of the program is only known when it runs"),
            Self::WritesFile => f.write_str("it writes a file, and no rule for the command permits that"),
            Self::SetsVariable => f.write_str("it sets a variable that may change what programs run or read"),
            Self::Uncertain(kind) => fmt::Display::fmt(kind, f),
            Self::NotRead(reason) => fmt::Display::fmt(reason, f),
            Self::Rejected(kind) => fmt::Display::fmt(kind, f),
            Self::Nothing => f.write_str("there is nothing to run"),
        }
    }
}
