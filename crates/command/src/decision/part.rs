//! Parts of a command, with their verdicts.

use std::fmt;

use stockade_text::Shown;

use crate::hazards;
use crate::rules::effect::{Effect, Layer};
use crate::rules::rule::CommandRule;
use crate::validator::RejectionKind;
use stockade_shell::{Assignment, HazardKind, ReadErrorKind, Redirect, Run, Span};

/// A part of a command.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Part<'t, 'p> {
    /// The action of the part.
    pub action: Action<'t>,
    /// Its position.
    pub span: Span,
    /// The effect.
    pub effect: Effect,
    /// The cause of the decision.
    pub cause: Cause<'p>,
    /// Whether words that are added at run time are names of files that it may show.
    pub(super) adds_harmless_names: bool,
}

/// The action of a part.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Action<'t> {
    /// Runs a program, a builtin or a function.
    Run(Run<'t>),
    /// Writes a file by redirection.
    Write(Redirect<'t>),
    /// Sets a variable that may change what programs run or read.
    Set(Assignment<'t>),
    /// Something about the whole text, or an unparsed part.
    Whole,
}

/// The cause of a decision on a part.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Cause<'p> {
    /// A rule matches the command.
    Rule {
        /// The rule.
        rule: &'p CommandRule,
        /// Its layer.
        layer: Layer,
    },
    /// A rule may match, depending on the command's run time.
    MayMatch {
        /// The rule.
        rule: &'p CommandRule,
        /// Its layer.
        layer: Layer,
    },
    /// A program without a rule has words that a rule denies, and may run them.
    Carries {
        /// The rule.
        rule: &'p CommandRule,
        /// Its layer.
        layer: Layer,
    },
    /// The program only runs another command, which is a part of its own.
    StepsAside,
    /// It only stops processes that the text itself started.
    StopsOwnChildren,
    /// A hazard, regardless of rules.
    Hazard(hazards::Hazard),
    /// No rule matches the command.
    Unmatched,
    /// The name of the program is only known at run time.
    ComputedName,
    /// A file is written, which no rule for the command permits.
    WritesFile,
    /// A variable is set that changes or may change what programs run or read, which no rule permits.
    SetsVariable,
    /// Something may do more than the text shows.
    Uncertain(HazardKind),
    /// The text could not be parsed.
    NotRead(ReadErrorKind),
    /// The validator rejects the text, and the policy permits no hidden commands.
    Rejected(RejectionKind),
    /// The text is empty.
    Nothing,
}

impl<'t, 'p> Part<'t, 'p> {
    /// Returns the program, if the part runs one.
    #[must_use]
    pub const fn run(&self) -> Option<&Run<'t>> {
        match &self.action {
            Action::Run(run) => Some(run),
            _ => None,
        }
    }

    /// Raises the effect, with the reason. If a built-in rule is as strict, the hazard is the better reason: a rule describes a
    /// program, and a hazard this command.
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
    /// Returns the deciding rule and its layer.
    #[must_use]
    pub const fn rule(&self) -> Option<(&'p CommandRule, Layer)> {
        match self {
            Self::Rule { rule, layer } | Self::MayMatch { rule, layer } | Self::Carries { rule, layer } => {
                Some((rule, *layer))
            }
            _ => None,
        }
    }

    /// Returns the stable name of the cause: that of a rule or hazard, or of another cause.
    #[must_use]
    pub fn id(&self) -> &str {
        match self {
            Self::Rule { rule, .. } | Self::MayMatch { rule, .. } | Self::Carries { rule, .. } => &rule.id,
            Self::Hazard(hazard) => hazard.id,
            Self::StepsAside => "steps_aside",
            Self::StopsOwnChildren => "stops_own_children",
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
                "{layer} rule `{}` may match: there are options between its words, or a word is uncertain",
                Shown(&rule.id)
            ),
            Self::Carries { rule, layer } => write!(
                f,
                "no rule matches this program, and it may run the arguments as a command that {layer} rule `{}` denies",
                Shown(&rule.id)
            ),
            Self::Hazard(hazard) => write!(f, "{}: {}", hazard.id, Shown(&hazard.reason)),
            Self::StepsAside => f.write_str("it only runs another command, which is checked separately"),
            Self::StopsOwnChildren => f.write_str("it only stops processes that the command itself started"),
            Self::Unmatched => f.write_str("no rule matches"),
            Self::ComputedName => f.write_str("the name of the program is only known at run time"),
            Self::WritesFile => f.write_str("it writes a file, and no rule for the command permits that"),
            Self::SetsVariable => f.write_str("it sets a variable that may change what programs run or read"),
            Self::Uncertain(kind) => fmt::Display::fmt(kind, f),
            Self::NotRead(reason) => fmt::Display::fmt(reason, f),
            Self::Rejected(kind) => fmt::Display::fmt(kind, f),
            Self::Nothing => f.write_str("the command is empty"),
        }
    }
}
