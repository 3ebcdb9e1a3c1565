//! The rules of all layers, ready to decide.

use crate::context::CommandContext;
use crate::decision::CommandDecision;
use crate::hazards::HIDDEN_FETCH_ID;
use crate::rules::builtin::lookup::BUILTIN;
use crate::rules::check::{self, CommandRuleError};
use crate::rules::effect::{Effect, Layer};
use crate::rules::layer::RuleLayer;
use crate::rules::matcher::Compiled;
use crate::rules::rule::CommandRule;
use crate::rules::set::RuleSet;
use crate::rules::shadow::{self, ShadowedRule};
use stockade_shell::ReadOptions;

use super::judge;

/// Effects without a matching rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandDefaults {
    /// For a command without a matching rule.
    pub unmatched: Effect,
    /// For parts that are only known at run time. At least [`Effect::Sandbox`].
    pub unanalysable: Effect,
    /// For commands in substitutions.
    pub substitutions: Substitutions,
}

/// Treatment of commands in substitutions: `$(…)`, `` `…` ``, `<(…)`, `>(…)` and additional forms of zsh. Rules and hazards
/// always apply to each of them; this setting adds a restriction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Substitutions {
    /// Only the rules decide.
    Rules,
    /// Substitutions that reach the network are refused, since their output becomes an unreviewed command. `$(date)` and
    /// `$(git rev-parse HEAD)` are allowed.
    #[default]
    Local,
    /// No substitution is permitted, nor anything else that the [validator](crate::validator) rejects.
    None,
}

impl Substitutions {
    /// Every value, from mildest to strictest.
    pub const ALL: [Self; 3] = [Self::Rules, Self::Local, Self::None];
    /// Their names, in the same order.
    pub const NAMES: &[&str] = &["rules", "local", "none"];

    /// Returns the name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rules => "rules",
            Self::Local => "local",
            Self::None => "none",
        }
    }

    /// Returns the value with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().zip(Self::ALL).find(|(known, _)| **known == name).map(|(_, choice)| choice)
    }
}

impl Default for CommandDefaults {
    fn default() -> Self {
        Self {
            unmatched: Effect::Sandbox,
            unanalysable: Effect::Ask,
            substitutions: Substitutions::default(),
        }
    }
}

/// A compiled policy for commands.
#[derive(Debug, Clone)]
pub struct CommandPolicy {
    pub(super) set: RuleSet,
    pub(super) defaults: CommandDefaults,
    pub(super) overrides: Vec<String>,
}

impl CommandPolicy {
    /// Returns the policy with only the built-in rules.
    #[must_use]
    pub fn builtin() -> Self {
        // A test compiles the same rows, so this cannot fail.
        Self::assemble(Vec::new(), CommandDefaults::default()).unwrap_or_else(|_| Self::nothing())
    }

    /// Compiles rules on top of the built-in ones. Every rule is checked, and its examples are run.
    ///
    /// # Errors
    /// The first invalid rule, and what is wrong with it.
    pub fn compile(layers: Vec<RuleLayer>, defaults: CommandDefaults) -> Result<Self, CommandRuleError> {
        check::layers(&layers)?;
        Self::assemble(layers, defaults)
    }

    /// Assembles rules that have been checked.
    pub(crate) fn assemble(
        layers: Vec<RuleLayer>,
        defaults: CommandDefaults,
    ) -> Result<Self, CommandRuleError> {
        let overrides = layers.iter().flat_map(|one| &one.overrides).map(|one| one.floor.clone()).collect();
        let written = layers.into_iter().flat_map(|RuleLayer { layer, rules, .. }| {
            rules.into_iter().flat_map(move |rule| Compiled::all(rule, layer))
        });
        let set = RuleSet::new(written.collect()).map_err(CommandRuleError::together)?;
        Ok(Self { set: set.on(&BUILTIN), defaults, overrides })
    }

    /// Returns a policy that permits nothing.
    fn nothing() -> Self {
        let defaults = CommandDefaults {
            unmatched: Effect::Deny,
            unanalysable: Effect::Deny,
            substitutions: Substitutions::None,
        };
        Self { set: RuleSet::default(), defaults, overrides: Vec::new() }
    }

    /// Decides on a text that `options.shell` would run.
    pub fn decide<'t>(
        &self,
        text: &'t str,
        options: &ReadOptions,
        context: &CommandContext,
    ) -> CommandDecision<'t, '_> {
        judge::decide(self, text, options, context)
    }

    /// Returns the rules of every layer, the built-in ones first.
    pub fn rules(&self) -> impl Iterator<Item = (Layer, &CommandRule)> {
        let as_written = self.set.rules().filter(|rule| rule.is_as_written);
        as_written.map(|rule| (rule.layer, &*rule.rule))
    }

    /// Returns the rules that never decide, because another one always takes precedence.
    #[must_use]
    pub fn shadowed(&self) -> Vec<ShadowedRule> {
        shadow::shadowed(self.set.written())
    }

    /// Returns the effects without a matching rule.
    #[must_use]
    pub const fn defaults(&self) -> CommandDefaults {
        self.defaults
    }

    pub(super) fn is_overridden(&self, id: &str) -> bool {
        let is_left_to_rules = id == HIDDEN_FETCH_ID && self.defaults.substitutions == Substitutions::Rules;
        is_left_to_rules || self.overrides.iter().any(|one| one == id)
    }
}
