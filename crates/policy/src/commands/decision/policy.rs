//! The rules of all layers, ready to decide.

use crate::commands::context::CommandContext;
use crate::commands::decision::CommandDecision;
use crate::commands::rules::builtin;
use crate::commands::rules::check::{self, CommandRuleError};
use crate::commands::rules::effect::{Effect, Layer};
use crate::commands::rules::layer::RuleLayer;
use crate::commands::rules::matcher::Compiled;
use crate::commands::rules::rule::CommandRule;
use crate::commands::rules::set::RuleSet;
use stockade_shell::ReadOptions;

use super::judge;

/// What holds where no rule says anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandDefaults {
    /// For a command that no rule matches.
    pub unmatched: Effect,
    /// For what is not certain before it runs. Never less than [`Effect::Sandbox`].
    pub unanalysable: Effect,
}

impl Default for CommandDefaults {
    fn default() -> Self {
        Self { unmatched: Effect::Sandbox, unanalysable: Effect::Ask }
    }
}

/// Decides what may become of commands.
#[derive(Debug, Clone)]
pub struct CommandPolicy {
    pub(super) set: RuleSet,
    pub(super) defaults: CommandDefaults,
    pub(super) overrides: Vec<String>,
}

impl CommandPolicy {
    /// Returns the built-in rules alone.
    #[must_use]
    pub fn builtin() -> Self {
        // The rows are compiled by a test, so that nothing is left that could be refused.
        Self::assemble(Vec::new(), CommandDefaults::default()).unwrap_or_else(|_| Self::nothing())
    }

    /// Compiles rules on top of the built-in ones. Every rule is checked, and its examples are run.
    ///
    /// # Errors
    /// The first rule that cannot be used, and what is wrong with it.
    pub fn compile(layers: Vec<RuleLayer>, defaults: CommandDefaults) -> Result<Self, CommandRuleError> {
        check::layers(&layers)?;
        Self::assemble(layers, defaults)
    }

    /// Assembles rules that have been checked.
    pub(crate) fn assemble(
        layers: Vec<RuleLayer>,
        defaults: CommandDefaults,
    ) -> Result<Self, CommandRuleError> {
        let builtin = builtin::rules().map(|rule| Compiled::new(rule, Layer::BuiltIn));
        let overrides = layers.iter().flat_map(|one| &one.overrides).map(|one| one.floor.clone()).collect();
        let written = layers.into_iter().flat_map(|RuleLayer { layer, rules, .. }| {
            rules.into_iter().map(move |rule| Compiled::new(rule, layer))
        });
        let set = RuleSet::new(builtin.chain(written).collect()).map_err(CommandRuleError::together)?;
        Ok(Self { set, defaults, overrides })
    }

    /// A policy that permits nothing.
    fn nothing() -> Self {
        let defaults = CommandDefaults { unmatched: Effect::Deny, unanalysable: Effect::Deny };
        Self { set: RuleSet::default(), defaults, overrides: Vec::new() }
    }

    /// Decides what may become of a text that `options.shell` would run.
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
        self.set.rules().iter().map(|rule| (rule.layer, &rule.rule))
    }

    /// Returns what holds where no rule says anything.
    #[must_use]
    pub const fn defaults(&self) -> CommandDefaults {
        self.defaults
    }

    pub(super) fn is_overridden(&self, id: &str) -> bool {
        self.overrides.iter().any(|one| one == id)
    }
}
