//! Decisions on the commands of an agent, by the rules of all layers.

use stockade_shell::{ReadOptions, Run};

use super::context::CommandContext;
use super::decision::CommandDecision;
use super::decision::explain::ConsideredRule;
use super::decision::policy::{CommandDefaults, CommandPolicy};
use super::decision::suggest::Suggestion;
use super::rules::check::CommandRuleError;
use super::rules::effect::Layer;
use super::rules::layer::RuleLayer;

/// The command rules of an agent. Those of its project can only make decisions stricter.
///
/// In a policy, rules of a project precede the built-in ones, on the assumption that the operator has reviewed them. Rules that
/// come with a repository are not reviewed, so the policy also decides without them, and the stricter decision applies.
///
/// ```
/// use stockade_command::AgentCommands;
/// use stockade_command::{CommandDefaults, CommandRule, Effect, Layer, RuleLayer};
///
/// let rules = vec![
///     CommandRule::prefix("push-away", &["git", "push"], Effect::Allow),
///     CommandRule::prefix("no-status", &["git", "status"], Effect::Deny),
/// ];
/// let project = RuleLayer { layer: Layer::Project, rules, overrides: Vec::new() };
/// let commands = AgentCommands::compile(vec![project], CommandDefaults::default())?;
/// let effect = |text| commands.decide(text, &Default::default(), &Default::default()).effect;
/// assert_eq!((effect("git push"), effect("git status")), (Effect::Ask, Effect::Deny));
/// # Ok::<(), stockade_command::CommandRuleError>(())
/// ```
#[derive(Debug, Clone)]
pub struct AgentCommands {
    without_project: CommandPolicy,
    /// Nothing if the project has no rules.
    with_project: Option<CommandPolicy>,
}

impl AgentCommands {
    /// Compiles rules on top of the built-in ones. Every rule is checked, and its examples are run.
    ///
    /// # Errors
    /// The first invalid rule, and what is wrong with it.
    pub fn compile(layers: Vec<RuleLayer>, defaults: CommandDefaults) -> Result<Self, CommandRuleError> {
        let is_project = |layer: &RuleLayer| layer.layer == Layer::Project;
        let others = layers.iter().filter(|layer| !is_project(layer)).cloned().collect();
        let with_project =
            layers.iter().any(is_project).then(|| CommandPolicy::compile(layers, defaults)).transpose()?;
        Ok(Self { without_project: CommandPolicy::compile(others, defaults)?, with_project })
    }

    /// Decides on a text that `options.shell` would run.
    pub fn decide<'t>(
        &self,
        text: &'t str,
        options: &ReadOptions,
        place: &CommandContext,
    ) -> CommandDecision<'t, '_> {
        self.ask(text, options, place).1
    }

    /// Returns tested user rules that would make the decision milder, each as narrow as possible.
    #[must_use]
    pub fn suggest(
        &self,
        decision: &CommandDecision<'_, '_>,
        options: &ReadOptions,
        place: &CommandContext,
    ) -> Vec<Suggestion> {
        self.decider(decision.text, options, place).suggest(decision, options, place)
    }

    /// Returns the rules for the program of a command, like [`CommandPolicy::consider`].
    #[must_use]
    pub fn consider<'p>(
        &'p self,
        decision: &CommandDecision<'_, 'p>,
        run: &Run<'_>,
        options: &ReadOptions,
        place: &CommandContext,
    ) -> Vec<ConsideredRule<'p>> {
        self.decider(decision.text, options, place).consider(decision, run, place)
    }

    /// Returns the policy with the rules of all layers, for listing.
    #[must_use]
    pub fn all_rules(&self) -> &CommandPolicy {
        self.with_project.as_ref().unwrap_or(&self.without_project)
    }

    /// Returns the policy that decides on a text.
    fn decider(&self, text: &str, options: &ReadOptions, place: &CommandContext) -> &CommandPolicy {
        match self.with_project {
            Some(_) => self.ask(text, options, place).0,
            None => &self.without_project,
        }
    }

    /// Returns the stricter decision, and the policy that made it.
    fn ask<'t>(
        &self,
        text: &'t str,
        options: &ReadOptions,
        place: &CommandContext,
    ) -> (&CommandPolicy, CommandDecision<'t, '_>) {
        let without = self.without_project.decide(text, options, place);
        let with = self.with_project.as_ref().map(|policy| (policy, policy.decide(text, options, place)));
        match with {
            Some(with) if with.1.effect > without.effect => with,
            _ => (&self.without_project, without),
        }
    }
}

/// A policy whose rules the operator has reviewed.
impl From<CommandPolicy> for AgentCommands {
    fn from(policy: CommandPolicy) -> Self {
        Self { without_project: policy, with_project: None }
    }
}
